"""Sources that a text cites: `citations` (from 2023) and `content_references` (since 2025) of a message.

The objects also stay in the metadata. Positions count code points of the source's text and are known to
drift; the text keeps readable markers (`【12†source】`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.model import Citation

if TYPE_CHECKING:
    from collections.abc import Iterator

JsonObject = dict[str, Any]
QUOTED = "targeted_reply"
"""A passage that the person selected and asked about."""


def citations(metadata: JsonObject) -> list[Citation]:
    """List the sources that the metadata of a message names, each position once."""
    by_position: dict[tuple[Any, ...], Citation] = {}
    for citation in _all_citations(metadata):
        by_position.setdefault(
            (citation.title, citation.url, citation.text, citation.start, citation.end), citation
        )
    return [*by_position.values()]


def _all_citations(metadata: JsonObject) -> Iterator[Citation]:
    for citation in objects(metadata.get("citations")):
        yield from _from_citation(citation)
    references = [*objects(metadata.get("content_references"))]
    for reference in references:
        yield from _from_reference(reference)
    yield from _footnotes(references)
    if quoted := nonempty_str(metadata.get(QUOTED)):
        yield Citation(title=nonempty_str(metadata.get(f"{QUOTED}_label")), text=quoted)


def _from_citation(citation: JsonObject) -> Iterator[Citation]:
    source = citation.get("metadata")
    if source.__class__ is not dict:
        source = citation
    yield from _make_citation(
        source, nonempty_str(source.get("text")), citation.get("start_ix"), citation.get("end_ix")
    )


def _from_reference(reference: JsonObject) -> Iterator[Citation]:
    """Yield a reference, and the pages it groups: `grouped_webpages` has no URL of its own."""
    start, end = reference.get("start_idx"), reference.get("end_idx")
    known_urls: set[str | None] = set()
    for page in _pages(reference):
        url = nonempty_str(page.get("url"))
        if url is None or url not in known_urls:
            known_urls.add(url)
            yield from _make_citation(page, nonempty_str(page.get("snippet")), start, end)


def _pages(reference: JsonObject) -> Iterator[JsonObject]:
    # A list of links or an entity may have a title without being a source; a file is a source.
    if nonempty_str(reference.get("url")) or reference.get("type") == "file":
        yield reference
    for name in ("items", "fallback_items"):
        for page in objects(reference.get(name)):
            yield page
            yield from objects(page.get("supporting_websites"))


def _footnotes(references: list[JsonObject]) -> Iterator[Citation]:
    """Yield the sources that only the list at the end of an answer has."""
    known_urls = {nonempty_str(page.get("url")) for reference in references for page in _pages(reference)}
    for reference in references:
        for page in objects(reference.get("sources")):
            url = nonempty_str(page.get("url"))
            if url is None or url not in known_urls:
                yield from _make_citation(page, nonempty_str(page.get("snippet")), None, None)


def _make_citation(page: JsonObject, text: str | None, start: Any, end: Any) -> Iterator[Citation]:
    title = nonempty_str(page.get("title")) or nonempty_str(page.get("name"))
    url = nonempty_str(page.get("url"))
    if title or url:
        yield Citation(title=title, url=url, text=text, start=_integer(start), end=_integer(end))


def _integer(value: Any) -> int | None:
    return value if value.__class__ is int else None
