"""Token counts: the app tells the sum so far and the last response's share, often several times.

A fork, and a sub-agent that knows what its parent knew, begin with a copy of the parent's lines, counts
included. The sum so far is the same in the copy, and so is the turn it was counted in (its id is in newer
files), so the key made of both is too, and the count is counted once. Copied lines may have new times.

Since November 2026 (0.169) each response also has a record of its own, before the count that repeats it.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any, TypeAlias

from agent_journal.decoding.fields import counted
from agent_journal.model import Usage, timestamps

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
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Copied lines are written all at once; no model answers as fast as that.
_AT_ONCE_MS = 1000


class Counts:
    """Makes the usage of each response of what the counts of one rollout say."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._is_counting = False
        self._sum: _Five | None = None
        # The share of the response that a record has told, until a count repeats it.
        self._recorded: _Five | None = None
        self._turn: str | None = None
        self._parent: str | None = None
        self._copied_until = 0

    def turn(self, turn: Any) -> None:
        """Say in which turn the counts that follow are: one that every copy of it names, if it is a UUID."""
        if turn.__class__ is str and _UUID.fullmatch(turn):
            self._turn = turn

    def spawned(self, parent: str, at: str | None) -> None:
        """Say for whom a sub-agent works since when: what is told until then was copied from there."""
        moment = timestamps.epoch_ms(at)
        if moment is not None:
            self._parent, self._copied_until = parent, moment + _AT_ONCE_MS

    def belongs_to(self, session: str | None) -> None:
        """Say whose counts follow: of the sessions that copied lines name, the last one is the oldest."""
        if session and not self._is_counting:
            self._session = session
            self._parent = None

    def usage(self, info: Any, at: str | None) -> Usage | None:
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
        recorded, self._recorded = self._recorded, None
        return None if share == recorded else self._share(share, last, self._key(so_far, at))

    def recorded(self, record: dict[str, Any], at: str | None) -> Usage | None:
        """The same of a response that has a record; None if its count came first."""
        last = record.get("usage")
        share = _counts(last)
        if share is None:
            return None
        self.turn(record.get("turn_id"))
        so_far = _counts(record.get("thread_token_usage"))
        if so_far is not None and so_far == self._sum:
            return None
        self._is_counting = True
        self._recorded = share
        if so_far is not None:
            self._sum = so_far
            return self._share(share, last, self._key(so_far, at))
        response = record.get("response_id")
        return self._share(share, last, response if response.__class__ is str and response else None)

    def _key(self, so_far: _Five, at: str | None) -> str | None:
        owner = self._turn or self._copied_from(at) or self._session
        return "{}:{}:{}:{}:{}:{}".format(owner, *so_far) if owner else None

    def _share(self, share: _Five, last: Any, key: str | None) -> Usage:
        sent, cached, out, reasoning, whole = share
        written = counted(last.get("cache_write_input_tokens"))
        return Usage(
            key=key,
            input=max(sent - cached - (written or 0), 0),
            output=out,
            cache_read=cached,
            cache_write=written,
            reasoning=reasoning,
            total=whole,
            extra=last,
        )

    def _copied_from(self, at: str | None) -> str | None:
        """The parent, if a count was copied from its lines."""
        if self._parent is None:
            return None
        moment = timestamps.epoch_ms(at)
        if moment is None or moment > self._copied_until:
            self._parent = None
            return None
        self._copied_until = max(self._copied_until, moment + _AT_ONCE_MS)
        return self._parent


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
