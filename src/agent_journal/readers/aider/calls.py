"""The log of calls: what was sent to the model (`TO LLM`), and what came back (`LLM RESPONSE`).

Each line of a message has its role before it, and a row of dashes stands before each message that was sent.
A call repeats the dialogue so far; it is stitched together as other recorded calls are.
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
from agent_journal.readers.dialects.api_calls.answer import NOTHING, answer
from agent_journal.readers.dialects.api_calls.dialects import OPENAI
from agent_journal.readers.dialects.api_calls.exchange import Exchange, messages
from agent_journal.readers.dialects.api_calls.stitching import Stitching
from agent_journal.readers.dialects.injected_text import marked

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation, tree
    from agent_journal.notes import Notes

_HEADING = re.compile(r"(TO LLM|LLM RESPONSE) (\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\Z", re.ASCII)
_DASHES = "-------"
_ROLE = re.compile(r"(SYSTEM|USER|ASSISTANT|TOOL|FUNCTION|DEVELOPER)(?: |\Z)")
_LONGEST_LINE = 64 << 20
# What the program tells the model of the files, in the person's name and as a message of its own.
_OF_THE_PROGRAM = (
    "I have *added these files to the chat* so you can go ahead and edit them.",
    "I am not sharing any files that you can edit yet.",
    "Don't try and edit any existing code without asking me to add the files to the chat!",
    "Here are summaries of some files present in my git repo",
    "Here are some READ ONLY files, provided for your reference.",
    "I switched to a new code base.",
)


class Entry(NamedTuple):
    """What stands under one heading."""

    is_answer: bool
    written: str
    lines: list[str]
    line: int


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """The dialogues that the calls belong to."""
    stitching = Stitching(SOURCE, note)
    asked: Entry | None = None
    count = 0
    for entry in _entries(source, note):
        if not count:
            note(Kind.BAD_TIME, entry.line, "times have no zone and were taken for UTC")
        count += 1
        if not entry.is_answer:
            if asked is not None:
                stitching.add(_exchange(asked, None, count, note))
            asked = entry
            continue
        stitching.add(_exchange(asked, entry, count, note))
        asked = None
    if asked is not None:
        stitching.add(_exchange(asked, None, count + 1, note))
    for conversation in stitching.conversations():
        yield replace(conversation, timeline=[_with_author(entry) for entry in conversation.timeline])


def _with_author(entry: tree.Entry) -> tree.Entry:
    """The entry; hidden if it is a message that the program itself wrote in the person's name."""
    if not isinstance(entry, Message) or entry.role != "user" or entry.hidden:
        return entry
    _, is_all = marked(entry.parts, lambda text: text.startswith(_OF_THE_PROGRAM))
    return replace(entry, hidden=True) if is_all else entry


def _entries(source: Source, note: Notes) -> Iterator[Entry]:
    entry: Entry | None = None
    with utf8_lines(source, 1 << 20) as stream:
        number = 0
        while data := stream.readline(_LONGEST_LINE):
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


def _exchange(asked: Entry | None, answered: Entry | None, index: int, note: Notes) -> Exchange:
    first = asked or answered
    line = first.line if first else 0
    fields = Fields({"messages": _sent(asked.lines) if asked else []}, note, line)
    system, prompt = messages(fields, OPENAI)
    text = _unprefixed(answered.lines)[1] if answered else None
    body = {"choices": [{"message": {"role": "assistant", **_thoughts_and_answer(text or "")}}]}
    return Exchange(
        index=index - 1,
        where=f"line {line}",
        dialect=OPENAI,
        id=None,
        at=timestamps.moment(first.written) if first else None,
        duration_ms=None,
        model=None,
        system=system,
        prompt=prompt,
        tools=[],
        answer=NOTHING if text is None else answer(body, note, line),
        error=None,
        extra={},
        ended_at=timestamps.moment(answered.written) if answered else None,
    )


def _thoughts_and_answer(text: str) -> dict[str, str]:
    """An answer as an API gives it; what is sent back to the model later is without the thoughts."""
    if not thoughts.has_thoughts(text):
        return {"content": text}
    parts = [*thoughts.split(text)]
    reasoning = "\n\n".join(part.text or "" for part in parts if isinstance(part, Reasoning))
    content = "\n\n".join(part.text for part in parts if isinstance(part, Text))
    return {"content": content, "reasoning_content": reasoning} if reasoning else {"content": text}


def _sent(lines: list[str]) -> list[dict[str, str]]:
    """The messages that were sent, as an API is told them."""
    found: list[list[str]] = []
    for line in lines:
        if line == _DASHES:
            found.append([])
        elif found:
            found[-1].append(line)
        elif line.strip():
            found.append([line])
    told = (_unprefixed(message) for message in found)
    return [{"role": role, "content": content} for role, content in told if content is not None]


def _unprefixed(lines: list[str]) -> tuple[str, str | None]:
    """The role that stands before each line, and the lines without it."""
    first = next((match for line in lines if (match := _ROLE.match(line))), None)
    if first is None:
        text = "\n".join(lines).strip("\n")
        return "assistant", text or None
    mark = first[1]
    plain = [line.removeprefix(mark).removeprefix(" ") if line.startswith(mark) else line for line in lines]
    return mark.lower(), "\n".join(plain).rstrip("\n")
