"""Pieces of texts that are short enough for one vector to tell what they are about."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.search.words import without_blobs

if TYPE_CHECKING:
    from collections.abc import Iterator

REVISION = 1  # of how texts are cut; vectors of another one are made again

# Measured by `bench/quality.py --chunks`: shorter pieces cost more vectors, longer ones blur.
SIZE = 600  # characters
OVERLAP = 80
MOST = 32  # pieces of one message: the rest of a whole file that was pasted is found by its words
_LONGEST_WORD = 120  # characters; languages without blanks are cut there


def chunks(text: str, most: int = MOST) -> list[str]:
    """The pieces of a text, with single blanks; what looks like base64 is left out."""
    needed = most * SIZE * 2
    text = text[: needed * 4].encode("utf-8", "replace").decode()
    words = list(_words(without_blobs(text)))
    found: list[str] = []
    start = 0
    while start < len(words) and len(found) < most:
        end, size = start, 0
        while end < len(words) and (size <= SIZE - len(words[end]) or end == start):
            size += len(words[end]) + 1
            end += 1
        found.append(" ".join(words[start:end]))
        if end == len(words):
            break
        start = _back(words, start, end)
    return found


def _back(words: list[str], start: int, end: int) -> int:
    """Where the next piece begins: so far before the end of this one that no sentence is cut in both."""
    shared = 0
    while end - 1 > start and shared + len(words[end - 1]) < OVERLAP:
        end -= 1
        shared += len(words[end]) + 1
    return end


def _words(text: str) -> Iterator[str]:
    for word in text.split():
        if len(word) <= _LONGEST_WORD:
            yield word
        else:
            yield from (word[at : at + _LONGEST_WORD] for at in range(0, len(word), _LONGEST_WORD))
