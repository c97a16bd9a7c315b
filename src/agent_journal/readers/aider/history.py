"""The chat history: sessions under headings, and what was said in each."""

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

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_BLOCK = 1 << 20
# A session larger than this is not read: a day of work is a few megabytes.
_LARGEST = 128 << 20
# So many characters tell a session of which it is not known when it began.
_BEGINNING = 200
_COMMAND = re.compile(r"(?:/run|/test|/lint|/git|!)\s*(.*)\Z", re.DOTALL)


class Piece(NamedTuple):
    """What a session says and how that begins, with the byte it begins at, and when it did, as written."""

    started: str | None
    beginning: str
    blocks: list[Block]
    at: int


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """Each session as soon as it is whole."""
    prompts = _prompts(source, note)
    told: Counter[str] = Counter()
    is_told = False
    before: str | None = None
    for piece in _pieces(source, note):
        if piece.started is not None and not is_told:
            note(Kind.BAD_TIME, _line(source, piece.at), "times have no zone and were taken for UTC")
            is_told = True
        session = _Session(piece, prompts, told)
        if session.is_undated:
            note(Kind.BAD_TIME, _line(source, piece.at), f"{str(piece.started)[:60]!r}")
        conversation = session.conversation(before)
        if conversation is not None:
            before = conversation.id
            yield conversation


def _prompts(source: Source, note: Notes) -> Prompts:
    beside = source.companion(".aider.input.history")
    try:
        return Prompts(beside)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return Prompts(None)


def _pieces(source: Source, note: Notes) -> Iterator[Piece]:
    """The sessions one after the other; what is before the first heading has lost its own."""
    for place, (at, data) in enumerate(_stretches(source, note)):
        text = data.replace(b"\r\n", b"\n") if b"\r" in data else data
        try:
            piece = _piece(text, at)
        except UnicodeDecodeError:
            note(Kind.BAD_ENCODING, _line(source, at), "not UTF-8")
            piece = _piece(text.decode("utf-8", "replace").encode(), at)
        if place:
            yield piece
        elif piece.blocks:
            yield piece._replace(started=None)


def _piece(text: bytes, at: int) -> Piece:
    end = text.find(b"\n")
    end = end if end >= 0 else len(text)
    start = end + 1
    if at < 0 and text.startswith(BOM_UTF8, start):
        start += len(BOM_UTF8)
    beginning = text[start : start + 4 * _BEGINNING].decode("utf-8", "ignore")[:_BEGINNING]
    return Piece(text[:end].decode().strip(), beginning, blocks(text, start), at)


def _stretches(source: Source, note: Notes) -> Iterator[tuple[int, bytes]]:
    """The bytes between headings, and where they begin; the first ones are those before any heading."""
    mark = b"\n" + HEADING
    begin, pending = -1, b"\n"  # so that a heading may be the first line
    with source.open() as stream:
        while block := stream.read(_BLOCK):
            data, at = pending + block, 0
            while (end := data.find(mark, at)) >= 0:
                yield begin + at, data[at : end + 1]  # the line feed before a heading ends the line before it
                at = end + len(mark)
            begin, pending = begin + at, data[at:]
            if len(pending) > _LARGEST:
                note(Kind.TOO_LARGE, "", f"a session of more than {_LARGEST:,} bytes")
                begin, pending = begin + len(pending), b""
    yield begin, pending


def _line(source: Source, at: int) -> int:
    """The number of the line that a byte is in: counted when it is told, which is rare."""
    left, line = at, 1
    with source.open() as stream:
        while left > 0 and (block := stream.read(min(left, _BLOCK))):
            line += block.count(b"\n")
            left -= len(block)
    return line


