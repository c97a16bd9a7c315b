"""A custom model: a folder with `model.onnx` and `tokenizer.json`, as sentence models are published."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.semantic.models import normalize_rows

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_MAX_TOKENS = 256
_MAX_BATCH_TEXTS = 32
_MAX_DIMENSIONS = 8192  # more are not a vector of a text, but the scores of a vocabulary
# Short and long, as some models take only texts of one length, or short ones.
_TRIAL_BATCHES = (["a", "a trial"], ["long " * _MAX_TOKENS])


class UnusableModel(Exception):
    """The model exists, but cannot be used."""


def model_name(folder: Path) -> str:
    """Return the name of the model in a folder; a replaced model has another name."""
    status = (folder / _MODEL).stat()
    return f"onnx {folder.name} {status.st_size} {status.st_mtime_ns}"


def load(folder: Path) -> OnnxModel:
    """Load the model in a folder; raises UnusableModel."""
    if find_spec("onnxruntime") is None:
        raise UnusableModel(f"{folder}: to use this model, run 'pip install agent-journal[onnx]'")
    return load_files(model_name(folder), folder / _MODEL, folder / _TOKENIZER)


def load_files(name: str, model: Path, vocabulary: Path) -> OnnxModel:
    """Load a model from its files; raises UnusableModel."""
    import onnxruntime  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 (an extra)
    from tokenizers import Tokenizer  # noqa: PLC0415

    try:
        tokenizer = Tokenizer.from_file(str(vocabulary))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # errors are reported in one line, below
        session = onnxruntime.InferenceSession(str(model), options)
        tokenizer.enable_truncation(_MAX_TOKENS)
        tokenizer.enable_padding()
        return OnnxModel(name, session, tokenizer)
    except Exception as error:
        why = str(error).strip().partition("\n")[0][:200]
        raise UnusableModel(f"{model.parent}: this model cannot be used ({why})") from error


class OnnxModel:
    """Averages a model's vectors of a text's tokens, unless the model does that itself."""

    batch = _MAX_BATCH_TEXTS
    is_rough = False

    def __init__(self, name: str, session: Any, tokenizer: Tokenizer) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._input_names = {each.name for each in session.get_inputs()}
        self.dimensions, *others = (int(self._batch(texts).shape[1]) for texts in _TRIAL_BATCHES)
        if others != [self.dimensions]:
            raise ValueError("its vectors have different lengths for short and long texts")

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text. Texts of similar length share a batch, as all are padded to the longest."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        by_length = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(texts), _MAX_BATCH_TEXTS):
            positions = by_length[start : start + _MAX_BATCH_TEXTS]
            rows[positions] = self._batch([encodable(texts[at]) for at in positions])
        return rows

    def _batch(self, texts: list[str]) -> NDArray[np.float32]:
        import numpy as np  # noqa: PLC0415

        encoded = self._tokenizer.encode_batch(texts)
        mask = _column(encoded, "attention_mask")
        inputs = {
            "input_ids": _column(encoded, "ids"),
            "attention_mask": mask,
            "token_type_ids": _column(encoded, "type_ids"),
        }
        outputs = self._session.run(
            None, {name: inputs[name] for name in inputs if name in self._input_names}
        )
        rows = outputs[0]
        _check_output(rows, mask.shape)
        rows = rows.astype(np.float32)
        if rows.ndim == 3:  # noqa: PLR2004 (texts, tokens, dimensions)
            weights = mask[:, :, None].astype(np.float32)
            rows = (rows * weights).sum(1) / np.maximum(weights.sum(1), 1)
        return normalize_rows(rows)


def _check_output(rows: Any, shape: tuple[int, ...]) -> None:
    """Raise ValueError if the output for texts of some tokens is no vector of each text or token."""
    import numpy as np  # noqa: PLC0415

    texts, _ = shape
    is_of_texts = np.ndim(rows) == 2 and rows.shape[0] == texts  # noqa: PLR2004
    is_of_tokens = np.ndim(rows) == 3 and rows.shape[:2] == shape  # noqa: PLR2004
    if not (is_of_texts or is_of_tokens) or not 1 < rows.shape[-1] <= _MAX_DIMENSIONS:
        shape = getattr(rows, "shape", ())
        raise ValueError(f"its first output is not a vector of each text or token: it has the shape {shape}")
    if not np.issubdtype(rows.dtype, np.floating) or not np.isfinite(rows).all():
        raise ValueError("its first output has values that are not finite numbers")


def _column(encoded: list[Encoding], name: str) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415

    return np.array([getattr(each, name) for each in encoded], np.int64)
