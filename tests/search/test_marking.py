"""Snippets: what was found is marked, wherever and however it is written."""

from __future__ import annotations

import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agent_journal.search.marking import Highlighter, fold
from agent_journal.search.query import parse


def marked(query: str, *texts: str) -> str:
    """The snippet with brackets around what is marked."""
    snippet = Highlighter(parse(query)).snippet(("text", text) for text in texts)[1]
    shown, at = "", 0
    for start, end in snippet.marks:
        shown += f"{snippet.text[at:start]}[{snippet.text[start:end]}]"
        at = end
    return shown + snippet.text[at:]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("retry", "when to [Retry] a request, retrying"),
        ("request when", "[when] to Retry a [request], retrying"),
        ('"retry a request"', "when to [Retry a request], retrying"),
        ("retry*", "when to [Retry] a request, [retry]ing"),
        ("missing OR request", "when to Retry a [request], retrying"),
        ("nothing", "when to Retry a request, retrying"),
    ],
)
def test_words_are_marked(query: str, expected: str) -> None:
    assert expected == marked(query, "when to Retry a request, retrying")


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("http_header", "def parse_[http_header](text): ..."),
        ("UserAccount", "select * from user_accounts, [user_account]"),
        ("account", "class User[Account], an [account], accounts"),
        ("user_account", "class [UserAccount]Service"),
        ("server", "a HTTP[Server]"),
        ("src/http/header.py:12", "in ./[src/http/header.py] line 3"),
        ("TypeError: 'NoneType'", "[TypeError]: '[NoneType]' object"),
        ("cafe zurich", "ein [Café] in [Zürich]"),
        ("Café", "ein [Cafe\u0301], sehr fein"),
        ("strasse", "in der [Straße] hier"),
        ("Dampfschiff", "ein [Dampf\u00adschiff] hier"),
        ("schiff", "ein Dampf\u00adschiff hier"),
        ("straße", "in der [STRASSE] hier"),
        ("東京", "私は[東京]大学に行きました"),
        ("連接test", "請檢查[連接test]失敗"),
        ("데이터", "[데이터]베이스 연결"),
        ("ข้อความ", "การค้นหา[ข้อความ]ภาษาไทย"),
        ("اصلح", "[أُصلِحُ] الخطأ"),
        ("لح", "أُصلِحُ الخطأ"),
        ("أص", "أُصلِحُ الخطأ"),
        ("ve", "nai\u0308ve"),
        ("nai", "nai\u0308ve"),
        ("ភាសា", "ស្វែងរក[ភាសា]ខ្មែរ"),
        ("привет", "[Привет], мир"),
        ("елка", "[Ёлка] и [елка], ёлки"),
        ("κειμενο λογος", "το [κείμενο], ο [ΛΌΓΟΣ] και ο [λόγος]"),
        ("Ἑλλάς", "[Ελλας]"),
        ("diyarbakir igdir", "[DİYARBAKIR], [Iğdır]"),
        ("हिन्दी", "यह [हिन्दी] है"),
        ("std::vector", "a [std::vector]<int>"),
        ("2.0.1", "at [v2.0.1], [2.0.1]"),
        ("v2.0.1", "at [v2.0.1], [2.0.1]"),
        ("東京駅", "私は[東京]大学に行きました"),
        ("aether", "the [Æther], [Aether]"),
        ("str*", "der [Str]aße, die [STR]ASSE"),
        ("stras*", "der [Straß]e"),
        ("a e stras", "Æ and Straße, æsir"),
    ],
)
def test_what_is_written_otherwise_is_marked(query: str, expected: str) -> None:
    text = expected.replace("[", "").replace("]", "")
    assert expected == marked(query, text)


@pytest.mark.parametrize("before", ["", "Maßstab: "])
def test_frequent_words_are_marked_next_to_rare_ones(before: str) -> None:
    """However often it stands before, and with however many other words."""
    lines = "\n".join(f"error {number}: one two three four five" for number in range(3000))
    text = f"{before}{lines}\nfatal error in the last module\n{lines}"

    assert "fatal [error] in the last [module]" in marked("error module", text)
    assert "in the last [module]" in marked("error one two three four five module", text)


