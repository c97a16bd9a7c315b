"""The bundled model: a vector for each token, trained so that their sum represents a text's meaning.

The weights and the vocabulary are in the wheel of wordllama; its code is not needed and not imported.
"""

from __future__ import annotations

import re
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.semantic.models import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Tokenizer

_PACKAGE = "wordllama"
_WEIGHTS = "wordllama/weights/l2_supercat_256.safetensors"
_TOKENIZER = "wordllama/tokenizers/l2_supercat_tokenizer_config.json"
_TENSOR = "embedding.weight"
_LAST_PYTHON = (3, 13)  # that has a wheel
_WORD = re.compile(r"\w+")
_MAX_CACHED_WORDS = 300_000


class NotInstalled(Exception):
    """The wheel is missing or damaged."""


def model_name() -> str:
    """Return the name of the model; `""` if it is not installed."""
    try:
        return f"static {_PACKAGE} {distribution(_PACKAGE).version}"
    except PackageNotFoundError:
        return ""


def load() -> StaticModel:
    """Load the model; raises NotInstalled."""
    import numpy as np  # noqa: PLC0415, F401 (the next needs it)
    from safetensors import SafetensorError, safe_open  # noqa: PLC0415
    from tokenizers import Tokenizer  # noqa: PLC0415

    try:
        package = distribution(_PACKAGE)
        weights, vocabulary = (Path(str(package.locate_file(name))) for name in (_WEIGHTS, _TOKENIZER))
        with safe_open(str(weights), framework="numpy") as file:
            table = file.get_tensor(_TENSOR)
        tokenizer = Tokenizer.from_buffer(vocabulary.read_bytes())
    except PackageNotFoundError:
        raise NotInstalled(f"the bundled model ({_PACKAGE}) is not installed{_version_hint()}") from None
    except (OSError, SafetensorError, ValueError) as error:
        why = str(error).partition("\n")[0][:200]
        raise NotInstalled(f"the bundled model ({_PACKAGE}) cannot be read ({why})") from error
    return StaticModel(model_name(), table, tokenizer)


def _version_hint() -> str:
    """Explain that there is no wheel for this Python, if so."""
    version = sys.version_info[:2]
    return f" (there is none for Python {version[0]}.{version[1]})" if version > _LAST_PYTHON else ""


class StaticModel:
    """Sums the vectors of the tokens of words; characters between words carry little meaning.

    No token spans two words, so each word needs to be tokenized only once.
    """

    batch = 256
    is_rough = False

    def __init__(self, name: str, table: NDArray[np.float16], tokenizer: Tokenizer) -> None:
        self.name = name
        self.dimensions = int(table.shape[1])
        self._table = table
        self._exact: NDArray[np.float32] | None = None
        self._tokenizer = tokenizer
        self._tokens: dict[str, list[int]] = {}

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        words_of_texts = [_WORD.findall(encodable(text)) for text in texts]
        tokens_of = self._learn({word for words in words_of_texts for word in words})
        for row, words in enumerate(words_of_texts):
            tokens = [token for word in words for token in tokens_of[word]]
            if tokens:
                rows[row] = self._sum(tokens, many=len(texts) > 1)
        return normalize_rows(rows)

    def _sum(self, tokens: list[int], *, many: bool) -> NDArray[np.float32]:
        """Sum the vectors of tokens. A single question is not worth converting the whole table."""
        import numpy as np  # noqa: PLC0415

        if not many:
            single: NDArray[np.float32] = self._table[tokens].astype(np.float32).sum(0)
            return single
        if self._exact is None:
            self._exact = self._table.astype(np.float32)
        total: NDArray[np.float32] = self._exact[tokens].sum(0)
        return total

    def _learn(self, words: set[str]) -> dict[str, list[int]]:
        """Return the tokens of words; other threads may add to them, but never remove any."""
        tokens_of = self._tokens
        new = [word for word in words if word not in tokens_of]
        if len(tokens_of) + len(new) > _MAX_CACHED_WORDS:
            tokens_of = self._tokens = {}
            new = list(words)
        if new:
            encoded = self._tokenizer.encode_batch_fast(new, add_special_tokens=False)
            tokens_of.update(zip(new, (each.ids for each in encoded), strict=True))
        return tokens_of
