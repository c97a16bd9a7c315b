"""Builds one dialogue from its calls: every message once, every call with its request and its answer."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Bag, Conversation, Message, Request, Text, Tool, ToolCall, Usage, timestamps
from agent_journal.notes import Notes
from agent_journal.readers.dialects.api_calls.dialects import SYSTEM_INDEX, find_difference
from agent_journal.readers.dialects.api_calls.exchange import Sent
from agent_journal.readers.dialects.api_calls.meanings import Form
from agent_journal.readers.dialects.api_calls.trails import NOTHING, Known
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, mark_injected_parts

if TYPE_CHECKING:
    from agent_journal.decoding.spill import Shelf
    from agent_journal.readers.dialects.api_calls.answer import Reply
    from agent_journal.readers.dialects.api_calls.exchange import Exchange

_HARNESS = Tags(HARNESS_TAGS)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# The form of a message whose text is on the timeline; no hash is empty.
_TEXT_ON_TIMELINE = b""


class Step(Struct, frozen=True, gc=False):
    """A message on a path through a dialogue: the place it leads to, the message, its form."""

    place: int
    sent: Sent
    form: Form
    adds_call_ids: bool = False
    """Whether its calls have ids that its first occurrence lacks."""


class Path(Struct, frozen=True, gc=False):
    """The path of an exchange: its name, the steps of its request, and the places of its replies."""

    name: str
    system: list[Step]
    prompt: list[Step]
    replies: list[tuple[int, Form]]
    tools: list[int]
    after: str | None = None
    """The message that the first one sent follows, if the request does not repeat earlier messages."""
    known: Known = NOTHING
    """The first steps, as far as they are also those of a recent exchange."""


class Added(Struct, frozen=True, gc=False):
    """The messages of an added exchange."""

    leaf_id: str | None
    """The message that a continuation of the exchange follows."""
    ids: list[str]
    """The ids of the messages that it sent."""
    changed: dict[int, Bag]
    """What some of them, by index, have that their first occurrence does not."""


class _StoredMessage(Struct, frozen=True, gc=False):
    """A message of the timeline: the form of its first occurrence, and the message if the form is a hash."""

    id: str
    form: Form
    raw: Any = None


def _stored_message(message_id: str, form: Form, raw: Any) -> _StoredMessage:
    return (
        _StoredMessage(message_id, form) if form.__class__ is tuple else _StoredMessage(message_id, form, raw)
    )


class _Content(Struct, gc=False):
    """The full content of a growing dialogue."""

    timeline: list[Message] = []
    ids: set[str] = set()
    stored: dict[int, _StoredMessage] = {}
    system: dict[int, _StoredMessage] = {}
    tools: dict[int, Tool] = {}
    requests: list[Request] = []
    plain: list[int] = []
    """The indexes of messages with only a text, which is stored once while the dialogue is in a file."""

    def folded(self) -> _Content:
        """Return the same content with each text only once: not in `native` and not in a form."""
        plain = [index for index, message in enumerate(self.timeline) if _is_plain_text(message)]
        texts_by_id = {self.timeline[index].id: self.timeline[index] for index in plain}
        timeline = [*self.timeline]
        for index in plain:
            timeline[index] = replace(timeline[index], native=None)

        def fold(stored: dict[int, _StoredMessage]) -> dict[int, _StoredMessage]:
            return {
                index: _StoredMessage(stored.id, _TEXT_ON_TIMELINE)
                if _has_form_of(stored, texts_by_id.get(stored.id))
                else stored
                for index, stored in stored.items()
            }

        return replace(
            self, timeline=timeline, stored=fold(self.stored), system=fold(self.system), plain=plain
        )

    def unfold(self) -> None:
        """Restore the texts removed by `folded`."""
        texts_by_id: dict[str, tuple[str, str]] = {}
        for index in self.plain:
            message = self.timeline[index]
            text = message.parts[0].text  # type: ignore[union-attr] # it is nothing but a text
            self.timeline[index] = replace(message, native=text)
            texts_by_id[message.id] = message.role, text  # type: ignore[assignment]
        for stored in (self.stored, self.system):
            stored |= {
                index: _StoredMessage(stored.id, texts_by_id[stored.id])
                for index, stored in stored.items()
                if stored.form == _TEXT_ON_TIMELINE
            }
        self.plain = []


def _is_plain_text(message: Message) -> bool:
    parts = message.parts
    return len(parts) == 1 and parts[0].__class__ is Text and parts[0].text is message.native


def _has_form_of(stored: _StoredMessage, message: Message | None) -> bool:
    """Return whether a message has the role and text of a stored form."""
    form = stored.form
    if message is None or not isinstance(form, tuple):
        return False
    return form[1] is message.native and form[0] == message.role


@cache
def _decoder() -> msgspec.msgpack.Decoder[_Content]:
    return msgspec.msgpack.Decoder(_Content)


class Dialogue:
    """A dialogue that grows by one exchange at a time; parents always precede their children."""

    def __init__(self, conversation_id: str, source: str, note: Notes, *, is_made: bool) -> None:
        self._id = conversation_id
        self._source = source
        self._is_made = is_made
        self._note = note
        self._timeline: list[Message] = []
        self._ids: set[str] = set()
        self._stored: dict[int, _StoredMessage] = {}
        self._system: dict[int, _StoredMessage] = {}
        self._tools: dict[int, Tool] = {}
        self._requests: list[Request] = []
        self._first: tuple[datetime, str] | None = None
        self._last: tuple[datetime, str] | None = None
        self._latest: tuple[datetime, str | None] = (_LONG_AGO, None)
        self._stored_at: tuple[Shelf, tuple[int, int]] | None = None
        self.size = 0
        """Its approximate size in bytes when it is in memory."""
        self.index = 0
        """The index of its last exchange in the file."""

    def add(self, exchange: Exchange, path: Path) -> Added:
        """Add an exchange."""
        started = timestamps.parse(exchange.at)
        ended_at, ended = _ended(exchange, started)
        changed_system: dict[int, Bag] = {}
        system = [self._add_system_prompt(step, exchange, path.name, changed_system) for step in path.system]
        ids, changed = self._add_prompt(exchange, path)
        prompt_id = ids[-1] if ids else path.after
        replies = self._add_replies(exchange, path, prompt_id, ended_at)
        leaf_id = prompt_id if not replies else replies[-1] if exchange.answer.is_chain else replies[0]
        if exchange.at and started:
            self._extend_time_range((started, exchange.at))
        if ended_at and ended:
            self._extend_time_range((ended, ended_at))
        if (started or _LONG_AGO) >= self._latest[0]:
            self._latest = (started or _LONG_AGO, leaf_id)
        self._requests.append(
            Request(
                id=exchange.id,
                index=exchange.index,
                api=exchange.dialect.name,
                at=exchange.at,
                model=exchange.model,
                duration_ms=exchange.duration_ms,
                system=system,
                prompt_id=prompt_id,
                response_ids=replies,
                tools=self._tool_indexes(exchange, path.tools),
                error=exchange.error,
                since_id=ids[0] if path.known.start else None,
                extra=_with_changes(exchange, changed_system, changed),
            )
        )
        return Added(leaf_id, ids, changed)

    def _add_prompt(self, exchange: Exchange, path: Path) -> tuple[list[str], dict[int, Bag]]:
        """Return the ids of the messages sent, and what differs from their first occurrences."""
        known = path.known if path.known.dialogue is self else NOTHING
        ids, changed = [*known.ids], dict(known.changed)
        message_id = ids[-1] if ids else path.after
        for number, step in enumerate(path.prompt[len(ids) :], len(ids)):
            stored = self._stored.get(step.place)
            if stored is None:
                stored = self._add_message(
                    step, exchange, f"{path.name}-{step.sent.tail or step.sent.place}", message_id
                )
                self._stored[step.place] = stored
            elif stored.form != step.form and (change := _difference(step, stored)):
                changed[number] = change
            if step.adds_call_ids:
                self._add_call_ids(stored.id, step, exchange)
            message_id = stored.id
            ids.append(message_id)
        return ids, changed

    def _add_call_ids(self, message_id: str, step: Step, exchange: Exchange) -> None:
        """Add the ids with which a client refers to the results to the calls of a message."""
        timeline = self._timeline
        index = next(index for index in reversed(range(len(timeline))) if timeline[index].id == message_id)
        parsed = step.sent.dialect.parse_message(step.sent.raw, Notes(keep=0), exchange.location)
        call_ids = iter([part.call_id for part in parsed.parts if isinstance(part, ToolCall)])
        timeline[index] = replace(
            timeline[index],
            parts=[
                replace(part, call_id=part.call_id or next(call_ids, None))
                if isinstance(part, ToolCall)
                else part
                for part in timeline[index].parts
            ],
        )

    def _add_system_prompt(self, step: Step, exchange: Exchange, name: str, changed: dict[int, Bag]) -> str:
        """Return the id of a system prompt, which is not part of the chain of messages."""
        stored = self._system.get(step.place)
        if stored is None:
            stored = self._add_message(step, exchange, f"{name}-{step.sent.tail}", None)
            self._system[step.place] = stored
        elif stored.form != step.form and (change := _difference(step, stored)):
            changed[step.sent.place] = change
        return stored.id

    def _add_message(
        self, step: Step, exchange: Exchange, message_id: str, parent_id: str | None
    ) -> _StoredMessage:
        """Add a new message to the timeline."""
        role, parts, native, extra = step.sent.dialect.parse_message(
            step.sent.raw, self._note, exchange.location
        )
        hidden = False
        if role == "user":
            parts, hidden = mark_injected_parts(parts, _HARNESS.is_all)
        message = Message(
            id=self._unique_id(message_id),
            made_id=True,
            parent_id=parent_id,
            role=role,
            at=exchange.at,
            hidden=hidden,
            parts=parts,
            native=native,
            extra=extra,
        )
        self._timeline.append(message)
        return _stored_message(message.id, step.form, step.sent.raw)

    def _add_replies(
        self, exchange: Exchange, path: Path, parent_id: str | None, ended_at: str | None
    ) -> list[str]:
        """Add the replies to the timeline. Two equal answers are two messages: each was paid for."""
        message_ids: list[str] = []
        is_chain, replies = exchange.answer.is_chain, exchange.answer.replies
        # Tokens are counted with the first choice, or with the last message of an answer that has several.
        usage_index = len(replies) - 1 if is_chain else 0
        for index, (reply, (place, form)) in enumerate(zip(replies, path.replies, strict=True)):
            usage = exchange.answer.usage if index == usage_index else None
            message_id = self._unique_id(f"{path.name}-response")
            message = _reply(reply, exchange, message_id, parent_id, ended_at=ended_at, usage=usage)
            self._timeline.append(message)
            if message.parts and (is_chain or not message_ids or place not in self._stored):
                # A continuation follows this answer; of equal choices, the first.
                self._stored[place] = _stored_message(message.id, form, reply.raw)
            message_ids.append(message.id)
            parent_id = message.id if is_chain else parent_id
        return message_ids

    def _unique_id(self, message_id: str) -> str:
        """Return the id, with a number after it if it is taken."""
        count, unique_id = 1, message_id
        while unique_id in self._ids:
            count += 1
            unique_id = f"{message_id}-{count}"
        self._ids.add(unique_id)
        return unique_id

    def _tool_indexes(self, exchange: Exchange, numbers: list[int]) -> list[int]:
        """Return the indexes of a request's tools in the conversation's list of tools."""
        if not numbers:
            return []
        for number, raw in zip(numbers, exchange.tools, strict=True):
            if number not in self._tools:
                self._tools[number] = exchange.dialect.tool(raw, self._note, exchange.location)
        places = {number: place for place, number in enumerate(self._tools)}
        return [places[number] for number in numbers]

    def _extend_time_range(self, time: tuple[datetime, str]) -> None:
        if self._first is None or time < self._first:
            self._first = time
        if self._last is None or time > self._last:
            self._last = time

    @property
    def is_in_file(self) -> bool:
        """Whether the content is in a file instead of memory."""
        return self._stored_at is not None

    def move_to_file(self, shelf: Shelf) -> bool:
        """Move the content to a file; return False if the file cannot store it."""
        content = _Content(self._timeline, self._ids, self._stored, self._system, self._tools, self._requests)
        place = shelf.put(content.folded())
        if place is None:
            return False
        self._stored_at = shelf, place
        self._set_content(_Content())
        return True

    def load(self) -> bool:
        """Load the content from its file; return whether it was in a file."""
        if self._stored_at is None:
            return False
        shelf, place = self._stored_at
        content = _decoder().decode(shelf.get(place))
        content.unfold()
        self._set_content(content)
        self._stored_at = None
        return True

    def _set_content(self, content: _Content) -> None:
        self._timeline, self._ids = content.timeline, content.ids
        self._stored, self._system = content.stored, content.system
        self._tools, self._requests = content.tools, content.requests

    def conversation(self) -> Conversation:
        """Return the dialogue as a conversation."""
        self.load()
        return Conversation(
            id=self._id,
            source=self._source,
            made_id=self._is_made,
            started_at=self._first[1] if self._first else None,
            updated_at=self._last[1] if self._last else None,
            shape="tree",
            head_id=self._latest[1],
            timeline=[*self._timeline],
            tools=[*self._tools.values()],
            requests=self._requests,
        )


def _reply(
    reply: Reply,
    exchange: Exchange,
    message_id: str,
    parent_id: str | None,
    *,
    ended_at: str | None,
    usage: Usage | None,
) -> Message:
    role, parts, native, extra = reply.message
    if usage is not None and usage.key is None:
        usage = replace(usage, key=exchange.id or message_id)
    return Message(
        id=message_id,
        made_id=True,
        parent_id=parent_id,
        role=role,
        at=ended_at,
        model=exchange.answer.model or (exchange.model if parts else None),
        stop_reason=reply.stop_reason,
        response_id=exchange.answer.id,
        parts=parts,
        usage=usage,
        native=native,
        extra=extra,
    )


def _ended(exchange: Exchange, started: datetime | None) -> tuple[str | None, datetime | None]:
    """Return the time of the answer, as text and as a `datetime`."""
    if exchange.ended_at:
        return exchange.ended_at, timestamps.parse(exchange.ended_at)
    if started is None or exchange.duration_ms is None:
        return None, None
    ended = timestamps.later_by(started, exchange.duration_ms)
    return (None, None) if ended is None else (timestamps.written(ended), ended)


def _difference(step: Step, stored: _StoredMessage) -> Bag:
    """Return what a message of this request has that the one on the timeline does not."""
    form = stored.form
    raw = {"role": form[0], "content": form[1]} if isinstance(form, tuple) else stored.raw
    return find_difference(step.sent.raw, raw, step.sent.dialect)


def _with_changes(exchange: Exchange, system: dict[int, Bag], prompt: dict[int, Bag]) -> Bag:
    """Return a record's other fields, with its messages' differences in `request.messages.<index>`."""
    extra, dialect = exchange.extra, exchange.dialect
    if not system and not prompt:
        return extra
    changed = {**system, **{exchange.prompt.first + number: change for number, change in prompt.items()}}
    request = extra.setdefault("request", {})
    system_change = changed.pop(SYSTEM_INDEX, None)
    if system_change is not None:
        request[dialect.system_fields[0]] = system_change.get("content", system_change)
    if changed:
        request[dialect.field] = {str(index): change for index, change in changed.items()}
    return extra
