"""What is given to the index is cut into the words that a query is cut into."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.search.words import (
    GAP,
    is_lone_character,
    pair_query_characters,
    prepare,
    split_words,
    strip_blobs,
)


def is_told_in_pairs(text: str) -> bool:
    return any(map(is_lone_character, text))


def words_of(text: str) -> list[str]:
    return split_words(pair_query_characters(text))


@pytest.mark.parametrize("first", range(0, 0x20000, 0x2000))
def test_every_character_is_what_a_query_takes_it_for(first: int) -> None:
    alone = [
        character for character in map(chr, range(first, first + 0x2000)) if not is_lone_character(character)
    ]
    many = ", ".join(f"{character} a{character}b" for character in alone)
    few = "".join(f"A{character}b {character}\n" for character in alone[:8])

    assert prepare(many)[0].split() == words_of(many)
    assert prepare(few)[0].split() == words_of(few)


@given(st.text().filter(lambda text: not is_told_in_pairs(pair_query_characters(text))))
def test_any_text(text: str) -> None:
    assert prepare(text)[0].split() == words_of(text)


@given(st.text())
def test_words_are_cut_for_good(text: str) -> None:
    words = words_of(text)

    assert split_words(" ".join(words)) == words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("parseHTTPHeader(getUser)", ["parsehttpheader getuser ", f" parse http header {GAP} get user "]),
        ("12→def naïve Straße ﬁne Ⅻ", ["12 def naive strasse fine ⅻ"]),
        ("ΣΊΣΥΦΟΣ Ёлка ÉCOLE", ["σισυφοσ елка ecole"]),
        ("हिन्दी", ["हिन्दी"]),
        ("\ud800 lone", ["  lone"]),
        (f"a {'F' * 64} b", [f"a {'f' * 64} b"]),  # a hash is a word
        (f"a {'f' * 128} b", [f"a {'f' * 71} b"]),  # of what is longer the head
        (f"a {'f' * 300} b", [f"a {'f' * 64}  b"]),
    ],
)
def test_prepared(text: str, expected: list[str]) -> None:
    assert prepare(text) == expected


FOLDERS = [
    f"src/main/java/org/example/kafka/consumer/internals/handlers/{name}"
    for name in ("metrics", "x", "events", "fetch")
]
BASE64 = ["MIIC" * 16, "b24v" * 16, "c2Vj" * 16, "dGhp" * 16, "cyBp+Q=="]


@pytest.mark.parametrize("between", ["\n", "\r\n", r"\n"])
def test_base64_in_lines_is_left_out_and_a_list_of_folders_is_not(between: str) -> None:
    blob = f"begin:{between}{between.join(BASE64)}{between}:end"
    kept, *_ = prepare(blob)

    assert "cyBp" in blob
    assert not {"b24v", "cybp", "b24v" * 16} & set(kept.split())
    assert "cyBp" not in strip_blobs(blob)
    listed, *_ = prepare(between.join(FOLDERS))
    assert listed.split().count("internals") == 4
    assert strip_blobs(between.join(FOLDERS)) == between.join(FOLDERS)
