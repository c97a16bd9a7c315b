"""The folder of vectors, and what is nearest in it."""

from __future__ import annotations

import stat
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent_journal.errors import CannotWrite, IndexDamaged
from agent_journal.search.semantic import nearest, vectors
from agent_journal.search.semantic.vectors import StoredVectors, VectorFormat, VectorsInfo

MADE = VectorFormat("journal", "model", 8, "f32", "all")
NONE = np.empty(0, np.int64)


def some(count: int, seed: int = 1) -> NDArray[np.float32]:
    rows = np.random.default_rng(seed).standard_normal((count, 8)).astype(np.float32)
    unit: NDArray[np.float32] = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    return unit


def keys(*numbers: int) -> NDArray[np.int64]:
    return np.array(numbers, np.int64)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "index.vectors"


def said(folder: Path) -> VectorsInfo:
    found = vectors.read_info(folder)
    assert found is not None
    return found


def test_what_is_appended_is_there(folder: Path) -> None:
    rows = some(5)
    first = vectors.append(folder, vectors.start_over(folder, MADE), keys(1, 1, 4), rows[:3], keys(2))
    vectors.append(folder, first, keys(7, 9), rows[3:], NONE)

    stored = StoredVectors(folder, said(folder))

    assert [1, 1, 4, 7, 9] == stored.keys.tolist()
    assert [1, 2, 4, 7, 9] == stored.known_keys().tolist()
    assert np.array_equal(rows, stored.rows)
    assert 9 == stored.info.reach
    assert [] == stored.problems()


def test_only_the_owner_may_read_it(folder: Path) -> None:
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1), some(1), keys(2))

    assert 0o700 == stat.S_IMODE(folder.stat().st_mode)
    assert {0o600} == {stat.S_IMODE(path.stat().st_mode) for path in folder.iterdir()}


@pytest.mark.parametrize("reached", ["rows", "keys", "mute"])
def test_whoever_is_killed_while_appending_leaves_what_nobody_counts(
    folder: Path, monkeypatch: pytest.MonkeyPatch, reached: str
) -> None:
    before = vectors.append(folder, vectors.start_over(folder, MADE), keys(1), some(1), keys(2))
    real = vectors._write_at

    def killed(path: str, size: int, data: bytes) -> None:
        real(path, size, data[: len(data) // 2])
        if path.endswith(reached):
            raise KeyboardInterrupt

    monkeypatch.setattr(vectors, "_write_at", killed)
    with pytest.raises(KeyboardInterrupt):
        vectors.append(folder, before, keys(3, 4), some(2, 2), keys(5))
    monkeypatch.undo()

    assert before == said(folder)
    again = vectors.append(folder, before, keys(3, 4), some(2, 2), keys(5))
    stored = StoredVectors(folder, again)
    assert ([1, 3, 4], [2, 5]) == (stored.keys.tolist(), stored.mute.tolist())
    assert np.array_equal(np.concatenate([some(1), some(2, 2)]), stored.rows)


def test_what_must_go_is_in_no_file_any_more(folder: Path) -> None:
    rows = some(4)
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1, 2, 2, 3), rows, keys(4, 5))
    old = StoredVectors(folder, said(folder))

    vectors.rewrite_with(old, keys(1, 3, 4))

    stored = StoredVectors(folder, said(folder))
    assert ([1, 3], [4]) == (stored.keys.tolist(), stored.mute.tolist())
    assert np.array_equal(rows[[0, 3]], stored.rows)
    assert all(rows[1].tobytes() not in path.read_bytes() for path in folder.iterdir())
    assert np.array_equal(rows, old.rows), "whoever was reading still can"


def test_nothing_is_stored_of_nothing(folder: Path) -> None:
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1), some(1), NONE)

    stored = StoredVectors(folder, vectors.rewrite_with(StoredVectors(folder, said(folder)), NONE))

    assert (0, 0) == (len(stored.rows), len(stored.keys))
    assert [] == nearest.find_nearest(stored, some(1)[0], 5)


def test_damage_is_reported(folder: Path) -> None:
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1, 2), some(2), NONE)
    path = folder / "1.rows"
    path.write_bytes(b"\xff" * 32 + path.read_bytes()[32:])
    assert ["1 of its vectors are damaged"] == StoredVectors(folder, said(folder)).problems()
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(IndexDamaged, match="too short"):
        StoredVectors(folder, said(folder))
    (folder / vectors.INFO_FILE).write_text("[]")
    with pytest.raises(IndexDamaged):
        vectors.read_info(folder)


@pytest.mark.parametrize("rows", [-1, 10**9, 10**30])
def test_a_count_that_cannot_be_is_damage(folder: Path, rows: int) -> None:
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1, 2), some(2), NONE)

    with pytest.raises(IndexDamaged, match="too short"):
        StoredVectors(folder, said(folder)._replace(rows=rows))


