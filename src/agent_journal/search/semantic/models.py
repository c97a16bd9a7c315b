"""Choose the embedding model: the user's own, the bundled one, or hashes if there is neither."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]


class Model(Protocol):
    """Turns texts into vectors of length one; a text without known words becomes zeros."""

    name: str
    """Vectors of models with other names cannot be compared."""
    dimensions: int
    batch: int
    """The best number of texts per call; it takes a fraction of a second."""
    is_rough: bool
    """Whether it compares spellings, not meanings."""

    def vectors(self, texts: Sequence[str]) -> Vectors:
        """A row for each text."""


def normalize_rows(rows: NDArray[np.float32]) -> Vectors:
    """Scale vectors to length one; zeros stay zeros."""
    import numpy as np  # noqa: PLC0415 (slow to import)

    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


class ModelChoice(NamedTuple):
    """The model to use, and why it is not the configured one."""

    model: Model | None
    problem: str = ""


def choose_model(
    model_path: Path, fallback: str, *, allow_custom: bool = True, is_configured: bool = False
) -> ModelChoice:
    """Return the custom model if there is one and it is allowed, else the bundled one or the fallback."""
    problem = ""
    if allow_custom:
        model, problem = load_custom_model(model_path, is_configured=is_configured)
        if model is not None:
            return ModelChoice(model)
    from agent_journal.search.semantic import static  # noqa: PLC0415 (imports numpy)

    try:
        return ModelChoice(static.load(), problem)
    except static.NotInstalled as error:
        instead = "hashes of words are used instead" if fallback == "hash" else "there is no semantic search"
        problem = "; ".join(filter(None, (problem, f"{error}: {instead}")))
    if fallback == "hash":
        from agent_journal.search.semantic.hashed import HashModel  # noqa: PLC0415

        return ModelChoice(HashModel(), problem)
    return ModelChoice(None, problem)


def load_custom_model(folder: Path, *, is_configured: bool = False) -> ModelChoice:
    """Load the ONNX model in a folder; that there is none is a problem only if it is configured."""
    if not (folder / "model.onnx").is_file():
        problem = f"there is no model.onnx in {folder}, which index.vector.model_path refers to"
        return ModelChoice(None, problem if is_configured else "")
    from agent_journal.search.semantic import onnx  # noqa: PLC0415

    try:
        return ModelChoice(onnx.load(folder))
    except onnx.UnusableModel as error:
        return ModelChoice(None, str(error))


def expected_model_name(model_path: Path, *, allow_custom: bool = True) -> str:
    """Return the name of the model to use, without loading it; `""` if there is none."""
    from agent_journal.search.semantic import onnx, static  # noqa: PLC0415

    if allow_custom and (model_path / "model.onnx").is_file():
        return onnx.model_name(model_path)
    return static.model_name()
