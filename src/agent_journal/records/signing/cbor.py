"""A strict reader of CBOR, for signatures: one value, in its one shortest form, and nothing after it.

Libraries accept what the standard allows: lengths that are not stated, keys that repeat, numbers written
longer than they need to be. Two programs that disagree about such bytes may disagree about what was signed.
"""

from __future__ import annotations

from typing import Any, NamedTuple

MAX_BYTES = 1 << 20
MAX_DEPTH = 16
_UNSIGNED, _NEGATIVE, _BYTES, _TEXT, _ARRAY, _MAP, _TAG, _SIMPLE = range(8)
_SIMPLE_VALUES = {20: False, 21: True, 22: None}
# How many bytes follow for an argument, by the low bits of the first byte; fewer must not have sufficed.
_ARGUMENT = {24: (1, 24), 25: (2, 1 << 8), 26: (4, 1 << 16), 27: (8, 1 << 32)}
_INDEFINITE_LENGTH_CODE = 31


class Tagged(NamedTuple):
    """A value with a tag."""

    tag: int
    value: Any


class Malformed(ValueError):
    """Bytes that are not strict CBOR, and why."""


def decode(data: bytes) -> Any:
    """The value that the bytes are, all of them."""
    if len(data) > MAX_BYTES:
        raise Malformed(f"it is larger than {MAX_BYTES:,} bytes")
    reader = _Reader(data)
    value = reader.value(0)
    if reader.at != len(data):
        raise Malformed(f"{len(data) - reader.at} bytes follow it")
    return value


class _Reader:
    def __init__(self, data: bytes) -> None:
        self._data = data
        self.at = 0

    def value(self, depth: int) -> Any:
        # The depth is bounded, so this may recurse.
        if depth > MAX_DEPTH:
            raise Malformed(f"it is nested more than {MAX_DEPTH} deep")
        kind, argument = self._head()
        match kind:
            case 0:
                return argument
            case 1:
                return -1 - argument
            case 2:
                return self._take(argument)
            case 3:
                return self._text(argument)
            case 4:
                return [self.value(depth + 1) for _ in self._counted(argument)]
            case 5:
                return self._map(argument, depth)
            case 6:
                return Tagged(argument, self.value(depth + 1))
        if argument not in _SIMPLE_VALUES:
            raise Malformed("it holds a float or a value of no known kind")
        return _SIMPLE_VALUES[argument]

    def _head(self) -> tuple[int, int]:
        first = self._take(1)[0]
        kind, low = first >> 5, first & 31
        if low < 24:  # noqa: PLR2004 (the argument itself)
            return kind, low
        if low == _INDEFINITE_LENGTH_CODE:
            raise Malformed("a length in it is not stated")
        if low not in _ARGUMENT or kind == _SIMPLE:
            raise Malformed("it holds a float or a value of no known kind")
        size, least = _ARGUMENT[low]
        argument = int.from_bytes(self._take(size), "big")
        if argument < least:
            raise Malformed("a number in it is written longer than it needs to be")
        return kind, argument

    def _take(self, count: int) -> bytes:
        taken = self._data[self.at : self.at + count]
        if len(taken) != count:
            raise Malformed("it ends too early")
        self.at += count
        return taken

    def _text(self, count: int) -> str:
        try:
            return self._take(count).decode()
        except UnicodeDecodeError as error:
            raise Malformed("a text in it is not UTF-8") from error

    def _counted(self, count: int) -> range:
        if count > len(self._data) - self.at:  # each value has a byte at least
            raise Malformed("it ends too early")
        return range(count)

    def _map(self, count: int, depth: int) -> dict[int | str | bytes, Any]:
        pairs: dict[int | str | bytes, Any] = {}
        for _ in self._counted(count):
            key = self.value(depth + 1)
            if not isinstance(key, int | str | bytes) or isinstance(key, bool):
                raise Malformed("a key in it is neither number nor text")
            if key in pairs:
                raise Malformed(f"the key {key!r} is there twice")
            pairs[key] = self.value(depth + 1)
        return pairs
