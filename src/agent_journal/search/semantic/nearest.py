"""Which vectors are nearest to a question's: all are looked at while they are few, else a graph leads there.

Looking at a million of 256 dimensions in f16 takes 36 ms. From five million on, a person would notice; then a
graph (HNSW) is made beside them, if there is memory for it. What came after the graph is always looked at.
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

    from agent_journal.search.semantic.vectors import Keys, Rows, Stored

    Vector = NDArray[np.float32]
    Places = NDArray[np.intp]

# Measured by `bench/meaning.py`: of 150,000 vectors a graph takes 51 CPU seconds to make; it then answers in
# 0.9 instead of 5.3 ms, and has 0.97 of the ten nearest. Of five million it takes more than half an hour.
MANY = 5_000_000
_BESIDE = 340  # bytes in memory for each vector of a graph, beside the vector
_SHARE = 0.25  # of the machine's memory, that a graph may take while it is made
_EXPANSION = 256
_SLACK = 4  # vectors per key wanted, as long messages have several


class Near(NamedTuple):
    """An entry whose nearest vector is so near."""

    key: int
    likeness: float


def nearest(stored: Stored, question: Vector, count: int, allowed: Keys | None = None) -> list[Near]:
    """The entries that are nearest, nearest first; only of these, if keys are given."""
    if not stored.about.rows or count <= 0:
        return []
    wanted = count * _SLACK
    places = _candidates(stored, question, wanted, allowed)
    rows = stored.rows if places is None else stored.rows[places]
    keys = stored.keys if places is None else stored.keys[places]
    likeness = _likeness(rows, question)
    while True:
        best = _best(likeness, wanted)
        found: dict[int, float] = {}
        for key, value in zip(keys[best].tolist(), likeness[best].tolist(), strict=True):
            found.setdefault(key, value)
        if len(found) >= count or len(best) == len(likeness):
            return [Near(key, value) for key, value in list(found.items())[:count]]
        wanted *= _SLACK


def _candidates(stored: Stored, question: Vector, wanted: int, allowed: Keys | None) -> Places | None:
    """The places that are looked at; None for all."""
    if allowed is not None:
        return np.flatnonzero(np.isin(stored.keys, allowed))
    graph = _graph(stored, view=True) if stored.about.rows >= MANY else None
    if graph is None:
        return None
    led_to = np.asarray(graph.search(question, wanted).keys, np.intp)
    return np.concatenate([np.sort(led_to), np.arange(len(graph), stored.about.rows)])


def _likeness(rows: Rows, question: Vector) -> NDArray[np.floating]:
    if rows.dtype != np.float16 or not len(rows):
        found: NDArray[np.floating] = rows @ question
        return found
    import numkong  # noqa: PLC0415 (numpy has no fast product of such short numbers)

    product = numkong.cdist(question.astype(np.float16)[None], np.ascontiguousarray(rows), metric="inner")
    likeness: NDArray[np.floating] = np.asarray(product)[0]
    return likeness


def _best(likeness: NDArray[np.floating], count: int) -> Places:
    """Places of the highest values, highest first; of equal ones the last, which came last."""
    if count < len(likeness):
        places = np.argpartition(likeness, len(likeness) - count)[len(likeness) - count :]
    else:
        places = np.arange(len(likeness))
    return places[np.lexsort((-places, -likeness[places]))]


def graph_is_due(stored: Stored) -> bool:
    """Whether there are many vectors of which a fifth or more is in no graph, and memory for one."""
    if stored.about.rows < MANY or not _has_room(stored):
        return False
    graph = _graph(stored, view=True)
    return graph is None or len(graph) < stored.about.rows * 0.8


def _has_room(stored: Stored) -> bool:
    """Whether the machine has the memory that it takes to make a graph; where nobody knows, it has."""
    try:
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # Windows has no such function
        return True
    return stored.rows.nbytes + stored.about.rows * _BESIDE <= memory * _SHARE


def make_graph(stored: Stored) -> None:
    """Make a graph of all vectors, or let the one that is there grow."""
    from usearch.index import Index  # noqa: PLC0415 (takes long)

    graph = _graph(stored, view=False)
    if graph is None:
        precision = stored.about.made.precision
        graph = Index(ndim=stored.about.made.dimensions, metric="ip", dtype=precision)
    known, rows = len(graph), stored.about.rows
    graph.add(np.arange(known, rows), np.ascontiguousarray(stored.rows[known:]))
    path = _path(stored)
    part = path.with_name(f"{path.name}.part0")
    try:
        graph.save(str(part))
        part.chmod(0o600)
        if vectors.is_current(stored.folder, stored.about.generation):
            part.replace(path)
        else:  # what was forgotten meanwhile is in it
            part.unlink()
    except FileNotFoundError:
        return  # another process began to make vectors, and took it for something that was left
    except (OSError, RuntimeError) as error:
        raise CannotWrite(str(path), str(error).partition("\n")[0]) from error


def _graph(stored: Stored, *, view: bool) -> Index | None:
    """The graph of vectors, if there is one that fits; without one all vectors are looked at."""
    from usearch.index import Index  # noqa: PLC0415 (takes long)

    path = _path(stored)
    if not path.is_file():
        return None
    try:
        graph = Index.restore(str(path), view=view)
    except (OSError, RuntimeError, ValueError):
        return None
    if graph is None or graph.ndim != stored.about.made.dimensions or len(graph) > stored.about.rows:
        return None
    graph.expansion_search = _EXPANSION  # type: ignore[misc]  # it has a setter, too
    return graph


def _path(stored: Stored) -> Path:
    return stored.folder / f"{stored.about.generation}.graph"
