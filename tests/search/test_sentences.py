"""The extra `sentence`: a second model, which reads leading hits at once and everything else in its time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_journal import archive, config, journal
from agent_journal.config import Config
from agent_journal.journal import Journal, embeddings, upkeep
from agent_journal.search.query import Query, parse
from agent_journal.search.ranking import Ranked, Ranking
from agent_journal.search.semantic import onnx, sentence, vectors
from agent_journal.search.semantic.two_models import ReadEntries, TwoModelRanker
from agent_journal.search.semantic.vectors import StoredVectors
from tests.journal.test_embeddings import filled
from tests.search import tiny_onnx

NAME = "sentence tiny 1"
# To the bundled model, an automobile has nothing to do with soup.
TABLE = np.array([[0, 0, 0], [0, 0, 0.1], [1, 0, 0], [0, 1, 0], [0, 1, 0.1], [0, 0, 1]])
CHATS = {
    "meal": ["the soup", "it was good"],
    "drive": ["the car", "it was fast"],
    "bath": ["the water was cold", "so it was"],
    "kitchen": ["some broth", "it was hot"],
}


@pytest.fixture
def settled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Config:
    tiny_onnx.write_model(tmp_path / "model", TABLE)
    files = tmp_path / "model" / "model.onnx", tmp_path / "model" / "tokenizer.json"
    monkeypatch.setattr(sentence, "_files", lambda: files)
    monkeypatch.setattr(sentence, "model_name", lambda: NAME)
    settled = filled(tmp_path / "home", CHATS)
    with monkeypatch.context() as patched:
        patched.setattr(sentence, "load", lambda: None)
        upkeep.embed(settled)
    return settled


def stored(settled: Config) -> StoredVectors:
    folder = embeddings.sentence_folder(settled)
    info = vectors.read_info(folder)
    assert info is not None
    return StoredVectors(folder, info)


def ids(settled: Config, query: str, mode: Any = "hybrid") -> list[str]:
    with Journal(settled) as opened:
        answer = opened.search(query, 9, mode=mode)
    assert "" == answer.semantic_problem
    return [hit.conversation.id for hit in answer.hits if hit.conversation]


def test_everything_is_read_in_its_time(settled: Config) -> None:
    upkeep.embed(settled)

    with archive.open_to_read(settled.home) as kept:
        assert sorted(kept.store.index_keys()) == stored(settled).known_keys().tolist()
    assert (NAME, 3) == stored(settled).info.made[1:3]
    assert {"meal"} == {*ids(settled, "automobile")[:1], *ids(settled, "automobile", "semantic")[:1]}


def test_a_search_reads_its_leading_hits_and_writes_nothing(
    settled: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    batch = onnx.OnnxModel._batch

    def reading(self: onnx.OnnxModel, texts: list[str]) -> Any:
        read.extend(texts)
        return batch(self, texts)

    monkeypatch.setattr(onnx.OnnxModel, "_batch", reading)
    with Journal(settled) as opened:
        answers = [opened.search(query, 9, mode="hybrid") for query in ("soup broth", "broth soup")]

    assert {"meal", "kitchen"} <= {hit.conversation.id for hit in answers[0].hits if hit.conversation}
    assert {"the soup", "some broth"} <= set(read)
    repeated = read[read.index("soup broth") + 1 :]
    assert "the soup" not in repeated, "it is kept as long as the journal is open"
    assert not embeddings.sentence_folder(settled).exists()


def test_what_is_only_read_counts_like_what_is_stored(settled: Config) -> None:
    with Journal(settled) as opened:
        before = opened.search("the broth", 1, mode="hybrid").hits
    upkeep.embed(settled)
    with Journal(settled) as opened:
        after = opened.search("the broth", 1, mode="hybrid").hits

    assert [hit.entry.key for hit in before] == [hit.entry.key for hit in after]


@pytest.mark.parametrize("query", ["наше авто", "water_level automobile", '"the soup"'])
def test_other_scripts_and_names_are_for_the_bundled_model(settled: Config, query: str) -> None:
    ids(settled, query)

    assert not embeddings.sentence_folder(settled).exists()


def test_what_is_forgotten_is_forgotten_here_too(settled: Config) -> None:
    upkeep.embed(settled)
    before = len(stored(settled).keys)

    journal.forget(settled, lambda opened: [opened.find_conversation("meal").key])

    with archive.open_to_read(settled.home) as kept:
        assert set(stored(settled).keys.tolist()) <= set(kept.store.index_keys())
        assert [] == embeddings.find_problems(kept, settled)
    assert 0 < len(stored(settled).keys) < before


def test_a_damaged_model_is_reported_in_one_line(settled: Config, tmp_path: Path) -> None:
    (tmp_path / "model" / "model.onnx").write_bytes(b"nothing")
    with Journal(settled) as opened:
        answer = opened.search("soup", mode="hybrid")

    assert answer.hits
    assert "this model cannot be used" in answer.semantic_problem
    assert "\n" not in answer.semantic_problem


def test_without_the_extra_there_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sentence, "_WEIGHTS_PACKAGE", "no-such-package")
    settled = filled(tmp_path / "home", CHATS)
    upkeep.embed(settled)

    assert ("", None) == (sentence.model_name(), sentence.load())
    assert not embeddings.sentence_folder(settled).exists()


def test_ones_own_model_needs_no_other(settled: Config, tmp_path: Path) -> None:
    own = config.load(settled.home, {"AJ_INDEX_VECTOR_MODEL_PATH": str(tmp_path / "model")})
    upkeep.embed(own)

    assert not embeddings.sentence_folder(own).exists()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("why is it slow?", True),
        ("Größe naïve “quotes” – 42 ÅŁœ ǅ", True),
        ("", True),
        ("почему", False),
        ("数据库 pool", False),
        ("ความ", False),
    ],
)
def test_which_scripts_the_model_knows(text: str, expected: bool) -> None:
    assert expected == sentence.is_suitable(text)


class Fixed:
    def __init__(self, **scores: float) -> None:
        self._entries = [Ranked(int(key[1:]), score) for key, score in scores.items()]

    def rank(self, query: Query, limit: int) -> Ranking:  # noqa: ARG002
        return Ranking(self._entries[:limit])


class Even:
    name, dimensions, batch, is_rough = NAME, 2, 1, False

    def vectors(self, texts: Sequence[str]) -> Any:
        return np.full((len(texts), 2), 0.8, np.float32)


def test_each_entry_has_the_similarity_of_one_model(tmp_path: Path) -> None:
    made = vectors.VectorFormat("j", NAME, 2, "f32", "")
    info = vectors.start_over(tmp_path, made)
    keys, rows = np.array([1, 2], np.int64), np.ones((2, 2), np.float32)
    held = StoredVectors(tmp_path, vectors.append(tmp_path, info, keys, rows, np.empty(0, np.int64)))
    read = ReadEntries(Even(), {9: np.eye(2, dtype=np.float32), 7: np.ones((1, 2), np.float32)}, [9])
    fast, better = Fixed(k1=0.9, k3=0.8, k9=0.7, k4=0.2), Fixed(k2=0.7, k1=0.3)
    both = TwoModelRanker(fast, read, (better, held))

    ranked = both.rank(parse("any"), 9).entries

    assert [(9, 0.8), (2, 0.7), (3, 0.6), (1, 0.3), (4, 0.15)] == [
        (each.key, round(each.score, 4)) for each in ranked
    ]
    assert ranked[:2] == both.rank(parse("any"), 2).entries
    alone = TwoModelRanker(fast, read).rank(parse("any"), 9).entries
    assert [9, 1, 3, 4] == [each.key for each in alone]
