"""Encode values as MessagePack; integers of more than 64 bits, which JSON allows, are stored as digits."""

from __future__ import annotations

from typing import Any, Generic, TypeVar

import msgspec

from agent_journal.model.spilled import encode_spilled

DecodeError = msgspec.DecodeError
_T = TypeVar("_T")
# The MessagePack extension type for the digits of an integer.
_BIG_INT_CODE = 1
_MIN_INT, _MAX_INT = -(1 << 63), (1 << 64) - 1
_encode = msgspec.msgpack.Encoder(enc_hook=encode_spilled).encode


def encode(value: Any) -> bytes:
    """Encode a value."""
    try:
        return _encode(value)
    except OverflowError:
        return _encode(
            _with_digits([msgspec.to_builtins(value, builtin_types=(bytes,), enc_hook=encode_spilled)])[0]
        )


class Decoder(Generic[_T]):
    """Decodes bytes to values of one type."""

    def __init__(self, kind: Any) -> None:
        self._kind = kind
        self._decode = msgspec.msgpack.Decoder(kind, ext_hook=_number).decode

    def decode(self, data: bytes | memoryview) -> _T:
        """Decode a value."""
        try:
            value: _T = self._decode(data)
        except msgspec.ValidationError:
            # An extension is not accepted where the type requires an integer.
            anything = msgspec.msgpack.decode(data, ext_hook=_number)
            value = msgspec.convert(anything, self._kind, builtin_types=(bytes,))
        return value


def _with_digits(values: list[Any]) -> list[Any]:
    """Replace integers that are too large by their digits, in place."""
    pending: list[dict[Any, Any] | list[Any]] = [values]
    while pending:
        container = pending.pop()
        for key, value in container.items() if isinstance(container, dict) else enumerate(container):
            if isinstance(value, tuple):
                container[key] = value = list(value)  # noqa: PLW2901
            if isinstance(value, dict | list):
                pending.append(value)
            elif value.__class__ is int and not _MIN_INT <= value <= _MAX_INT:
                container[key] = msgspec.msgpack.Ext(_BIG_INT_CODE, f"{value:x}".encode())
    return values


def _number(code: int, data: memoryview) -> Any:
    if code != _BIG_INT_CODE:
        raise msgspec.ValidationError(f"the extension {code} is unknown")
    return int(bytes(data), 16)
