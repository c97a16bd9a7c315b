"""Messages in the wire format of Protocol Buffers, as objects with the names of a schema.

A schema is a dictionary from a field's number to its name and form. Fields that it lacks stay, named by
their number.
"""

from __future__ import annotations

import base64
import struct
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterator

Schema: TypeAlias = dict[int, tuple[str, Any]]
TEXT, NUMBER, FLAG, BYTES, STRUCT = "text", "number", "flag", "bytes", "struct"
# Anything, as an object with a schema of its own, in a list.
EACH = "each"

_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_MAX_VARINT_BITS = 64
_MAX_FIELD_ID = 2000
_MAX_DEPTH = 24


class MalformedMessage(ValueError):
    """The bytes are no message."""


def each_field(data: bytes) -> Iterator[tuple[int, Any]]:
    """Yield number and value of each field: a number or bytes."""
    at = 0
    while at < len(data):
        tag, at = _varint(data, at)
        number, form = tag >> 3, tag & 7
        if not 0 < number <= _MAX_FIELD_ID:
            raise MalformedMessage(f"field {number}")
        if form == _VARINT:
            value, at = _varint(data, at)
            yield number, value
            continue
        if form == _LENGTH:
            size, at = _varint(data, at)
        elif form in (_FIXED64, _FIXED32):
            size = 8 if form == _FIXED64 else 4
        else:
            raise MalformedMessage(f"form {form}")
        if at + size > len(data):
            raise MalformedMessage("the end is missing")
        yield number, data[at : at + size]
        at += size


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while at < len(data) and shift < _MAX_VARINT_BITS:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:  # noqa: PLR2004 (the highest bit says that more follow)
            return value, at
        shift += 7
    raise MalformedMessage("a number has no end")


def decode(data: bytes, schema: Schema, depth: int = 0) -> dict[str, Any]:
    """Return a message as an object."""
    if depth > _MAX_DEPTH:
        raise MalformedMessage("it is nested too deeply")
    record: dict[str, Any] = {}
    for number, value in each_field(data):
        name, form = schema.get(number, (f"field_{number}", None))
        is_list = form.__class__ is tuple
        decoded = _value(value, form[1] if is_list else form, depth)
        if is_list:
            record.setdefault(name, []).append(decoded)
        elif name in record and form is None:
            known = record[name]
            record[name] = [*known, decoded] if known.__class__ is list else [known, decoded]
        else:
            record[name] = decoded
    return record


def _value(value: Any, form: Any, depth: int) -> Any:
    if value.__class__ is int:
        return bool(value) if form == FLAG else value
    if form.__class__ is dict:
        return decode(value, form, depth + 1)
    if form == TEXT:
        return value.decode("utf-8", "replace")
    if form == BYTES:
        return base64.b64encode(value).decode()
    if form == STRUCT:
        return _struct(value, depth + 1)
    return _guessed(value, depth)


def _guessed(value: bytes, depth: int) -> Any:
    """Return bytes of an unknown field as what they look like: text, a message, or base64."""
    is_text = _is_text(value)
    if not is_text or value[:1] == b"\n":
        try:
            return decode(value, {}, depth + 1)
        except MalformedMessage:
            pass
    return value.decode() if is_text else base64.b64encode(value).decode()


def _is_text(value: bytes) -> bool:
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return False
    return all(character.isprintable() or character in "\n\r\t" for character in text)


def _struct(data: bytes, depth: int) -> dict[str, Any]:
    """Return a `google.protobuf.Struct`, which is a JSON object."""
    if depth > _MAX_DEPTH:
        raise MalformedMessage("it is nested too deeply")
    record: dict[str, Any] = {}
    for _, entry in each_field(data):
        pair = dict(each_field(entry)) if entry.__class__ is bytes else {}
        key, value = pair.get(1, b""), pair.get(2, b"")
        if key.__class__ is bytes and value.__class__ is bytes:
            record[key.decode("utf-8", "replace")] = _struct_value(value, depth)
    return record


def _struct_value(data: bytes, depth: int) -> Any:
    for number, value in each_field(data):
        if number == 2 and value.__class__ is bytes and len(value) == 8:  # noqa: PLR2004 (a double)
            (real,) = struct.unpack("<d", value)
            return int(real) if real.is_integer() else real
        if number == 4:  # noqa: PLR2004 (a boolean)
            return bool(value)
        if value.__class__ is not bytes:
            return None
        match number:
            case 3:
                return value.decode("utf-8", "replace")
            case 5:
                return _struct(value, depth + 1)
            case 6:
                if depth > _MAX_DEPTH:
                    raise MalformedMessage("it is nested too deeply")
                return [
                    _struct_value(item, depth + 1) for _, item in each_field(value) if item.__class__ is bytes
                ]
    return None
