"""Hashes of memories, as PAM demands them."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any

# Deeper values are told as text: the official SDK gives up beyond some hundred levels.
_DEEPEST = 64


def content_hash(text: str) -> str:
    """What makes two memories the same: the hash of a text without its case and its white space."""
    plain = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{hashlib.sha256(plain.encode()).hexdigest()}"


def checksum_of(memories: list[Any]) -> str:
    """The hash of memories as they are stored: in the order of their ids, in the form of RFC 8785.

    Raises ValueError where a value in them has no such form.
    """
    import rfc8785  # noqa: PLC0415 (only memories need it)

    try:
        ordered: list[Any] = sorted(memories, key=lambda memory: memory["id"])
        canonical = rfc8785.dumps(ordered)
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError("its memories have no ids that can be ordered, or are nested too deeply") from error
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def has_canonical_form(memory: dict[str, Any]) -> bool:
    """Whether a memory can be part of a checksum: RFC 8785 has no integers beyond 2⁵³."""
    if _depth(memory) > _DEEPEST:
        return False
    try:
        checksum_of([memory])
    except ValueError:
        return False
    return True


def _depth(value: Any) -> int:
    deepest = 0
    pending = [(value, 0)]
    while pending:
        current, depth = pending.pop()
        deepest = max(deepest, depth)
        if isinstance(current, dict):
            pending.extend((inner, depth + 1) for inner in current.values())
        elif isinstance(current, list):
            pending.extend((inner, depth + 1) for inner in current)
    return deepest
