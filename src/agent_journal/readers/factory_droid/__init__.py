"""Factory Droid: one file per session, with the settings and tokens of the session in a file next to it.

The events that `droid exec` prints are read, too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.readers import ReaderInfo
from agent_journal.readers.factory_droid.detect import SESSION, STREAM, version_of
from agent_journal.readers.factory_droid.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="factory-droid",
    title="Factory Droid",
    versions=(SESSION, STREAM),
    names={"record": "factory-droid"},
    config_key="factory_droid",
    env=("AJ_DROID_PATH", "FACTORY_DIR", "FACTORY_HOME_OVERRIDE"),
    # The same folder on Linux, macOS and Windows; older versions had no folders for projects.
    homes=tuple(
        f"{home}/sessions/{pattern}"
        for home in ("~/.factory", "%FACTORY_DIR%", "%FACTORY_HOME_OVERRIDE%/.factory")
        for pattern in ("*/*.jsonl", "*.jsonl")
    ),
    companions=("*/.factory/sessions/*.settings.json", "*/.factory/sessions/*.settings.json.bak"),
    tool_kinds=TOOL_KINDS,
    in_blocks=True,
    sums_requests=True,
    resume="droid --resume {id}",
    evidence=(
        "samples of 0.81, schemas in the vendor's program 0.215, and what it writes; verified November 2026. "
        "What a compaction writes is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim session files by their first line or messages, and printed events by their fields."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file."""
    from agent_journal.readers.factory_droid.session import Session  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.factory_droid.stream import Stream  # noqa: PLC0415

    if version == STREAM:
        stream = Stream(note)
        stream.add_all(json_stream.lines(source, note))
        yield stream.conversation(INFO.name)
        return
    session = Session(source, note)
    session.add_all(json_stream.lines(source, note))
    if not session.has_known_lines:
        raise UnreadableSource(source.label, "no line in it belongs to a session")
    yield session.conversation(INFO.name)
