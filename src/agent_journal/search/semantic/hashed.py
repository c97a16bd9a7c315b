"""The fallback without a model: words and their parts, hashed to places. It finds what shares spelling."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from zlib import crc32

from agent_journal.search.semantic.models import of_length_one

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    import numpy as np
    from numpy.typing import NDArray

_WORD = re.compile(r"\w+")
_DIMENSIONS = 256
_PART = 3  # letters in a row, as they stand in a word
_SHARE = 0.3  # of a part beside a whole word


class HashModel:
    """Each word, and each three letters of it, adds to one of 256 places or takes from it."""

    name = "hash 1"
    dimensions = _DIMENSIONS
    batch = 256
    is_rough = True

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), _DIMENSIONS), np.float32)
        for row, text in zip(rows, texts, strict=True):
            for feature, weight in _features(text):
                hashed = crc32(feature.encode("utf-8", "replace"))
                row[hashed % _DIMENSIONS] += weight if hashed & 0x8000_0000 else -weight
        return of_length_one(rows)


def _features(text: str) -> Iterator[tuple[str, float]]:
    for word in _WORD.findall(text.lower()):
        yield word, 1.0
        edged = f"<{word}>"
        for at in range(len(edged) - _PART + 1):
            yield edged[at : at + _PART], _SHARE
