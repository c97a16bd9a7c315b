"""What a text refers to: `citations` (from 2023) and `content_references` (since 2025) of a message.

Only looked at: the objects stay where they are. Positions count code points of the text as the source has it,
and are known to drift; the text keeps markers that can be read (`【12†source】`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import objects, words
from agent_journal.model import Citation

if TYPE_CHECKING:
    from collections.abc import Iterator

Bag = dict[str, Any]
QUOTED = "targeted_reply"
"""A passage that the person marked and asked about."""


def citations(metadata: Bag) -> list[Citation]:
    """Every source that the metadata of a message names, each place once."""
    found: dict[tuple[Any, ...], Citation] = {}
    for cited in _all(metadata):
        found.setdefault((cited.title, cited.url, cited.text, cited.start, cited.end), cited)
    return [*found.values()]


def _all(metadata: Bag) -> Iterator[Citation]:
    for citation in objects(metadata.get("citations")):
        yield from _old(citation)
    references = [*objects(metadata.get("content_references"))]
    for reference in references:
        yield from _new(reference)
    yield from _footnotes(references)
    if quoted := words(metadata.get(QUOTED)):
        yield Citation(title=words(metadata.get(f"{QUOTED}_label")), text=quoted)


def _old(citation: Bag) -> Iterator[Citation]:
    source = citation.get("metadata")
    if source.__class__ is not dict:
        source = citation
    yield from _cited(source, words(source.get("text")), citation.get("start_ix"), citation.get("end_ix"))


def _new(reference: Bag) -> Iterator[Citation]:
    """A reference, and the pages it groups: `grouped_webpages` has no address of its own."""
    start, end = reference.get("start_idx"), reference.get("end_idx")
    named: set[str | None] = set()
    for page in _pages(reference):
        address = words(page.get("url"))
        if address is None or address not in named:
            named.add(address)
            yield from _cited(page, words(page.get("snippet")), start, end)


def _pages(reference: Bag) -> Iterator[Bag]:
    # A list of links or a named thing may have a title without being a source; a file is one.
    if words(reference.get("url")) or reference.get("type") == "file":
        yield reference
    for name in ("items", "fallback_items"):
        for page in objects(reference.get(name)):
            yield page
            yield from objects(page.get("supporting_websites"))


def _footnotes(references: list[Bag]) -> Iterator[Citation]:
    """Sources that are listed at the end of an answer and were not referred to before."""
    named = {words(page.get("url")) for reference in references for page in _pages(reference)}
    for reference in references:
        for page in objects(reference.get("sources")):
            address = words(page.get("url"))
            if address is None or address not in named:
                yield from _cited(page, words(page.get("snippet")), None, None)


def _cited(page: Bag, text: str | None, start: Any, end: Any) -> Iterator[Citation]:
    title = words(page.get("title")) or words(page.get("name"))
    address = words(page.get("url"))
    if title or address:
        yield Citation(title=title, url=address, text=text, start=_whole(start), end=_whole(end))


def _whole(value: Any) -> int | None:
    return value if value.__class__ is int else None
