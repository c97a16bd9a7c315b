"""Values as MessagePack. It has integers of 64 bits; JSON has larger ones, which are kept as digits."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

DecodeError = msgspec.DecodeError
_T = TypeVar("_T")
# The number of the extension that holds the digits of an integer.
_WIDE = 1
_LEAST, _MOST = -(1 << 63), (1 << 64) - 1
_encode = msgspec.msgpack.Encoder().encode


def encode(value: Any) -> bytes:
    """A value as bytes."""
    try:
        return _encode(value)
    except OverflowError:
        return _encode(_with_digits([msgspec.to_builtins(value, builtin_types=(bytes,))])[0])


class Decoder(Generic[_T]):
    """Bytes as values of a type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._decode = msgspec.msgpack.Decoder(kind, ext_hook=_number).decode

    def decode(self, data: bytes | memoryview) -> _T:
        """The value that bytes hold."""
        try:
            value: _T = self._decode(data)
        except msgspec.ValidationError:
            # Where the type says that there is an integer, an extension is not taken for one.
            anything = msgspec.msgpack.decode(data, ext_hook=_number)
            value = msgspec.convert(anything, self._kind, builtin_types=(bytes,))
        return value


def _with_digits(values: list[Any]) -> list[Any]:
    """The same list, in which integers that are too large are digits."""
    pending: list[dict[Any, Any] | list[Any]] = [values]
    while pending:
        bag = pending.pop()
        for key, value in bag.items() if isinstance(bag, dict) else enumerate(bag):
            if isinstance(value, tuple):
                bag[key] = value = list(value)  # noqa: PLW2901
            if isinstance(value, dict | list):
                pending.append(value)
            elif value.__class__ is int and not _LEAST <= value <= _MOST:
                bag[key] = msgspec.msgpack.Ext(_WIDE, f"{value:x}".encode())
    return values


def _number(code: int, data: memoryview) -> Any:
    if code != _WIDE:
        raise msgspec.ValidationError(f"an extension of number {code} is not known")
    return int(bytes(data), 16)
