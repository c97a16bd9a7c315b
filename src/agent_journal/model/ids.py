"""Ids and hashes that are the same on every machine: UUIDv5 and SHA-256, no clock, no chance."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec

# The DNS namespace of RFC 4122.
NAMESPACE = bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
# The hash of every name begins with that of its namespace.
_BEGUN = hashlib.sha1(NAMESPACE)  # noqa: S324 (RFC 4122)
# The two highest bits of a UUID's ninth byte are 10: which digit is one with that.
_VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def uuid5(name: str) -> str:
    """The UUIDv5 of a name."""
    # U+FFFD-free input is not guaranteed here: ids are also made from raw, hostile text.
    return _uuid5(name.encode("utf-8", "replace"))


def _uuid5(name: bytes) -> str:
    hashed = _BEGUN.copy()
    hashed.update(name)
    text = hashed.hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"


def is_uuid(text: str) -> bool:
    """Whether `text` is a UUID in its usual form of 36 characters."""
    groups = text.split("-")
    if [len(group) for group in groups] != [8, 4, 4, 4, 12]:
        return False
    return all(character in "0123456789abcdefABCDEF" for group in groups for character in group)


def digest(*values: Any) -> str:
    """SHA-256 over the values as JSON, in hex: equal for equal values, whatever their key order."""
    return hashlib.sha256(_encode_sorted(values)).hexdigest()


def made(*values: Any) -> str:
    """An id for something that has none: the UUIDv5 of what is stable about it."""
    return _uuid5(digest(*values).encode())


def made_each(begin: tuple[Any, ...], *ends: tuple[Any, ...]) -> list[str]:
    """What `made` gives for values that begin alike and end in several ways: the beginning is hashed once."""
    begun = hashlib.sha256(_encode_sorted(begin)[:-1])
    found: list[str] = []
    for end in ends:
        hashed = begun.copy()
        hashed.update(b"," + _encode_sorted(end)[1:])
        found.append(_uuid5(hashed.hexdigest().encode()))
    return found


def content_hash(role: str, content: Any) -> str:
    """What makes two copies of one message the same: role and content, not the time."""
    return hashlib.sha256(msgspec.json.encode({"role": role, "content": content})).hexdigest()


def message_hash(role: str, content: Any, timestamp: str) -> str:
    """The hash of a unified message: SHA-256 over its role, content and time as compact JSON."""
    body = {"role": role, "content": content, "timestamp": timestamp}
    return hashlib.sha256(msgspec.json.encode(body)).hexdigest()


def is_duplicate(first: dict[str, Any], second: dict[str, Any], window_ms: int = 5000) -> bool:
    """Whether two unified messages are copies of one: equal role and content, no further apart in time.

    The time is not part of what is compared, or no two moments would ever fall into one window.
    """
    try:
        apart = datetime.fromisoformat(first["timestamp"]) - datetime.fromisoformat(second["timestamp"])
    except (TypeError, ValueError):
        return False
    if abs(apart) > timedelta(milliseconds=window_ms):
        return False
    return content_hash(first["role"], first["content"]) == content_hash(second["role"], second["content"])


def trace_hash(value: dict[str, Any]) -> str:
    """What cooked traces know a message or tool by: SHA-256 of its JSON with sorted keys, 16 digits of it."""
    import json  # noqa: PLC0415 (the hash is over JSON as this module prints it)

    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
