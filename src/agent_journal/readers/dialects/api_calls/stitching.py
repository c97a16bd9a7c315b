"""Requests put together to dialogues: each call repeats what was said before it, here it is kept once.

A request goes on with a dialogue if its messages begin with all the messages of an earlier request of it, or
with all but the oldest of a recent one: some clients keep no more than so many messages.
Every distinct beginning of a dialogue has a place, found step by step from one message to the next: the work
grows with the number of messages, not with the number of pairs of requests.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.decoding.spill import Shelf
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.dialects.api_calls.dialects import GEMINI, RESPONSES, referred
from agent_journal.readers.dialects.api_calls.dialogue import Dialogue, Step, Way
from agent_journal.readers.dialects.api_calls.exchange import Sent
from agent_journal.readers.dialects.api_calls.meanings import Form, Meanings, hash_of
from agent_journal.readers.dialects.api_calls.trails import LEAST_OF_WINDOW, NOTHING, Known, Trails

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.api_calls.dialects import Dialect
    from agent_journal.readers.dialects.api_calls.exchange import Exchange

_START = 0
# So many bytes of dialogues are held; of more, those that did not grow for longest go to a file.
_HELD_BYTES = 64 << 20
# How large a call is beside what is said in it.
_OVERHEAD = 1500


class _End(Struct, frozen=True, gc=False):
    """Where a dialogue stands: a place, the dialogue, and its message there."""

    place: int
    dialogue: Dialogue | None
    message_id: str | None


_BEGINNING = _End(_START, None, None)


class Stitching:
    """Takes exchanges in the order of the file and sorts them into dialogues."""

    def __init__(self, source: str, note: Notes) -> None:
        self._source = source
        self._note = note
        self._meanings = Meanings()
        self._places: dict[tuple[int, int], int] = {}
        self._ended: dict[int, Dialogue] = {}
        self._dialogues: list[Dialogue] = []
        self._names: set[str] = set()
        self._offers: dict[int, list[int]] = {}
        self._ends: dict[tuple[str, str], _End] = {}
        self._items: dict[str, int] = {}
        self._trails = Trails()
        self._shelf: Shelf | None = None
        self._held = 0
        self._most_held = _HELD_BYTES
        # Most requests have the system prompt and the tools of the one before.
        self._last_tools: list[Any] = []
        self._last_offer: list[int] = []
        self._last_prompts: list[Sent] = []
        self._last_system: list[Step] = []

    def add(self, exchange: Exchange) -> None:
        """Take in the next exchange."""
        size = self._meanings.size
        start = self._start(exchange)
        known = self._known(exchange) if start is _BEGINNING else NOTHING
        steps, places = self._steps(exchange, known.start or start.place, known)
        dialogue = known.dialogue if known.start else self._found(places, start.dialogue)
        name, is_made = self._name(exchange, steps)
        if dialogue is None:
            dialogue = Dialogue(name, self._source, self._note, is_made=is_made)
            self._dialogues.append(dialogue)
            if exchange.id is None:
                self._note(Kind.MISSING_ID, exchange.where, "the first call of a dialogue has no id")
        end = places[-1] if places else start.place
        if steps:
            self._ended[end] = dialogue
        replies, next_place = self._replies(exchange, end)
        tools = self._tools(exchange)
        way = Way(name, self._system(exchange), steps, replies, tools, start.message_id, known)
        self._hold(dialogue, exchange.index, _OVERHEAD + self._meanings.size - size)
        added = dialogue.add(exchange, way)
        self._remember(exchange, _End(next_place, dialogue, added.leaf_id))
        if steps and start is _BEGINNING:
            messages = [*known.messages, *exchange.prompt.messages[len(known.messages) :]]
            self._trails.add(Known(steps, messages, places, added.ids, added.changed, dialogue, known.start))

    def _hold(self, dialogue: Dialogue, index: int, size: int) -> None:
        """Make room for a dialogue that grows."""
        self._held += size + (dialogue.size if dialogue.fetch() else 0)
        dialogue.size += size
        dialogue.index = index
        if self._held > self._most_held:
            self._put_away(dialogue)

    def _put_away(self, growing: Dialogue) -> None:
        """Put the dialogues away that did not grow for longest."""
        self._meanings.hold_no_texts()
        self._shelf = self._shelf or Shelf()
        held = [each for each in self._dialogues if not each.is_away and each is not growing]
        for dialogue in sorted(held, key=lambda each: each.index):
            self._held -= dialogue.size
            if not dialogue.put_away(self._shelf):
                dialogue.size = 0  # it stays, whatever is held
            if self._held < _HELD_BYTES // 2:
                break
        self._most_held = max(_HELD_BYTES, 2 * self._held)

    def _known(self, exchange: Exchange) -> Known:
        """What a request repeats of a recent one."""
        messages, dialect = exchange.prompt.messages, exchange.dialect
        if not messages:
            return NOTHING
        meaning, form = self._meaning(messages[0], dialect)
        place = self._places.get((_START, meaning))
        if place is not None:
            return self._trails.repeated(place, messages, dialect)
        # Nothing began like that: it may be the middle of a dialogue.
        is_long = len(messages) >= LEAST_OF_WINDOW
        return self._trails.shortened(form, messages, dialect) if is_long else NOTHING

    def _steps(self, exchange: Exchange, place: int, known: Known) -> tuple[list[Step], list[int]]:
        """The steps of what was sent, and the place after each."""
        steps, places = [*known.steps], [*known.places]
        place = places[-1] if places else place
        messages, first, dialect = exchange.prompt.messages, exchange.prompt.first, exchange.dialect
        is_aside = dialect.is_aside
        for number in range(len(steps), len(messages)):
            raw = messages[number]
            meaning, form = self._meaning(raw, dialect)
            spot = self._places.get((place, meaning))
            unnamed = self._unnamed(place, raw, dialect) if spot is None else None
            spot = spot or unnamed or self._place_after(place, meaning)
            if is_aside is None or not is_aside(raw):
                place = spot
            steps.append(Step(spot, Sent(first + number, raw, dialect), form, unnamed is not None))
            places.append(place)
        return steps, places

    def _unnamed(self, place: int, raw: Any, dialect: Dialect) -> int | None:
        """The place of a message whose calls have ids here and had none when it was first said, if any."""
        bare = None if dialect.unnamed is None else dialect.unnamed(raw)
        return None if bare is None else self._places.get((place, self._meaning(bare, dialect)[0]))

    def _found(self, places: list[int], dialogue: Dialogue | None) -> Dialogue | None:
        """The dialogue of the longest earlier request that the steps begin with."""
        ended = self._ended
        for place in reversed(places):
            if place in ended:
                return ended[place]
        return dialogue

    def _start(self, exchange: Exchange) -> _End:
        """Where an exchange begins: at the end of the one it names, else at the beginning."""
        if exchange.after is not None:
            known = self._ends.get(("response", exchange.after))
            if known is not None:
                return known
            self._note(
                Kind.DANGLING_PARENT, exchange.where, f"it goes on from response {exchange.after[:80]!r}"
            )
            number, _ = self._meanings.of(exchange.after, "response", _itself)
            return _End(self._place_after(_START, -1 - number), None, None)
        if exchange.session is not None:
            return self._ends.get(("session", exchange.session), _BEGINNING)
        return _BEGINNING

    def _remember(self, exchange: Exchange, end: _End) -> None:
        if exchange.dialect is RESPONSES or exchange.answer.is_chain:
            if exchange.answer.id is not None:
                self._ends["response", exchange.answer.id] = end
            if exchange.session is not None:
                self._ends["session", exchange.session] = end

    def _meaning(self, raw: Any, dialect: Dialect) -> tuple[int, Form]:
        """The number of what a message means, and its form; a reference means what it refers to."""
        if dialect is not GEMINI and (plain := self._meanings.of_plain(raw)) is not None:
            return plain
        number, form = self._meanings.of(raw, dialect.name, dialect.meaning)
        if dialect is RESPONSES and raw.__class__ is dict:
            item_id = referred(raw)
            if item_id is not None:
                return self._items.get(item_id, number), form
            if raw.get("id").__class__ is str:
                self._items[raw["id"]] = number
        return number, form

    def _place_after(self, place: int, meaning: int) -> int:
        return self._places.setdefault((place, meaning), len(self._places) + 1)

    def _system(self, exchange: Exchange) -> list[Step]:
        """System prompts stand outside of the dialogue: their place is what they mean."""
        if not _same(exchange.system, self._last_prompts):
            found: list[Step] = []
            for sent in exchange.system:
                meaning, form = self._meaning(sent.raw, sent.dialect)
                found.append(Step(meaning, sent, form))
            self._last_prompts, self._last_system = exchange.system, found
        return self._last_system

    def _replies(self, exchange: Exchange, place: int) -> tuple[list[tuple[int, Form]], int]:
        """The places of what came back, and the place of whoever goes on from there."""
        found: list[tuple[int, Form]] = []
        end = place
        for reply in exchange.answer.replies:
            meaning, form = self._meaning(reply.raw, reply.dialect)
            spot = self._place_after(end if exchange.answer.is_chain else place, meaning)
            is_aside = reply.dialect.is_aside is not None and reply.dialect.is_aside(reply.raw)
            if (exchange.answer.is_chain and not is_aside) or (not exchange.answer.is_chain and not found):
                end = spot
            found.append((spot, form))
        return found, end

    def _tools(self, exchange: Exchange) -> list[int]:
        """Numbers of the tools offered; requests mostly offer the same list, which is looked up whole."""
        if not exchange.tools:
            return []
        if not _same(exchange.tools, self._last_tools):
            self._last_tools, self._last_offer = exchange.tools, self._offer(exchange)
        return self._last_offer

    def _offer(self, exchange: Exchange) -> list[int]:
        offer, _ = self._meanings.of(exchange.tools, "tools", _itself)
        if offer not in self._offers:
            self._offers[offer] = [self._meanings.of(tool, "tool", _itself)[0] for tool in exchange.tools]
        return self._offers[offer]

    def _name(self, exchange: Exchange, steps: list[Step]) -> tuple[str, bool]:
        """What the ids of its messages begin with: its own id, unless it has none or another has it."""
        if exchange.id is not None and exchange.id not in self._names:
            self._names.add(exchange.id)
            return exchange.id, False
        if exchange.id is not None:
            self._note(Kind.DUPLICATE_ID, exchange.where, exchange.id[:80])
        forms = [hash_of(step.sent.raw, step.form).hex() for step in steps]
        made = ids.made(exchange.id, exchange.index, exchange.at, exchange.model, forms)
        self._names.add(made)
        return made, True

    def conversations(self) -> Iterator[Conversation]:
        """The dialogues in the order of their first requests; this ends it."""
        for index in (self._places, self._ended, self._ends, self._items):
            index.clear()
        self._meanings, self._trails = Meanings(), Trails()
        self._dialogues.reverse()
        while self._dialogues:
            yield self._dialogues.pop().conversation()


def _same(values: list[Any], before: list[Any]) -> bool:
    try:
        return values == before
    except RecursionError:  # nested too deeply to be compared
        return False


def _itself(value: Any) -> Any:
    return value
