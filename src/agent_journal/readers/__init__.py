"""Readers: one module per source, each with `INFO`, `sniff` and `read`, found without a registry.

`dialects` has the formats that several readers share.
Third parties add readers with the entry-point group `agent_journal.readers`.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

from msgspec import Struct

from agent_journal import plugins
from agent_journal.errors import (
    AgentJournalError,
    AmbiguousFormat,
    BadPlugin,
    NoSuchName,
    UnknownFormat,
    UnreadableSource,
)
from agent_journal.model import ToolKind
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes


class Retention(Struct, frozen=True, kw_only=True):
    """That a tool deletes its own histories after a while, and how a person changes that.

    Keys are steps into its settings file, which is JSON, with dots between them.
    """

    settings: tuple[str, ...]
    """Where the settings file lies; the first that is there holds."""
    key: str
    """After which time histories are deleted: a number of days, or a text such as `30d` or `2w`."""
    days: int
    """After how many days if nobody settled it."""
    switch: str = ""
    """What, if it is false, keeps the tool from deleting."""
    most: str = ""
    """How many histories are left, whatever their age."""
    advice: str
    """What to write into the file so that nothing is deleted."""


class ReaderInfo(Struct, frozen=True, kw_only=True):
    """What the rest of the program may know about a source."""

    name: str
    """How the command line, ids and the archive call it."""
    title: str
    """How people call it."""
    versions: tuple[str, ...]
    """Versions of the source's format that are understood, newest first; old ones stay."""
    revision: int = 1
    """Of our mapping; raise it and kept bytes are read again."""
    names: dict[str, str] = {}
    """What targets call it: `{"unified": "claude_code"}`."""
    config_key: str = ""
    """Its key in the configuration's `[storage.sources]`, where a value replaces `homes`."""
    env: tuple[str, ...] = ()
    """Environment variables that move its home: ours and the vendor's."""
    homes: tuple[str, ...] = ()
    """Globs of where it lies, on Linux, macOS and Windows."""
    in_projects: tuple[str, ...] = ()
    """Names of files that lie in people's project folders; those that other histories name are looked at."""
    companions: tuple[str, ...] = ()
    """Globs of files that belong to a unit and are never units themselves."""
    tool_kinds: dict[str, ToolKind] = {}
    """What its tools do: `{"Bash": "shell"}`."""
    required: tuple[str, ...] = ()
    """Paths that its unified documents must have: `platform.version`, `messages[].role`; `a|b` is either."""
    allows_empty_text: bool = False
    """Whether it writes an empty text where nothing is said: a message without content misses nothing."""
    raw_field: str = ""
    """Of a message's `extra`: its text as the model was given it, where that is not what the person said."""
    record: RecordForm = RecordForm()
    """How agent records tell of it."""
    in_blocks: bool = False
    """Whether its messages are lists of blocks, also where there is only one; unless `content` in a message's
    `extra` is empty, which says that there is none."""
    text_field: str = ""
    """Of a message's `extra`: all that it says as one text, where that is not its texts, line by line."""
    children_field: str = ""
    """Of a message's `extra`, as a path: the ids of what is below it, where their order is one of its own."""
    undercounts: str = ""
    """What its token counts leave out, as far as that is known."""
    sums_requests: bool = False
    """Whether its token counts are of several requests together: they do not tell how large a prompt was."""
    retention: Retention | None = None
    """What the tool itself deletes, if it does."""
    resume: str = ""
    """How a person goes on in that tool: `claude --resume {id}`."""
    evidence: str = ""
    """Where the format is known from, and when that was verified."""


class Reader(Protocol):
    """What a reader module has."""

    INFO: ReaderInfo

    def sniff(self, peek: Peek) -> str | None:
        """The version of the format if the input is this source's, else None."""

    def read(self, source: Source, version: str, note: Notes) -> Iterator[Item]:
        """Every conversation and memory, each as soon as it is whole."""


