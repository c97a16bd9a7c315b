"""What turns texts into vectors: a model of one's own, the bundled one, or hashes where there is neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Model(Protocol):
    """Turns texts into vectors of length one; a text that says nothing to it becomes zeros."""

    name: str
    """Vectors of models with other names cannot be compared."""
    dimensions: int
    batch: int
    """How many texts are best taken together: they take a fraction of a second."""
    is_rough: bool
    """Whether it knows spelling, and nothing of meaning."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text."""


def of_length_one(rows: NDArray[np.float32]) -> Vectors:
    """Vectors in the same directions; zeros stay zeros."""
    import numpy as np  # noqa: PLC0415 (takes long)

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class Chosen(NamedTuple):
    """The model that serves, and why it is not the one that was wished for."""

    model: Model | None
    trouble: str = ""


def chosen(model_path: Path, fallback: str, *, own: bool = True, is_settled: bool = False) -> Chosen:
    """The model in a folder if there is one (and it is wanted), else the bundled one, else the fallback."""
    trouble = ""
    if own:
        model, trouble = own_model(model_path, is_settled=is_settled)
        if model is not None:
            return Chosen(model)
    from agent_journal.search.semantic import static  # noqa: PLC0415 (imports numpy)

    try:
        return Chosen(static.load(), trouble)
    except static.NotInstalled as error:
        instead = "words are hashed instead" if fallback == "hash" else "nothing is found by meaning"
        trouble = "; ".join(filter(None, (trouble, f"{error}: {instead}")))
    if fallback == "hash":
        from agent_journal.search.semantic.hashed import HashModel  # noqa: PLC0415

        return Chosen(HashModel(), trouble)
    return Chosen(None, trouble)


def own_model(folder: Path, *, is_settled: bool = False) -> Chosen:
    """The ONNX model in a folder; that there is none is trouble if somebody settled that one is there."""
    if not (folder / "model.onnx").is_file():
        trouble = f"there is no model.onnx in {folder}, which index.vector.model_path names"
        return Chosen(None, trouble if is_settled else "")
    from agent_journal.search.semantic import onnx  # noqa: PLC0415

    try:
        return Chosen(onnx.load(folder))
    except onnx.Unusable as error:
        return Chosen(None, str(error))


def name_of(model_path: Path, *, own: bool = True) -> str:
    """The name of the model that would serve if all is well, without loading it; `""` if none is there."""
    from agent_journal.search.semantic import onnx, static  # noqa: PLC0415

    if own and (model_path / "model.onnx").is_file():
        return onnx.name_of(model_path)
    return static.name_of()
