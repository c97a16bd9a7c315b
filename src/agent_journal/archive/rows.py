"""Convert entries to rows, and rows to entries.

Message texts and everything to filter by have columns of their own. The complete entry is encoded next to
them (`bodies`).
"""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.archive import bodies, encoded
from agent_journal.model import (
    Code,
    Conversation,
    Event,
    Media,
    Memory,
    Message,
    Other,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    tree,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Part

HASH_BYTES = 8
# Characters at each end of a text that, with its length, distinguish it from other texts of the message.
_END_CHARS = 512
_MAX_SEARCHED_INT_BITS = 64
# Shared by all rows without calls, which are most rows of a long conversation.
_NO_CALLS: list[Call] = []
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " ", '"': '"', "\\": "\\", "/": "/"}


@cache
def _details() -> encoded.Decoder[Conversation]:
    return encoded.Decoder(Conversation)


@cache
def _memories() -> encoded.Decoder[Memory]:
    return encoded.Decoder(Memory)


class Call(NamedTuple):
    """The searchable part of a tool call, or of a tool result, which has no name."""

    call_id: str | None
    name: str | None
    kind: str | None = None
    is_error: bool | None = None


class Row(NamedTuple):
    """One entry of a timeline."""

    id: str
    parent_id: str | None
    role: str | None
    name: str | None
    at: str | None
    model: str | None
    text: str | None
    thinking: str
    tool: str
    """The input of tools."""
    output: str
    """The output of tools."""
    attached: str
    """The text of attached files."""
    hash: bytes
    body: bytes
    calls: list[Call]
    usage: Usage | None
    copy_hash: int | None
    """Equal in copies of one message in several conversations."""
    hidden: bool = False
    """Whether a program wrote it to the model in the user's name."""

    @property
    def stored(self) -> bytes:
        """The body without the values of the columns."""
        return bodies.strip_columns(self.body, self[:6])

    def with_stored(self, body: bytes) -> Row:
        """Return the row with a stored body."""
        return self._replace(body=bodies.restore_columns(body, self[:6]))


def row_of(entry: Message | Event) -> Row:
    """Return the row of an entry, without `native`, which can be read again from the vault."""
    if entry.__class__ is Event:
        body = encoded.encode(bodies.Body(entry))
        return Row(
            entry.id, entry.parent_id, None, entry.name, entry.at, None, None, "", "", "", "",
            content_hash(body, None), body, _NO_CALLS, None, None,
        )  # fmt: skip
    return _row_of_message(entry)  # type: ignore[arg-type]


def _row_of_message(message: Message) -> Row:
    texts: list[str] = []
    thinking: list[str] = []
    inputs: list[str] = []
    numbers: list[str] = []
    outputs: list[str] = []
    attached: list[str] = []
    calls: list[Call] = []
    is_native = message.native is not None
    for part in message.parts:
        kind = part.__class__
        if kind is Text:
            # Text that a program put into a message is searched like an attached file.
            (attached if part.injected else texts).append(part.text)  # type: ignore[union-attr,arg-type]
        elif kind is ToolCall:
            calls.append(Call(part.call_id, part.name, part.kind))  # type: ignore[union-attr]
            inputs.append(part.name)  # type: ignore[union-attr,arg-type]
            inputs.extend(_strings(part.input))  # type: ignore[union-attr]
            numbers.extend(_numbers(part.input))  # type: ignore[union-attr]
        elif kind is ToolResult:
            calls.append(Call(part.call_id, None, None, part.is_error))  # type: ignore[union-attr]
            outputs.extend(_output(part))  # type: ignore[arg-type]
            is_native = is_native or part.native is not None  # type: ignore[union-attr]
        elif kind is Reasoning:
            thinking.extend(text for text in (part.text, part.summary) if text)  # type: ignore[union-attr]
        elif kind is Code:
            texts.append(part.code)  # type: ignore[union-attr]
        elif kind is Media and (file_text := tree.held_text(part)) is not None:  # type: ignore[arg-type]
            attached.append(file_text)
    text, tool, output = (
        bodies.TEXT_SEPARATOR.join(texts) if texts else None,
        "\n".join(inputs),
        "\n".join(outputs),
    )
    body = encoded.encode(bodies.body_of(without_native(message) if is_native else message, texts))
    return Row(
        message.id, message.parent_id, message.role, None, message.at, message.model, text,
        "\n".join(thinking), "\n".join((tool, *numbers)), output, "\n".join(attached),
        content_hash(body, text), body, calls or _NO_CALLS,
        message.usage,
        _copy_hash(message, text, f"{tool}\n{output}" if tool and output else tool or output),
        message.hidden,
    )  # fmt: skip


def _copy_hash(message: Message, text: str | None, tool: str) -> int | None:
    """Return a number that copies of one message share, or None if copies cannot be recognized.

    Forks and resumed sessions repeat id, time and text. An id that the reader made proves nothing.
    """
    if message.made_id or message.at is None:
        return None
    words = f"{None if text is None else _ends(text)}\0{_ends(tool)}"
    return number_of(f"{message.id}\0{message.at}\0{message.role}\0{words}")


def number_of(text: str) -> int:
    """Hash a text to a signed 64-bit number, as a column can store it."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _END_CHARS else f"{len(text)}\0{text[:_END_CHARS]}\0{text[-_END_CHARS:]}"


def speaker(role: str, *, hidden: bool) -> str:
    """Return the role that search shows: `system` for what a program wrote in the user's name."""
    return "system" if hidden and role == "user" else role


