"""Reads the log of calls: what was sent to the model (`TO LLM`), and the answer (`LLM RESPONSE`).

Each line of a message begins with its role, and a row of dashes precedes each message that was sent. A call
repeats the dialogue so far, so the calls are stitched together like other recorded calls.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.decoding.text_encoding import utf8_lines
from agent_journal.model import Message, Reasoning, Text, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.aider import thoughts
from agent_journal.readers.aider.detect import SOURCE
from agent_journal.readers.dialects.api_calls.answer import NO_ANSWER, parse_answer
from agent_journal.readers.dialects.api_calls.dialects import OPENAI
from agent_journal.readers.dialects.api_calls.exchange import Exchange, take_messages
from agent_journal.readers.dialects.api_calls.stitching import Stitching
from agent_journal.readers.dialects.injected_text import mark_injected_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, tree
    from agent_journal.notes import Notes

_HEADING = re.compile(r"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\Z", re.ASCII)
_DASHES = "-------"
_ROLE = re.compile(r"(SYSTEM|USER|ASSISTANT|TOOL|FUNCTION|DEVELOPER)(?: |\Z)")
_MAX_LINE_BYTES = 64 << 20
# The program describes the files to the model in messages of their own, in the person's name.
_PROGRAM_PREFIXES = (
    "I have *added these files to the chat* so you can go ahead and edit them.",
    "I am not sharing any files that you can edit yet.",
    "Don't try and edit any existing code without asking me to add the files to the chat!",
    "Here are summaries of some files present in my git repo",
    "Here are some READ ONLY files, provided for your reference.",
    "I switched to a new code base.",
)


class Entry(NamedTuple):
    """The lines under one heading."""

    is_answer: bool
    written_at: str
    lines: list[str]
    line: int


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield the dialogues that the calls belong to."""
    stitching = Stitching(SOURCE, note)
    request: Entry | None = None
    count = 0
    for entry in _entries(source, note):
        if not count:
            note(Kind.BAD_TIME, entry.line, "times have no zone and are read as UTC")
        count += 1
        if not entry.is_answer:
            if request is not None:
                stitching.add(_exchange(request, None, count, note))
            request = entry
            continue
        stitching.add(_exchange(request, entry, count, note))
        request = None
    if request is not None:
        stitching.add(_exchange(request, None, count + 1, note))
    for conversation in stitching.conversations():
        yield replace(
            conversation, timeline=[_hide_program_message(entry) for entry in conversation.timeline]
        )


def _hide_program_message(entry: tree.Entry) -> tree.Entry:
    """Hide a message that the program wrote in the person's name."""
    if not isinstance(entry, Message) or entry.role != "user" or entry.hidden:
        return entry
    _, is_all = mark_injected_parts(entry.parts, lambda text: text.startswith(_PROGRAM_PREFIXES))
    return replace(entry, hidden=True) if is_all else entry


def _entries(source: Input, note: Notes) -> Iterator[Entry]:
    entry: Entry | None = None
    with utf8_lines(source, 1 << 20) as stream:
        number = 0
        while data := stream.readline(_MAX_LINE_BYTES):
            number += 1
            line = data.decode("utf-8", "replace").rstrip("\r\n")
            if "\ufffd" in line and b"\xef\xbf\xbd" not in data:
                note(Kind.BAD_ENCODING, number, "not UTF-8")
            if heading := _HEADING.match(line):
                if entry is not None:
                    yield entry
                entry = Entry(heading[1] == "LLM RESPONSE", heading[2], [], number)
            elif entry is not None:
                entry.lines.append(line)
            elif line.strip():
                note(Kind.BAD_RECORD, number, "a line before the first heading")
    if entry is not None:
        yield entry


def _exchange(request: Entry | None, response: Entry | None, index: int, note: Notes) -> Exchange:
    first = request or response
    line = first.line if first else 0
    fields = Fields({"messages": _sent_messages(request.lines) if request else []}, note, line)
    system, prompt = take_messages(fields, OPENAI)
    text = _split_role(response.lines)[1] if response else None
    body = {"choices": [{"message": {"role": "assistant", **_answer_fields(text or "")}}]}
    return Exchange(
        index=index - 1,
        location=f"line {line}",
        dialect=OPENAI,
        id=None,
        at=timestamps.parse_timestamp(first.written_at) if first else None,
        duration_ms=None,
        model=None,
        system=system,
        prompt=prompt,
        tools=[],
        answer=NO_ANSWER if text is None else parse_answer(body, note, line),
        error=None,
        extra={},
        ended_at=timestamps.parse_timestamp(response.written_at) if response else None,
    )


def _answer_fields(text: str) -> dict[str, str]:
    """Convert an answer to the fields of an API; later requests repeat it without the reasoning."""
    if not thoughts.may_have_reasoning(text):
        return {"content": text}
    parts = [*thoughts.split(text)]
    reasoning = "\n\n".join(part.text or "" for part in parts if isinstance(part, Reasoning))
    content = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    return {"content": content, "reasoning_content": reasoning} if reasoning else {"content": text}


def _sent_messages(lines: list[str]) -> list[dict[str, str]]:
    """Convert the messages of a request to those of an API."""
    groups: list[list[str]] = []
    for line in lines:
        if line == _DASHES:
            groups.append([])
        elif groups:
            groups[-1].append(line)
        elif line.strip():
            groups.append([line])
    messages = (_split_role(group) for group in groups)
    return [{"role": role, "content": content} for role, content in messages if content is not None]


def _split_role(lines: list[str]) -> tuple[str, str | None]:
    """Split the role, which each line begins with, from the lines."""
    first = next((match for line in lines if (match := _ROLE.match(line))), None)
    if first is None:
        text = "\n".join(lines).strip("\n")
        return "assistant", text or None
    prefix = first[1]
    contents = [
        line.removeprefix(prefix).removeprefix(" ") if line.startswith(prefix) else line for line in lines
    ]
    return prefix.lower(), "\n".join(contents).rstrip("\n")
