"""Find the vectors nearest to a question's: by comparing all of them, or with a graph if they are many.

Comparing a million of 256 dimensions in f16 takes 36 ms. From five million on, a person would notice; then a
graph (HNSW) is built next to them, if there is memory. Vectors newer than the graph are always compared.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent_journal.errors import CannotWrite
from agent_journal.search.semantic import vectors

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray
    from usearch.index import Index

    from agent_journal.search.semantic.vectors import Keys, Rows, StoredVectors

    Vector = NDArray[np.float32]
    Positions = NDArray[np.intp]

# Measured by `bench/meaning.py`: a graph of 150,000 vectors takes 51 CPU seconds to build; it then answers in
# 0.9 instead of 5.3 ms, and has 0.97 of the ten nearest. For five million it takes more than half an hour.
GRAPH_MIN_VECTORS = 5_000_000
_GRAPH_NODE_BYTES = 340  # in memory for each vector of a graph, besides the vector
_MAX_MEMORY_SHARE = 0.25  # of the machine's memory, while a graph is built
_MAX_EXAMINED_VECTORS = 256  # candidates that a search of the graph examines
_VECTORS_PER_KEY = 4  # to fetch for each key, as long messages have several


class Neighbor(NamedTuple):
    """An entry with the similarity of its nearest vector."""

    key: int
    similarity: float


def find_nearest(
    stored: StoredVectors, question: Vector, count: int, allowed: Keys | None = None
) -> list[Neighbor]:
    """Return the nearest entries, nearest first; only of `allowed`, if given."""
    if not stored.info.rows or count <= 0:
        return []
    vector_count = count * _VECTORS_PER_KEY
    positions = _candidates(stored, question, vector_count, allowed)
    rows = stored.rows if positions is None else stored.rows[positions]
    keys = stored.keys if positions is None else stored.keys[positions]
    similarities = _similarities(rows, question)
    while True:
        best = _best(similarities, vector_count)
        best_by_key: dict[int, float] = {}
        for key, value in zip(keys[best].tolist(), similarities[best].tolist(), strict=True):
            best_by_key.setdefault(key, value)
        if len(best_by_key) >= count or len(best) == len(similarities):
            return [Neighbor(key, value) for key, value in list(best_by_key.items())[:count]]
        vector_count *= _VECTORS_PER_KEY


def _candidates(
    stored: StoredVectors, question: Vector, vector_count: int, allowed: Keys | None
) -> Positions | None:
    """Return the positions to compare; None for all."""
    if allowed is not None:
        return np.flatnonzero(np.isin(stored.keys, allowed))
    graph = _open_graph(stored, view=True) if stored.info.rows >= GRAPH_MIN_VECTORS else None
    if graph is None:
        return None
    from_graph = np.asarray(graph.search(question, vector_count).keys, np.intp)
    return np.concatenate([np.sort(from_graph), np.arange(len(graph), stored.info.rows)])


def _similarities(rows: Rows, question: Vector) -> NDArray[np.floating]:
    if rows.dtype != np.float16 or not len(rows):
        exact: NDArray[np.floating] = rows @ question
        return exact
    import numkong  # noqa: PLC0415 (numpy has no fast product of such short numbers)

    product = numkong.cdist(question.astype(np.float16)[None], np.ascontiguousarray(rows), metric="inner")
    similarities: NDArray[np.floating] = np.asarray(product)[0]
    return similarities


def _best(similarities: NDArray[np.floating], count: int) -> Positions:
    """Return positions of the highest values, highest first; of equal ones the newest first."""
    if count < len(similarities):
        positions = np.argpartition(similarities, len(similarities) - count)[len(similarities) - count :]
    else:
        positions = np.arange(len(similarities))
    return positions[np.lexsort((-positions, -similarities[positions]))]


def needs_graph(stored: StoredVectors) -> bool:
    """Whether there are many vectors, at least a fifth of them in no graph, and memory for one."""
    if stored.info.rows < GRAPH_MIN_VECTORS or not _has_memory(stored):
        return False
    graph = _open_graph(stored, view=True)
    return graph is None or len(graph) < stored.info.rows * 0.8


def _has_memory(stored: StoredVectors) -> bool:
    """Whether the machine has the memory to build a graph; True where that is unknown."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no such function
        return True
    return stored.rows.nbytes + stored.info.rows * _GRAPH_NODE_BYTES <= memory * _MAX_MEMORY_SHARE


def build_graph(stored: StoredVectors) -> None:
    """Build a graph of all vectors, or extend the existing one."""
    from usearch.index import Index  # noqa: PLC0415 (slow to import)

    graph = _open_graph(stored, view=False)
    if graph is None:
        precision = stored.info.made.precision
        graph = Index(ndim=stored.info.made.dimensions, metric="ip", dtype=precision)
    indexed, rows = len(graph), stored.info.rows
    graph.add(np.arange(indexed, rows), np.ascontiguousarray(stored.rows[indexed:]))
    path = _path(stored)
    part = path.with_name(f"{path.name}.part0")
    try:
        graph.save(str(part))
        part.chmod(0o600)
        if vectors.is_current(stored.folder, stored.info.generation):
            part.replace(path)
        else:  # it contains vectors that were erased meanwhile
            part.unlink()
    except FileNotFoundError:
        return  # another process started over, and removed it as a leftover
    except (OSError, RuntimeError) as error:
        raise CannotWrite(str(path), str(error).partition("\n")[0]) from error


def _open_graph(stored: StoredVectors, *, view: bool) -> Index | None:
    """Open the graph if there is one for these vectors."""
    from usearch.index import Index  # noqa: PLC0415 (slow to import)

    path = _path(stored)
    if not path.is_file():
        return None
    try:
        graph = Index.restore(str(path), view=view)
    except (OSError, RuntimeError, ValueError):
        return None
    if graph is None or graph.ndim != stored.info.made.dimensions or len(graph) > stored.info.rows:
        return None
    graph.expansion_search = _MAX_EXAMINED_VECTORS  # type: ignore[misc]  # it has a setter
    return graph


def _path(stored: StoredVectors) -> Path:
    return stored.folder / f"{stored.info.generation}.graph"
