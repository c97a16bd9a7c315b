"""Grok Build, xAI's coding agent: a folder per session.

One file of it has the updates that the user interface got, with times and tokens; another one has the
messages as the model got them. The first is read if it is there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind
from agent_journal.readers import ReaderInfo
from agent_journal.readers.grok_build.detect import HISTORY, UPDATES, version_of
from agent_journal.readers.grok_build.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_UPDATES, _HISTORY = "updates.jsonl", "chat_history.jsonl"

INFO = ReaderInfo(
    name="grok-build",
    title="Grok Build",
    versions=(UPDATES, HISTORY),
    names={"record": "grok-build"},
    config_key="grok_build",
    env=("AJ_GROK_BUILD_PATH", "GROK_HOME"),
    # The same folders on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/sessions/*/*/{file}" for home in ("~/.grok", "%GROK_HOME%") for file in (_UPDATES, _HISTORY)
    ),
    companions=(
        *(
            f"*/sessions/*/*/{file}"
            for file in (
                *("summary.json", "usage.json", "prompt_context.json", "signals.json", "plan.json"),
                *("tool_definitions.json", "rewind_points.jsonl", "events.jsonl", "feedback.jsonl"),
                *("system_prompt.txt", "title_refresh_idx", "terminal/*.log"),
            )
        ),
        "*/.grok/sessions/*/prompt_history.jsonl",
        "*/.grok/sessions/session_search.sqlite*",
    ),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    resume="grok --resume {id}",
    evidence=(
        "the vendor's public user guide and source of August 2026, samples of sessions, and what 1.0.41 "
        "writes; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim updates by their envelope, and messages by the fields that only they have."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file."""
    from agent_journal.readers.grok_build import session  # noqa: PLC0415 (only reading needs it)

    if version == HISTORY and source.name == _HISTORY and source.companion(_UPDATES) is not None:
        note(Kind.IGNORED_FILE, "", "the updates next to it have the same messages")
        return
    yield session.conversation(source, version, json_stream.lines(source, note), note, INFO.name)
