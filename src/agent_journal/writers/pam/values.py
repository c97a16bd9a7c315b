"""Names, tags, times and addresses in the forms that PAM accepts."""

from __future__ import annotations

import re
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Bag

OWN_KEY = "agent_journal"
"""The only key in open objects that is not the source's."""

_NOT_NAME_CHARS = re.compile(r"[^a-z0-9_-]+")
_MAX_NAME_CHARS = 32
_UNKNOWN_NAME = "unknown"
_PROGRAM = re.compile(r"[a-zA-Z0-9_-]+/[0-9]+\.[0-9]+\.[0-9]+")
_HASH = re.compile(r"[a-f0-9]{64}")
# RFC 3986 without IP literals in brackets.
_CHARACTER = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:(?:{_CHARACTER}|:)*@)?(?:{_CHARACTER})*(?::[0-9]*)?(?:/(?:{_CHARACTER}|[:@/])*)?"
    rf"|(?!//)(?:{_CHARACTER}|[:@/])*)"
    rf"(?:\?(?:{_CHARACTER}|[:@/?])*)?(?:#(?:{_CHARACTER}|[:@/?])*)?"
)
_SAFE_IN_URI = "!#$%&'()*+,/:;=?@~"


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def provider_name(name: str) -> str:
    """A name of a platform: 2 to 32 lower-case letters, digits, hyphens and underscores."""
    normalized = _NOT_NAME_CHARS.sub("-", name.lower())[:_MAX_NAME_CHARS].strip("-")
    return normalized if len(normalized) > 1 else _UNKNOWN_NAME


def tags(names: Iterable[str]) -> list[str]:
    """Distinct tags in PAM's form."""
    normalized = (_NOT_NAME_CHARS.sub("-", tag.lower()).strip("-_") for tag in names)
    return [*dict.fromkeys(tag for tag in normalized if tag)]


def program(name: str) -> str | None:
    """A program with its version; None if the version does not have three numbers."""
    match = _PROGRAM.match(name)
    return None if match is None else match[0]


def checksum(digest: str | None) -> str | None:
    """A SHA-256 in PAM's form."""
    return f"sha256:{digest}" if digest is not None and _HASH.fullmatch(digest) else None


@lru_cache(maxsize=4096)
def timestamp(at: str | None) -> str | None:
    """A timestamp, if it is valid. A leap second becomes the second before it."""
    if timestamps.parse(at) is None:
        return None
    at = timestamps.parse_timestamp(at)
    return at if at is None or ":60" not in at[16:20] else at.replace(":60", ":59", 1)


def memory_timestamp(at: str | None) -> str | None:
    """A timestamp in UTC with no fraction or six digits: the form that the official SDK hashes."""
    parsed = timestamps.parse(at)
    if parsed is None:
        return None
    try:
        return parsed.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None


def is_before(at: str, other: str) -> bool:
    """Whether a time is before another one."""
    first, second = timestamps.parse(at), timestamps.parse(other)
    return first is not None and second is not None and first < second


def uri(address: str | None) -> str | None:
    """An address as a URI with other characters escaped; None if it is none."""
    if address is None or _URI.fullmatch(address):
        return address
    from urllib.parse import quote  # noqa: PLC0415 (rarely needed)

    quoted = quote(address, safe=_SAFE_IN_URI)
    return quoted if _URI.fullmatch(quoted) else None


def raw_metadata(extra: Bag, provider: str, own_fields: dict[str, Any]) -> dict[str, Any]:
    """The source's own fields under their names, and Agent Journal's own fields.

    A field `metadata` is always renamed after the provider (`grok_metadata`). Any other renamed field is
    recorded in `renamed` of the own fields.
    """
    metadata_name = f"{provider}_metadata"
    if OWN_KEY not in extra and "metadata" not in extra and metadata_name not in extra:
        return {**extra, OWN_KEY: own_fields} if own_fields else dict(extra)
    if OWN_KEY not in extra and metadata_name not in extra:
        raw = {**extra, metadata_name: extra["metadata"]}
        del raw["metadata"]
        return {**raw, OWN_KEY: own_fields} if own_fields else raw
    old_names = {
        new: old for new, old in ((metadata_name, "metadata"), (f"{OWN_KEY}_", OWN_KEY)) if old in extra
    }
    if not old_names.keys().isdisjoint(extra):
        return {OWN_KEY: {**own_fields, "extra": extra}}
    new_names = {old: new for new, old in old_names.items()}
    raw = {new_names.get(name, name): value for name, value in extra.items()}
    if old_names != {metadata_name: "metadata"}:
        own_fields = {**own_fields, "renamed": old_names}
    return {**raw, OWN_KEY: own_fields} if own_fields else raw
