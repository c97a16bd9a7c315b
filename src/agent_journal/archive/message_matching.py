"""Two copies of one conversation under different ids: told by the messages, as document 000 tells duplicates.

Two messages are copies if role and words are equal and their times at most five seconds apart.
"""

from __future__ import annotations

import hashlib
from bisect import bisect_left
from itertools import islice
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

WINDOW_MS = 5_000
# Words that only begin alike are no evidence: a conversation of one message is never a twin.
_LEAST = 2
_TELLING = 5  # characters of a prompt that are not in other words by chance


class Said(NamedTuple):
    """A message that says something, and when."""

    key: int
    role: str
    text: str
    at_ms: int | None


def said_in(
    rows: Iterable[tuple[int, str | None, str | None, str | None]], *, at_any_time: bool = False
) -> list[Said]:
    """Those of (key, role, text, at) that say something, at a known time unless that does not matter."""
    found = []
    for key, role, text, at in rows:
        if role and text and ((at_ms := timestamps.epoch_ms(at)) is not None or at_any_time):
            found.append(Said(key, role, text, at_ms))
    return found


def are_twins(same: int, ours: int) -> bool:
    """Whether so many copies among so many messages prove that one conversation is in another."""
    return same == ours >= _LEAST


def opening_of(rows: Iterable[tuple[str | None, str | None, str | None]]) -> bytes | None:
    """What twins have in common: a hash over the first of (role, text, at) that say something."""
    first = list(islice(((role, text) for role, text, at in rows if role and text and at), _LEAST))
    if len(first) < _LEAST:
        return None
    return hashlib.sha256("\0".join(f"{role}\0{text}" for role, text in first).encode()).digest()[:16]


def matches(ours: Sequence[Said], theirs: Sequence[Said]) -> dict[int, int]:
    """Keys of our messages with the keys of theirs that are copies; each is used once.

    Where a time is not known, the words alone decide: that is for forms of one conversation.
    """
    free: dict[tuple[str, str], list[Said]] = {}
    for message in theirs:
        free.setdefault((message.role, message.text), []).append(message)
    found = {}
    for message in ours:
        candidates = free.get((message.role, message.text), [])
        for place, other in enumerate(candidates):
            if other.at_ms is None or message.at_ms is None or abs(other.at_ms - message.at_ms) <= WINDOW_MS:
                found[message.key] = candidates.pop(place).key
                break
    return found


def told_in(asked: Sequence[Said], told: Iterable[Said]) -> list[int]:
    """Keys of prompts that were said at that time; both have times.

    A program may put its own words around a prompt, as it does around commands; a word or two may stand in
    anything.
    """
    there = sorted((each for each in told if each.at_ms is not None), key=_at_ms)
    moments = [_at_ms(each) for each in there]
    found = []
    for prompt in asked:
        at_ms, words = _at_ms(prompt), prompt.text.strip()
        place = bisect_left(moments, at_ms - WINDOW_MS)
        while words and place < len(there) and moments[place] <= at_ms + WINDOW_MS:
            text = there[place].text
            if words == text.strip() or (len(words) >= _TELLING and words in text):
                found.append(prompt.key)
                break
            place += 1
    return found


def _at_ms(said: Said) -> int:
    return said.at_ms or 0