@pytest.mark.parametrize(
    ("query", "text"), [("пустой", "это пустой файл"), ("ガイド", "次のガイド 3"), ("회의록", "이 회의록 1")]
)
def test_letters_and_their_accents_may_be_apart(query: str, text: str) -> None:
    """As names of files are on a Mac, in what `ls` prints there."""
    apart = {form: unicodedata.normalize("NFD", form) for form in (query, text)}

    assert text.replace(query, f"[{query}]") == marked(apart[query], text)
    assert apart[text].replace(apart[query], f"[{apart[query]}]") == marked(query, apart[text])


@pytest.mark.parametrize(
    ("query", "name"),
    [("needle", "text"), ("text:needle", "text"), ("thinking:needle", "thinking"), ("file:needle", "tool")],
)
def test_what_is_sought_in_one_place_is_shown_there(query: str, name: str) -> None:
    texts = [(field, f"a needle in {field}") for field in ("text", "thinking", "tool", "output")]
    field, snippet = Highlighter(parse(query)).snippet(texts)

    assert (name, f"a needle in {name}", [(2, 8)]) == (field, snippet.text, snippet.marks)


def test_what_is_colored_is_marked() -> None:
    text = "\x1b[1;31merror\x1b[0m: \x1b[2Kno errors"
    snippet = Highlighter(parse("error")).snippet([("output", text)])[1]

    assert (text, [(7, 12)]) == (snippet.text, snippet.marks)


def test_the_window_has_most_of_the_words() -> None:
    text = f"port is here. {'filler ' * 100}the server has a port and a database. {'filler ' * 100}server"
    shown = marked("server port database", text)
    assert "the [server] has a [port] and a [database]." in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) < 300


def test_words_far_from_each_other_are_all_shown() -> None:
    gap = "filler " * 100
    text = f"{gap}the server is old. {gap}a port is closed. {gap}the database is gone. {gap}"
    shown = marked("server database port", text)
    assert ["the [server] is", "a [port] is", "the [database] is"] == re.findall(r"\w+ \[\w+\] \w+", shown)
    assert 4 == shown.count("…")
    assert len(shown) < 300
    assert "the [server] is" in marked("server port", text)


@pytest.mark.parametrize("filler", ["line after line ", "Zeile für Zeile, größer "])
def test_what_stands_at_the_end_of_a_very_long_text_is_shown(filler: str) -> None:
    text = f"start of the log. {filler * 80_000}fatal: no space left. {filler * 80_000}bye"

    assert "fatal: no [space] left" in marked("space", text)
    both = marked("space start", text)
    assert "[start] of the log" in both
    assert "fatal: no [space] left" in both
    for at in range(999_740, 1_000_010, 9):  # where two stretches meet
        assert "a [needle] here" in marked("needle", f"{'.' * at} a needle here {'.' * 200}")


def test_a_window_is_as_wide_where_the_text_begins() -> None:
    text = f"server {'x' * 190} port {'y' * 900}"
    snippet = Highlighter(parse("server port")).snippet([("text", text)])[1]
    assert (2, 2) == (snippet.groups, len(snippet.marks))
    assert " … " not in snippet.text


def test_the_text_with_most_of_the_words_is_shown() -> None:
    assert "a [port] of a [server]" == marked("server port", "the server", "a port of a server")
    assert "[server] and [port]" == marked("server port", "server and port", "a port of a server")


@given(st.text(), st.lists(st.text(max_size=60), max_size=3))
@settings(deadline=None)
def test_any_text(query: str, texts: list[str]) -> None:
    _, snippet = Highlighter(parse(query)).snippet(("text", text) for text in texts)
    assert all(0 <= start < end <= len(snippet.text) for start, end in snippet.marks)


@given(st.text())
def test_folding_keeps_places(text: str) -> None:
    known = fold(text)
    assert known.origins is None or len(known.origins) == len(known.text) + 1
    assert known.origin(len(known.text)) == len(text)


@given(st.text(st.sampled_from("aZ ÄßéİσΣς東\u0301\udc80ÿŸ…"), max_size=30))
def test_a_text_is_folded_letter_by_letter(text: str) -> None:
    assert "".join(fold(letter).text for letter in text) == fold(text).text
