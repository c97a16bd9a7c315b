"""Two histories of one task as one, each in its own order.

What was shown says behind which message of the other history it was (Cline), or both have times; where
neither is so, the requests are counted: each was sent with one prompt.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from agent_journal.model import Reasoning, Text
from agent_journal.readers.roo_code import markup
from agent_journal.readers.roo_code.history import Said
from agent_journal.readers.roo_code.ui_messages import FEEDBACK, REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Message
    from agent_journal.readers.roo_code.ui_messages import Record

Entry: TypeAlias = "Record | Said"


def together(shown: list[Record], said: list[Said]) -> list[Entry]:
    """Both histories as one."""
    merged: list[Entry] = []
    done = 0
    for record, place in zip(shown, _places(shown, said), strict=True):
        if place > done:
            merged += said[done:place]
            done = place
        merged.append(record)
    return merged + said[done:]


def _places(shown: list[Record], said: list[Said]) -> list[int]:
    """Behind how many messages each record was shown; the first, which is the task, before all."""
    moments = list(accumulate((one.ts or 0 for one in said), max))
    is_counted = bool(shown) and shown[0].index is not None
    if is_counted or not moments or not moments[-1]:
        return _by_count(shown, said)
    return _by_time(shown, moments)


def _by_time(shown: list[Record], moments: list[int]) -> list[int]:
    places = [0] if shown else []
    place, end = 0, len(moments)
    for record in shown[1:]:
        if record.ts is not None:
            # What the person said is sent later; all else that is shown in a moment was sent already.
            until = record.ts - 1 if record.name == FEEDBACK else record.ts
            while place < end and moments[place] <= until:
                place += 1
        places.append(place)
    return places


def _by_count(shown: list[Record], said: list[Said]) -> list[int]:
    """Places by the count of messages, where a record states it, else by that of the requests so far."""
    counted = _Counted(said)
    places: list[int] = []
    last = 0
    for record in shown:
        place = counted.place(is_request=record.name == REQUEST)
        if record.index is not None:
            place = record.index + 1 if places else 0
        last = max(last, min(place, len(said)))
        places.append(last)
    return places


class _Counted:
    """Places by the count of requests: one is shown before each prompt, all else behind the answer."""

    def __init__(self, said: list[Said]) -> None:
        self._prompts = [place for place, one in enumerate(said) if one.message.role != "assistant"]
        self._end = len(said)
        self._requests = 0

    def place(self, *, is_request: bool) -> int:
        place = self._prompts[self._requests] if self._requests < len(self._prompts) else self._end
        self._requests += is_request
        return place if self._requests else 0


class Turns:
    """What the turns of a task are known from. A turn begins with a request."""

    def __init__(self, entries: list[Entry]) -> None:
        self.turn_of: list[int] = []
        self._answered: set[int] = set()
        self._thought: set[int] = set()
        self._prompts: list[int] = []
        self._entries = entries
        turn, add = 0, self.turn_of.append
        for place, entry in enumerate(entries):
            if type(entry) is Said:  # several times faster than asking of what it is an instance
                if not entry.message.hidden:
                    self._learn(entry.message, place, turn)
            elif entry.name == REQUEST:
                turn += 1
            add(turn)
        self.answered = [turn in self._answered for turn in self.turn_of]
        """Of each entry, whether what the model said in its turn is among what went to and from the model."""

    def _learn(self, message: Message, place: int, turn: int) -> None:
        if message.role != "assistant":
            self._prompts.append(place)
            return
        self._answered.add(turn)
        for part in message.parts:
            if part.__class__ is Reasoning:
                self._thought.add(turn)

    def has_thoughts(self, place: int) -> bool:
        """Whether what the model thought in the turn of an entry is there too."""
        return self.turn_of[place] in self._thought

    def is_told(self, place: int, text: str | None) -> bool:
        """Whether the prompt behind an entry says what the person said there."""
        following = bisect_right(self._prompts, place)
        if following == len(self._prompts):
            return False
        at = self._prompts[following]
        texts = list(_texts(self._entries[at]))
        words = (text or "").strip()
        if any(words in told for told, _ in texts):
            return True
        # The extensions replace what a person mentions; then the words differ, but they are marked.
        return self.turn_of[at] <= self.turn_of[place] + 1 and any(is_marked for _, is_marked in texts)


def _texts(prompt: Entry) -> Iterator[tuple[str, bool]]:
    """The texts of a prompt, and whether words in them are marked as a person's; results only quote them."""
    for part in prompt.message.parts if isinstance(prompt, Said) else ():
        if isinstance(part, Text):
            yield part.text, "tag" in part.extra or markup.has_words(part.text)