def test_other_layouts_and_nothing_are_nothing(folder: Path) -> None:
    assert vectors.read_info(folder) is None
    vectors.start_over(folder, MADE)
    text = (folder / vectors.INFO_FILE).read_text().replace('"layout": 1', '"layout": 0')
    (folder / vectors.INFO_FILE).write_text(text)
    assert vectors.read_info(folder) is None


def test_what_is_not_ours_stays(folder: Path) -> None:
    vectors.append(folder, vectors.start_over(folder, MADE), keys(1), some(1), NONE)
    (folder / "notes.txt").write_text("mine")

    vectors.discard(folder)

    assert ["notes.txt"] == [path.name for path in folder.iterdir()]


def test_a_folder_that_cannot_be_written_is_reported(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")

    with pytest.raises(CannotWrite):
        vectors.start_over(tmp_path / "file" / "vectors", MADE)


# ── The nearest ──


@given(st.integers(1, 60), st.integers(1, 12), st.sampled_from(["f16", "f32"]), st.booleans())
def test_the_nearest_are_those_of_a_plain_product(
    tmp_path_factory: pytest.TempPathFactory, count: int, wanted: int, precision: str, narrowed: bool
) -> None:
    folder = tmp_path_factory.mktemp("v") / "vectors"
    kind: type[np.floating] = np.float16 if precision == "f16" else np.float32
    rows, owners = some(count).astype(kind), np.arange(count) // 2 + 1
    begun = vectors.start_over(folder, MADE._replace(precision=precision))
    stored = StoredVectors(folder, vectors.append(folder, begun, owners, rows, NONE))
    question = some(1, 7)[0]
    allowed = owners[::3] if narrowed else None

    found = nearest.find_nearest(stored, question, wanted, allowed)

    best: dict[int, float] = {}
    for owner, likeness in zip(owners.tolist(), (rows.astype(np.float64) @ question).tolist(), strict=True):
        if allowed is None or owner in allowed:
            best[owner] = max(likeness, best.get(owner, -2))
    expected = sorted(best.values(), reverse=True)[:wanted]
    assert np.allclose(expected, [each.similarity for each in found], atol=2e-3)
    assert all(abs(best[each.key] - each.similarity) < 2e-3 for each in found)
    assert len(found) == len({each.key for each in found})


def test_a_graph_leads_to_the_nearest_and_new_ones_are_looked_at(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = some(400)
    begun = vectors.append(folder, vectors.start_over(folder, MADE), np.arange(1, 301), rows[:300], NONE)
    question = some(1, 9)[0]
    exact = nearest.find_nearest(StoredVectors(folder, begun), question, 10)
    monkeypatch.setattr(nearest, "GRAPH_MIN_VECTORS", 100)
    assert nearest.needs_graph(StoredVectors(folder, begun))

    nearest.build_graph(StoredVectors(folder, begun))

    assert not nearest.needs_graph(StoredVectors(folder, begun))
    assert exact == nearest.find_nearest(StoredVectors(folder, begun), question, 10)
    assert 0o600 == stat.S_IMODE((folder / "1.graph").stat().st_mode)
    now = vectors.append(folder, begun, np.arange(301, 401), np.vstack([rows[301:], question]), NONE)
    assert 400 == nearest.find_nearest(StoredVectors(folder, now), question, 1)[0].key
    assert nearest.needs_graph(StoredVectors(folder, now))
    nearest.build_graph(StoredVectors(folder, now))
    assert 400 == nearest.find_nearest(StoredVectors(folder, now), question, 1)[0].key


def test_a_graph_is_made_only_where_it_has_room(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = vectors.append(folder, vectors.start_over(folder, MADE), np.arange(1, 31), some(30), NONE)
    monkeypatch.setattr(nearest, "GRAPH_MIN_VECTORS", 10)
    needed = StoredVectors(folder, begun).rows.nbytes + 30 * nearest._GRAPH_NODE_BYTES
    for pages, is_due in ((4 * needed, True), (4 * needed - 1, False)):
        sizes = {"SC_PHYS_PAGES": pages, "SC_PAGE_SIZE": 1}
        monkeypatch.setattr("os.sysconf", sizes.__getitem__)
        assert is_due == nearest.needs_graph(StoredVectors(folder, begun))


def test_a_graph_of_what_was_erased_meanwhile_is_dropped(folder: Path) -> None:
    begun = vectors.append(folder, vectors.start_over(folder, MADE), np.arange(1, 31), some(30), NONE)
    stored = StoredVectors(folder, begun)
    vectors.start_over(folder, MADE)

    nearest.build_graph(stored)

    assert [] == [*folder.glob("*graph*")]


def test_a_broken_graph_is_done_without(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun = vectors.append(folder, vectors.start_over(folder, MADE), np.arange(1, 31), some(30), NONE)
    monkeypatch.setattr(nearest, "GRAPH_MIN_VECTORS", 10)
    exact = nearest.find_nearest(StoredVectors(folder, begun), some(1)[0], 3)
    (folder / "1.graph").write_bytes(b"no graph at all")

    assert exact == nearest.find_nearest(StoredVectors(folder, begun), some(1)[0], 3)
    assert 1 == exact[0].key
