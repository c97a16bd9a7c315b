"""TOML: where keys stand, and one value changed while all else stays."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.decoding import toml_text
from agent_journal.errors import BadConfig

TEXT = '''\
# The journal of Ada.
top = 1

[storage]   # where things lie
index_path = "~/idx" # not "here"
exclude = [
  "a#b", # a hash in it
  'c]d',
]

[storage.sources]
"cl" = """
[not.a.table]
x = 1
"""
lit = \'\'\'= [ # \'\'\'

[search]
max_results=5
dotted.key = {a = 1, "b=c" = [2, 3]}
'''


def test_lines() -> None:
    assert toml_text.lines(TEXT) == {
        "top": 2,
        "storage": 4,
        "storage.index_path": 5,
        "storage.exclude": 6,
        "storage.sources": 11,
        "storage.sources.cl": 12,
        "storage.sources.lit": 16,
        "search": 18,
        "search.max_results": 19,
        "search.dotted.key": 20,
    }


@pytest.mark.parametrize(
    ("key", "value", "before", "after"),
    [
        ("storage.index_path", "x", 'index_path = "~/idx" # not', 'index_path = "x" # not'),
        (
            "storage.exclude",
            ["y"],
            TEXT[TEXT.index("exclude") : TEXT.index("\n\n[storage.s")],
            'exclude = ["y"]',
        ),
        ("search.max_results", 6, "max_results=5\n", "max_results= 6\n"),
        ("storage.media", "all", "]\n\n[storage.s", ']\nmedia = "all"\n\n[storage.s'),
        ("storage.sources.b", False, "# '''\n", "# '''\nb = false\n"),
        ("search.default_mode", "a", "[2, 3]}\n", '[2, 3]}\ndefault_mode = "a"\n'),
        ("export.html_theme", "dark", "[2, 3]}\n", '[2, 3]}\n\n[export]\nhtml_theme = "dark"\n'),
        ("top", 2, "top = 1\n", "top = 2\n"),
    ],
)
def test_one_value_changes_and_all_else_stays(key: str, value: Any, before: str, after: str) -> None:
    assert TEXT.count(before) == 1
    assert toml_text.changed(TEXT, key, value) == TEXT.replace(before, after)


@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("", "a.b", "[a]\nb = 1\n"),
        ("# only a comment", "a.b", "# only a comment\n\n[a]\nb = 1\n"),
        ("[a]", "a.b", "[a]\nb = 1\n"),
        ("[a]\n[a.c]\n", "a.b", "[a]\nb = 1\n[a.c]\n"),
        ("[a.c]\nx = 1\n", "a.b", "[a.c]\nx = 1\n\n[a]\nb = 1\n"),
        ("a.c = 1\n[x]\n", "a.b", "a.b = 1\na.c = 1\n[x]\n"),
        ("[a]\r\nb = 2\r\n", "a.c", "[a]\r\nb = 2\r\nc = 1\r\n"),
        ("[a]\nb = 2 # why\n# end", "a.b", "[a]\nb = 1 # why\n# end"),
        ("[a]\nb = [\n 1,\n] # why\n", "a.b", "[a]\nb = 1 # why\n"),
        (" [ a ]\n  'b' = 2", "a.b", " [ a ]\n  'b' = 1"),
        ("a = {b = 2}\n", "a.b", None),
        ("[[a]]\nb = 2\n", "a.b", None),
        ("a = 3\n", "a.b", None),
    ],
)
def test_where_a_value_goes(text: str, key: str, expected: str | None) -> None:
    assert toml_text.changed(text, key, 1) == expected


NAMES = st.sampled_from(["a", "b", "c", '"d e"', "'f#g'", '"h.i"', '"j=k"'])
PLAIN = ["1", "true", '"x"', '"#"', "'='", '"\\""', "[]", "[1, # c\n 2]", '["[", "]"]', "{}", '{z = "}"}']
LONG = ['"""\n[x]\n"""', '""""q""""', "'''\nb = 1\n'''", "''''q''''", "2026-01-01", "-inf"]
VALUES = st.sampled_from([*PLAIN, *LONG])
LINES = st.one_of(
    st.just("\n"),
    st.sampled_from(["# a = 1\n", "  # [a]\n", "\t\n"]),
    st.builds("{} = {}{}\n".format, NAMES, VALUES, st.sampled_from(["", " # c", "   "])),
    st.builds("{}.{}={}\n".format, NAMES, NAMES, VALUES),
    st.builds("[{}]{}\n".format, NAMES, st.sampled_from(["", " # [x]"])),
    st.builds("[{} . {}]\n".format, NAMES, NAMES),
)


def parsed(text: str) -> dict[str, Any] | None:
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return None


@given(st.lists(LINES, max_size=8).map("".join), st.sampled_from(["a", "b.c", "a.b", "c"]))
def test_whatever_is_written_is_what_was_asked_for(text: str, key: str) -> None:
    before = parsed(text)
    if before is None:
        return
    after = toml_text.changed(text, key, "new")
    if after is not None:
        inner: Any = tomllib.loads(after)
        for step in key.split("."):
            inner = inner[step]
        assert inner == "new"
        comments = [line for line in text.split("\n") if line.lstrip().startswith("# ")]
        assert [
            line for line in after.split("\n") if line.lstrip().startswith("# ")
        ] == comments or '"""' in text


