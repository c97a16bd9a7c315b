"""The ways of recent requests: the next one mostly repeats the one before it, and that is looked at once.

Messages are compared as the values they are, which is much faster than finding out what they mean; to that,
JSON's `1`, `1.0` and `true` are equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agent_journal.model import Bag
    from agent_journal.readers.dialects.api_calls.dialects import Dialect
    from agent_journal.readers.dialects.api_calls.dialogue import Dialogue, Step
    from agent_journal.readers.dialects.api_calls.meanings import Form

# How many ways are remembered; dialogues that are interleaved are seldom more.
_MOST = 64
# Fewer messages than these are not enough to know a dialogue by its end.
LEAST_OF_WINDOW = 6
# How many of the oldest messages a client may leave out at once.
_MOST_LEFT_OUT = 64


class Known(NamedTuple):
    """So much of a prompt as a recent request sent, too: steps, and after each the place and the message."""

    steps: list[Step]
    messages: list[Any]
    """The messages of the steps, as they are."""
    places: list[int]
    ids: list[str]
    changed: dict[int, Bag]
    """What some of them, by their number, say otherwise than when they were first said."""
    dialogue: Dialogue | None = None
    start: int = 0
    """The place before the first of them; 0 if that is the beginning."""


NOTHING = Known([], [], [], [], {})


class Trails:
    """The most recent way from each first message."""

    def __init__(self) -> None:
        self._by_first: dict[int, Known] = {}

    def add(self, trail: Known) -> None:
        """Remember the way of an exchange, in place of the one that began with the same message."""
        first = trail.steps[0].place
        self._by_first.pop(first, None)
        self._by_first[first] = trail
        if len(self._by_first) > _MOST:
            del self._by_first[next(iter(self._by_first))]

    def repeated(self, first: int, prompt: list[Any], dialect: Dialect) -> Known:
        """What a prompt repeats from the beginning of the recent one whose first message leads to a place."""
        trail = self._by_first.get(first)
        if trail is None or trail.steps[0].sent.dialect is not dialect:
            return NOTHING
        return _part(trail, 0, _common(trail.messages, prompt))

    def shortened(self, form: Form, prompt: list[Any], dialect: Dialect) -> Known:
        """What a prompt whose first message has a form repeats of a recent one that had more before it.

        That has to be all that was sent since, and not only a little: clients that keep no more than so many
        messages leave out the oldest.
        """
        for trail in reversed(self._by_first.values()):
            if trail.steps[0].sent.dialect is not dialect:
                continue
            for place, step in enumerate(trail.steps[: _MOST_LEFT_OUT + 1]):
                if step.form == form and (place or trail.start):
                    count = len(trail.steps) - place
                    is_enough = count >= LEAST_OF_WINDOW and 2 * count >= len(prompt) >= count
                    if is_enough and _common(trail.messages[place:], prompt) == count:
                        return _part(trail, place, count)
        return NOTHING


def _common(before: list[Any], prompt: list[Any]) -> int:
    """How many messages both begin with."""
    count = 0
    try:
        if before == prompt[: len(before)]:
            return len(before)
        for known, raw in zip(before, prompt, strict=False):
            if known != raw:
                break
            count += 1
    except RecursionError:  # nested too deeply to be compared
        pass
    return count


def _part(trail: Known, first: int, count: int) -> Known:
    if not first and count == len(trail.steps):
        return trail
    end = first + count
    return Known(
        trail.steps[first:end],
        trail.messages[first:end],
        trail.places[first:end],
        trail.ids[first:end],
        {number - first: found for number, found in trail.changed.items() if first <= number < end},
        trail.dialogue,
        trail.places[first - 1] if first else trail.start,
    )
