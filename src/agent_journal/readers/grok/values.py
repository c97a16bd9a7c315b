"""Looking at values from outside, without trusting their types."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import words

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields

Bag = dict[str, Any]


def enclosed(text: str, opening: str, closing: str) -> Iterator[tuple[int, int, str]]:
    """Start, end and inside of each stretch between two words.

    No regular expression: those take for ever over text in which much is opened and nothing is closed.
    """
    start = text.find(opening)
    while start >= 0 and (stop := text.find(closing, start)) >= 0:
        end = stop + len(closing)
        yield start, end, text[start + len(opening) : stop]
        start = text.find(opening, end)


def identifier(value: Any) -> str | None:
    """An id: a string, or MongoDB's `{"$oid": …}`."""
    if value.__class__ is dict:
        value = value.get("$oid")
    return words(value)


def take_id(fields: Fields, *names: str) -> str | None:
    """The first id that is there under one of the names; another one that differs stays."""
    found: str | None = None
    for name in names:
        stated = identifier(fields.look(name))
        if found is None:
            found = stated
        if stated is not None and stated == found:
            fields.drop(name)
    return found
