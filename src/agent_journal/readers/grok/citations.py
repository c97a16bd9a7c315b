"""What an answer refers to: the pages it cites, and the marks in its text that say where.

A mark is `<grok:render card_id="6a" card_type="citation_card" …>…</grok:render>`. It names a card, and the
card (JSON in a string) the address of the page. In its place the app shows a source or a picture: people read
the text without it. Positions are those in the message as the source has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding.fields import objects, words
from agent_journal.model import Citation, Media
from agent_journal.readers.grok.values import Bag, enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields

MARK = "<grok:render"
_END = "</grok:render>"
_CHUNK = "image_chunk"
_CARD = re.compile(r"\bcard_id=[\"']([^\"']+)[\"']")
_NUMBER = re.compile(r'<argument name="citation_id">\s*(\d{1,6})\s*</argument>')


def citations(fields: Fields, text: str) -> list[Citation]:
    """The pages that a response cites, each with its first place in the text; then those only marks name."""
    cited = _cited(fields)
    if MARK not in text:
        return cited
    places: dict[str | None, int] = {
        page.url: index for index, page in reversed([*enumerate(cited)]) if page.url
    }
    for page, start, end in _marked(text, _cards(fields.look("card_attachments_json")), cited):
        index = places.get(page.url)
        if index is None:
            places[page.url] = len(cited)
            cited.append(replace(page, start=start, end=end))
        elif cited[index].start is None:
            cited[index] = replace(cited[index], start=start, end=end)
    return cited


def shown(text: str) -> str:
    """The text without its marks."""
    pieces: list[str] = []
    last = 0
    for start, end, _ in enclosed(text, MARK, _END):
        pieces.append(text[last:start])
        last = end
    return "".join((*pieces, text[last:]))


def found_pictures(fields: Fields) -> list[Media]:
    """Pictures from the web that the answer shows, as their cards have them; these stay where they are."""
    found: list[Media] = []
    for card in _cards(fields.look("card_attachments_json")).values():
        picture = card.get("image")
        if picture.__class__ is dict and (address := words(picture.get("original"))):
            found.append(Media(kind="image", name=words(picture.get("title")), ref=address))
    return found


def drawn(fields: Fields) -> list[str]:
    """The addresses of pictures that the model made, as their cards have them since 2026.

    The list of addresses may have them too. Of a picture in the making there may be a card for each state.
    """
    listed = fields.look("card_attachments_json")
    if not listed or listed.__class__ is not list:
        return []
    found: dict[str, str] = {}
    for card in _cards([each for each in listed if _CHUNK in str(each)]).values():
        chunk = card.get(_CHUNK)
        if chunk.__class__ is dict and (address := words(chunk.get("imageUrl"))):
            found[words(chunk.get("imageUuid")) or address] = address
    return [*found.values()]


def page(value: Bag) -> Citation:
    """A search result as a citation; what the model has no field for is in `extra`."""
    known = {name: words(value.get(name)) for name in ("title", "url", "preview")}
    rest = {name: each for name, each in value.items() if not known.get(name) and each not in (None, "")}
    return Citation(title=known["title"], url=known["url"], text=known["preview"], extra=rest)


def _cited(fields: Fields) -> list[Citation]:
    listed = fields.items("cited_web_search_results") or []
    odd = [each for each in listed if each.__class__ is not dict]
    if odd:
        fields.keep("cited_web_search_results", odd)
    return [page(each) for each in objects(listed)]


def _cards(listed: Any) -> dict[str, Bag]:
    """Cards by their ids; they stay where they are."""
    found: dict[str, Bag] = {}
    for card in listed if listed.__class__ is list else ():
        value = card
        if card.__class__ is str:
            try:
                value = msgspec.json.decode(card)
            except (msgspec.DecodeError, RecursionError, UnicodeError):
                continue  # it stays in `extra` as it is
        if value.__class__ is dict and (name := words(value.get("id"))):
            found[name] = value
    return found


def _marked(text: str, cards: dict[str, Bag], cited: list[Citation]) -> Iterator[tuple[Citation, int, int]]:
    """What each mark refers to, if that can be told; a number counts only where there are no cards."""
    for start, end, mark in enclosed(text, MARK, _END):
        attributes, _, inside = mark.partition(">")
        card, number = _CARD.search(attributes), _NUMBER.search(inside)
        found = cards.get(card[1]) if card else None
        if found is not None and words(found.get("url")):
            yield page({name: found.get(name) for name in ("title", "url", "preview")}), start, end
        elif not cards and number and 0 < int(number[1]) <= len(cited) and cited[int(number[1]) - 1].url:
            yield cited[int(number[1]) - 1], start, end
