"""Words and meaning together."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.search import hybrid
from agent_journal.search.entry import Entry
from agent_journal.search.hybrid import HybridRanker, concatenate, fuse, is_literal
from agent_journal.search.lexical import Index
from agent_journal.search.passages import ScoredMessage
from agent_journal.search.query import Filters, Query, parse
from agent_journal.search.questions import Question
from agent_journal.search.ranking import Ranked, Ranking
from agent_journal.search.rerank import Reranker
from agent_journal.search.semantic import static, vectors
from agent_journal.search.semantic.models import normalize_rows
from agent_journal.search.semantic.ranker import SemanticRanker
from agent_journal.search.semantic.vectors import StoredVectors, VectorFormat

MODEL = static.load()
TEXTS = {
    1: "open_session leaks connections of the pool",
    2: "connections to the database are never given back",
    3: "the brakes of my bicycle squeal after cleaning the chain",
    4: "a recipe for lentil soup with carrots",
    5: "noise when the bike stops; oil on the disc",
    6: "the soup of the day",
}
LISTS = st.lists(st.integers(1, 30), unique=True, max_size=12)


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Index:
    index = Index.open(tmp_path_factory.mktemp("words") / "index", journal="j")
    role = {4: "user", 6: "user"}
    index.add(
        Entry(key, 1, role.get(key, "assistant"), "made-up", "", "", 0, text) for key, text in TEXTS.items()
    )
    index.commit(max(TEXTS))
    return index


@pytest.fixture(scope="module")
def meaning(index: Index, tmp_path_factory: pytest.TempPathFactory) -> SemanticRanker:
    folder = tmp_path_factory.mktemp("meaning") / "vectors"
    begun = vectors.start_over(folder, VectorFormat("j", MODEL.name, MODEL.dimensions, "f16", ""))
    rows = MODEL.vectors(list(TEXTS.values())).astype(np.float16)
    said = vectors.append(folder, begun, np.array(list(TEXTS), np.int64), rows, np.empty(0, np.int64))
    return SemanticRanker(StoredVectors(folder, said), MODEL, index)


def found(ranking: Ranking) -> list[int]:
    return [each.key for each in ranking.entries]


def test_meaning_matches_what_shares_no_word(meaning: SemanticRanker, index: Index) -> None:
    query = parse("cycling makes sounds while braking")

    assert [] == found(index.search(query, limit=5))
    assert 3 == found(meaning.rank(query, 2))[0]
    assert 3 == found(HybridRanker(index, meaning).rank(query, 2))[0]


def test_filters_and_unwanted_words_hold(meaning: SemanticRanker) -> None:
    assert {4, 6} == set(found(meaning.rank(parse("soup", Filters(roles=("user",))), 9)))
    assert 3 not in found(meaning.rank(parse("bicycle brakes -chain"), 9))
    assert 5 in found(meaning.rank(parse("bicycle brakes -chain"), 9))


def test_filters_hold_where_they_leave_much(meaning: SemanticRanker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("agent_journal.search.semantic.ranker._MAX_ALLOWED_KEYS", 1)

    assert {4, 6} == set(found(meaning.rank(parse("soup", Filters(roles=("user",))), 2)))
    assert [6] == found(meaning.rank(parse("soup -lentil", Filters(roles=("user",))), 5))


def test_what_stands_in_quotes_must_be_there(meaning: SemanticRanker, index: Index) -> None:
    query = parse('"given back" database')

    assert [2] == found(meaning.rank(query, 9))
    assert [2] == found(HybridRanker(index, meaning).rank(query, 9))
    assert [] == found(HybridRanker(index, meaning).rank(parse('"soup of squeals"'), 9))
    some = HybridRanker(index, meaning).rank(parse('"given back" connections soup day'), 9)
    assert ([2], False) == (found(some), some.is_semantic_only)


@pytest.mark.parametrize(("query", "keys"), [("title:soup carrots", set()), ("text:soup carrots", {4, 6})])
def test_what_is_asked_for_in_one_place_must_be_there(
    meaning: SemanticRanker, index: Index, query: str, keys: set[int]
) -> None:
    assert keys == set(found(meaning.rank(parse(query), 9)))
    assert keys == set(found(HybridRanker(index, meaning).rank(parse(query), 9)))


def test_a_name_never_loses_to_what_is_alike(meaning: SemanticRanker, index: Index) -> None:
    query = parse("open_session")

    assert 1 == found(HybridRanker(index, meaning).rank(query, 9))[0]


def test_nothing_is_asked(meaning: SemanticRanker) -> None:
    for text in ("", "   ", "---", '""', "\x00"):
        assert [] == found(meaning.rank(parse(text), 5))
    assert [] == found(meaning.rank(parse("soup"), 0))
    assert [] == found(meaning.rank(parse("soup", Filters(fields=("tool",))), 5))


@given(st.text(max_size=200))
def test_any_question_is_answered(meaning: SemanticRanker, index: Index, text: str) -> None:
    keys = found(HybridRanker(index, meaning).rank(parse(text), 5))

    assert len(keys) == len(set(keys)) <= 5


def test_a_whole_log_is_answered(meaning: SemanticRanker, index: Index) -> None:
    assert 5 >= len(found(HybridRanker(index, meaning).rank(parse("connections of the pool\n" * 5000), 5)))


@pytest.mark.parametrize(
    ("text", "literal"),
    [
        ("open_session", True),
        ("UserAccount", True),
        ("src/db/pool.py", True),
        ("max.poll.records", True),
        ("E0502", True),
        ("8080", True),
        ("10.0.0.12", True),
        ("3.9", True),
        ("ndots*", True),
        ('"as it stands"', True),
        ("why is the build slow", False),
        ("why is the build slow?", False),
        ("the 5 best teas", False),
        ("Drucker wird nicht gefunden", False),
        ("连接池 泄漏", False),
        ("e-mail address", True),
    ],
)
def test_what_is_sought_literally(text: str, literal: bool) -> None:
    assert literal == is_literal(parse(text))


@given(LISTS, LISTS, st.floats(0.1, 3), st.floats(0.1, 3))
def test_fusing_keeps_everything_once_and_agrees_with_agreement(
    one: list[int], other: list[int], weight: float, other_weight: float
) -> None:
    lists = [([Ranked(key, 0) for key in keys], by) for keys, by in ((one, weight), (other, other_weight))]

    both = fuse(lists)

    assert sorted({*one, *other}) == sorted(each.key for each in both)
    assert sorted((each.score for each in both), reverse=True) == [each.score for each in both]
    if one and other and one[0] == other[0]:
        assert one[0] == both[0].key


@given(LISTS, LISTS)
def test_one_list_after_the_other(one: list[int], other: list[int]) -> None:
    both = concatenate([Ranked(key, 0) for key in one], [Ranked(key, 0) for key in other])

    assert [*one, *(key for key in other if key not in one)] == [each.key for each in both]


def test_a_longer_list_begins_as_a_shorter_one(
    meaning: SemanticRanker, index: Index, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hybrid, "_MAX_FUSED_ENTRIES", 3)
    query, both = parse("soup of the connections"), HybridRanker(index, meaning)

    assert found(both.rank(query, 3)) == found(both.rank(query, 6))[:3]


class Known:
    """Ranks as it is told."""

    def __init__(self, keys: Sequence[int]) -> None:
        self._keys = keys

    def rank(self, query: Query, limit: int) -> Ranking:
        assert query.groups
        return Ranking([Ranked(key, 1 / place) for place, key in enumerate(self._keys, 1)][:limit])


def test_a_model_reads_the_best_once_more() -> None:
    ranker = Reranker(Known([4, 3, 6, 5]), MODEL, lambda keys: {key: TEXTS[key] for key in keys})

    assert 3 == found(ranker.rank(parse("squealing bicycle brakes"), 4))[0]
    assert {3, 4, 5, 6} == set(found(ranker.rank(parse("squealing bicycle brakes"), 4)))
    assert [4, 3] == found(ranker.rank(parse("open_session"), 2)), "names stay where they are"


def test_zeros_stay_zeros() -> None:
    rows = normalize_rows(np.array([[0, 0], [3, 4]], np.float32))

    assert [[0.0, 0.0], [0.6, 0.8]] == [[round(float(value), 3) for value in row] for row in rows]


def test_without_vectors_words_answer(index: Index, tmp_path: Path) -> None:
    empty = StoredVectors(
        tmp_path, vectors.start_over(tmp_path / "v", VectorFormat("j", MODEL.name, 256, "f16", ""))
    )

    assert [4, 6] == sorted(
        found(HybridRanker(index, SemanticRanker(empty, MODEL, index)).rank(parse("soup"), 9))
    )


class Lexical(Known):
    """Has what it is told with all words, and nothing with some; with none, it says since when it looked."""

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        assert not offset
        return self.rank(query, limit)._replace(since=5)

    def read_question(self, query: Query) -> Question:
        return Question((), (), (), (), (), len(query.groups), is_sentence=False)

    def score_question(
        self, query: Query, question: Question, keys: Sequence[int] = ()
    ) -> list[ScoredMessage]:
        assert query.groups
        assert question.words_asked
        return [ScoredMessage(key, key, 0, 0.0, 0.0, has_words=False) for key in keys]


def test_an_answer_states_since_when_words_were_searched() -> None:
    query = parse("soup connections")

    assert 5 == HybridRanker(Lexical([1]), Known([2])).rank(query, 3).since
    assert 5 == HybridRanker(Lexical([]), Known([2])).rank(query, 3).since


def test_what_has_the_words_comes_before_what_is_only_alike() -> None:
    ranking = HybridRanker(Lexical([1]), Known([2, 1])).rank(parse("soup connections"), 3)

    assert [1, 2] == found(ranking)
    assert not ranking.is_semantic_only
    assert HybridRanker(Lexical([]), Known([2, 1])).rank(parse("soup connections"), 3).is_semantic_only
