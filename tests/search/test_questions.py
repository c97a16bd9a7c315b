"""Questions in sentences: stop words, inflections, neighbors, conversations, names and dates."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

import pytest

from agent_journal.search.calendar_dates import CalendarDate, find_dates
from agent_journal.search.entry import Entry
from agent_journal.search.languages import detect_language, stems, stop_words
from agent_journal.search.lexical import Index
from agent_journal.search.passages import Evidence, Message, score_messages
from agent_journal.search.query import parse
from agent_journal.search.questions import describe_group

if TYPE_CHECKING:
    from pathlib import Path

FILLER = "we talk about something else here"


def index_of(folder: Path, *conversations: list[str], at: int = 0) -> Index:
    """Make an index of conversations; keys count from 1 over all of them, with a gap in between."""
    index = Index.open(folder / "words")
    key = 0
    for number, texts in enumerate(conversations, 1):
        for text in texts:
            key += 1
            index.add([Entry(key, number, "user", "made-up", "", "", at and at + number * 86_400, text)])
        key += 5
    index.commit(key)
    return index


def ranked(index: Index, query: str) -> list[int]:
    return [each.key for each in index.rank(parse(query), 20).entries]


@pytest.mark.parametrize(
    ("question", "language", "ignored"),
    [
        ("why is the build slow", "english", {"why", "is", "the"}),
        ("warum ist der build langsam", "german", {"warum", "ist", "der"}),
        ("comment installer le paquet", "french", {"comment", "le"}),
        ("add a comment for the die", "english", {"a", "for", "the"}),
        ("por qué falla la prueba", "spanish", {"por", "qué", "la"}),
        ("quando foi que o teste falhou", "portuguese", {"quando", "foi", "que", "o"}),
        ("perché il test fallisce", "italian", {"perché", "il"}),
        ("почему тест не работает", "russian", {"почему", "не"}),
        ("größe", "german", set()),
        ("тест", "russian", set()),
        ("postgres index", None, set()),
        ("", None, set()),
        ("\ud800 the \udfff", "english", {"the"}),
    ],
)
def test_language_and_stop_words(question: str, language: str | None, ignored: set[str]) -> None:
    words = question.split()

    assert language == detect_language(words)
    assert ignored == set(stop_words(words, language))


def test_each_word_has_one_stem() -> None:
    assert ["connect", "connect", "happi"] == stems(["connection", "connected", "happiness"], "english")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("why do the connections leak", "a connection leaks"),
        ("was passiert mit den Druckern im Netz", "der Drucker im Netzwerk"),
        ("comment réparer les imprimantes", "une imprimante cassée"),
        ("почему падают тесты", "тест упал"),
    ],
)
def test_inflections_are_found(tmp_path: Path, question: str, text: str) -> None:
    index = index_of(tmp_path, [FILLER], [text], [FILLER])

    assert 7 == ranked(index, question)[0]


def test_the_word_as_typed_comes_before_its_inflections(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["the tables were locked"], ["the table was locked"], ["some tables locked"])

    assert 7 == ranked(index, "why is the table locked")[0]


def test_stop_words_find_nothing(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["why is it that we do not"], ["rusty hinges squeak"])

    assert [7] == ranked(index, "why is it that the hinges do squeal")


def test_abbreviations_are_words(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["is it the budget"], ["the IT budget is small"], [FILLER])
    words = [each.text for each in index.read_question(parse("what is the IT budget")).words]

    assert {"IT", "budget"} == set(words)


def test_an_answer_counts_for_what_was_asked_before_it(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        ["the sourdough bread is dense", "let it rise in a warm kitchen"],
        ["a warm kitchen", FILLER],
        ["dense fog", FILLER],
    )

    assert {1, 2} == set(ranked(index, "why is my sourdough dense in the kitchen")[:2])


def test_the_conversation_decides_between_equal_messages(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        ["the brakes squeal", FILLER, FILLER, FILLER, "we sing about squealing"],
        ["the brakes squeal", FILLER, FILLER, FILLER, "oil on the bicycle disc"],
        *([FILLER] for _ in range(20)),
    )

    assert 11 == ranked(index, "why do the brakes of my bicycle squeal")[0]


def test_a_name_must_be_in_the_conversation(tmp_path: Path) -> None:
    index = index_of(
        tmp_path,
        ["the image upload of the server fails with a timeout when the queue is full"],
        ["call make_thumbnail", "it fails"],
        *([FILLER] for _ in range(20)),
    )

    assert {7, 8} == set(ranked(index, "why does make_thumbnail fail if the upload is full"))


def test_a_name_that_nothing_contains_is_missing(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["the image upload of the server fails"])
    question = index.read_question(parse("why does make_gizmo on the server xyzzy"))

    assert ("make", "gizmo", "xyzzy") == question.missing
    assert ["server"] == [each.text for each in question.words]


def test_quoted_words_must_be_there(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["given back to the pool"], ["back, given to the pool", "of the database"])

    assert [1] == ranked(index, '"given back" to the pool of the database')
    assert [] == ranked(index, '"nowhere given" to the pool of the database')


def test_filters_and_exclusions_hold(tmp_path: Path) -> None:
    index = index_of(tmp_path, ["why the pool leaks"], ["where the pool leaks and drips"])

    assert [1] == ranked(index, "why do the pools leak -drips")
    assert [] == ranked(index, "why do the pools leak role:assistant")


def test_a_date_in_the_question_is_that_of_the_conversation(tmp_path: Path) -> None:
    first = int(datetime(2026, 3, 2, 12).timestamp())  # noqa: DTZ001 (in this machine's zone)
    index = index_of(tmp_path, *(["we repaired the boat"] for _ in range(30)), at=first - 86_400)

    assert 1 + 6 * 9 == ranked(index, "what was repaired on the 11th of March, 2026")[0]
    assert 1 + 6 * 9 == ranked(index, "what was repaired on March 11")[0]
    assert () == index.read_question(parse("what was repaired on March 11")).missing


@pytest.mark.parametrize(
    ("text", "dates"),
    [
        ("on 1 February, 2023?", [CalendarDate(2023, 2, 1)]),
        ("on October 13th 2023", [CalendarDate(2023, 10, 13)]),
        ("am 3. März 2024", [CalendarDate(2024, 3, 3)]),
        ("le 14 juillet", [CalendarDate(None, 7, 14)]),
        ("in July 2023 or in May", [CalendarDate(2023, 7, None), CalendarDate(None, 5, None)]),
        ("since 2023-05-06", [CalendarDate(2023, 5, 6)]),
        ("it may be 12345 or 2023-13-40 or March 34", []),
    ],
)
def test_dates(text: str, dates: list[CalendarDate]) -> None:
    assert dates == [each.date for each in find_dates(text)]


@pytest.mark.parametrize("at", [0, -1, 10**18, -(10**18)])
def test_no_time_is_too_strange(at: int) -> None:
    assert not CalendarDate(2024, 2, 31).matches(at)
    assert CalendarDate(2024, 2, 31).bounds() is None
    assert CalendarDate(None, 2, 3).bounds() is None


def test_a_month_ends_with_its_last_day() -> None:
    bounds = CalendarDate(2024, 12, None).bounds()

    assert bounds is not None
    assert "2025-01-01T00:00:00" == datetime.fromtimestamp(bounds[1]).isoformat()  # noqa: DTZ006


def test_more_words_than_fit_are_no_error(tmp_path: Path) -> None:
    text = " ".join(f"word{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    index = index_of(tmp_path, [text, FILLER], [FILLER])

    assert 1 == ranked(index, f"what is {text}")[0]


def test_a_message_that_only_is_near_gets_less() -> None:
    messages = [
        Message(1, 1, 0, 400, text=1),
        Message(2, 1, 0, 400),
        Message(3, 1, 0, 400),
        Message(4, 2, 0, 400),
    ]
    own = {each.key: each.own for each in score_messages(messages, Evidence([1.0], 0.0, {1: 3, 2: 1}, {}))}

    assert own[1] > own[2] > own[3] > own[4] == 0


@pytest.mark.parametrize(
    ("query", "missing"),
    [
        ("why was the connection refused", ("refused",)),
        ("connection", ()),
        ("connections", ()),  # an inflection counts like the word
        ("how many connections", ()),
        ("Refused?", ("Refused",)),
        ("open_session refused", ("refused",)),
        ("open_socket", ("open_socket",)),
        ('"open the pool"', ("open the pool",)),
        ("closed-pool", ("closed",)),
        ("refused OR pool", ()),
        ("refused OR denied", ("refused OR denied",)),
        ("conn*", ()),
        ("refu*", ("refu*",)),
        ("连接池", ()),
        ("数据库", ("数据库",)),
        ("what is it", ()),
        ("-refused pool", ()),
        ("thinking:pool", ("thinking:pool",)),
        ("", ()),
    ],
)
def test_what_nothing_contains(tmp_path: Path, query: str, missing: tuple[str, ...]) -> None:
    index = index_of(tmp_path, ["open_session leaks a connection of the pool", "连接池已满"])

    assert missing == tuple(map(describe_group, index.read_question(parse(query)).absent))


@pytest.mark.parametrize(
    ("query", "keys"),
    [
        ("why is the pool slow", {1}),
        ("pools of the future", {1}),
        ("what is it", {2}),  # only stop words: then these count
        ("nothing like that", set()),
        ("pool -connection", {1}),
        ("soup " + " ".join(f"carrot{number}" for number in range(40)), {2, 3}),
    ],
)
def test_which_entries_have_a_word(tmp_path: Path, query: str, keys: set[int]) -> None:
    carrots = " ".join(f"carrot{number}" for number in range(40))
    index = index_of(tmp_path, ["a connection of the pool", "what is it with soup", carrots])

    assert keys == index.keys_with_words(parse(query), [1, 2, 3])
    assert set() == index.keys_with_words(parse(query), [])
