"""What turns texts into vectors."""

from __future__ import annotations

import sys
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from agent_journal.search.semantic import chunks, models, onnx, static
from agent_journal.search.semantic.hashed import HashModel
from agent_journal.search.semantic.models import Model
from tests.search import tiny_onnx

STATIC = static.load()
ANY_TEXT = st.text(st.characters(), max_size=80)


def likeness(model: Model, one: str, other: str) -> float:
    first, second = model.vectors([one, other])
    return float(first @ second)


def test_the_bundled_model_knows_what_is_alike() -> None:
    brakes = "the brakes of my bike squeal"

    assert (
        likeness(STATIC, brakes, "bicycle brake noise") > likeness(STATIC, brakes, "a recipe for soup") + 0.2
    )


def test_hashes_know_spelling_alone() -> None:
    hashed = HashModel()

    assert likeness(hashed, "reconnect", "reconnecting") > 0.3
    assert abs(likeness(hashed, "bicycle", "velocipede")) < 0.2


@pytest.mark.parametrize("model", [STATIC, HashModel()])
@given(texts=st.lists(ANY_TEXT, max_size=4))
def test_any_text_has_a_vector_of_length_one_or_none(model: Model, texts: list[str]) -> None:
    rows = model.vectors(texts)

    assert (len(texts), model.dimensions) == rows.shape
    lengths = np.linalg.norm(rows, axis=1)
    assert all(abs(length - 1) < 1e-3 or length == 0 for length in lengths)
    assert np.allclose(rows, model.vectors(texts))


@given(ANY_TEXT, st.lists(ANY_TEXT, max_size=3))
def test_a_vector_does_not_depend_on_others(text: str, others: list[str]) -> None:
    assert np.allclose(STATIC.vectors([*others, text])[-1], STATIC.vectors([text])[0], atol=1e-3)


def test_words_are_remembered_up_to_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(static, "_MAX_CACHED_WORDS", 3)
    model = static.load()
    before = model.vectors(["one two"])

    model.vectors(["three four five six"])

    assert len(model._tokens) <= 4
    assert np.allclose(before, model.vectors(["one two"]))


@given(st.text(max_size=3000))
def test_pieces_hold_all_words_in_their_order(text: str) -> None:
    pieces = chunks.split_chunks(text)

    assert all(len(piece.encode()) <= chunks.MAX_CHUNK_BYTES for piece in pieces)
    assert (
        "".join(text.encode("utf-8", "replace").decode().split())[:40]
        == "".join("".join(pieces).split())[:40]
    )
    assert len(pieces) <= chunks.MAX_CHUNKS


def test_pieces_overlap_and_end() -> None:
    words = [f"word{number}" for number in range(3000)]
    pieces = [piece.split() for piece in chunks.split_chunks(" ".join(words))]

    assert chunks.MAX_CHUNKS == len(pieces)
    for one, next_ in pairwise(pieces):
        assert next_[0] in one
        assert next_[-1] not in one


def test_base64_is_left_out() -> None:
    blob = "QUJD" * 200

    assert ["before after"] == chunks.split_chunks(f"before {blob} after")


def test_chinese_is_cut_into_short_pieces() -> None:
    pieces = chunks.split_chunks("数据库连接池泄漏" * 40)

    assert len(pieces) > 3
    assert all(len(piece.encode()) <= chunks.MAX_CHUNK_BYTES for piece in pieces)


def test_the_ends_of_an_output_show_how_it_went() -> None:
    output = f"running 12 tests {'ok ' * 2000} error: the disk is full"

    first, last = chunks.first_and_last_chunk(output)

    assert first.startswith("running 12 tests")
    assert last.endswith("error: the disk is full")
    assert ["short"] == chunks.first_and_last_chunk("short")


# ── A model of one's own ──


def test_a_model_of_ones_own_is_used(tmp_path: Path) -> None:
    tiny_onnx.write_model(tmp_path)

    model, trouble = models.choose_model(tmp_path, "none")

    assert model is not None
    assert (3, "", f"onnx {tmp_path.name}") == (model.dimensions, trouble, " ".join(model.name.split()[:2]))
    assert likeness(model, "a car", "AUTOMOBILE") > 0.9
    assert likeness(model, "car", "soup") < 0.3
    assert model.vectors([]).shape == (0, 3)
    assert model.vectors(["\ud800 car"]).shape == (1, 3)


