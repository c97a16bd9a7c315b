"""An index of the words on a folder's pages: its search works offline, where scripts cannot fetch files."""

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
_MIN_WORD_CHARS, _MAX_WORD_CHARS = 2, 24
# Maps every ASCII character that is no letter and no digit to a space.
_ASCII_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum()}
# Limits per page, which bound the size of the index. The first words are the most significant.
_MAX_PAGE_WORDS, _MAX_PAGE_CHARS = 1500, 60_000


class WordIndex:
    """Which words are on which page; pages are numbered in the order they are added."""

    def __init__(self) -> None:
        self._pages: list[str] = []
        self._pages_by_word: defaultdict[str, array[int]] = defaultdict(lambda: array("l"))

    def add(self, name: str, item: Item) -> None:
        """Add the words of users and models on a page."""
        number = len(self._pages)
        self._pages.append(name)
        for word in _first_words(_texts(item)):
            self._pages_by_word[word].append(number)

    def to_json(self) -> dict[str, object]:
        """The index as its script reads it: for each word the differences between its page numbers."""
        words = sorted(self._pages_by_word)
        page_deltas = [_page_deltas(self._pages_by_word[word]) for word in words]
        return {"pages": self._pages, "words": words, "places": page_deltas}


def _texts(item: Item) -> Iterator[str]:
    if isinstance(item, Memory):
        yield item.text
        return
    yield item.title or ""
    for role in ("user", "assistant"):
        for message in tree.messages(item):
            if message.role == role and not message.hidden:
                yield tree.plain_text(message)


def _first_words(texts: Iterable[str]) -> set[str]:
    """The first distinct words of texts, up to the limits per page."""
    words: set[str] = set()
    chars_left = _MAX_PAGE_CHARS
    for text in texts:
        words.update(_words(text[:chars_left].lower()))
        chars_left -= len(text)
        if chars_left <= 0 or len(words) >= _MAX_PAGE_WORDS:
            break
    return words


def _words(text: str) -> Iterable[str]:
    """The words of a text; words that are too long are split."""
    if not text.isascii():
        return _WORD.findall(text)
    words = set(text.translate(_ASCII_SEPARATORS).split())
    out_of_range = {word for word in words if not _MIN_WORD_CHARS <= len(word) <= _MAX_WORD_CHARS}
    return (words - out_of_range).union(*map(_WORD.findall, out_of_range))


def _page_deltas(numbers: array[int]) -> str:
    return " ".join(str(number - previous) for previous, number in zip([0, *numbers], numbers, strict=False))
