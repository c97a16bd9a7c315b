"""One dialogue as its calls come in: every message once, every call with what it sent and what it got."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Bag, Conversation, Message, Request, Text, Tool, ToolCall, Usage, timestamps
from agent_journal.notes import Notes
from agent_journal.readers.dialects.api_calls.dialects import SYSTEM_PLACE, difference
from agent_journal.readers.dialects.api_calls.exchange import Sent
from agent_journal.readers.dialects.api_calls.meanings import Form
from agent_journal.readers.dialects.api_calls.trails import NOTHING, Known
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, marked

if TYPE_CHECKING:
    from agent_journal.decoding.spill import Shelf
    from agent_journal.readers.dialects.api_calls.answer import Reply
    from agent_journal.readers.dialects.api_calls.exchange import Exchange

_HARNESS = Tags(HARNESS_TAGS)
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
# The form of a message that says what stands on the timeline; no hash is so short.
_FOLDED = b""


class Step(Struct, frozen=True, gc=False):
    """A message on the way through a dialogue: the place it leads to, the message, its form."""

    place: int
    sent: Sent
    form: Form
    names_calls: bool = False
    """Whether its calls have ids that they had not when it was first said."""


class Way(Struct, frozen=True, gc=False):
    """Where an exchange goes: its name, the steps of what was sent, the places of what came back."""

    name: str
    system: list[Step]
    prompt: list[Step]
    replies: list[tuple[int, Form]]
    tools: list[int]
    after: str | None = None
    """The message that the first one sent follows, where a request does not repeat what was before it."""
    known: Known = NOTHING
    """So many of the first steps as a recent exchange took, too."""


class Added(Struct, frozen=True, gc=False):
    """What became of an exchange."""

    leaf_id: str | None
    """The message that whoever goes on from it follows."""
    ids: list[str]
    """The messages that it sent."""
    changed: dict[int, Bag]
    """What some of them, by their number, say otherwise than when they were first said."""


class _Kept(Struct, frozen=True, gc=False):
    """A message of the timeline: the form in which it was first seen, and it itself if that does not tell."""

    id: str
    form: Form
    raw: Any = None


def _kept(message_id: str, form: Form, raw: Any) -> _Kept:
    return _Kept(message_id, form) if form.__class__ is tuple else _Kept(message_id, form, raw)


class _Content(Struct, gc=False):
    """All of a dialogue that grows."""

    timeline: list[Message] = []
    ids: set[str] = set()
    kept: dict[int, _Kept] = {}
    system: dict[int, _Kept] = {}
    tools: dict[int, Tool] = {}
    requests: list[Request] = []
    plain: list[int] = []
    """Where the messages are that are nothing but a text, which stands there once while it is away."""

    def folded(self) -> _Content:
        """The same with each text once: neither in a message as it was written, nor as its form."""
        plain = [place for place, message in enumerate(self.timeline) if _is_plain(message)]
        said = {self.timeline[place].id: self.timeline[place] for place in plain}
        timeline = [*self.timeline]
        for place in plain:
            timeline[place] = replace(timeline[place], native=None)

        def fold(kept: dict[int, _Kept]) -> dict[int, _Kept]:
            return {
                place: _Kept(one.id, _FOLDED) if _is_said(one, said.get(one.id)) else one
                for place, one in kept.items()
            }

        return replace(self, timeline=timeline, kept=fold(self.kept), system=fold(self.system), plain=plain)

    def unfold(self) -> None:
        """Let the texts stand where they stood."""
        said: dict[str, tuple[str, str]] = {}
        for place in self.plain:
            message = self.timeline[place]
            text = message.parts[0].text  # type: ignore[union-attr] # it is nothing but a text
            self.timeline[place] = replace(message, native=text)
            said[message.id] = message.role, text  # type: ignore[assignment]
        for kept in (self.kept, self.system):
            kept |= {place: _Kept(one.id, said[one.id]) for place, one in kept.items() if one.form == _FOLDED}
        self.plain = []


def _is_plain(message: Message) -> bool:
    parts = message.parts
    return len(parts) == 1 and parts[0].__class__ is Text and parts[0].text is message.native


def _is_said(kept: _Kept, message: Message | None) -> bool:
    """Whether a message says the form in which it was first seen."""
    form = kept.form
    if message is None or not isinstance(form, tuple):
        return False
    return form[1] is message.native and form[0] == message.role


@cache
def _decoder() -> msgspec.msgpack.Decoder[_Content]:
    return msgspec.msgpack.Decoder(_Content)


class Dialogue:
    """Grows by one exchange at a time; parents always come before their children."""

    def __init__(self, conversation_id: str, source: str, note: Notes, *, is_made: bool) -> None:
        self._id = conversation_id
        self._source = source
        self._is_made = is_made
        self._note = note
        self._timeline: list[Message] = []
        self._ids: set[str] = set()
        self._kept: dict[int, _Kept] = {}
        self._system: dict[int, _Kept] = {}
        self._tools: dict[int, Tool] = {}
        self._requests: list[Request] = []
        self._first: tuple[datetime, str] | None = None
        self._last: tuple[datetime, str] | None = None
        self._latest: tuple[datetime, str | None] = (_LONG_AGO, None)
        self._away: tuple[Shelf, tuple[int, int]] | None = None
        self.size = 0
        """About how many bytes it holds, if it is not away."""
        self.index = 0
        """The place of its last exchange in the file."""

    def add(self, exchange: Exchange, way: Way) -> Added:
        """Take in an exchange."""
        began = timestamps.parse(exchange.at)
        ended_at, ended = _ended(exchange, began)
        changed_system: dict[int, Bag] = {}
        system = [self._prompted(step, exchange, way.name, changed_system) for step in way.system]
        ids, changed = self._sent(exchange, way)
        prompt_id = ids[-1] if ids else way.after
        replies = self._replies(exchange, way, prompt_id, ended_at)
        leaf_id = prompt_id if not replies else replies[-1] if exchange.answer.is_chain else replies[0]
        if exchange.at and began:
            self._see((began, exchange.at))
        if ended_at and ended:
            self._see((ended, ended_at))
        if (began or _LONG_AGO) >= self._latest[0]:
            self._latest = (began or _LONG_AGO, leaf_id)
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
                tools=self._offered(exchange, way.tools),
                error=exchange.error,
                since_id=ids[0] if way.known.start else None,
                extra=_with_changes(exchange, changed_system, changed),
            )
        )
        return Added(leaf_id, ids, changed)

    def _sent(self, exchange: Exchange, way: Way) -> tuple[list[str], dict[int, Bag]]:
        """The ids of what was sent, and what of it differs from how it was first said."""
        known = way.known if way.known.dialogue is self else NOTHING
        ids, changed = [*known.ids], dict(known.changed)
        message_id = ids[-1] if ids else way.after
        for number, step in enumerate(way.prompt[len(ids) :], len(ids)):
            kept = self._kept.get(step.place)
            if kept is None:
                kept = self._said(
                    step, exchange, f"{way.name}-{step.sent.tail or step.sent.place}", message_id
                )
                self._kept[step.place] = kept
            elif kept.form != step.form and (found := _difference(step, kept)):
                changed[number] = found
            if step.names_calls:
                self._name_calls(kept.id, step, exchange)
            message_id = kept.id
            ids.append(message_id)
        return ids, changed

    def _name_calls(self, message_id: str, step: Step, exchange: Exchange) -> None:
        """Give the calls of a message the ids by which a client tells what they gave."""
        timeline = self._timeline
        place = next(place for place in reversed(range(len(timeline))) if timeline[place].id == message_id)
        said = step.sent.dialect.said(step.sent.raw, Notes(keep=0), exchange.where)
        names = iter([part.call_id for part in said.parts if isinstance(part, ToolCall)])
        timeline[place] = replace(
            timeline[place],
            parts=[
                replace(part, call_id=part.call_id or next(names, None))
                if isinstance(part, ToolCall)
                else part
                for part in timeline[place].parts
            ],
        )

    def _prompted(self, step: Step, exchange: Exchange, name: str, changed: dict[int, Bag]) -> str:
        """The id of a system prompt, which stands outside of the chain."""
        kept = self._system.get(step.place)
        if kept is None:
            kept = self._said(step, exchange, f"{name}-{step.sent.tail}", None)
            self._system[step.place] = kept
        elif kept.form != step.form and (found := _difference(step, kept)):
            changed[step.sent.place] = found
        return kept.id

    def _said(self, step: Step, exchange: Exchange, message_id: str, parent_id: str | None) -> _Kept:
        """Put a message that was not seen before on the timeline."""
        role, parts, native, extra = step.sent.dialect.said(step.sent.raw, self._note, exchange.where)
        hidden = False
        if role == "user":
            parts, hidden = marked(parts, _HARNESS.is_all)
        message = Message(
            id=self._free(message_id),
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
        return _kept(message.id, step.form, step.sent.raw)

    def _replies(
        self, exchange: Exchange, way: Way, parent_id: str | None, ended_at: str | None
    ) -> list[str]:
        """Put what came back on the timeline. Two equal answers are two messages: each was paid for."""
        found: list[str] = []
        is_chain, replies = exchange.answer.is_chain, exchange.answer.replies
        # Tokens are counted with the first choice, or with the last message of an answer that has several.
        counted = len(replies) - 1 if is_chain else 0
        for number, (reply, (place, form)) in enumerate(zip(replies, way.replies, strict=True)):
            usage = exchange.answer.usage if number == counted else None
            message_id = self._free(f"{way.name}-response")
            message = _reply(reply, exchange, message_id, parent_id, ended_at=ended_at, usage=usage)
            self._timeline.append(message)
            if message.parts and (is_chain or not found or place not in self._kept):
                # Who goes on from here goes on from this answer; of equal choices, from the first.
                self._kept[place] = _kept(message.id, form, reply.raw)
            found.append(message.id)
            parent_id = message.id if is_chain else parent_id
        return found

    def _free(self, message_id: str) -> str:
        """The id, with a number behind it from the second on."""
        count, found = 1, message_id
        while found in self._ids:
            count += 1
            found = f"{message_id}-{count}"
        self._ids.add(found)
        return found

    def _offered(self, exchange: Exchange, numbers: list[int]) -> list[int]:
        """Where the tools of a request are among those of the conversation."""
        if not numbers:
            return []
        for number, raw in zip(numbers, exchange.tools, strict=True):
            if number not in self._tools:
                self._tools[number] = exchange.dialect.tool(raw, self._note, exchange.where)
        places = {number: place for place, number in enumerate(self._tools)}
        return [places[number] for number in numbers]

    def _see(self, moment: tuple[datetime, str]) -> None:
        if self._first is None or moment < self._first:
            self._first = moment
        if self._last is None or moment > self._last:
            self._last = moment

    @property
    def is_away(self) -> bool:
        """Whether what was said is in a file."""
        return self._away is not None

    def put_away(self, shelf: Shelf) -> bool:
        """Hold nothing that was said until it is fetched; whether a file can hold it."""
        content = _Content(self._timeline, self._ids, self._kept, self._system, self._tools, self._requests)
        place = shelf.put(content.folded())
        if place is None:
            return False
        self._away = shelf, place
        self._hold(_Content())
        return True

    def fetch(self) -> bool:
        """Hold everything again; whether it was away."""
        if self._away is None:
            return False
        shelf, place = self._away
        content = _decoder().decode(shelf.get(place))
        content.unfold()
        self._hold(content)
        self._away = None
        return True

    def _hold(self, content: _Content) -> None:
        self._timeline, self._ids = content.timeline, content.ids
        self._kept, self._system = content.kept, content.system
        self._tools, self._requests = content.tools, content.requests

    def conversation(self) -> Conversation:
        """The dialogue as a whole."""
        self.fetch()
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
    role, parts, native, extra = reply.said
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


def _ended(exchange: Exchange, began: datetime | None) -> tuple[str | None, datetime | None]:
    """When the answer was there, as it is written and as a moment."""
    if exchange.ended_at:
        return exchange.ended_at, timestamps.parse(exchange.ended_at)
    if began is None or exchange.duration_ms is None:
        return None, None
    ended = timestamps.later_by(began, exchange.duration_ms)
    return (None, None) if ended is None else (timestamps.written(ended), ended)


def _difference(step: Step, kept: _Kept) -> Bag:
    """What a message says in this request that the one on the timeline does not."""
    form = kept.form
    raw = {"role": form[0], "content": form[1]} if isinstance(form, tuple) else kept.raw
    return difference(step.sent.raw, raw, step.sent.dialect)


def _with_changes(exchange: Exchange, system: dict[int, Bag], prompt: dict[int, Bag]) -> Bag:
    """What else a record says, with what its messages say here alone: `request.messages.<place>`."""
    extra, dialect = exchange.extra, exchange.dialect
    if not system and not prompt:
        return extra
    changed = {**system, **{exchange.prompt.first + number: found for number, found in prompt.items()}}
    request = extra.setdefault("request", {})
    beside = changed.pop(SYSTEM_PLACE, None)
    if beside is not None:
        request[dialect.system_fields[0]] = beside.get("content", beside)
    if changed:
        request[dialect.field] = {str(place): found for place, found in changed.items()}
    return extra
