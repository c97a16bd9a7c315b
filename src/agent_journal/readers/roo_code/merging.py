"""Two histories of one task as one, each in its own order.

What was shown says behind which message of the other history it was (Cline), or both have times; where
neither is so, the requests are counted: each was sent with one prompt.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import TYPE_CHECKING, TypeAlias

from agent_journal.model import Reasoning, Text, ToolResult
from agent_journal.readers.roo_code import markup
from agent_journal.readers.roo_code.history import Said
from agent_journal.readers.roo_code.shown import FEEDBACK, REQUEST

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Message
    from agent_journal.readers.roo_code.shown import Record

Entry: TypeAlias = "Record | Said"


def together(shown: list[Record], said: list[Said]) -> list[Entry]:
    """Both histories as one."""
    merged: list[Entry] = []
    done = 0
    for record, place in zip(shown, _places(shown, said), strict=True):
        merged += said[done:place]
        done = place
        merged.append(record)
    return merged + said[done:]


def _places(shown: list[Record], said: list[Said]) -> list[int]:
    """Before how many messages each record was shown."""
    moments = list(accumulate((one.ts or 0 for one in said), max))
    has_times = bool(moments) and moments[-1] > 0
    counted = _Counted(said)
    places: list[int] = []
    last = 0
    for record in shown:
        if not places:
            place = 0
        elif record.index is not None:
            place = record.index + 1
        elif not has_times:
            place = counted.place(is_request=record.name == REQUEST)
        else:
            # What the person said is sent later; all else that is shown in that moment was sent already.
            search = bisect_left if record.name == FEEDBACK else bisect_right
            place = last if record.ts is None else search(moments, record.ts)
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
        turn = 0
        for entry in entries:
            if not isinstance(entry, Said):
                turn += entry.name == REQUEST
            elif entry.message.role == "assistant" and not entry.message.hidden:
                self._answered.add(turn)
                if any(part.__class__ is Reasoning for part in entry.message.parts):
                    self._thought.add(turn)
            self.turn_of.append(turn)
        self._next_prompt = _next_prompts(entries, self.turn_of)

    def is_answered(self, place: int) -> bool:
        """Whether what the model said in the turn of an entry is among what went to and from the model."""
        return self.turn_of[place] in self._answered

    def has_thoughts(self, place: int) -> bool:
        """Whether that tells also what it thought."""
        return self.turn_of[place] in self._thought

    def is_told(self, place: int, text: str | None) -> bool:
        """Whether the prompt behind an entry says what the person said there."""
        prompt, turn = self._next_prompt[place]
        if prompt is None:
            return False
        texts = list(_texts(prompt))
        words = (text or "").strip()
        if any(words in told for told, _ in texts):
            return True
        # The extensions replace what a person mentions; then the words differ, but they are marked.
        return turn <= self.turn_of[place] + 1 and any(is_marked for _, is_marked in texts)


def _next_prompts(entries: list[Entry], turns: list[int]) -> list[tuple[Message | None, int]]:
    found: list[tuple[Message | None, int]] = []
    prompt: tuple[Message | None, int] = (None, 0)
    for entry, turn in zip(reversed(entries), reversed(turns), strict=True):
        found.append(prompt)
        if isinstance(entry, Said) and entry.message.role != "assistant" and not entry.message.hidden:
            prompt = entry.message, turn
    found.reverse()
    return found


def _texts(prompt: Message) -> Iterator[tuple[str, bool]]:
    """The texts of a prompt, also of results in it, and whether words in them are marked as a person's."""
    for part in prompt.parts:
        if isinstance(part, Text):
            yield part.text, "tag" in part.extra or markup.has_words(part.text)
        elif isinstance(part, ToolResult):
            inner = [Text(text=part.output)] if isinstance(part.output, str) else part.output
            yield from ((one.text, markup.has_words(one.text)) for one in inner if isinstance(one, Text))
