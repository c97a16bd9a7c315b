"""What PAM takes for a name, a tag, a time or an address, and the nearest such value to ours."""

from __future__ import annotations

import re
from datetime import UTC
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Bag

OURS = "agent_journal"
"""The one name in open objects that is not the source's."""

_OTHER = re.compile(r"[^a-z0-9_-]+")
_LONGEST_NAME = 32
_NAMELESS = "unknown"
_PROGRAM = re.compile(r"[a-zA-Z0-9_-]+/[0-9]+\.[0-9]+\.[0-9]+")
_HASH = re.compile(r"[a-f0-9]{64}")
# RFC 3986 without addresses of hosts in brackets.
_CHARACTER = r"[A-Za-z0-9\-._~!$&'()*+,;=]|%[0-9A-Fa-f]{2}"
_URI = re.compile(
    rf"[A-Za-z][A-Za-z0-9+.\-]*:"
    rf"(?://(?:(?:{_CHARACTER}|:)*@)?(?:{_CHARACTER})*(?::[0-9]*)?(?:/(?:{_CHARACTER}|[:@/])*)?"
    rf"|(?!//)(?:{_CHARACTER}|[:@/])*)"
    rf"(?:\?(?:{_CHARACTER}|[:@/?])*)?(?:#(?:{_CHARACTER}|[:@/?])*)?"
)
_KEPT_IN_URI = "!#$%&'()*+,/:;=?@~"


def stated(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def provider_name(name: str) -> str:
    """A name of a platform: 2 to 32 small letters, digits, hyphens and underscores."""
    plain = _OTHER.sub("-", name.lower())[:_LONGEST_NAME].strip("-")
    return plain if len(plain) > 1 else _NAMELESS


def tags(given: Iterable[str]) -> list[str]:
    """Tags as PAM writes them, each once."""
    made = (_OTHER.sub("-", tag.lower()).strip("-_") for tag in given)
    return [*dict.fromkeys(tag for tag in made if tag)]


def program(name: str) -> str | None:
    """A program with its version, if it is one of three numbers."""
    found = _PROGRAM.match(name)
    return None if found is None else found[0]


def checksum(digest: str | None) -> str | None:
    """A SHA-256 as PAM writes it."""
    return f"sha256:{digest}" if digest is not None and _HASH.fullmatch(digest) else None


@lru_cache(maxsize=4096)
def moment(at: str | None) -> str | None:
    """A time as it is, if calendars have it. A leap second is the second before."""
    if timestamps.parse(at) is None:
        return None
    at = timestamps.moment(at)
    return at if at is None or ":60" not in at[16:20] else at.replace(":60", ":59", 1)


def memory_moment(at: str | None) -> str | None:
    """The same in UTC, without a fraction or with six digits, as the official SDK writes it to hash it."""
    parsed = timestamps.parse(at)
    if parsed is None:
        return None
    try:
        return parsed.astimezone(UTC).isoformat().replace("+00:00", "Z")
    except OverflowError:
        return None


def is_before(at: str, other: str) -> bool:
    """Whether a time is before another."""
    first, second = timestamps.parse(at), timestamps.parse(other)
    return first is not None and second is not None and first < second


def uri(address: str | None) -> str | None:
    """An address as a URI, other characters escaped; None if it is not one."""
    if address is None or _URI.fullmatch(address):
        return address
    from urllib.parse import quote  # noqa: PLC0415 (rarely needed)

    quoted = quote(address, safe=_KEPT_IN_URI)
    return quoted if _URI.fullmatch(quoted) else None


def raw_metadata(extra: Bag, provider: str, ours: dict[str, Any]) -> dict[str, Any]:
    """The source's own fields under their names, and ours.

    Metadata within metadata are called by whose they are (`grok_metadata`), which goes without saying. What
    else is called otherwise than in the source is told in `ours["renamed"]`.
    """
    usual = f"{provider}_metadata"
    if OURS not in extra and "metadata" not in extra and usual not in extra:
        return {**extra, OURS: ours} if ours else dict(extra)
    if OURS not in extra and usual not in extra:
        raw = {**extra, usual: extra["metadata"]}
        del raw["metadata"]
        return {**raw, OURS: ours} if ours else raw
    moved = {new: old for new, old in ((usual, "metadata"), (f"{OURS}_", OURS)) if old in extra}
    if not moved.keys().isdisjoint(extra):
        return {OURS: {**ours, "extra": extra}}
    names = {old: new for new, old in moved.items()}
    raw = {names.get(name, name): value for name, value in extra.items()}
    if moved != {usual: "metadata"}:
        ours = {**ours, "renamed": moved}
    return {**raw, OURS: ours} if ours else raw
