"""The rows of a call as the gateway writes them, as one: they differ in nothing but their pieces of messages.

Rows that say anything twice and otherwise, or in another type than usual, are taken apart with care instead.
So nothing can be lost here, and both ways make the same call of the same rows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.readers.azure_openai.columns import moment
from agent_journal.readers.azure_openai.names import (
    CORRELATION,
    DEPLOYMENT,
    DIAGNOSED_DEPLOYMENT,
    DURATIONS,
    ERRORS,
    MODEL,
    NESTED,
    REQUEST_SIDE,
    RESPONSE_SIDE,
    RESPONSE_TIME,
    SEQUENCE,
    SUBSCRIPTION,
    TIMES,
    TOKENS,
    VERSION,
    spelled,
)
from agent_journal.readers.azure_openai.rows import Placed

if TYPE_CHECKING:
    from agent_journal.model import Bag

_UNUSUAL = frozenset({*NESTED, *DURATIONS, *ERRORS, RESPONSE_TIME, DIAGNOSED_DEPLOYMENT})
_TOKENS = frozenset(TOKENS)
_TEXTS = (CORRELATION, DEPLOYMENT, MODEL, VERSION, SUBSCRIPTION)


class Pieces(NamedTuple):
    """What rows hold of one side of a call, and where that begins."""

    values: list[Any]
    where: str


class Joined(NamedTuple):
    """All that the rows of a call say beside its two sides, as one row, and these."""

    row: Placed
    request: Pieces | None
    response: Pieces | None


def joined(rows: list[Placed]) -> Joined | None:
    """The usual rows of one call, in their sequence; None of all others."""
    told: Bag = {}
    sides: dict[str, Pieces] = {}
    counting = 0
    for where, values in rows:
        columns = spelled(tuple(values))
        if not _UNUSUAL.isdisjoint(columns) or len(columns) < len(values):
            return None
        beside = dict(values)
        if SEQUENCE in columns and beside.pop(columns[SEQUENCE]).__class__ is not int:
            return None
        for side in (REQUEST_SIDE, RESPONSE_SIDE):
            if side in columns:
                sides.setdefault(side, Pieces([], where)).values.append(beside.pop(columns[side]))
        counting += not _TOKENS.isdisjoint(columns)
        together = told | beside
        if not _has_time_of(rows[0], columns) or together != beside | told:
            return None
        told = together
    if not sides or counting > 1 or not _is_usual(told):
        return None
    return Joined(Placed(rows[0].where, told), sides.get(REQUEST_SIDE), sides.get(RESPONSE_SIDE))


def _has_time_of(first: Placed, columns: dict[str, str]) -> bool:
    """Whether a row states one time, in the same column as the first."""
    stated = [columns[name] for name in TIMES if name in columns]
    return len(stated) == 1 and stated[0] in first.values


def _is_usual(told: Bag) -> bool:
    """Whether all that is asked for has the type it should have, and no two columns have one name."""
    columns = spelled(tuple(told))
    if len(columns) < len(told):
        return False
    for name in _TEXTS:
        if name in columns and told[columns[name]].__class__ is not str:
            return False
    for name in TOKENS:
        if name in columns and told[columns[name]].__class__ is not int:
            return False
    return all(moment(told[columns[name]]) is not None for name in TIMES if name in columns)
