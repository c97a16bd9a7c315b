"""Which vectors are nearest to a question's: all are looked at while they are few, else those in like lists.

Looking at all of them takes a microsecond for twelve at 256 dimensions in f16. From half a million on, that is
longer than all the rest of a search; then they are sorted into lists of what is alike, and only the lists that
are most like the question are looked at. What came after the sorting is always looked at.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from agent_journal.files import whole_file

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from agent_journal.search.meaning.vectors import About, Keys, Rows, Stored

    Vector = NDArray[np.float32]
    Places = NDArray[np.intp]

# Measured by `bench/meaning.py`.
MANY = 500_000  # vectors, from which on lists are made
SHARE = 1 / 24  # of the lists that are looked at: recall at 10 is 0.97 or more
_SAMPLE_PER_LIST = 48
_ROUNDS = 8
_BLOCK = 1 << 16
_SLACK = 4  # vectors per key wanted, as long messages have several


class Near(NamedTuple):
    """An entry whose nearest vector is so near."""

    key: int
    likeness: float


def nearest(stored: Stored, question: Vector, count: int, allowed: Keys | None = None) -> list[Near]:
    """The entries that are nearest, nearest first; only of these, if keys are given."""
    if not stored.about.rows or count <= 0:
        return []
    places = _candidates(stored, question, allowed)
    rows = stored.rows if places is None else stored.rows[places]
    keys = stored.keys if places is None else stored.keys[places]
    likeness = _likeness(rows, question)
    wanted = count * _SLACK
    while True:
        best = _best(likeness, wanted)
        found: dict[int, float] = {}
        for key, value in zip(keys[best].tolist(), likeness[best].tolist(), strict=True):
            found.setdefault(key, value)
        if len(found) >= count or len(best) == len(likeness):
            return [Near(key, value) for key, value in list(found.items())[:count]]
        wanted *= _SLACK


def _candidates(stored: Stored, question: Vector, allowed: Keys | None) -> Places | None:
    """The places that are looked at; None for all."""
    if allowed is not None:
        return np.flatnonzero(np.isin(stored.keys, allowed))
    lists = _read(stored) if stored.about.rows >= MANY else None
    return None if lists is None else lists.near(question, stored.about.rows)


def _likeness(rows: Rows, question: Vector) -> NDArray[np.floating]:
    if rows.dtype != np.float16:
        found: NDArray[np.floating] = rows @ question
        return found
    import numkong  # noqa: PLC0415 (numpy has no fast product of such short numbers)

    product = numkong.cdist(question.astype(np.float16)[None], np.ascontiguousarray(rows), metric="inner")
    return np.asarray(product)[0]


def _best(likeness: NDArray[np.floating], count: int) -> Places:
    """Places of the highest values, highest first; of equal ones the last, which came last."""
    if count < len(likeness):
        places = np.argpartition(likeness, len(likeness) - count)[len(likeness) - count :]
    else:
        places = np.arange(len(likeness))
    return places[np.lexsort((-places, -likeness[places]))]


class Lists(NamedTuple):
    """Vectors sorted into lists: the middle of each list, where each begins, and the places in all of them."""

    middles: NDArray[np.float32]
    starts: NDArray[np.int64]
    places: NDArray[np.int64]

    def near(self, question: Vector, rows: int) -> Places:
        """The places in the lists that are most like a question, and of all that is in none yet."""
        count = max(1, round(len(self.middles) * SHARE))
        best = _best(self.middles @ question, count)
        parts = [self.places[self.starts[each] : self.starts[each + 1]] for each in best.tolist()]
        return np.concatenate([np.sort(np.concatenate(parts)), np.arange(len(self.places), rows)])


def sort_into_lists(stored: Stored) -> Lists:
    """Lists for all vectors. The same vectors give the same lists."""
    rows = stored.about.rows
    count = max(1, int(rows**0.5))
    chance = np.random.default_rng(rows)
    sample = np.sort(chance.choice(rows, min(rows, count * _SAMPLE_PER_LIST), replace=False))
    middles = _middles(stored.rows[sample].astype(np.float32), count)
    belongs = np.concatenate(
        [
            (stored.rows[start : start + _BLOCK].astype(np.float32) @ middles.T).argmax(1)
            for start in range(0, rows, _BLOCK)
        ]
    )
    places = np.argsort(belongs, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(belongs, minlength=count))])
    return Lists(middles, starts, places)


def _middles(sample: NDArray[np.float32], count: int) -> NDArray[np.float32]:
    """Spherical k-means."""
    middles = sample[:: max(1, len(sample) // count)][:count].copy()
    for _ in range(_ROUNDS):
        belongs = np.concatenate(
            [
                (sample[start : start + _BLOCK] @ middles.T).argmax(1)
                for start in range(0, len(sample), _BLOCK)
            ]
        )
        order = np.argsort(belongs, kind="stable")
        lists, starts = np.unique(belongs[order], return_index=True)
        middles[lists] = np.add.reduceat(sample[order], starts, axis=0)
        middles /= np.maximum(np.linalg.norm(middles, axis=1, keepdims=True), 1e-9)
    return middles


def write(stored: Stored, lists: Lists) -> None:
    """Keep lists beside their vectors."""
    with whole_file(str(_path(stored.folder, stored.about))) as out:
        np.savez(out, **lists._asdict())


def are_due(stored: Stored) -> bool:
    """Whether lists should be made: there are many vectors, and a fifth or more is in no list."""
    if stored.about.rows < MANY:
        return False
    lists = _read(stored)
    return lists is None or len(lists.places) < stored.about.rows * 0.8


def _read(stored: Stored) -> Lists | None:
    """The lists of vectors, if there are any that fit; without them all vectors are looked at."""
    try:
        with np.load(_path(stored.folder, stored.about)) as said:
            lists = Lists(**{name: said[name] for name in Lists._fields})
    except (OSError, ValueError, KeyError, TypeError, EOFError):
        return None
    fits = lists.middles.shape[1:] == (stored.about.made.dimensions,)
    return lists if fits and len(lists.places) <= stored.about.rows else None


def _path(folder: Path, said: About) -> Path:
    return folder / f"{said.generation}.lists"
