"""A plain BM25 baseline: stop words, light stemming, windows of three messages plus whole conversations."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from math import log
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_K1, _B = 1.2, 0.75
_WINDOW_MESSAGES = 3
_MIN_STEM_CHARS = 3
_WORD = re.compile(r"\w+")
_SUFFIXES = ("ing", "ed", "es", "s")
_STOP_WORDS = frozenset(
    _WORD.findall(
        """
    a about an and any are as at be been being but by can could did do does for from had has have he her him
    his how i if in into is it its me my no not of on or our she should so that the their them then there
    these they this those to was we were what when where which who whom whose why will with would you your
        """
    )
)


class _Documents:
    """Texts with their word counts, for BM25."""

    def __init__(self, texts: Sequence[str]) -> None:
        counts = [Counter(_stems(text)) for text in texts]
        self._lengths = [sum(each.values()) for each in counts]
        self._mean_length = sum(self._lengths) / max(1, len(texts))
        self._postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, each in enumerate(counts):
            for word, count in each.items():
                self._postings[word].append((number, count))

    def scores(self, words: Iterable[str]) -> dict[int, float]:
        """Return the scores of all texts with any of the words."""
        scores: dict[int, float] = defaultdict(float)
        for word in words:
            postings = self._postings.get(word, [])
            idf = log(1 + (len(self._lengths) - len(postings) + 0.5) / (len(postings) + 0.5))
            for number, count in postings:
                norm = _K1 * (1 - _B + _B * self._lengths[number] / self._mean_length)
                scores[number] += idf * count * (_K1 + 1) / (count + norm)
        return scores


class PlainBm25:
    """Ranks conversations by their best window plus the whole conversation."""

    def __init__(self, conversations: Sequence[Sequence[str]]) -> None:
        self._wholes = _Documents(["\n".join(messages) for messages in conversations])
        windows = [
            (number, "\n".join(messages[start : start + _WINDOW_MESSAGES]))
            for number, messages in enumerate(conversations)
            for start in range(max(1, len(messages) - _WINDOW_MESSAGES + 1))
        ]
        self._windows = _Documents([text for _, text in windows])
        self._holders = [number for number, _ in windows]

    def rank(self, query: str) -> list[int]:
        """Return the numbers of the conversations that have any word of the query, best first."""
        words = set(_stems(query))
        best: dict[int, float] = defaultdict(float)
        for window, score in self._windows.scores(words).items():
            best[self._holders[window]] = max(best[self._holders[window]], score)
        wholes = self._wholes.scores(words)
        return sorted(wholes, key=lambda number: -(wholes[number] + best[number]))


def _stems(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text.lower()) if word not in _STOP_WORDS]


def _stem(word: str) -> str:
    for suffix in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) >= _MIN_STEM_CHARS:
            return word[: -len(suffix)]
    return word
