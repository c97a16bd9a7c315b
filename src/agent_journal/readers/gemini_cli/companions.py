"""The files next to a session file: outputs too large for it, and the session that started a subagent."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import is_plain
from agent_journal.model import Message, ToolResult
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Event
    from agent_journal.readers.gemini_cli.project import ProjectLocation

_OUTPUT_FOLDER = "tool-outputs"
# `Output too large. Showing first … For full output see: <path>`; a masked one has `… available at: <path>`
_TRUNCATED = "Output too large. "
_SAVED_TO = re.compile(r"Output too large\. [^\n]*?(?:see|available at): ([^\n]+)")
_PATH_STEP_COUNT = 3
_BLOCK_BYTES = 1 << 20


def restore(
    timeline: Iterable[Message | Event], source: Input, project: ProjectLocation, note: Notes
) -> None:
    """Replace truncated outputs with the full ones; the truncated text moves to `extra`."""
    for entry in timeline:
        if entry.__class__ is not Message:
            continue
        for index, part in enumerate(entry.parts):
            if part.__class__ is ToolResult and part.output.__class__ is str and _TRUNCATED in part.output:
                entry.parts[index] = _restored(part, source, project, note)


def _restored(result: ToolResult, source: Input, project: ProjectLocation, note: Notes) -> ToolResult:
    truncated = result.output
    saved = _SAVED_TO.search(truncated) if isinstance(truncated, str) else None
    # The path is of the machine that wrote it, but its last folders are the same.
    steps = saved[1].strip().replace("\\", "/").split("/")[-_PATH_STEP_COUNT:] if saved else []
    if len(steps) < _PATH_STEP_COUNT or steps[0] != _OUTPUT_FOLDER or not all(map(is_plain, steps)):
        return result
    file = source.companion(*[".."] * project.height, *steps)
    if file is None:
        note(Kind.MISSING_FILE, f"call {result.call_id}", "/".join(steps))
        return result
    full_text = _text(file, note)
    if full_text is None:
        return result
    return replace(result, output=full_text, extra={**result.extra, "cut_output": truncated})


def _text(file: Input, note: Notes) -> str | None:
    """Read a file's exact text; None if it cannot be read."""
    data = bytearray()
    try:
        with file.open() as stream:
            while len(data) <= json_stream.MAX_RECORD_BYTES and (block := stream.read(_BLOCK_BYTES)):
                data += block
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    if len(data) > json_stream.MAX_RECORD_BYTES:
        note.add(Kind.TOO_LARGE, file.label, "", f"it has more than {json_stream.MAX_RECORD_BYTES:,} bytes")
        return None
    try:
        return data.decode()
    except UnicodeDecodeError:
        note.add(Kind.BAD_ENCODING, file.label, "", "not UTF-8")
        return data.decode("utf-8", "replace")


def find_starting_call(source: Input, parent: str, agent: str) -> tuple[str | None, str | None]:
    """Find the message and the call that started a subagent, in the file of its parent session."""
    mark, quiet = f'"{agent}"'.encode("utf-8", "replace"), Notes(keep=0)
    for file in source.companions(".."):
        # The name of a session's file has its start and the beginning of its id.
        if file.is_folder or not file.name.endswith(f"-{parent[:8]}.jsonl"):
            continue
        try:
            for number, line, _ in json_stream.raw_lines(file, quiet):
                record = json_stream.decode(line, quiet, number) if mark in line else None
                if isinstance(record, dict) and (call := _call_of(record, agent)) is not None:
                    return nonempty_str(record.get("id")), nonempty_str(call.get("id"))
        except UnreadableSource:
            continue  # it is noted when that file is imported
    return None, None


def _call_of(record: dict[str, Any], agent: str) -> dict[str, Any] | None:
    return next((call for call in objects(record.get("toolCalls")) if call.get("agentId") == agent), None)