def test_many_texts_of_all_lengths_come_back_in_their_order(tmp_path: Path) -> None:
    tiny_onnx.write_model(tmp_path)
    model = onnx.load(tmp_path)
    texts = [" ".join(["car", "soup", "broth"][: 1 + place % 3] * (1 + place % 7)) for place in range(80)]

    together = model.vectors(texts)

    assert np.allclose(together, np.concatenate([model.vectors([text]) for text in texts]), atol=1e-5)


@pytest.mark.parametrize("file", ["model.onnx", "tokenizer.json"])
def test_a_broken_model_is_reported_in_one_line(tmp_path: Path, file: str) -> None:
    tiny_onnx.write_model(tmp_path)
    (tmp_path / file).write_bytes(b"{ no model")

    model, trouble = models.choose_model(tmp_path, "none")

    assert model is not None
    assert (static.model_name(), False) == (model.name, "\n" in trouble)
    assert str(tmp_path) in trouble


@pytest.mark.parametrize(
    ("table", "input_name", "why"),
    [
        (np.ones(6), "input_ids", "different lengths"),
        (np.ones((6, 1)), "input_ids", "the shape (2, 2, 1)"),
        (np.ones((6, 9000)), "input_ids", "9000"),
        (np.ones((6, 2, 2)), "input_ids", "the shape (2, 2, 2, 2)"),
        (np.full((6, 3), np.nan), "input_ids", "not finite"),
        (np.ones((6, 3)), "pixels", "pixels"),
    ],
)
def test_a_model_that_does_not_fit_is_rejected_when_it_is_loaded(
    tmp_path: Path, table: NDArray[np.float64], input_name: str, why: str
) -> None:
    tiny_onnx.write_model(tmp_path, table, input_name)

    model, trouble = models.choose_model(tmp_path, "none")

    assert model is not None
    assert (static.model_name(), False) == (model.name, "\n" in trouble)
    assert trouble.startswith(f"{tmp_path}: this model cannot be used (")
    assert why in trouble


def test_a_missing_extra_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tiny_onnx.write_model(tmp_path)
    monkeypatch.setattr(onnx, "find_spec", lambda _: None)

    model, trouble = models.choose_model(tmp_path, "none")

    assert model is not None
    assert static.model_name() == model.name
    assert "agent-journal[onnx]" in trouble


def test_a_model_that_is_not_wanted_is_not_used(tmp_path: Path) -> None:
    tiny_onnx.write_model(tmp_path)

    assert static.model_name() == getattr(
        models.choose_model(tmp_path, "none", allow_custom=False).model, "name", ""
    )
    assert static.model_name() == models.expected_model_name(tmp_path, allow_custom=False)


@pytest.mark.parametrize(("fallback", "name"), [("hash", "hash 1"), ("none", None)])
def test_without_any_model_the_fallback_serves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fallback: str, name: str | None
) -> None:
    def not_there(_: str) -> NoReturn:
        raise PackageNotFoundError("wordllama")

    monkeypatch.setattr(static, "distribution", not_there)

    model, trouble = models.choose_model(tmp_path, fallback)

    assert name == getattr(model, "name", None)
    assert "is not installed" in trouble


def test_the_code_of_the_wheel_is_not_imported() -> None:
    assert "wordllama" not in sys.modules


def test_that_there_is_no_model_is_trouble_where_one_was_settled(tmp_path: Path) -> None:
    assert "" == models.choose_model(tmp_path, "none").problem
    assert f"no model.onnx in {tmp_path}" in models.choose_model(tmp_path, "none", is_configured=True).problem
    assert "" == models.choose_model(tmp_path, "none", allow_custom=False, is_configured=True).problem


def test_a_newer_python_without_the_bundled_model_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(static, "_PACKAGE", "no-such-package")
    monkeypatch.setattr(sys, "version_info", (3, 14, 0))

    assert "(there is none for Python 3.14)" in models.choose_model(tmp_path, "hash").problem
