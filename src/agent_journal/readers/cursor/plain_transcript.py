"""Transcripts as plain text: speakers on lines of their own, thoughts and tools behind marks."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.text_encoding import utf8
from agent_journal.model import Message, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.notes import Kind
from agent_journal.readers.cursor.names import NAME, kind_of
from agent_journal.readers.cursor.query import asked, asked_at
from agent_journal.readers.cursor.values import parsed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Part, Role
    from agent_journal.model.tree import Entry
    from agent_journal.notes import Notes

_SPEAKERS: dict[str, Role] = {"user:": "user", "assistant:": "assistant"}
_MARK = re.compile(r"\[(Thinking|Tool call|Tool result)\](?: (.*))?")
_MOST_BYTES = 1 << 28
_BLOCK = 1 << 20


def entries_in(source: Source, chat_id: str | None, note: Notes) -> list[Entry]:
    """A message for each turn of a speaker."""
    return [
        _message(ids.made(NAME, chat_id or lines, number), role, lines)
        for number, (role, lines) in enumerate(_turns(_whole(source, note)))
    ]


def _message(message_id: str, role: Role, lines: list[str]) -> Message:
    is_asked = role == "user"
    parts: list[Part] = [asked(_text(lines))] if is_asked else list(_answer(lines))
    at = asked_at(parts) if is_asked else None
    return Message(id=message_id, made_id=True, role=role, at=at, parts=parts)


def _whole(source: Source, note: Notes) -> str:
    data = bytearray()
    with utf8(source) as stream:
        while block := stream.read(_BLOCK):
            data += block
            if len(data) > _MOST_BYTES:
                note(Kind.TOO_LARGE, "", f"only the first {_MOST_BYTES >> 20} MiB are read")
                break
    return data.decode("utf-8", "replace")


def _turns(text: str) -> Iterator[tuple[Role, list[str]]]:
    role: Role | None = None
    lines: list[str] = []
    for line in text.split("\n"):
        speaker = _SPEAKERS.get(line.strip())
        if speaker is None:
            lines.append(line.removesuffix("\r"))
            continue
        if role is not None:
            yield role, lines
        role, lines = speaker, []
    if role is not None:
        yield role, lines


def _answer(lines: list[str]) -> Iterator[Part]:
    """Prose stands at the margin; what belongs to a mark is indented below it."""
    mark, name, held = "", "", list[str]()
    for line in lines:
        found = _MARK.fullmatch(line.strip())
        ends = mark and line.strip() and not line[0].isspace()
        if found or ends:
            yield from _part(mark, name, held)
            mark, name, held = (found[1], found[2] or "", []) if found else ("", "", [])
        if not found:
            held.append(line)
    yield from _part(mark, name, held)


def _part(mark: str, name: str, held: list[str]) -> Iterator[Part]:
    text = _text(held)
    if mark == "Thinking":
        yield Reasoning(text="\n".join(filter(None, (name, text))))
    elif mark == "Tool call":
        yield ToolCall(name=name.strip(), input=_arguments(text), kind=kind_of(name.strip()))
    elif mark == "Tool result":
        yield ToolResult(name=name.strip() or None, output=text)
    elif text:
        yield Text(text=text)


def _text(lines: list[str]) -> str:
    """The lines without blank ones around them, and without the indentation they share."""
    widths = [len(line) - len(line.lstrip()) for line in lines if line.strip()]
    shared = min(widths, default=0)
    return "\n".join(line[shared:] for line in lines).strip("\n")


def _arguments(text: str) -> Any:
    """JSON, or one name and value a line; anything else is as it is."""
    if (value := parsed(text)) is not None:
        return value
    pairs = [re.fullmatch(r"(\w+)\s*[=:]\s*(.*)", line) for line in text.split("\n") if line.strip()]
    if not pairs or not all(pairs):
        return text or None
    return {pair[1]: pair[2] for pair in pairs if pair}
