"""The judged queries are what they claim to be, and the table of the docs is what they give."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.search import corpus, quality

TALKS = {talk.name: talk for talk in corpus.talks()}
JUDGED = corpus.judged()
_WORD = re.compile(r"[^\W\d_]{4,}")
# Words that say nothing about what is sought.
_COMMON = frozenset(
    re.findall(
        r"\w+",
        """
        about after also because before could does else from have into just made make many more most much
        never other over same should some that their them then there they this those through under until were
        what when where which while with without would your
        """,
    )
)


def text_of(name: str) -> str:
    talk, _, place = name.rpartition("/")
    return TALKS[talk].messages[int(place) - 1].text


def test_the_file_is_made_of_the_material() -> None:
    assert corpus.written()[1] == JUDGED


def test_there_are_enough_of_each_class() -> None:
    counts = Counter(each.kind for each in JUDGED)

    assert len(JUDGED) >= 300
    assert set(corpus.CLASSES) == set(counts)
    assert min(counts.values()) >= 30
    assert len({each.id for each in JUDGED}) == len(JUDGED)
    assert len({each.query for each in JUDGED}) == len(JUDGED)


def test_the_corpus_is_large_enough_and_always_the_same() -> None:
    assert sum(len(talk.messages) for talk in TALKS.values()) >= 1500
    assert corpus.distractors() == corpus.distractors()


@pytest.mark.parametrize("kind", ["identifier", "path"])
def test_whatever_has_a_name_in_it_is_judged(kind: str) -> None:
    for each in JUDGED:
        if each.kind == kind:
            having = {
                f"{talk.name}/{place}"
                for talk in TALKS.values()
                for place, said in enumerate(talk.messages, 1)
                if re.search(rf"(?<!\w){re.escape(each.query)}(?!\w)", said.text)
            }
            assert having <= each.relevant.keys(), each.query
            if kind == "identifier":
                assert any(each.query in text_of(name) for name in each.relevant), each.query


def test_paraphrases_share_few_words() -> None:
    for each in JUDGED:
        if each.kind == "paraphrase":
            asked = set(_WORD.findall(each.query.lower())) - _COMMON
            best = [name for name, grade in each.relevant.items() if grade == 2]
            said = {word for name in best for word in _WORD.findall(text_of(name).lower())}
            assert len(asked & said) <= len(asked) / 3, (each.query, asked & said)


def test_typing_errors_are_in_no_text() -> None:
    said = {
        word for talk in TALKS.values() for each in talk.messages for word in _WORD.findall(each.text.lower())
    }
    for each in JUDGED:
        if each.kind == "typo":
            assert set(_WORD.findall(each.query.lower())) - said, each.query


def test_measures_are_those_of_the_books() -> None:
    relevant = {"a": 2, "b": 1}
    assert quality.ndcg(["a", "b"], relevant) == 1
    assert quality.ndcg(["x", "y"], relevant) == 0
    assert round(quality.ndcg(["b", "a"], relevant), 3) == 0.797
    assert (1, 0.5, 0) == tuple(quality.reciprocal(places, relevant) for places in (["b"], ["x", "a"], ["x"]))
    assert (0.5, True) == (quality.mean([0, 1] * 20).value, quality.mean([0, 1] * 20).low < 0.5)


def test_the_page_states_what_is_measured(tmp_path: Path) -> None:
    """It takes a few seconds, which the claim is worth."""
    judged = [each for each in JUDGED if each.half == "report"]
    scored = quality.measured(tmp_path, judged)

    assert [] == quality.shortfalls(scored, judged)
    told = quality.PAGE.read_text(encoding="utf-8").partition(quality.BEGIN)[2].partition(quality.END)[0]
    pattern = re.compile(r"\| (\w+) \| \d+ \|(.+)\|")
    expected = dict(pattern.findall(told.partition("MRR")[0]))
    got = dict(pattern.findall("\n".join(quality.table(scored, judged)).partition("MRR")[0]))
    for kind, cells in got.items():
        pairs = zip(_values(expected[kind]), _values(cells), strict=True)
        # Other versions of the libraries may round otherwise.
        assert all(abs(one - two) <= 0.03 for one, two in pairs), (kind, expected[kind], cells)


def _values(cells: str) -> list[float]:
    return [float(cell.split()[0]) for cell in cells.strip().split("|")]
