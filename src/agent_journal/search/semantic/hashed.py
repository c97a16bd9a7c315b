"""The fallback without a model: hashes of words and their parts. It matches similar spellings."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from agent_journal.search.semantic.models import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_VECTOR_DIMENSIONS = 256
_NGRAM_CHARS = 3
_NGRAM_WEIGHT = 0.3  # compared with a whole word


class HashModel:
    """Adds each word, and each three letters of it, to one of 256 dimensions or subtracts it."""

    name = "hash 1"
    dimensions = _VECTOR_DIMENSIONS
    batch = 256
    is_rough = True

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), _VECTOR_DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                hashed = crc32(feature.encode("utf-8", "replace"))
                row[hashed % _VECTOR_DIMENSIONS] += weight if hashed & 0x8000_0000 else -weight
        return normalize_rows(rows)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.lower()):
        yield word, 1.0
        bounded = f"<{word}>"
        for at in range(len(bounded) - _NGRAM_CHARS + 1):
            yield bounded[at : at + _NGRAM_CHARS], _NGRAM_WEIGHT
