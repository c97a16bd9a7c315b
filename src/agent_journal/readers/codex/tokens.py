"""Token counts: the app tells the sum so far and the last response's share, often several times.

A fork, and a sub-agent that knows what its parent knew, begin with a copy of the parent's lines, counts
included. The sum so far is the same in the copy, so the key made of it is too, and the count is counted once.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any, TypeAlias

from agent_journal.model import Usage

_COUNTS = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
_all_counts = itemgetter(*_COUNTS)
_Five: TypeAlias = tuple[int, int, int, int, int]
_NOTHING: _Five = (0, 0, 0, 0, 0)


class Counts:
    """Makes the usage of each response of what the counts of one rollout say."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._is_counting = False
        self._sum: _Five | None = None

    def belongs_to(self, session: str | None) -> None:
        """Say whose counts follow: of the sessions that copied lines name, the last one is the oldest."""
        if session and not self._is_counting:
            self._session = session

    def usage(self, info: Any) -> Usage | None:
        """The tokens of the response that has just ended; None if nothing new was told."""
        if info.__class__ is not dict:
            return None
        so_far = _counts(info.get("total_token_usage"))
        if so_far is None or so_far == self._sum:
            return None
        self._is_counting = True
        last: Any = info.get("last_token_usage")
        share = _counts(last)
        if share is None:
            last = _difference(so_far, self._sum)
            share = _all_counts(last)
        self._sum = so_far
        key = "{}:{}:{}:{}:{}:{}".format(self._session, *so_far) if self._session else None
        sent, cached, out, reasoning, whole = share
        return Usage(
            key=key,
            input=max(sent - cached, 0),
            output=out,
            cache_read=cached,
            reasoning=reasoning,
            total=whole,
            extra=last,
        )


def _counts(raw: Any) -> _Five | None:
    """The five counts; absent ones are zero, and anything that is no count spoils all."""
    if raw.__class__ is not dict:
        return None
    try:
        found: _Five = _all_counts(raw)
    except KeyError:
        found = _all_counts(dict.fromkeys(_COUNTS) | raw)
    if None in found:
        found = _all_counts({name: raw.get(name) or 0 for name in _COUNTS})
    sent, cached, out, reasoning, whole = found
    is_counts = (
        int is sent.__class__ is cached.__class__ is out.__class__ is reasoning.__class__ is whole.__class__
    )
    return found if is_counts and min(found) >= 0 else None


def _difference(so_far: _Five, before: _Five | None) -> dict[str, int]:
    before = before or _NOTHING
    if any(now < then for now, then in zip(so_far, before, strict=True)):
        before = _NOTHING
    return {name: now - then for name, now, then in zip(_COUNTS, so_far, before, strict=True)}
