"""The sources of an answer: the pages it cites, and the marks in its text with their positions.

A mark is `<grok:render card_id="6a" card_type="citation_card" …>…</grok:render>`. It names a card, and the
card (JSON in a string) has the URL of the page. In its place the app displays a source or an image: people
read the text without it. Positions are those in the source's text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.model import Citation, Media
from agent_journal.readers.grok.values import JsonObject, enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields

MARK = "<grok:render"
_END = "</grok:render>"
_IMAGE_CHUNK = "image_chunk"
_CARD = re.compile(r"\bcard_id=[\"']([^\"']+)[\"']")
_NUMBER = re.compile(r'<argument name="citation_id">\s*(\d{1,6})\s*</argument>')


def citations(fields: Fields, text: str) -> list[Citation]:
    """List the pages that a response cites, with their first positions; then those that only marks name."""
    pages = _cited_pages(fields)
    if MARK not in text:
        return pages
    index_by_url: dict[str | None, int] = {
        cited_page.url: index for index, cited_page in reversed([*enumerate(pages)]) if cited_page.url
    }
    for cited_page, start, end in _marked(text, _cards(fields.view("card_attachments_json")), pages):
        index = index_by_url.get(cited_page.url)
        if index is None:
            index_by_url[cited_page.url] = len(pages)
            pages.append(replace(cited_page, start=start, end=end))
        elif pages[index].start is None:
            pages[index] = replace(pages[index], start=start, end=end)
    return pages


def without_marks(text: str) -> str:
    """Remove the marks from a text."""
    pieces: list[str] = []
    last = 0
    for start, end, _ in enclosed(text, MARK, _END):
        pieces.append(text[last:start])
        last = end
    return "".join((*pieces, text[last:]))


def web_images(fields: Fields) -> list[Media]:
    """List the images from the web that an answer displays, from their cards, which stay unchanged."""
    images: list[Media] = []
    for card in _cards(fields.view("card_attachments_json")).values():
        image = card.get("image")
        if image.__class__ is dict and (url := nonempty_str(image.get("original"))):
            images.append(Media(kind="image", name=nonempty_str(image.get("title")), ref=url))
    return images


def generated_images(fields: Fields) -> list[str]:
    """List the URLs of generated images, which cards have since 2026.

    The list of URLs may have them too. An unfinished image may have a card for each state.
    """
    cards = fields.view("card_attachments_json")
    if not cards or cards.__class__ is not list:
        return []
    url_by_image: dict[str, str] = {}
    for card in _cards([card for card in cards if _IMAGE_CHUNK in str(card)]).values():
        chunk = card.get(_IMAGE_CHUNK)
        if chunk.__class__ is dict and (url := nonempty_str(chunk.get("imageUrl"))):
            url_by_image[nonempty_str(chunk.get("imageUuid")) or url] = url
    return [*url_by_image.values()]


def from_search_result(value: JsonObject) -> Citation:
    """Convert a search result to a citation; values without a field of their own are in `extra`."""
    known = {name: nonempty_str(value.get(name)) for name in ("title", "url", "preview")}
    rest = {name: item for name, item in value.items() if not known.get(name) and item not in (None, "")}
    return Citation(title=known["title"], url=known["url"], text=known["preview"], extra=rest)


def _cited_pages(fields: Fields) -> list[Citation]:
    results = fields.items("cited_web_search_results") or []
    invalid = [result for result in results if result.__class__ is not dict]
    if invalid:
        fields.keep("cited_web_search_results", invalid)
    return [from_search_result(result) for result in objects(results)]


def _cards(cards: Any) -> dict[str, JsonObject]:
    """Index cards by their ids, without taking them."""
    by_id: dict[str, JsonObject] = {}
    for card in cards if cards.__class__ is list else ():
        value = card
        if card.__class__ is str:
            try:
                value = msgspec.json.decode(card)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                continue  # it stays in `extra`
        if value.__class__ is dict and (name := nonempty_str(value.get("id"))):
            by_id[name] = value
    return by_id


def _marked(
    text: str, cards: dict[str, JsonObject], pages: list[Citation]
) -> Iterator[tuple[Citation, int, int]]:
    """Yield the page of each mark with its position; a number counts only if there are no cards."""
    for start, end, mark in enclosed(text, MARK, _END):
        attributes, _, content = mark.partition(">")
        card, number = _CARD.search(attributes), _NUMBER.search(content)
        page_card = cards.get(card[1]) if card else None
        if page_card is not None and nonempty_str(page_card.get("url")):
            yield (
                from_search_result({name: page_card.get(name) for name in ("title", "url", "preview")}),
                start,
                end,
            )
        elif not cards and number and 0 < int(number[1]) <= len(pages) and pages[int(number[1]) - 1].url:
            yield pages[int(number[1]) - 1], start, end
