"""Reads values whose types may be wrong, and delimited text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import nonempty_str

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields

JsonObject = dict[str, Any]


def enclosed(text: str, opening: str, closing: str) -> Iterator[tuple[int, int, str]]:
    """Yield start, end and content of each span between two delimiters.

    Regular expressions would take forever on text with many openings and no closings.
    """
    start = text.find(opening)
    while start >= 0 and (stop := text.find(closing, start)) >= 0:
        end = stop + len(closing)
        yield start, end, text[start + len(opening) : stop]
        start = text.find(opening, end)


def identifier(value: Any) -> str | None:
    """Get an id: a string, or MongoDB's `{"$oid": …}`."""
    if value.__class__ is dict:
        value = value.get("$oid")
    return nonempty_str(value)


def take_id(fields: Fields, *names: str) -> str | None:
    """Take the first id among some fields; a different one in another field stays."""
    first: str | None = None
    for name in names:
        stated = identifier(fields.view(name))
        if first is None:
            first = stated
        if stated is not None and stated == first:
            fields.drop(name)
    return first
