"""Canonical JSON of agent records: keys in order, no spaces, UTF-8, numbers as Python writes them.

It is what the draft's reference tool makes before it signs: a record written here can be checked there.
"""

from __future__ import annotations

import json
import math
import sys
from decimal import Decimal, InvalidOperation
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder(order="sorted")
_PLAIN = frozenset({int, bool, type(None)})
# Python writes numbers beyond these with an exponent: 1e+16 and 1e-05, where msgspec has 1e16 and 0.00001.
_SMALL, _LARGE = 1e-4, 1e16
# msgspec decodes up to the interpreter's recursion limit; writing wraps the value a few levels more.
_HEADROOM_FACTOR = 2
_MAX_SHOWN_DIGITS = 40
# Some programs write every double with as many digits as any double may need.
_MAX_FLOAT_DIGITS = 17


class NotCanonical(ValueError):
    """A text that has no canonical form, and why."""


def encode(value: Any) -> bytes:
    """The canonical bytes of a value of JSON or of the model."""
    try:
        data = _encoder.encode(value)
    except RecursionError:
        data = _deep(value)
    except OverflowError:
        return _written_by_python(value)  # a number of more than 64 bits
    except UnicodeEncodeError as error:
        raise NotCanonical("a text in it holds half a character") from error
    return _written_by_python(json.loads(data)) if _has_exponents(value) else data


def _has_exponents(value: Any) -> bool:
    """Whether there are numbers that Python writes otherwise."""
    pending = [value]
    for member in pending:  # the list grows during the loop
        kind = type(member)
        if kind is str:
            continue
        if kind is dict:
            pending += member.values()
        elif kind is list or kind is tuple:
            pending += member
        elif kind is float:
            if not _SMALL <= abs(member) < _LARGE and member != 0:
                return True
        elif kind not in _PLAIN and isinstance(member, msgspec.Struct):
            pending += msgspec.structs.astuple(member)
    return False


def _deep(value: Any) -> bytes:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(limit * _HEADROOM_FACTOR)
    try:
        return _encoder.encode(value)
    finally:
        sys.setrecursionlimit(limit)


def parse(text: bytes, *, exact: bool = False) -> Any:
    """The value of a JSON text whose meaning is beyond doubt: UTF-8, no repeated key, no number out of range.

    With `exact`, also refuse numbers that canonical form would change: it may stand in for the text.
    """
    try:
        return json.loads(
            text.decode(),
            object_pairs_hook=_without_repeated_keys,
            parse_constant=_no_number,
            parse_float=_exact_float if exact else _finite_float,
            parse_int=_exact_int if exact else None,
        )
    except RecursionError as error:
        raise NotCanonical("it is nested too deeply") from error
    except NotCanonical:
        raise
    except ValueError as error:
        raise NotCanonical(f"it is not JSON ({error})") from error


def _written_by_python(value: Any) -> bytes:
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        raise NotCanonical("a text in it holds half a character") from error


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise NotCanonical("an object in it has a key twice")
    return members


def _finite_float(text: str) -> float:
    """The number; one beyond the range of a double would become infinity, which JSON writes as null."""
    number = float(text)
    if math.isinf(number):
        raise NotCanonical(f"the number {_shortened(text)} is too large for a 64-bit float")
    return number


def _exact_float(text: str) -> float:
    """The number; digits that a double does not hold could be changed without changing canonical form."""
    number = _finite_float(text)
    try:
        stated = Decimal(text)
    except InvalidOperation as error:  # an exponent beyond those of decimals
        raise NotCanonical(f"the number {_shortened(text)} is too small for a 64-bit float") from error
    if number == 0 and stated != 0:
        raise NotCanonical(f"the number {_shortened(text)} is too small for a 64-bit float")
    if len(stated.as_tuple().digits) > _MAX_FLOAT_DIGITS and stated != Decimal(repr(number)):
        raise NotCanonical(f"the number {_shortened(text)} has more digits than a 64-bit float holds")
    return number


def _exact_int(text: str) -> int:
    if text == "-0":
        raise NotCanonical("the number -0 has no canonical form")
    return int(text)


def _shortened(text: str) -> str:
    return text if len(text) <= _MAX_SHOWN_DIGITS else f"{text[:_MAX_SHOWN_DIGITS]}…"


def _no_number(text: str) -> Any:
    raise NotCanonical(f"{text} is no number of JSON")