@cache
def discover() -> dict[str, Reader]:
    """Every reader by its name."""
    found = [
        importlib.import_module(f"{__name__}.{module.name}")
        for module in pkgutil.iter_modules(__path__)
        if module.name != "dialects"
    ]
    found += plugins.load_plugins("agent_journal.readers", _what_is_wrong)
    return {reader.INFO.name: reader for reader in found}


def _what_is_wrong(module: Any) -> str | None:
    """Why a reader of another package cannot be used; None if it can."""
    wrong = plugins.find_defect(module, ReaderInfo, "sniff", "read")
    if wrong is not None:
        return wrong
    info: ReaderInfo = module.INFO
    if not info.name or not info.versions:
        return "INFO has no name or no versions"
    patterns = [*info.homes, *info.in_projects, *info.companions]
    return "INFO has a path that can be none" if not all(patterns) or "\0" in "".join(patterns) else None


def info(name: str) -> ReaderInfo | None:
    """What is known of a source, None if nothing reads it; no other reader is imported if that can be."""
    module = name.replace("-", "_")
    try:
        found: ReaderInfo = importlib.import_module(f"{__name__}.{module}").INFO
    except (ImportError, AttributeError, ValueError):  # no module has such a name, or it is no reader's
        reader = discover().get(name)
        return None if reader is None else reader.INFO
    return found if found.name == name else None


def get(name: str) -> Reader:
    """The reader of that name."""
    readers = discover()
    if name not in readers:
        raise NoSuchName("reader", name, sorted(readers))
    return readers[name]


def detect(reader: Reader, peek: Peek) -> str | None:
    """The version that a reader sees in an input, or None; one that fails is in the `failures` of the peek.

    A reader of another package that fails once is not asked again.
    """
    if reader.INFO.name in _failed:
        return None
    try:
        version: Any = reader.sniff(peek)
        if version is not None and not isinstance(version, str):
            raise TypeError(f"sniff gave a {type(version).__name__}")  # noqa: TRY301 (as if it had failed)
    except AgentJournalError:
        raise  # the file cannot be read, whoever asks
    except Exception as error:  # whatever is wrong with one reader, the others are asked
        package = plugins.package_of(reader)
        if package is None and isinstance(error, OSError):
            raise UnreadableSource(peek.label, (error.strerror or str(error)).lower()) from error
        peek.failures.append((reader.INFO.name, error))
        if package is not None:
            _failed.add(reader.INFO.name)
            reason = f"{type(error).__name__} while it looked at {peek.label}"
            plugins.problems[reader.INFO.name] = str(BadPlugin(package, reader.INFO.name, reason))
        return None
    return version


_failed: set[str] = set()


def claims(peek: Peek) -> list[tuple[Reader, str]]:
    """Every reader that says the input is its own, with the version it sees."""
    asked = [(reader, detect(reader, peek)) for reader in discover().values()]
    found = [(reader, version) for reader, version in asked if version is not None]
    further = None if found else peek.further()
    return found if further is None else claims(further)


def identify(peek: Peek) -> tuple[Reader, str]:
    """The one reader whose input this is. None or several are errors: there are no scores."""
    found = claims(peek)
    if not found:
        raise UnknownFormat(peek.label, peek.looks_like(), len(discover()))
    if len(found) > 1:
        raise AmbiguousFormat(peek.label, [reader.INFO.name for reader, _ in found])
    return found[0]


def is_companion(path: str) -> bool:
    """Whether a file belongs to some unit and is not one itself."""
    return _companions().match(f"/{path}") is not None


@cache
def _companions() -> re.Pattern[str]:
    from fnmatch import translate  # noqa: PLC0415 (only folders need it)

    patterns = [pattern for reader in discover().values() for pattern in reader.INFO.companions]
    # Nearly all begin so; together they are looked for once, not each from the beginning of the path.
    inside = [translate(pattern[2:]) for pattern in patterns if pattern.startswith("*/")]
    others = [translate(pattern) for pattern in patterns if not pattern.startswith("*/")]
    wanted = [f"(?s:.*/)(?:{'|'.join(inside)})"] if inside else []
    return re.compile("|".join(wanted + others) or "(?!)")
