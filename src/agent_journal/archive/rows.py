"""A conversation as rows, and rows as a conversation.

What people and models said and everything one may want to filter by are columns of their own. The whole of an
entry is encoded beside them (`bodies`).
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
# Characters at each end of a text that, with its length, tell it from another one of the same message.
_ENDS = 512
_WORD_BITS = 64
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPED = {"n": "\n", "r": "\n", "t": "\t", "b": " ", "f": " ", '"': '"', "\\": "\\", "/": "/"}


@cache
def _details() -> encoded.Decoder[Conversation]:
    return encoded.Decoder(Conversation)


@cache
def _memories() -> encoded.Decoder[Memory]:
    return encoded.Decoder(Memory)


class Call(NamedTuple):
    """A tool call as far as people ask for it, or the answer to one, which has no name."""

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
    """What tools were given."""
    output: str
    """What they gave."""
    attached: str
    """What files say that were put beside what was said."""
    hash: bytes
    body: bytes
    calls: list[Call]
    usage: Usage | None
    copy_hash: int | None
    """Equal in copies of one message that stand in several conversations."""
    hidden: bool = False
    """Whether nobody said it to anybody: what a program puts before the model in the person's name."""

    @property
    def stored(self) -> bytes:
        """The body without what columns tell."""
        return bodies.stored(self.body, self[:6])

    def with_stored(self, body: bytes) -> Row:
        """The row with a body that was stored."""
        return self._replace(body=bodies.whole(body, self[:6]))


def row_of(entry: Message | Event) -> Row:
    """The row of an entry. What only the source's own form tells, `native`, is in the vault."""
    if entry.__class__ is Event:
        body = encoded.encode(bodies.Body(entry))
        return Row(
            entry.id, entry.parent_id, None, entry.name, entry.at, None, None, "", "", "", "",
            content_hash(body, None), body, [], None, None,
        )  # fmt: skip
    return _row_of_message(entry)  # type: ignore[arg-type]


def _row_of_message(message: Message) -> Row:
    said: list[str] = []
    thought: list[str] = []
    given: list[str] = []
    numbers: list[str] = []
    gave: list[str] = []
    attached: list[str] = []
    calls: list[Call] = []
    is_native = message.native is not None
    for part in message.parts:
        kind = part.__class__
        if kind is Text:
            # What a program put into a message is found like a file that was put beside it.
            (attached if part.injected else said).append(part.text)  # type: ignore[union-attr,arg-type]
        elif kind is ToolCall:
            calls.append(Call(part.call_id, part.name, part.kind))  # type: ignore[union-attr]
            given.append(part.name)  # type: ignore[union-attr,arg-type]
            given.extend(_strings(part.input))  # type: ignore[union-attr]
            numbers.extend(_numbers(part.input))  # type: ignore[union-attr]
        elif kind is ToolResult:
            calls.append(Call(part.call_id, None, None, part.is_error))  # type: ignore[union-attr]
            gave.extend(_output(part))  # type: ignore[arg-type]
            is_native = is_native or part.native is not None  # type: ignore[union-attr]
        elif kind is Reasoning:
            thought.extend(text for text in (part.text, part.summary) if text)  # type: ignore[union-attr]
        elif kind is Code:
            said.append(part.code)  # type: ignore[union-attr]
        elif kind is Media and (held := tree.held_text(part)) is not None:  # type: ignore[arg-type]
            attached.append(held)
    text, tool, output = bodies.BETWEEN.join(said) if said else None, "\n".join(given), "\n".join(gave)
    body = encoded.encode(bodies.body_of(without_native(message) if is_native else message, said))
    return Row(
        message.id, message.parent_id, message.role, None, message.at, message.model, text,
        "\n".join(thought), "\n".join((tool, *numbers)), output, "\n".join(attached),
        content_hash(body, text), body, calls,
        message.usage,
        _copy_hash(message, text, f"{tool}\n{output}" if tool and output else tool or output),
        message.hidden,
    )  # fmt: skip


def _copy_hash(message: Message, text: str | None, tool: str) -> int | None:
    """A number that copies of one message share, or None where nothing proves that they are copies.

    Forks and resumed histories repeat id, time and words. An id that we made proves nothing.
    """
    if message.made_id or message.at is None:
        return None
    words = f"{None if text is None else _ends(text)}\0{_ends(tool)}"
    return number_of(f"{message.id}\0{message.at}\0{message.role}\0{words}")


def number_of(text: str) -> int:
    """A number that stands for a text: of 64 bits, as a column holds it."""
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big", signed=True)


def _ends(text: str) -> str:
    return text if len(text) <= 2 * _ENDS else f"{len(text)}\0{text[:_ENDS]}\0{text[-_ENDS:]}"


def speaker(role: str, *, hidden: bool) -> str:
    """Who said a message to whoever searches: what a program wrote in the person's name is the system's."""
    return "system" if hidden and role == "user" else role


