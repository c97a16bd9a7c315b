"""Reads the chat history: sessions under headings, with their messages."""

from __future__ import annotations

import re
from codecs import BOM_UTF8
from collections import Counter
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace

from agent_journal.errors import UnreadableSource
from agent_journal.model import (
    Conversation,
    Event,
    Link,
    Message,
    Part,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    timestamps,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.aider import answers, printed_lines
from agent_journal.readers.aider.blocks import Block, blocks
from agent_journal.readers.aider.detect import HEADING, SOURCE
from agent_journal.readers.aider.prompts import Prompts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_BLOCK_BYTES = 1 << 20
# Larger sessions are not read: a day of work has a few megabytes.
_MAX_SESSION_BYTES = 128 << 20
# These characters identify a session without a start time.
_KEY_CHARS = 200
_COMMAND = re.compile(r"(?:/run|/test|/lint|/git|!)\s*(.*)\Z", re.DOTALL)


class SessionText(NamedTuple):
    """The blocks of a session, its first characters, its byte offset, and its start time as written."""

    started: str | None
    beginning: str
    blocks: list[Block]
    offset: int


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield each session as soon as it is complete."""
    prompts = _prompts(source, note)
    id_counts: Counter[str] = Counter()
    is_noted = False
    previous: str | None = None
    for session_text in _sessions(source, note):
        if session_text.started is not None and not is_noted:
            note(
                Kind.BAD_TIME,
                _line_number(source, session_text.offset),
                "times have no zone and are read as UTC",
            )
            is_noted = True
        session = _SessionReader(session_text, prompts, id_counts)
        if session.is_undated:
            note(
                Kind.BAD_TIME,
                _line_number(source, session_text.offset),
                f"{str(session_text.started)[:60]!r}",
            )
        conversation = session.conversation(previous)
        if conversation is not None:
            previous = conversation.id
            yield conversation


def _prompts(source: Input, note: Notes) -> Prompts:
    prompt_file = source.companion(".aider.input.history")
    try:
        return Prompts(prompt_file)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Prompts(None)


def _sessions(source: Input, note: Notes) -> Iterator[SessionText]:
    """Yield the sessions; text before the first heading is one without a heading."""
    for index, (offset, data) in enumerate(_split_at_headings(source, note)):
        text = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        try:
            session_text = _session_text(text, offset)
        except UnicodeDecodeError:
            note(Kind.BAD_ENCODING, _line_number(source, offset), "not UTF-8")
            session_text = _session_text(text.decode("utf-8", "replace").encode(), offset)
        if index:
            yield session_text
        elif session_text.blocks:
            yield session_text._replace(started=None)


def _session_text(text: bytes, offset: int) -> SessionText:
    end = text.find(b"\n")
    end = end if end >= 0 else len(text)
    start = end + 1
    if offset < 0 and text.startswith(BOM_UTF8, start):
        start += len(BOM_UTF8)
    beginning = text[start : start + 4 * _KEY_CHARS].decode("utf-8", "ignore")[:_KEY_CHARS]
    return SessionText(text[:end].decode().strip(), beginning, blocks(text, start), offset)


def _split_at_headings(source: Input, note: Notes) -> Iterator[tuple[int, bytes]]:
    """Yield the bytes between headings with their offsets; the first ones are those before any heading."""
    mark = b"\n" + HEADING
    begin, pending = -1, b"\n"  # so that a heading may be the first line
    with source.open() as stream:
        while block := stream.read(_BLOCK_BYTES):
            data, at = pending + block, 0
            while (end := data.find(mark, at)) >= 0:
                yield begin + at, data[at : end + 1]  # the line feed before a heading ends the line before it
                at = end + len(mark)
            begin, pending = begin + at, data[at:]
            if len(pending) > _MAX_SESSION_BYTES:
                note(Kind.TOO_LARGE, "", f"a session has more than {_MAX_SESSION_BYTES:,} bytes")
                begin, pending = begin + len(pending), b""
    yield begin, pending


def _line_number(source: Input, offset: int) -> int:
    """Count the number of the line at an offset, which is rarely needed."""
    remaining, line = offset, 1
    with source.open() as stream:
        while remaining > 0 and (block := stream.read(min(remaining, _BLOCK_BYTES))):
            line += block.count(b"\n")
            remaining -= len(block)
    return line


class _SessionReader:
    """Builds the conversation of one session."""

    def __init__(self, session_text: SessionText, prompts: Prompts, id_counts: Counter[str]) -> None:
        self._text = session_text
        self._prompts = prompts
        self._at = timestamps.parse_timestamp(session_text.started) if session_text.started else None
        self._blocks = session_text.blocks
        key = session_text.started or session_text.beginning
        id_counts[key] += 1
        self._id = ids.made(SOURCE, key, self._first_line(), id_counts[key])
        self._timeline: list[Message | Event] = []
        self._facts: dict[str, str] = {}
        self._model: str | None = None
        self._open_edits: dict[str, list[ToolCall]] = {}
        self._last_at = self._at
        self._command: str | None = None
        self._is_restored = False
        self._answer_without_usage: int | None = None  # index of the last answer since a prompt

    @property
    def is_undated(self) -> bool:
        """Whether the heading has no readable time."""
        return self._text.started is not None and self._at is None

    def conversation(self, previous: str | None) -> Conversation | None:
        """Build the conversation; None for an empty session without a heading.

        If the session restored the history, it continues the previous one.
        """
        for speaker, text in self._blocks:
            if speaker == "person":
                self._add_prompt(text)
            elif speaker == "aider":
                self._add_output(text)
            else:
                self._add_answer(text)
        if self._text.started is None and not self._timeline:
            return None
        return Conversation(
            id=self._id,
            made_id=True,
            source=SOURCE,
            title=_title(self._timeline),
            started_at=self._at,
            updated_at=self._last_at if self._last_at != self._at else None,
            app_version=self._facts.get("version"),
            model=self._facts.get("model"),
            cwd=self._facts.get("folder"),
            shape="list",
            link=Link(conversation_id=previous, relation="continues")
            if previous and self._is_restored
            else None,
            timeline=self._timeline,
            extra=self._extra(),
        )

    def _extra(self) -> dict[str, str]:
        fields = {"edit_format": self._facts.get("edit_format"), "started": self._text.started}
        return {name: value for name, value in fields.items() if value is not None}

    def _first_line(self) -> str | None:
        """Get the first line that Aider prints, which distinguishes sessions of the same second."""
        first = self._blocks[0] if self._blocks else None
        return first[1].split("\n", 1)[0] if first and first[0] == "aider" else None

    def _new_id(self) -> str:
        return ids.made(self._id, len(self._timeline))

    def _add_prompt(self, text: str) -> None:
        at = self._prompts.time_of(text, self._last_at)
        self._last_at = at or self._last_at
        command = _COMMAND.match(text)
        self._command = command[1] if command else None
        self._answer_without_usage = None
        self._timeline.append(
            Message(id=self._new_id(), made_id=True, role="user", at=at, parts=[Text(text=text)])
        )

    def _add_answer(self, text: str) -> None:
        message_id = self._new_id()
        parts = answers.parts(text, message_id)
        self._open_edits.clear()  # edits are applied or skipped before the model continues
        for part in parts:
            if part.__class__ is ToolCall:
                self._open_edits.setdefault(str(part.input["file"]), []).append(part)
        self._answer_without_usage = len(self._timeline)
        is_plain = len(parts) == 1 and isinstance(parts[0], Text) and parts[0].text == text
        self._timeline.append(
            Message(
                id=message_id,
                made_id=True,
                role="assistant",
                model=self._model,
                parts=parts,
                native=None if is_plain else text,
            )
        )

    def _add_output(self, text: str) -> None:
        """Add output: facts go to their fields, the rest is a message of Aider or of a command."""
        if not printed_lines.may_have_facts(text):
            self._add_pending([text])
            return
        pending: list[str] = []
        lines = text.split("\n")
        for line in _join_costs(lines) if "\nCost: " in text else lines:
            usage = printed_lines.parse_usage(line) if line.startswith("Tokens: ") else None
            if usage is not None and self._add_usage(usage):
                continue
            fact = printed_lines.parse_fact(line)
            if fact is None or not self._record_fact(fact, line, pending):
                pending.append(line)
        self._add_pending(pending)

    def _add_pending(self, pending: list[str]) -> None:
        if not pending:
            return
        text = "\n".join(pending).strip("\n")
        pending.clear()
        if not text or text.isspace():
            return
        if self._command is not None:
            result = ToolResult(
                name="run", output=text, extra={"command": self._command} if self._command else {}
            )
            self._timeline.append(Message(id=self._new_id(), made_id=True, role="tool", parts=[result]))
            self._command = None
        else:
            self._timeline.append(
                Message(id=self._new_id(), made_id=True, role="system", parts=[Text(text=text)])
            )

    def _record_fact(self, fact: printed_lines.Fact, line: str, pending: list[str]) -> bool:
        """Record a fact; return whether its line needs no message."""
        match fact.kind:
            case "edit":
                return self._close_edits(fact.value, line, pending)
            case "model":
                self._model = fact.value
                self._facts.setdefault("model", fact.value)
                if fact.more:
                    self._facts.setdefault("edit_format", fact.more)
            case "version" | "folder":
                self._facts.setdefault(fact.kind, fact.value)
            case "restored":
                self._is_restored = self._is_restored or not any(
                    isinstance(entry, Message) and entry.role == "user" for entry in self._timeline
                )
            case "running":
                self._add_pending(pending)
                self._command = fact.value
            case "commit":
                self._add_pending(pending)
                data = {"commit": fact.value, "message": fact.more or ""}
                self._timeline.append(Event(id=self._new_id(), made_id=True, name="commit", data=data))
                return True
        return False

    def _close_edits(self, file: str, line: str, pending: list[str]) -> bool:
        """Add the results of a file's open edits; return whether there were any."""
        calls = self._open_edits.pop(file, [])
        if not calls:
            return False
        self._add_pending(pending)
        results: list[Part] = [
            ToolResult(call_id=call.call_id, name=call.name, output=line) for call in calls
        ]
        self._timeline.append(Message(id=self._new_id(), made_id=True, role="tool", parts=results))
        return True

    def _add_usage(self, usage: Usage) -> bool:
        """Add usage to the last answer without any; return whether there is one."""
        index, self._answer_without_usage = self._answer_without_usage, None
        answer = None if index is None else self._timeline[index]
        if index is None or not isinstance(answer, Message):
            return False
        self._timeline[index] = replace(answer, usage=usage)
        return True


def _join_costs(lines: list[str]) -> Iterator[str]:
    """Append the cost to the line of tokens above it."""
    pending: str | None = None
    for line in lines:
        if pending is not None:
            yield f"{pending} {line}" if (is_cost := line.startswith("Cost: ")) else pending
            pending = None
            if is_cost:
                continue
        if line.startswith("Tokens: ") and "Cost: " not in line:
            pending = line
        else:
            yield line
    if pending is not None:
        yield pending


def _title(timeline: list[Message | Event]) -> str | None:
    """Make a title of the first prompt that is not a command."""
    prompts = (entry for entry in timeline if isinstance(entry, Message) and entry.role == "user")
    texts = (tree.plain_text(message) for message in prompts)
    return tree.title_from(text for text in texts if not text.lstrip().startswith(("/", "!")))
