"""The files beside a session's own: outputs too large for it, and the session that started a sub-agent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import is_plain
from agent_journal.model import Message, ToolResult
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Source
    from agent_journal.model import Event
    from agent_journal.readers.gemini_cli.project import Spot

_FOLDER = "tool-outputs"
# `Output too large. Showing first … For full output see: <path>`; when it is masked, `… available at: <path>`
_CUT = "Output too large. "
_SAVED_TO = re.compile(r"Output too large\. [^\n]*?(?:see|available at): ([^\n]+)")
_STEPS = 3
_BLOCK = 1 << 20


def restore(timeline: Iterable[Message | Event], source: Source, spot: Spot, note: Notes) -> None:
    """Put whole outputs in the place of those that were cut, which are kept in `extra`."""
    for entry in timeline:
        if entry.__class__ is not Message:
            continue
        for place, part in enumerate(entry.parts):
            if part.__class__ is ToolResult and part.output.__class__ is str and _CUT in part.output:
                entry.parts[place] = _restored(part, source, spot, note)


def _restored(result: ToolResult, source: Source, spot: Spot, note: Notes) -> ToolResult:
    cut = result.output
    saved = _SAVED_TO.search(cut) if isinstance(cut, str) else None
    # The path is of the machine that wrote it, but its last steps hold.
    steps = saved[1].strip().replace("\\", "/").split("/")[-_STEPS:] if saved else []
    if len(steps) < _STEPS or steps[0] != _FOLDER or not all(map(is_plain, steps)):
        return result
    file = source.companion(*[".."] * spot.height, *steps)
    if file is None:
        note(Kind.MISSING_FILE, f"call {result.call_id}", "/".join(steps))
        return result
    whole = _text(file, note)
    if whole is None:
        return result
    return replace(result, output=whole, extra={**result.extra, "cut_output": cut})


def _text(file: Source, note: Notes) -> str | None:
    """A file's text to the letter; None if it cannot be read."""
    data = bytearray()
    try:
        with file.open() as stream:
            while len(data) <= json_stream.MAX_RECORD_BYTES and (block := stream.read(_BLOCK)):
                data += block
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    if len(data) > json_stream.MAX_RECORD_BYTES:
        note.add(Kind.TOO_LARGE, file.label, "", f"more than {json_stream.MAX_RECORD_BYTES:,} bytes")
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        note.add(Kind.BAD_ENCODING, file.label, "", "not UTF-8")
        return data.decode("utf-8", "replace")


def started_by(source: Source, parent: str, agent: str) -> tuple[str | None, str | None]:
    """The message and the call of a session that started a sub-agent, as its own file tells it."""
    mark, quiet = f'"{agent}"'.encode("utf-8", "replace"), Notes(keep=0)
    for file in source.companions(".."):
        # A session's file is called by when it began and how its id begins.
        if file.is_folder or not file.name.endswith(f"-{parent[:8]}.jsonl"):
            continue
        try:
            for number, line, _ in json_stream.raw_lines(file, quiet):
                record = json_stream.decode(line, quiet, number) if mark in line else None
                if isinstance(record, dict) and (call := _call_of(record, agent)) is not None:
                    return words(record.get("id")), words(call.get("id"))
        except UnreadableSource:
            continue  # it is told of where it is read
    return None, None


def _call_of(record: dict[str, Any], agent: str) -> dict[str, Any] | None:
    return next((call for call in objects(record.get("toolCalls")) if call.get("agentId") == agent), None)
