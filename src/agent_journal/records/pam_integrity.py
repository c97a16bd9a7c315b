"""The hashes of memories that PAM requires."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from typing import Any

# Values nested deeper are written as text: the official SDK fails beyond a few hundred levels.
_MAX_NESTING_LEVELS = 64


def content_hash(text: str) -> str:
    """The hash of a text, ignoring case and white space; equal memories have equal hashes."""
    normalized = re.sub(r"\s+", " ", unicodedata.normalize("NFC", text.strip().lower()))
    return f"sha256:{hashlib.sha256(normalized.encode()).hexdigest()}"


def checksum_of(memories: list[Any]) -> str:
    """The hash of memories, sorted by id, in the canonical form of RFC 8785.

    Raises ValueError if they have no canonical form.
    """
    import rfc8785  # noqa: PLC0415 (only memories need it)

    try:
        ordered: list[Any] = sorted(memories, key=lambda memory: memory["id"])
        canonical = rfc8785.dumps(ordered)
    except (TypeError, KeyError, RecursionError) as error:
        raise ValueError("its memories have no sortable ids, or are nested too deeply") from error
    return f"sha256:{hashlib.sha256(canonical).hexdigest()}"


def has_canonical_form(memory: dict[str, Any]) -> bool:
    """Whether a memory can be part of a checksum: RFC 8785 has no integers beyond 2⁵³."""
    if _depth(memory) > _MAX_NESTING_LEVELS:
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
