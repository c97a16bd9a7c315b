"""The bundled model: a vector for each piece of a word, trained so that their sum tells a text's meaning.

The weights and the vocabulary lie in the wheel of wordllama; its code is not needed and not imported.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.semantic.models import of_length_one

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
_TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_LAST_PYTHON = (3, 13)  # that there is a wheel for
_WORD = re.compile(r"\w+")
_MOST_WORDS = 300_000  # that are remembered


class NotInstalled(Exception):
    """The wheel is not there, or is not what it should be."""


def name_of() -> str:
    """The name of the model; `""` if it is not installed."""
    try:
        return f"static {_PACKAGE} {distribution(_PACKAGE).version}"
    except PackageNotFoundError:
        return ""


def load() -> StaticModel:
    """The model; raises NotInstalled."""
    import numpy as np  # noqa: PLC0415, F401 (the next needs it)
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    try:
        found = distribution(_PACKAGE)
        weights, vocabulary = (Path(str(found.locate_file(name))) for name in (_WEIGHTS, _TOKENIZER))
        with safe_open(str(weights), framework="numpy") as file:
            table = file.get_tensor(_TENSOR)
        tokenizer = Tokenizer.from_buffer(vocabulary.read_bytes())
    except PackageNotFoundError:
        raise NotInstalled(f"the bundled model ({_PACKAGE}) is not installed{_why()}") from None
    except (OSError, SafetensorError, ValueError) as error:
        why = str(error).partition("\n")[0][:200]
        raise NotInstalled(f"the bundled model ({_PACKAGE}) cannot be read ({why})") from error
    return StaticModel(name_of(), table, tokenizer)


def _why() -> str:
    """Why it cannot be, if it cannot."""
    version = sys.version_info[:2]
    return f" (there is none for Python {version[0]}.{version[1]})" if version > _LAST_PYTHON else ""


class StaticModel:
    """Sums the vectors of the pieces of words; what stands between words says little.

    No piece spans two words, so that the pieces of each word need be found only once.
    """

    batch = 256
    is_rough = False

    def __init__(self, name: str, table: NDArray[np.float16], tokenizer: Tokenizer) -> None:
        self.name = name
        self.dimensions = int(table.shape[1])
        self._table = table
        self._exact: NDArray[np.float32] | None = None
        self._tokenizer = tokenizer
        self._known: dict[str, list[int]] = {}

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        cut = [_WORD.findall(encodable(text)) for text in texts]
        self._learn({word for words in cut for word in words})
        known = self._known
        for place, words in enumerate(cut):
            pieces = [piece for word in words for piece in known[word]]
            if pieces:
                rows[place] = self._of(pieces, many=len(texts) > 1)
        return of_length_one(rows)

    def _of(self, pieces: list[int], *, many: bool) -> NDArray[np.float32]:
        """The sum of the vectors of pieces. One question is not worth making all vectors exact."""
        import numpy as np  # noqa: PLC0415

        if not many:
            alone: NDArray[np.float32] = self._table[pieces].astype(np.float32).sum(0)
            return alone
        if self._exact is None:
            self._exact = self._table.astype(np.float32)
        found: NDArray[np.float32] = self._exact[pieces].sum(0)
        return found

    def _learn(self, words: set[str]) -> None:
        new = [word for word in words if word not in self._known]
        if len(self._known) + len(new) > _MOST_WORDS:
            self._known.clear()
            new = list(words)
        if new:
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            self._known.update(zip(new, (each.ids for each in encoded), strict=True))
