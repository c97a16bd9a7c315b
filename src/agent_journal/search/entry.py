"""What is indexed of an entry: its words, field by field, and what it is filtered by."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.search import reach
from agent_journal.search.query import FACTS, fact
from agent_journal.search.words import prepared

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import tantivy

TEXTS = ("text", "thinking", "tool", "output", "attached", "title")
"""The fields that have words, in an entry's order."""

_VALUES = ("role", "source", "project", "model", "branch")


class Entry(NamedTuple):
    """What is indexed of one message, or of a title or a memory."""

    key: int  # of its row: unique and ever increasing; what has changed gets a new one
    conversation: int
    role: str
    source: str
    project: str
    model: str
    at: int  # seconds since 1970, or 0
    text: str = ""  # what was said
    thinking: str = ""
    tool: str = ""  # what tools were given
    output: str = ""  # what they gave
    attached: str = ""  # what files say that were put beside what was said
    title: str = ""
    branch: str = ""  # of the repository
    tools: tuple[str, ...] = ()  # names and kinds of those that were called or answered
    has_error: bool = False  # whether one of them failed

    @property
    def texts(self) -> tuple[str, ...]:
        """What its words are in."""
        return self.text, self.thinking, self.tool, self.output, self.attached, self.title


def without(entries: Iterable[Entry], texts: Iterable[str]) -> Iterator[Entry]:
    """The entries without some of their texts."""
    nothing: dict[str, Any] = dict.fromkeys(texts, "")
    return (entry._replace(**nothing) for entry in entries) if nothing else iter(entries)


def schema() -> tantivy.Schema:
    """The fields of the index."""
    from tantivy import SchemaBuilder  # noqa: PLC0415

    builder = SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    builder.add_integer_field("conversation", indexed=True, fast=True)
    builder.add_integer_field("at", fast=True)
    builder.add_integer_field("mark", indexed=True, fast=True)
    builder.add_text_field(FACTS, tokenizer_name="raw", index_option="basic")
    for field in TEXTS:
        # What comes is cut into words already.
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    return builder.build()


def fields_of(entry: Entry) -> dict[str, int | str | list[str]]:
    """An entry as the index takes it."""
    values: dict[str, int | str | list[str]] = {"key": entry.key, "conversation": entry.conversation}
    facts = [*_facts(*entry[2:6], entry.branch)]
    if entry.at:
        values["at"] = entry.at
        facts.append(fact("week", reach.week_of(entry.at)))
    facts += [fact("tools", tool) for tool in entry.tools]
    if entry.has_error:
        facts.append(fact("has", "error"))
    for field, text in zip(TEXTS, entry[7:13], strict=True):
        if text:
            values[field] = prepared(text)
            facts.append(fact("has", field))
    values[FACTS] = facts
    return values


@lru_cache(maxsize=256)  # those of a conversation are nearly all alike
def _facts(*values: str) -> list[str]:
    return [fact(kind, value) for kind, value in zip(_VALUES, values, strict=True) if value]
