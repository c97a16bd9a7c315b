"""The fast path: joins the gateway's rows of a call, which differ only in their pieces of messages, into one.

Rows with contradicting values or unexpected types take the general path instead. So nothing is lost here, and
both paths produce the same call.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.readers.azure_openai.columns import parse_time
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
from agent_journal.readers.azure_openai.rows import LocatedRow

if TYPE_CHECKING:
    from agent_journal.model import Bag

_UNEXPECTED = frozenset({*NESTED, *DURATIONS, *ERRORS, RESPONSE_TIME, DIAGNOSED_DEPLOYMENT, *OWN_DEPLOYMENTS})
_TOKENS = frozenset(TOKENS)
_TEXTS = (CORRELATION, DEPLOYMENT, MODEL, VERSION, SUBSCRIPTION)


class Pieces(NamedTuple):
    """The values of one side of a call, and the location of the first."""

    values: list[Any]
    location: str


class Joined(NamedTuple):
    """The other columns of the rows of a call as one row, and its two sides."""

    row: LocatedRow
    request: Pieces | None
    response: Pieces | None


class _ColumnRoles(NamedTuple):
    """The roles of the columns of a row that the fast path accepts."""

    time: str
    sequence: str | None
    sides: tuple[tuple[str, str], ...]
    is_counting: bool


def joined(rows: list[LocatedRow]) -> Joined | None:
    """Join the rows of one call, in their sequence; None if the fast path does not accept them."""
    merged: Bag = {}
    sides: dict[str, Pieces] = {}
    counting = 0
    for location, values in rows:
        roles = _column_roles(tuple(values))
        if roles is None or roles.time not in rows[0].values:
            return None
        others = dict(values)
        if roles.sequence is not None and others.pop(roles.sequence).__class__ is not int:
            return None
        for side, column in roles.sides:
            sides.setdefault(side, Pieces([], location)).values.append(others.pop(column))
        counting += roles.is_counting
        combined = merged | others
        if combined != others | merged:
            return None
        merged = combined
    if not sides or counting > 1 or not _has_expected_types(merged):
        return None
    return Joined(LocatedRow(rows[0].location, merged), sides.get(REQUEST_SIDE), sides.get(RESPONSE_SIDE))


@lru_cache(maxsize=1024)
def _column_roles(names: tuple[str, ...]) -> _ColumnRoles | None:
    """Return the roles of columns; None with an unexpected column or without exactly one time."""
    columns = spelled(names)
    times = [columns[name] for name in TIMES if name in columns]
    if not _UNEXPECTED.isdisjoint(columns) or len(columns) < len(names) or len(times) != 1:
        return None
    sides = tuple((side, columns[side]) for side in (REQUEST_SIDE, RESPONSE_SIDE) if side in columns)
    return _ColumnRoles(times[0], columns.get(SEQUENCE), sides, not _TOKENS.isdisjoint(columns))


def _has_expected_types(values: Bag) -> bool:
    """Return whether all columns have the expected types, and no two columns have the same name."""
    columns = spelled(tuple(values))
    if len(columns) < len(values):
        return False
    for name in _TEXTS:
        if name in columns and values[columns[name]].__class__ is not str:
            return False
    for name in TOKENS:
        if name in columns and values[columns[name]].__class__ is not int:
            return False
    return all(parse_time(values[columns[name]]) is not None for name in TIMES if name in columns)
