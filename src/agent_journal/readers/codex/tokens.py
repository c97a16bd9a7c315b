"""Token counts: the app states the total so far and the last response's share, often several times.

A fork, and a subagent that has its parent's context, begin with a copy of the parent's lines, including
counts. The total is the same in the copy, and so is the turn it was counted in (newer files have its id).
The key is made of both, so a copied count counts once. Copied lines may have new times.

Since November 2026 (0.169) each response also has a record of its own, before the count that repeats it.
"""

from __future__ import annotations

import re
from operator import itemgetter
from typing import Any, TypeAlias

from agent_journal.decoding.fields import counted
from agent_journal.model import Usage, timestamps

_COUNT_FIELDS = (
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_output_tokens",
    "total_tokens",
)
_all_counts = itemgetter(*_COUNT_FIELDS)
_CountTuple: TypeAlias = tuple[int, int, int, int, int]
_NO_COUNTS: _CountTuple = (0, 0, 0, 0, 0)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
# Copied lines are written all at once, faster than any model answers.
_COPY_GAP_MS = 1000


class TokenCounts:
    """Turns the counts of one rollout into the usage of each response."""

    def __init__(self, session: str) -> None:
        self._session = session
        self._is_counting = False
        self._total: _CountTuple | None = None
        # The share of the last response that had a record, until a count repeats it.
        self._recorded_share: _CountTuple | None = None
        self._turn: str | None = None
        self._parent: str | None = None
        self._copied_until = 0

    def set_turn(self, turn: Any) -> None:
        """Set the turn of the counts that follow; only a UUID is the same in all copies."""
        if turn.__class__ is str and _UUID.fullmatch(turn):
            self._turn = turn

    def set_parent(self, parent: str, at: str | None) -> None:
        """Set a subagent's parent and start: the counts until then were copied from the parent."""
        started = timestamps.epoch_ms(at)
        if started is not None:
            self._parent, self._copied_until = parent, started + _COPY_GAP_MS

    def set_owner(self, session: str | None) -> None:
        """Set the session of the counts that follow; the last one that copied lines name is the oldest."""
        if session and not self._is_counting:
            self._session = session
            self._parent = None

    def usage_from_count(self, info: Any, at: str | None) -> Usage | None:
        """Get the usage of the response that has just ended; None if the count is a repetition."""
        if info.__class__ is not dict:
            return None
        total = _counts(info.get("total_token_usage"))
        if total is None or total == self._total:
            return None
        self._is_counting = True
        last: Any = info.get("last_token_usage")
        share = _counts(last)
        if share is None:
            last = _difference(total, self._total)
            share = _all_counts(last)
        self._total = total
        recorded, self._recorded_share = self._recorded_share, None
        return None if share == recorded else self._usage(share, last, self._key(total, at))

    def usage_from_record(self, record: dict[str, Any], at: str | None) -> Usage | None:
        """Get the usage of a response from its record; None if its count came first."""
        last = record.get("usage")
        share = _counts(last)
        if share is None:
            return None
        self.set_turn(record.get("turn_id"))
        total = _counts(record.get("thread_token_usage"))
        if total is not None and total == self._total:
            return None
        self._is_counting = True
        self._recorded_share = share
        if total is not None:
            self._total = total
            return self._usage(share, last, self._key(total, at))
        response = record.get("response_id")
        return self._usage(share, last, response if response.__class__ is str and response else None)

    def _key(self, total: _CountTuple, at: str | None) -> str | None:
        owner = self._turn or self._copied_from(at) or self._session
        return "{}:{}:{}:{}:{}:{}".format(owner, *total) if owner else None

    def _usage(self, share: _CountTuple, last: Any, key: str | None) -> Usage:
        sent, cached, out, reasoning, total = share
        written = counted(last.get("cache_write_input_tokens"))
        return Usage(
            key=key,
            input=max(sent - cached - (written or 0), 0),
            output=out,
            cache_read=cached,
            cache_write=written,
            reasoning=reasoning,
            total=total,
            extra=last,
        )

    def _copied_from(self, at: str | None) -> str | None:
        """Get the parent if a count was copied from its lines."""
        if self._parent is None:
            return None
        time = timestamps.epoch_ms(at)
        if time is None or time > self._copied_until:
            self._parent = None
            return None
        self._copied_until = max(self._copied_until, time + _COPY_GAP_MS)
        return self._parent


def _counts(raw: Any) -> _CountTuple | None:
    """Get the five counts; absent ones are zero; None if any is not a count."""
    if raw.__class__ is not dict:
        return None
    try:
        counts: _CountTuple = _all_counts(raw)
    except KeyError:
        counts = _all_counts(dict.fromkeys(_COUNT_FIELDS) | raw)
    if None in counts:
        counts = _all_counts({name: raw.get(name) or 0 for name in _COUNT_FIELDS})
    sent, cached, out, reasoning, total = counts
    is_counts = (
        int is sent.__class__ is cached.__class__ is out.__class__ is reasoning.__class__ is total.__class__
    )
    return counts if is_counts and min(counts) >= 0 else None


def _difference(total: _CountTuple, before: _CountTuple | None) -> dict[str, int]:
    before = before or _NO_COUNTS
    if any(now < then for now, then in zip(total, before, strict=True)):
        before = _NO_COUNTS
    return {name: now - then for name, now, then in zip(_COUNT_FIELDS, total, before, strict=True)}
