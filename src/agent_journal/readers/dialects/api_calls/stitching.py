"""Combines requests into dialogues: each call repeats the earlier messages, which are stored only once.

A request continues a dialogue if its messages begin with all messages of an earlier request of it, or with
all but the oldest messages of a recent one, as some clients limit the number of messages.
Every distinct beginning of a dialogue has a place, found step by step from one message to the next: the work
grows with the number of messages, not with the number of pairs of requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.decoding.spill import Shelf
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.dialects.api_calls.dialects import GEMINI, RESPONSES, reference_id
from agent_journal.readers.dialects.api_calls.dialogue import Dialogue, Path, Step
from agent_journal.readers.dialects.api_calls.exchange import Sent
from agent_journal.readers.dialects.api_calls.meanings import Form, Meanings, hash_of
from agent_journal.readers.dialects.api_calls.trails import MIN_WINDOW_MESSAGES, NOTHING, Known, Trails

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.api_calls.dialects import Dialect
    from agent_journal.readers.dialects.api_calls.exchange import Exchange

_ROOT_INDEX = 0
# Beyond this size, the dialogues that have not grown for the longest time go to a file.
_MAX_MEMORY_BYTES = 64 << 20
# The estimated size of a call without its messages.
_CALL_OVERHEAD_BYTES = 1500


class _Endpoint(Struct, frozen=True, gc=False):
    """The end of an exchange: a place, the dialogue, and its message there."""

    place: int
    dialogue: Dialogue | None
    message_id: str | None


_BEGINNING = _Endpoint(_ROOT_INDEX, None, None)


class Stitching:
    """Sorts exchanges, in the order of the file, into dialogues."""

    def __init__(self, source: str, note: Notes) -> None:
        self._source = source
        self._note = note
        self._meanings = Meanings()
        self._places: dict[tuple[int, int], int] = {}
        self._ended: dict[int, Dialogue] = {}
        self._dialogues: list[Dialogue] = []
        self._names: set[str] = set()
        self._offers: dict[int, list[int]] = {}
        self._ends: dict[tuple[str, str], _Endpoint] = {}
        self._items: dict[str, int] = {}
        self._trails = Trails()
        self._shelf: Shelf | None = None
        self._memory_bytes = 0
        self._memory_limit = _MAX_MEMORY_BYTES
        # Most requests have the system prompt and the tools of the one before.
        self._last_tools: list[Any] = []
        self._last_offer: list[int] = []
        self._last_prompts: list[Sent] = []
        self._last_system: list[Step] = []

    def add(self, exchange: Exchange) -> None:
        """Add the next exchange."""
        size = self._meanings.size
        start = self._start(exchange)
        known = self._find_known(exchange) if start is _BEGINNING else NOTHING
        steps, places = self._steps(exchange, known.start or start.place, known)
        dialogue = known.dialogue if known.start else self._find_dialogue(places, start.dialogue)
        name, is_made = self._name(exchange, steps)
        if dialogue is None:
            dialogue = Dialogue(name, self._source, self._note, is_made=is_made)
            self._dialogues.append(dialogue)
            if exchange.id is None:
                self._note(Kind.MISSING_ID, exchange.location, "the first call of a dialogue has no id")
        end = places[-1] if places else start.place
        if steps:
            self._ended[end] = dialogue
        replies, next_place = self._replies(exchange, end)
        tools = self._tools(exchange)
        path = Path(name, self._system(exchange), steps, replies, tools, start.message_id, known)
        self._make_room(dialogue, exchange.index, _CALL_OVERHEAD_BYTES + self._meanings.size - size)
        added = dialogue.add(exchange, path)
        self._remember(exchange, _Endpoint(next_place, dialogue, added.leaf_id))
        if steps and start is _BEGINNING:
            messages = [*known.messages, *exchange.prompt.messages[len(known.messages) :]]
            self._trails.add(Known(steps, messages, places, added.ids, added.changed, dialogue, known.start))

    def _make_room(self, dialogue: Dialogue, index: int, size: int) -> None:
        """Load a dialogue that grows, and move others to a file if memory is short."""
        self._memory_bytes += size + (dialogue.size if dialogue.load() else 0)
        dialogue.size += size
        dialogue.index = index
        if self._memory_bytes > self._memory_limit:
            self._move_to_file(dialogue)

    def _move_to_file(self, growing: Dialogue) -> None:
        """Move the dialogues to a file that have not grown for the longest time."""
        self._meanings.store_hashes_only()
        self._shelf = self._shelf or Shelf()
        in_memory = [
            dialogue for dialogue in self._dialogues if not dialogue.is_in_file and dialogue is not growing
        ]
        for dialogue in sorted(in_memory, key=lambda dialogue: dialogue.index):
            self._memory_bytes -= dialogue.size
            if not dialogue.move_to_file(self._shelf):
                dialogue.size = 0  # it stays in memory
            if self._memory_bytes < _MAX_MEMORY_BYTES // 2:
                break
        self._memory_limit = max(_MAX_MEMORY_BYTES, 2 * self._memory_bytes)

    def _find_known(self, exchange: Exchange) -> Known:
        """Return the part of a request that repeats a recent one."""
        messages, dialect = exchange.prompt.messages, exchange.dialect
        if not messages:
            return NOTHING
        meaning, form = self._meaning(messages[0], dialect)
        place = self._places.get((_ROOT_INDEX, meaning))
        if place is not None:
            return self._trails.find_repeated(place, messages, dialect)
        # No dialogue has this beginning: it may be the middle of one.
        is_long = len(messages) >= MIN_WINDOW_MESSAGES
        return self._trails.find_shortened(form, messages, dialect) if is_long else NOTHING

    def _steps(self, exchange: Exchange, place: int, known: Known) -> tuple[list[Step], list[int]]:
        """Return the steps of the messages sent, and the place after each."""
        steps, places = [*known.steps], [*known.places]
        place = places[-1] if places else place
        messages, first, dialect = exchange.prompt.messages, exchange.prompt.first, exchange.dialect
        is_optional = dialect.is_optional
        for number in range(len(steps), len(messages)):
            raw = messages[number]
            meaning, form = self._meaning(raw, dialect)
            next_place = self._places.get((place, meaning))
            place_without_ids = (
                self._find_without_call_ids(place, raw, dialect) if next_place is None else None
            )
            next_place = next_place or place_without_ids or self._place_after(place, meaning)
            if is_optional is None or not is_optional(raw):
                place = next_place
            steps.append(
                Step(next_place, Sent(first + number, raw, dialect), form, place_without_ids is not None)
            )
            places.append(place)
        return steps, places

    def _find_without_call_ids(self, place: int, raw: Any, dialect: Dialect) -> int | None:
        """Return the place of a message whose calls have ids here but not in its first occurrence."""
        bare = None if dialect.without_call_ids is None else dialect.without_call_ids(raw)
        return None if bare is None else self._places.get((place, self._meaning(bare, dialect)[0]))

    def _find_dialogue(self, places: list[int], dialogue: Dialogue | None) -> Dialogue | None:
        """Return the dialogue of the longest earlier request with which the steps begin."""
        ended = self._ended
        for place in reversed(places):
            if place in ended:
                return ended[place]
        return dialogue

    def _start(self, exchange: Exchange) -> _Endpoint:
        """Return the start of an exchange: the end of the one it continues, else the beginning."""
        if exchange.after is not None:
            known = self._ends.get(("response", exchange.after))
            if known is not None:
                return known
            self._note(
                Kind.DANGLING_PARENT, exchange.location, f"it continues response {exchange.after[:80]!r}"
            )
            number, _ = self._meanings.of(exchange.after, "response", _identity)
            return _Endpoint(self._place_after(_ROOT_INDEX, -1 - number), None, None)
        if exchange.session is not None:
            return self._ends.get(("session", exchange.session), _BEGINNING)
        return _BEGINNING

    def _remember(self, exchange: Exchange, end: _Endpoint) -> None:
        if exchange.dialect is RESPONSES or exchange.answer.is_chain:
            if exchange.answer.id is not None:
                self._ends["response", exchange.answer.id] = end
            if exchange.session is not None:
                self._ends["session", exchange.session] = end

    def _meaning(self, raw: Any, dialect: Dialect) -> tuple[int, Form]:
        """Return the number of a message and its form; a reference has the number of its item."""
        if dialect is not GEMINI and (plain := self._meanings.of_plain(raw)) is not None:
            return plain
        number, form = self._meanings.of(raw, dialect.name, dialect.normalize)
        if dialect is RESPONSES and raw.__class__ is dict:
            item_id = reference_id(raw)
            if item_id is not None:
                return self._items.get(item_id, number), form
            if raw.get("id").__class__ is str:
                self._items[raw["id"]] = number
        return number, form

    def _place_after(self, place: int, meaning: int) -> int:
        return self._places.setdefault((place, meaning), len(self._places) + 1)

    def _system(self, exchange: Exchange) -> list[Step]:
        """Return the steps of system prompts, whose place is their number, outside of the dialogue."""
        if not _are_equal(exchange.system, self._last_prompts):
            steps: list[Step] = []
            for sent in exchange.system:
                meaning, form = self._meaning(sent.raw, sent.dialect)
                steps.append(Step(meaning, sent, form))
            self._last_prompts, self._last_system = exchange.system, steps
        return self._last_system

    def _replies(self, exchange: Exchange, place: int) -> tuple[list[tuple[int, Form]], int]:
        """Return the places of the replies, and the place from which a continuation starts."""
        replies: list[tuple[int, Form]] = []
        end = place
        for reply in exchange.answer.replies:
            meaning, form = self._meaning(reply.raw, reply.dialect)
            reply_place = self._place_after(end if exchange.answer.is_chain else place, meaning)
            is_optional = reply.dialect.is_optional is not None and reply.dialect.is_optional(reply.raw)
            if (exchange.answer.is_chain and not is_optional) or (
                not exchange.answer.is_chain and not replies
            ):
                end = reply_place
            replies.append((reply_place, form))
        return replies, end

    def _tools(self, exchange: Exchange) -> list[int]:
        """Return the numbers of the offered tools; most requests repeat the previous list."""
        if not exchange.tools:
            return []
        if not _are_equal(exchange.tools, self._last_tools):
            self._last_tools, self._last_offer = exchange.tools, self._offer(exchange)
        return self._last_offer

    def _offer(self, exchange: Exchange) -> list[int]:
        offer, _ = self._meanings.of(exchange.tools, "tools", _identity)
        if offer not in self._offers:
            self._offers[offer] = [self._meanings.of(tool, "tool", _identity)[0] for tool in exchange.tools]
        return self._offers[offer]

    def _name(self, exchange: Exchange, steps: list[Step]) -> tuple[str, bool]:
        """Return the prefix of its messages' ids: its own id, unless that is missing or taken."""
        if exchange.id is not None and exchange.id not in self._names:
            self._names.add(exchange.id)
            return exchange.id, False
        if exchange.id is not None:
            self._note(Kind.DUPLICATE_ID, exchange.location, exchange.id[:80])
        forms = [hash_of(step.sent.raw, step.form).hex() for step in steps]
        made = ids.made(exchange.id, exchange.index, exchange.at, exchange.model, forms)
        self._names.add(made)
        return made, True

    def conversations(self) -> Iterator[Conversation]:
        """Yield the dialogues in the order of their first requests; nothing can be added afterwards."""
        for index in (self._places, self._ended, self._ends, self._items):
            index.clear()
        self._meanings, self._trails = Meanings(), Trails()
        self._dialogues.reverse()
        while self._dialogues:
            yield self._dialogues.pop().conversation()


def _are_equal(values: list[Any], others: list[Any]) -> bool:
    try:
        return values == others
    except RecursionError:  # nested too deeply to be compared
        return False


def _identity(value: Any) -> Any:
    return value
