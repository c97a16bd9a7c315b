"""Ids and hashes that are the same on every machine: UUIDv5 and SHA-256, without clock or randomness."""

from __future__ import annotations

import hashlib
from datetime import datetime, timedelta
from typing import Any

import msgspec

# The DNS namespace of RFC 4122.
NAMESPACE = bytes.fromhex("6ba7b8109dad11d180b400c04fd430c8")
# The hash of every name starts with its namespace.
_NAMESPACE_HASH = hashlib.sha1(NAMESPACE)  # noqa: S324 (RFC 4122)
FOLDER_DIGITS = 8
# The two highest bits of a UUID's ninth byte are 10: each hexadecimal digit with these bits set.
_VARIANT = dict(zip("0123456789abcdef", "89ab" * 4, strict=True))
_encode_sorted = msgspec.json.Encoder(order="sorted").encode


def uuid5(name: str) -> str:
    """The UUIDv5 of a name."""
    # U+FFFD-free input is not guaranteed here: ids are also made from raw, hostile text.
    return _uuid5(name.encode("utf-8", "replace"))


def _uuid5(name: bytes) -> str:
    hashed = _NAMESPACE_HASH.copy()
    hashed.update(name)
    text = hashed.hexdigest()
    return f"{text[:8]}-{text[8:12]}-5{text[13:16]}-{_VARIANT[text[16]]}{text[17:20]}-{text[20:32]}"


def is_uuid(text: str) -> bool:
    """Whether `text` is a UUID in its common form of 36 characters."""
    groups = text.split("-")
    if [len(group) for group in groups] != [8, 4, 4, 4, 12]:
        return False
    return all(character in "0123456789abcdefABCDEF" for group in groups for character in group)


def digest(*values: Any) -> str:
    """The SHA-256 of the values as JSON, in hex: equal for equal values, whatever the order of their keys."""
    return hashlib.sha256(_encode_sorted(values)).hexdigest()


def made(*values: Any) -> str:
    """An id for something without one: the UUIDv5 of its stable content."""
    return _uuid5(digest(*values).encode())


def in_folder(id_: str, folder: str) -> str:
    """An id with a hash of a folder, for sessions of several folders with equal ids."""
    return f"{id_}.{digest(folder)[:FOLDER_DIGITS]}"


def made_each(prefix: tuple[Any, ...], *suffixes: tuple[Any, ...]) -> list[str]:
    """The ids that `made` gives for values with a common prefix, which is hashed once."""
    prefix_hash = hashlib.sha256(_encode_sorted(prefix)[:-1])
    made_ids: list[str] = []
    for suffix in suffixes:
        hashed = prefix_hash.copy()
        hashed.update(b"," + _encode_sorted(suffix)[1:])
        made_ids.append(_uuid5(hashed.hexdigest().encode()))
    return made_ids


def content_hash(role: str, content: Any) -> str:
    """The hash that copies of a message share: of its role and content, not of its time."""
    return hashlib.sha256(msgspec.json.encode({"role": role, "content": content})).hexdigest()


def message_hash(role: str, content: Any, timestamp: str) -> str:
    """The hash of a unified message: SHA-256 over its role, content and time as compact JSON."""
    body = {"role": role, "content": content, "timestamp": timestamp}
    return hashlib.sha256(msgspec.json.encode(body)).hexdigest()


def is_duplicate(first: dict[str, Any], second: dict[str, Any], window_ms: int = 5000) -> bool:
    """Whether two unified messages are duplicates: equal role and content, within `window_ms` of each other.

    The time is not part of the hash, or no two different times would ever fall into one window.
    """
    try:
        apart = datetime.fromisoformat(first["timestamp"]) - datetime.fromisoformat(second["timestamp"])
    except (TypeError, ValueError):
        return False
    if abs(apart) > timedelta(milliseconds=window_ms):
        return False
    return content_hash(first["role"], first["content"]) == content_hash(second["role"], second["content"])


def trace_hash(value: dict[str, Any]) -> str:
    """How cooked traces identify a message or tool: 16 digits of the SHA-256 of its JSON with sorted keys."""
    import json  # noqa: PLC0415 (the hash is of JSON as this module prints it)

    text = json.dumps(value, sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
