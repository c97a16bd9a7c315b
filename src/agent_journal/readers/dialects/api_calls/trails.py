"""The paths of recent requests: a request mostly repeats the previous one, which is processed only once.

Messages are compared as raw values, which is much faster than normalizing them; this comparison treats
JSON's `1`, `1.0` and `true` as equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from agent_journal.model import Bag
    from agent_journal.readers.dialects.api_calls.dialects import Dialect
    from agent_journal.readers.dialects.api_calls.dialogue import Dialogue, Step
    from agent_journal.readers.dialects.api_calls.meanings import Form

# More dialogues are seldom interleaved.
_MAX_TRAILS = 64
# Fewer messages are not enough to recognize a dialogue by its end.
MIN_WINDOW_MESSAGES = 6
# How many of the oldest messages a client may omit at once.
_MAX_OMITTED_MESSAGES = 64


class Known(NamedTuple):
    """The part of a prompt that a recent request also sent: its steps, with a place and id for each."""

    steps: list[Step]
    messages: list[Any]
    """The original messages of the steps."""
    places: list[int]
    ids: list[str]
    changed: dict[int, Bag]
    """What some of them, by index, have that their first occurrence does not."""
    dialogue: Dialogue | None = None
    start: int = 0
    """The place before the first of them; 0 at the beginning of a dialogue."""


NOTHING = Known([], [], [], [], {})


class Trails:
    """The most recent path from each first message."""

    def __init__(self) -> None:
        self._by_first: dict[int, Known] = {}

    def add(self, trail: Known) -> None:
        """Store the path of an exchange and replace the one that began with the same message."""
        first = trail.steps[0].place
        self._by_first.pop(first, None)
        self._by_first[first] = trail
        if len(self._by_first) > _MAX_TRAILS:
            del self._by_first[next(iter(self._by_first))]

    def find_repeated(self, first: int, prompt: list[Any], dialect: Dialect) -> Known:
        """Return the part of a prompt that repeats the recent one whose first message leads to a place."""
        trail = self._by_first.get(first)
        if trail is None or trail.steps[0].sent.dialect is not dialect:
            return NOTHING
        return _slice_trail(trail, 0, _count_common(trail.messages, prompt))

    def find_shortened(self, form: Form, prompt: list[Any], dialect: Dialect) -> Known:
        """Return the part of a prompt that repeats a recent one without its oldest messages.

        Clients that limit the number of messages omit the oldest. The prompt has to repeat all later messages
        and at least a minimum number.
        """
        for trail in reversed(self._by_first.values()):
            if trail.steps[0].sent.dialect is not dialect:
                continue
            for index, step in enumerate(trail.steps[: _MAX_OMITTED_MESSAGES + 1]):
                if step.form == form and (index or trail.start):
                    count = len(trail.steps) - index
                    is_enough = count >= MIN_WINDOW_MESSAGES and 2 * count >= len(prompt) >= count
                    if is_enough and _count_common(trail.messages[index:], prompt) == count:
                        return _slice_trail(trail, index, count)
        return NOTHING


def _count_common(earlier: list[Any], prompt: list[Any]) -> int:
    """Count the common messages at the beginning of both lists."""
    count = 0
    try:
        if earlier == prompt[: len(earlier)]:
            return len(earlier)
        for known, raw in zip(earlier, prompt, strict=False):
            if known != raw:
                break
            count += 1
    except RecursionError:  # nested too deeply to be compared
        pass
    return count


def _slice_trail(trail: Known, first: int, count: int) -> Known:
    if not first and count == len(trail.steps):
        return trail
    end = first + count
    return Known(
        trail.steps[first:end],
        trail.messages[first:end],
        trail.places[first:end],
        trail.ids[first:end],
        {index - first: change for index, change in trail.changed.items() if first <= index < end},
        trail.dialogue,
        trail.places[first - 1] if first else trail.start,
    )