def texts_by_field(message: Message) -> tuple[tuple[str, str], ...]:
    """Return the texts of a message by field: text, tool input, tool output, thinking, attachments."""
    pieces: dict[str, list[str]] = {"text": [], "tool": [], "output": [], "thinking": [], "attached": []}
    names = {"text": "text", "thinking": "thinking", "call": "tool", "answer": "output", "file": "attached"}
    for kind, text in _pieces(message):
        if kind in names and text:
            pieces[names[kind]].append(text)
    for part in message.parts:
        if isinstance(part, ToolCall):
            pieces["tool"] += _numbers(part.input)
    return tuple(
        (field, (bodies.TEXT_SEPARATOR if field == "text" else "\n").join(texts))
        for field, texts in pieces.items()
        if texts
    )


def contains_all(more: Message | Event, less: Message | Event) -> bool:
    """Whether an entry contains everything that another version of it contains, and perhaps more.

    Texts, reasoning, tool calls, results and attachments are compared, but not source-specific details.
    """
    if isinstance(more, Event) or isinstance(less, Event):
        return isinstance(more, Event) and isinstance(less, Event) and _contains_event(more, less)
    left = _pieces(more)
    return more.role == less.role and all(
        any(kind == other and longer.startswith(text) for other, longer in left)
        for kind, text in _pieces(less)
        if text
    )


def _contains_event(more: Event, less: Event) -> bool:
    missing = object()
    return more.name == less.name and all(
        more.data.get(key, missing) == value for key, value in less.data.items()
    )


def _pieces(message: Message) -> Iterator[tuple[str, str]]:
    """Yield the content of a message, piece by piece, in order."""
    for part in message.parts:
        if isinstance(part, Text):
            yield "file" if part.injected else "text", part.text
        elif isinstance(part, Code):
            yield "text", part.code
        elif isinstance(part, Reasoning):
            yield from (("thinking", text) for text in (part.text, part.summary) if text)
            yield "sealed", part.encrypted or ""
        elif isinstance(part, ToolCall):
            yield "call", part.name
            yield from (("call", text) for text in _strings(part.input))
        elif isinstance(part, ToolResult):
            yield from (("answer", text) for text in _output(part))
        elif isinstance(part, Media) and (file_text := tree.held_text(part)) is not None:
            yield "file", file_text
            yield "other", encoded.encode(replace(part, text=None)).hex()
        else:
            yield "other", encoded.encode(part).hex()


def without_native(message: Message) -> Message:
    """Return the message without native content."""
    parts: list[Part] = [
        replace(part, native=None) if isinstance(part, ToolResult) and part.native is not None else part
        for part in message.parts
    ]
    return replace(message, parts=parts, native=None)


def message_count(rows: Iterable[Row]) -> int:
    """Return how many of the rows are messages; the others are events."""
    return sum(row.role is not None for row in rows)


def content_hash(body: bytes, text: str | None) -> bytes:
    """Return the hash that distinguishes versions of an entry."""
    digest = hashlib.sha256(body)
    if text is not None:
        digest.update(text.encode())
    return digest.digest()[:HASH_BYTES]


def _output(result: ToolResult) -> Iterator[str]:
    if isinstance(result.output, str):
        yield _legible(result.output)
        return
    for part in result.output:
        if part.__class__ is Text:
            yield part.text
        elif part.__class__ is Code:
            yield part.code
        elif part.__class__ is ToolCall:
            yield from _strings(part.input)
        elif part.__class__ is Other:
            yield from _strings(part.data)
        elif part.__class__ is Media and (file_text := tree.held_text(part)) is not None:
            yield file_text


def _legible(text: str) -> str:
    """Unescape a text that is a JSON object, as some tools pass on their input.

    Otherwise the first word of each line would begin with the `n` of an escape, and no search would find it.
    """
    if not (text.startswith("{") and "\\" in text and text.rstrip().endswith("}")):
        return text
    if "\\\\" in text:
        return _ESCAPE.sub(lambda match: _ESCAPED.get(match[1], match[0]), text)
    for letter, character in _ESCAPED.items():
        text = text.replace(f"\\{letter}", character)
    return text


def _strings(value: Any) -> Iterator[str]:
    """Yield every text in a value, at any depth, in order."""
    if value.__class__ is str:
        yield _legible(value)
        return
    yield from (each for each in _leaves(value) if each.__class__ is str)


def _numbers(value: Any) -> list[str]:
    """Return every number in a value as text, so that a search for issue 4711 returns the call with it."""
    return [str(each) for each in _leaves(value) if each.__class__ is float or _is_short(each)]


def _is_short(value: Any) -> bool:
    """Whether it is an integer that a user may type; Python refuses to print one with thousands of digits."""
    return value.__class__ is int and value.bit_length() <= _MAX_SEARCHED_INT_BITS


def _leaves(value: Any) -> Iterator[Any]:
    """Yield everything in a value that is not a list or object, at any depth, in order."""
    pending = [value]
    while pending:
        value = pending.pop()
        if value.__class__ is dict:
            pending.extend(reversed(value.values()))
        elif value.__class__ is list:
            pending.extend(reversed(value))
        else:
            yield value


def detail_of(conversation: Conversation) -> bytes:
    """Encode a conversation without its timeline."""
    return encoded.encode(replace(conversation, timeline=[]))


def conversation_of(detail: bytes) -> Conversation:
    """Decode a conversation without its timeline."""
    return _details().decode(detail)


def memory_of(body: bytes) -> Memory:
    """Decode a memory."""
    return _memories().decode(body)


def memory_hash(memory: Memory) -> bytes:
    """Return the hash that distinguishes versions of a memory; its origin does not count."""
    return content_hash(encoded.encode(replace(memory, origin=None)), None)
