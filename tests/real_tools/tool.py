"""What the suite knows about a tool: how it is installed, configured and run, and what it does not write."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from tests.real_tools.fake_model.exchange import Purpose
from tests.real_tools.sandbox import Sandbox

Fact = Literal[
    "prompts",
    "calls",
    "results",
    "texts",
    "thinking",
    "model",
    "tokens",
    "folder",
    "title",
    "parent",
    "order",
    "notes",
]
Scenario = Literal[
    "fresh", "continued", "forked", "compacted", "subagent", "parallel", "interrupted", "image"
]
ALL_PURPOSES: frozenset[Purpose] = frozenset({"answer", "calls", "title", "summary", "other"})


@dataclass(frozen=True, kw_only=True)
class Package:
    """What is installed, into a folder of its own; `extra` are further packages, such as `node@22`."""

    registry: Literal["npm", "pypi"]
    name: str
    version: str = "latest"
    """Of a package from npm."""
    extra: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Unrecorded:
    """A fact that the tool does not write anywhere, so that no reader can know it, and the proof of that.

    `span` is what it is not written of: what a subagent did, what a compaction removes from the disk, or
    the picture in a prompt.
    """

    fact: Fact
    reason: str
    purposes: frozenset[Purpose] = ALL_PURPOSES
    scenarios: frozenset[Scenario] | None = None
    span: Literal["everything", "subagent", "before the summary", "picture"] = "everything"


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool and how a person would use it.

    Each function runs the tool in the sandbox until it is done. Where a tool cannot do something, it
    is None and `absent` says why, by scenario. `ask_with_image` takes the prompt and the image's path.
    `resume_session` takes the id of a session and the prompt.
    `own_words` are patterns of what the tool itself writes among the person's words: `/compact`, a notice.
    `notes` are parts of what a reader rightly notes about it, such as times without a zone.
    """

    name: str
    title: str
    source: str
    package: Package
    binary: str
    configure: Callable[[Sandbox], None]
    ask: Callable[[Sandbox, str], None]
    resume: Callable[[Sandbox, str], None]
    resume_session: Callable[[Sandbox, str, str], None] | None = None
    fork: Callable[[Sandbox, str], None] | None = None
    compact: Callable[[Sandbox], None] | None = None
    ask_with_image: Callable[[Sandbox, str, Path], None] | None = None
    absent: Mapping[Scenario, str] = field(default_factory=dict)
    unrecorded: tuple[Unrecorded, ...] = ()
    own_words: tuple[str, ...] = ()
    subagent_type: str = "general-purpose"
    notes: tuple[str, ...] = ()
