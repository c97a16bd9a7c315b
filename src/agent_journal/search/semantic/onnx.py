"""A model of one's own: a folder with `model.onnx` and `tokenizer.json`, as sentence models come."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.text_encoding import encodable
from agent_journal.search.semantic.models import of_length_one

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray
    from tokenizers import Encoding, Tokenizer

_MODEL, _TOKENIZER = "model.onnx", "tokenizer.json"
_LONGEST = 256  # pieces of a text that are looked at
_BATCH = 32
_TRIAL = "a trial"


class Unusable(Exception):
    """There is a model, but it cannot be used."""


def name_of(folder: Path) -> str:
    """The name of the model in a folder; another one there has another name."""
    found = (folder / _MODEL).stat()
    return f"onnx {folder.name} {found.st_size} {found.st_mtime_ns}"


def load(folder: Path) -> OnnxModel:
    """The model in a folder; raises Unusable."""
    if find_spec("onnxruntime") is None:
        raise Unusable(f"{folder}: 'pip install agent-journal[onnx]' is needed to use this model")
    import onnxruntime  # type: ignore[import-untyped,unused-ignore]  # noqa: PLC0415 (an extra)
    from tokenizers import Tokenizer  # noqa: PLC0415

    try:
        tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 4  # what is wrong is told in one line, below
        session = onnxruntime.InferenceSession(str(folder / _MODEL), options)
        tokenizer.enable_truncation(_LONGEST)
        tokenizer.enable_padding()
        return OnnxModel(name_of(folder), session, tokenizer)
    except Exception as error:
        why = str(error).strip().partition("\n")[0][:200]
        raise Unusable(f"{folder}: this model cannot be used ({why})") from error


class OnnxModel:
    """Takes what a model says of each piece of a text together, unless the model does that itself."""

    batch = _BATCH
    is_rough = False

    def __init__(self, name: str, session: Any, tokenizer: Tokenizer) -> None:
        self.name = name
        self._session = session
        self._tokenizer = tokenizer
        self._wanted = {each.name for each in session.get_inputs()}
        self.dimensions = 0
        self.dimensions = int(self.vectors([_TRIAL]).shape[1])

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """A row for each text. Those of about the same length are taken together, as all are filled up."""
        import numpy as np  # noqa: PLC0415

        rows = np.zeros((len(texts), self.dimensions), np.float32)
        in_order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        for start in range(0, len(texts), _BATCH):
            places = in_order[start : start + _BATCH]
            found = self._batch([encodable(texts[at]) for at in places])
            if not self.dimensions:
                return found
            rows[places] = found
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
        said = self._session.run(None, {name: inputs[name] for name in inputs if name in self._wanted})
        rows = said[0].astype(np.float32)
        if rows.ndim == 3:  # noqa: PLR2004 (texts, pieces, dimensions)
            weights = mask[:, :, None].astype(np.float32)
            rows = (rows * weights).sum(1) / np.maximum(weights.sum(1), 1)
        return of_length_one(rows)


def _column(encoded: list[Encoding], name: str) -> NDArray[np.int64]:
    import numpy as np  # noqa: PLC0415

    return np.array([getattr(each, name) for each in encoded], np.int64)
