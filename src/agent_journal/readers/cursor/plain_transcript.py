"""Transcripts as plain text: roles on lines of their own, reasoning and tools after markers."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.text_encoding import utf8
from agent_journal.model import Message, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.notes import Kind
from agent_journal.readers.cursor.names import NAME, tool_kind
from agent_journal.readers.cursor.query import prompt_time, unwrap_prompt
from agent_journal.readers.cursor.values import parse_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_ROLE_LINES: dict[str, Role] = {"user:": "user", "assistant:": "assistant"}
_MARKER = re.compile(r"\[(Thinking|Tool call|Tool result)\](?: (.*))?")
_MAX_FILE_BYTES = 1 << 28
_BLOCK_BYTES = 1 << 20


def read_entries(source: Input, chat_id: str | None, note: Notes) -> list[Entry]:
    """Return one message per turn."""
    return [
        _message(ids.made(NAME, chat_id or lines, number), role, lines)
        for number, (role, lines) in enumerate(_turns(_read_text(source, note)))
    ]


def _message(message_id: str, role: Role, lines: list[str]) -> Message:
    is_prompt = role == "user"
    parts: list[Part] = [unwrap_prompt(_text(lines))] if is_prompt else list(_answer_parts(lines))
    at = prompt_time(parts) if is_prompt else None
    return Message(id=message_id, made_id=True, role=role, at=at, parts=parts)


def _read_text(source: Input, note: Notes) -> str:
    data = bytearray()
    with utf8(source) as stream:
        while block := stream.read(_BLOCK_BYTES):
            data += block
            if len(data) > _MAX_FILE_BYTES:
                note(Kind.TOO_LARGE, "", f"only the first {_MAX_FILE_BYTES >> 20} MiB are read")
                break
    return data.decode("utf-8", "replace")


def _turns(text: str) -> Iterator[tuple[Role, list[str]]]:
    role: Role | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        next_role = _ROLE_LINES.get(line.strip())
        if next_role is None:
            lines.append(line.removesuffix("\r"))
            continue
        if role is not None:
            yield role, lines
        role, lines = next_role, []
    if role is not None:
        yield role, lines


def _answer_parts(lines: list[str]) -> Iterator[Part]:
    """Split an answer into parts; prose is not indented, the lines of a marker are indented below it."""
    marker, name, pending = "", "", list[str]()
    for line in lines:
        match = _MARKER.fullmatch(line.strip())
        ends = marker and line.strip() and not line[0].isspace()
        if match or ends:
            yield from _part(marker, name, pending)
            marker, name, pending = (match[1], match[2] or "", []) if match else ("", "", [])
        if not match:
            pending.append(line)
    yield from _part(marker, name, pending)


def _part(marker: str, name: str, lines: list[str]) -> Iterator[Part]:
    text = _text(lines)
    if marker == "Thinking":
        yield Reasoning(text="\n".join(filter(None, (name, text))))
    elif marker == "Tool call":
        yield ToolCall(name=name.strip(), input=_arguments(text), kind=tool_kind(name.strip()))
    elif marker == "Tool result":
        yield ToolResult(name=name.strip() or None, output=text)
    elif text:
        yield Text(text=text)


def _text(lines: list[str]) -> str:
    """Join lines without blank lines around them and without their common indentation."""
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    shared = min(widths, default=0)
    return "\n".join(line[shared:] for line in lines).strip("\n")


def _arguments(text: str) -> Any:
    """Parse JSON, or one name and value per line; anything else stays text."""
    if (value := parse_json(text)) is not None:
        return value
    pairs = [re.fullmatch(r"(\w+)\s*[=:]\s*(.*)", line) for line in text.split("\n") if line.strip()]
    if not pairs or not all(pairs):
        return text or None
    return {pair[1]: pair[2] for pair in pairs if pair}