def texts_of(message: Message) -> tuple[tuple[str, str], ...]:
    """What a message says, by where it says so: said, given to tools, given by them, thought, attached."""
    pieces: dict[str, list[str]] = {"text": [], "tool": [], "output": [], "thinking": [], "attached": []}
    names = {"said": "text", "thought": "thinking", "call": "tool", "answer": "output", "file": "attached"}
    for kind, text in _pieces(message):
        if kind in names and text:
            pieces[names[kind]].append(text)
    for part in message.parts:
        if isinstance(part, ToolCall):
            pieces["tool"] += _numbers(part.input)
    return tuple(
        (field, (bodies.BETWEEN if field == "text" else "\n").join(texts))
        for field, texts in pieces.items()
        if texts
    )


def says_all(more: Message | Event, less: Message | Event) -> bool:
    """Whether an entry says everything that another version of it says, and perhaps more.

    What was said, thought, called and answered counts, and what was attached; not the source's own remarks.
    """
    if isinstance(more, Event) or isinstance(less, Event):
        return isinstance(more, Event) and isinstance(less, Event) and _holds(more, less)
    left = _pieces(more)
    return more.role == less.role and all(
        any(kind == other and longer.startswith(text) for other, longer in left)
        for kind, text in _pieces(less)
        if text
    )


def _holds(more: Event, less: Event) -> bool:
    missing = object()
    return more.name == less.name and all(
        more.data.get(key, missing) == value for key, value in less.data.items()
    )


def _pieces(message: Message) -> Iterator[tuple[str, str]]:
    """Everything a message says, piece by piece, in its order."""
    for part in message.parts:
        if isinstance(part, Text):
            yield "file" if part.injected else "said", part.text
        elif isinstance(part, Code):
            yield "said", part.code
        elif isinstance(part, Reasoning):
            yield from (("thought", text) for text in (part.text, part.summary) if text)
            yield "sealed", part.encrypted or ""
        elif isinstance(part, ToolCall):
            yield "call", part.name
            yield from (("call", text) for text in _strings(part.input))
        elif isinstance(part, ToolResult):
            yield from (("answer", text) for text in _output(part))
        elif isinstance(part, Media) and (held := tree.held_text(part)) is not None:
            yield "file", held
            yield "other", encoded.encode(replace(part, text=None)).hex()
        else:
            yield "other", encoded.encode(part).hex()


def without_native(message: Message) -> Message:
    """The message without the forms that only its source has."""
    parts: list[Part] = [
        replace(part, native=None) if isinstance(part, ToolResult) and part.native is not None else part
        for part in message.parts
    ]
    return replace(message, parts=parts, native=None)


def messages_in(rows: Iterable[Row]) -> int:
    """How many of the rows are messages; the others are events."""
    return sum(row.role is not None for row in rows)


def content_hash(body: bytes, text: str | None) -> bytes:
    """What tells two versions of an entry apart."""
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
        elif part.__class__ is Media and (held := tree.held_text(part)) is not None:
            yield held


def _legible(text: str) -> str:
    """A text; of one that is an object in JSON, its lines as lines: some tools pass on what they got so.

    Else the first word of each line would have an `n` before it, and nobody would find it.
    """
    if not (text.startswith("{") and "\\" in text and text.rstrip().endswith("}")):
        return text
    if "\\\\" in text:
        return _ESCAPE.sub(lambda found: _ESCAPED.get(found[1], found[0]), text)
    for letter, meant in _ESCAPED.items():
        text = text.replace(f"\\{letter}", meant)
    return text


def _strings(value: Any) -> Iterator[str]:
    """Every text in a value, however deep, in its order."""
    if value.__class__ is str:
        yield _legible(value)
        return
    yield from (each for each in _leaves(value) if each.__class__ is str)


def _numbers(value: Any) -> list[str]:
    """Every number in a value, as text: whoever looks for issue 4711 means the call that was given it."""
    return [str(each) for each in _leaves(value) if each.__class__ is float or _is_short(each)]


def _is_short(value: Any) -> bool:
    """Whether it is a whole number that somebody may type; Python writes none of thousands of digits."""
    return value.__class__ is int and value.bit_length() <= _WORD_BITS


def _leaves(value: Any) -> Iterator[Any]:
    """Everything in a value that is no list or object, however deep, in its order."""
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
    """Everything about a conversation but its timeline."""
    return encoded.encode(replace(conversation, timeline=[]))


def conversation_of(detail: bytes) -> Conversation:
    """A conversation without its timeline."""
    return _details().decode(detail)


def memory_of(body: bytes) -> Memory:
    """A memory as it was stored."""
    return _memories().decode(body)


def memory_hash(memory: Memory) -> bytes:
    """What tells two versions of a memory apart; where it came from does not."""
    return content_hash(encoded.encode(replace(memory, origin=None)), None)
