"""The search document of an entry: its words by field, and the values that filters use."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.archive.index_entry import IndexEntry
from agent_journal.search import reach
from agent_journal.search.query import FACT_FIELD, fact
from agent_journal.search.words import prepare

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import tantivy

TEXT_FIELDS = ("text", "thinking", "tool", "output", "attached", "title")
"""The fields that contain words, in the order of `Entry`."""

Entry: TypeAlias = IndexEntry

_FACT_KINDS = ("role", "source", "project", "model", "branch")


def drop_texts(entries: Iterable[Entry], texts: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries with some text fields emptied."""
    blanks: dict[str, Any] = dict.fromkeys(texts, "")
    return (entry._replace(**blanks) for entry in entries) if blanks else iter(entries)


def build_schema() -> tantivy.Schema:
    """Return the Tantivy schema of the index."""
    from tantivy import SchemaBuilder  # noqa: PLC0415

    builder = SchemaBuilder()
    builder.add_integer_field("key", indexed=True, fast=True)
    builder.add_integer_field("conversation", indexed=True, fast=True)
    builder.add_integer_field("at", fast=True)
    builder.add_integer_field("chars", fast=True)
    builder.add_integer_field("mark", indexed=True, fast=True)
    builder.add_text_field(FACT_FIELD, fast=True, tokenizer_name="raw", index_option="basic")
    for field in TEXT_FIELDS:
        # The text has already been split into words.
        builder.add_text_field(field, tokenizer_name="whitespace", index_option="position")
    return builder.build()


def document_fields(entry: Entry) -> dict[str, int | str | list[str]]:
    """Return an entry as a Tantivy document."""
    values: dict[str, int | str | list[str]] = {"key": entry.key, "conversation": entry.conversation}
    facts = [*_facts(*entry[2:6], entry.branch)]
    if entry.at:
        values["at"] = entry.at
        facts.append(fact("week", reach.week_of(entry.at)))
    facts += [fact("tools", tool) for tool in entry.tools]
    if entry.has_error:
        facts.append(fact("has", "error"))
    for field, text in zip(TEXT_FIELDS, entry[7:13], strict=True):
        if text:
            values[field] = prepare(text)
            facts.append(fact("has", field))
    values["chars"] = sum(map(len, entry[7:13]))
    values[FACT_FIELD] = facts
    return values


@lru_cache(maxsize=256)  # nearly all messages of a conversation share these values
def _facts(*values: str) -> list[str]:
    return [fact(kind, value) for kind, value in zip(_FACT_KINDS, values, strict=True) if value]
