"""The words of a folder's pages, which the search of its index looks into where nothing can be fetched."""

from __future__ import annotations

import re
from array import array
from collections import defaultdict
from typing import TYPE_CHECKING

from agent_journal.model import Memory, tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Item

_WORD = re.compile(r"[^\W_]{2,24}")
_SHORTEST, _LONGEST = 2, 24
# Blanks for all that is no letter and no digit.
_ASCII_WORDS = {code: " " for code in range(128) if not chr(code).isalnum()}
# What was said first tells most; a word that is found at most of the places tells nothing.
_MOST_WORDS, _MOST_CHARACTERS = 1500, 60_000


class Words:
    """Which words are on which page; pages are counted as they come."""

    def __init__(self) -> None:
        self._pages: list[str] = []
        self._places: defaultdict[str, array[int]] = defaultdict(lambda: array("l"))

    def add(self, name: str, item: Item) -> None:
        """Take the words that people and models said on a page."""
        number = len(self._pages)
        self._pages.append(name)
        for word in _first(_said(item)):
            self._places[word].append(number)

    def told(self) -> dict[str, object]:
        """Everything, as the script of the index reads it: for each word the steps from page to page."""
        words = sorted(self._places)
        places = [_steps(self._places[word]) for word in words]
        return {"pages": self._pages, "words": words, "places": places}


def _said(item: Item) -> Iterator[str]:
    if isinstance(item, Memory):
        yield item.text
        return
    yield item.title or ""
    for role in ("user", "assistant"):
        for message in tree.messages(item):
            if message.role == role and not message.hidden:
                yield tree.plain_text(message)


def _first(texts: Iterable[str]) -> set[str]:
    """The first different words of texts, and no more than an index can bear."""
    found: set[str] = set()
    left = _MOST_CHARACTERS
    for text in texts:
        found.update(_words(text[:left].lower()))
        left -= len(text)
        if left <= 0 or len(found) >= _MOST_WORDS:
            break
    return found


def _words(text: str) -> Iterable[str]:
    """The words of a text; of one that is too long, its pieces."""
    if not text.isascii():
        return _WORD.findall(text)
    words = set(text.translate(_ASCII_WORDS).split())
    odd = {word for word in words if not _SHORTEST <= len(word) <= _LONGEST}
    return (words - odd).union(*map(_WORD.findall, odd))


def _steps(places: array[int]) -> str:
    return " ".join(str(place - before) for before, place in zip([0, *places], places, strict=False))
