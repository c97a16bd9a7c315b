"""The rows of a call as the gateway writes them, as one: they differ in nothing but their pieces of messages.

Rows that say anything twice and otherwise, or in another type than usual, are taken apart with care instead.
So nothing can be lost here, and both ways make the same call of the same rows.
"""

from __future__ import annotations

from functools import lru_cache
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
    OWN_DEPLOYMENTS,
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

_UNUSUAL = frozenset({*NESTED, *DURATIONS, *ERRORS, RESPONSE_TIME, DIAGNOSED_DEPLOYMENT, *OWN_DEPLOYMENTS})
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


class _Usual(NamedTuple):
    """What the columns of a usual row are."""

    time: str
    sequence: str | None
    sides: tuple[tuple[str, str], ...]
    is_counting: bool


def joined(rows: list[Placed]) -> Joined | None:
    """The usual rows of one call, in their sequence; None of all others."""
    told: Bag = {}
    sides: dict[str, Pieces] = {}
    counting = 0
    for where, values in rows:
        usual = _usual(tuple(values))
        if usual is None or usual.time not in rows[0].values:
            return None
        beside = dict(values)
        if usual.sequence is not None and beside.pop(usual.sequence).__class__ is not int:
            return None
        for side, column in usual.sides:
            sides.setdefault(side, Pieces([], where)).values.append(beside.pop(column))
        counting += usual.is_counting
        together = told | beside
        if together != beside | told:
            return None
        told = together
    if not sides or counting > 1 or not _is_usual(told):
        return None
    return Joined(Placed(rows[0].where, told), sides.get(REQUEST_SIDE), sides.get(RESPONSE_SIDE))


@lru_cache(maxsize=1024)
def _usual(names: tuple[str, ...]) -> _Usual | None:
    """What columns of these names are; None if there is an unusual one, or not one time."""
    columns = spelled(names)
    stated = [columns[name] for name in TIMES if name in columns]
    if not _UNUSUAL.isdisjoint(columns) or len(columns) < len(names) or len(stated) != 1:
        return None
    sides = tuple((side, columns[side]) for side in (REQUEST_SIDE, RESPONSE_SIDE) if side in columns)
    return _Usual(stated[0], columns.get(SEQUENCE), sides, not _TOKENS.isdisjoint(columns))


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