@given(st.lists(LINES, max_size=8).map("".join))
def test_every_key_has_a_line(text: str) -> None:
    found = parsed(text)
    if found is None:
        return
    lines = toml_text.lines(text)
    rows = text.split("\n")

    assert {key.split(".")[0] for key in lines if "." not in key} <= {*found, *lines}
    for key, line in lines.items():
        assert key.rpartition(".")[2].strip("\"'") in rows[line - 1]


@given(st.one_of(st.text(), st.booleans(), st.integers(-(2**62), 2**62), st.lists(st.text())))
def test_values_come_back(value: Any) -> None:
    assert tomllib.loads(f"x = {toml_text.shown(value)}") == {"x": value}


def test_what_is_no_toml_is_named() -> None:
    with pytest.raises(BadConfig, match=r"^f:2: it is no TOML: "):
        toml_text.load("a = 1\n= 2\n", "f")
    with pytest.raises(BadConfig, match=r"^f: it is no TOML: "):
        toml_text.load("a = [", "f")


@pytest.mark.parametrize(
    ("key", "gone"),
    [
        ("top", "top = 1\n"),
        ("storage.index_path", 'index_path = "~/idx" # not "here"\n'),
        ("storage.exclude", "exclude = [\n  \"a#b\", # a hash in it\n  'c]d',\n]\n"),
        ("storage.sources.cl", '"cl" = """\n[not.a.table]\nx = 1\n"""\n'),
        ("search.dotted.key", 'dotted.key = {a = 1, "b=c" = [2, 3]}\n'),
        ("search.nothing", ""),
        ("top.below", ""),
    ],
)
def test_a_value_is_taken_out_and_all_else_stays(key: str, gone: str) -> None:
    before, _, behind = TEXT.partition(gone) if gone else (TEXT, "", "")

    assert before + behind == toml_text.without(TEXT, key)


def test_what_stands_within_a_value_is_not_taken_out() -> None:
    assert toml_text.without("search = {max_results = 5}\n", "search.max_results") is None


@given(st.sampled_from(["top", "a.b", "e"]), st.integers(0, 9))
def test_what_was_set_is_taken_out_again(key: str, value: int) -> None:
    text = "# said\n[x]\ny = 1\n"
    edited = toml_text.changed(text, f"x.{key}", value)
    assert edited is not None

    again = toml_text.without(edited, f"x.{key}")

    assert again is not None
    assert {"x": {"y": 1}} == {"x": {k: v for k, v in tomllib.loads(again)["x"].items() if v != {}}}