class _Session:
    """One session as it is put together."""

    def __init__(self, piece: Piece, prompts: Prompts, told: Counter[str]) -> None:
        self._piece = piece
        self._prompts = prompts
        self._at = timestamps.moment(piece.started) if piece.started else None
        self._blocks = piece.blocks
        key = piece.started or piece.beginning
        told[key] += 1
        self._id = ids.made(SOURCE, key, self._first_line(), told[key])
        self._timeline: list[Message | Event] = []
        self._facts: dict[str, str] = {}
        self._model: str | None = None
        self._open: dict[str, list[ToolCall]] = {}
        self._last_at = self._at
        self._command: str | None = None
        self._is_restored = False
        self._unpaid: int | None = None  # the place of the last answer since a prompt, if it has no tokens

    @property
    def is_undated(self) -> bool:
        """Whether the heading states no moment."""
        return self._piece.started is not None and self._at is None

    def conversation(self, before: str | None) -> Conversation | None:
        """The session; None if there is nothing in a stretch without a heading.

        Where it restored the history, it continues the one before it.
        """
        for speaker, text in self._blocks:
            if speaker == "person":
                self._typed(text)
            elif speaker == "aider":
                self._printed(text)
            else:
                self._said(text)
        if self._piece.started is None and not self._timeline:
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
            link=Link(conversation_id=before, relation="continues") if before and self._is_restored else None,
            timeline=self._timeline,
            extra=self._extra(),
        )

    def _extra(self) -> dict[str, str]:
        found = {"edit_format": self._facts.get("edit_format"), "started": self._piece.started}
        return {name: value for name, value in found.items() if value is not None}

    def _first_line(self) -> str | None:
        """What Aider prints at once when a session begins, which tells sessions of one second apart."""
        first = self._blocks[0] if self._blocks else None
        return first[1].split("\n", 1)[0] if first and first[0] == "aider" else None

    def _new_id(self) -> str:
        return ids.made(self._id, len(self._timeline))

    def _typed(self, text: str) -> None:
        at = self._prompts.time_of(text, self._last_at)
        self._last_at = at or self._last_at
        command = _COMMAND.match(text)
        self._command = command[1] if command else None
        self._unpaid = None
        self._timeline.append(
            Message(id=self._new_id(), made_id=True, role="user", at=at, parts=[Text(text=text)])
        )

    def _said(self, text: str) -> None:
        message_id = self._new_id()
        parts = answers.parts(text, message_id)
        self._open.clear()  # edits are made, or not, before the model goes on
        for part in parts:
            if part.__class__ is ToolCall:
                self._open.setdefault(str(part.input["file"]), []).append(part)
        self._unpaid = len(self._timeline)
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

    def _printed(self, text: str) -> None:
        """Output: what has a place of its own goes there, the rest is a message of Aider or of a command."""
        if not printed_lines.tells(text):
            self._flush([text])
            return
        held: list[str] = []
        lines = text.split("\n")
        for line in _with_costs(lines) if "\nCost: " in text else lines:
            usage = printed_lines.usage(line) if line.startswith("Tokens: ") else None
            if usage is not None and self._spent(usage):
                continue
            fact = printed_lines.fact(line)
            if fact is None or not self._told(fact, line, held):
                held.append(line)
        self._flush(held)

    def _flush(self, held: list[str]) -> None:
        if not held:
            return
        text = "\n".join(held).strip("\n")
        held.clear()
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

    def _told(self, fact: printed_lines.Fact, line: str, held: list[str]) -> bool:
        """Put a fact where it belongs; whether its line is told by that."""
        match fact.kind:
            case "edit":
                return self._edited(fact.value, line, held)
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
                self._flush(held)
                self._command = fact.value
            case "commit":
                self._flush(held)
                data = {"commit": fact.value, "message": fact.more or ""}
                self._timeline.append(Event(id=self._new_id(), made_id=True, name="commit", data=data))
                return True
        return False

    def _edited(self, file: str, line: str, held: list[str]) -> bool:
        """Answer the edits of a file that are still open."""
        calls = self._open.pop(file, [])
        if not calls:
            return False
        self._flush(held)
        results: list[Part] = [
            ToolResult(call_id=call.call_id, name=call.name, output=line) for call in calls
        ]
        self._timeline.append(Message(id=self._new_id(), made_id=True, role="tool", parts=results))
        return True

    def _spent(self, usage: Usage) -> bool:
        """Put tokens with the last answer that has none yet."""
        place, self._unpaid = self._unpaid, None
        answer = None if place is None else self._timeline[place]
        if place is None or not isinstance(answer, Message):
            return False
        self._timeline[place] = replace(answer, usage=usage)
        return True


def _with_costs(lines: list[str]) -> Iterator[str]:
    """The lines, where the cost that stands below the tokens is put behind them."""
    held: str | None = None
    for line in lines:
        if held is not None:
            yield f"{held} {line}" if (is_cost := line.startswith("Cost: ")) else held
            held = None
            if is_cost:
                continue
        if line.startswith("Tokens: ") and "Cost: " not in line:
            held = line
        else:
            yield line
    if held is not None:
        yield held


def _title(timeline: list[Message | Event]) -> str | None:
    """The first prompt that is no command."""
    typed = (entry for entry in timeline if isinstance(entry, Message) and entry.role == "user")
    texts = (tree.plain_text(message) for message in typed)
    return tree.title_from(text for text in texts if not text.lstrip().startswith(("/", "!")))
