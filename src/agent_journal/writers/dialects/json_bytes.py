"""JSON bytes of any value, however deeply a source nested it."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

_encoder = msgspec.json.Encoder()
# msgspec decodes up to the interpreter's recursion limit; writing wraps the value a few levels more.
_HEADROOM = 2


def encode(value: Any) -> bytes:
    """The value as compact JSON in UTF-8."""
    try:
        return _encoder.encode(value)
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit * _HEADROOM)
        try:
            return _encoder.encode(value)
        finally:
            sys.setrecursionlimit(limit)


def pretty(value: Any) -> bytes:
    """The value as JSON indented by two spaces."""
    return msgspec.json.format(encode(value), indent=2)
