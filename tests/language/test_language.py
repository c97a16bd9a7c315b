"""Plain English in src: old words and numbers without a unit only become fewer."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from tests.language import ratchet
from tests.language.check import has_unit, numbers_without_unit, old_words, tables, vague_names


def test_old_words_and_bare_numbers_only_become_fewer(request: pytest.FixtureRequest) -> None:
    by_file = ratchet.findings_by_file()
    now = ratchet.totals(by_file)
    if request.config.getoption("--accept"):
        ratchet.lower(now)
    allowed = ratchet.ceilings()
    grown = {package for package, count in now.items() if count > allowed.get(package, 0)}
    lines = [
        f"{path.relative_to(ratchet.ROOT)}:{line}: {name}: {advice}"
        for path, found in by_file.items()
        if ratchet.package_of(path) in grown
        for line, name, advice in found
    ]
    assert not grown, (
        f"More than before in {sorted(grown)}. Use the plain word, and give each number a unit:\n"
        + "\n".join(lines)
    )
    lowered = {package: count for package, count in allowed.items() if count > now.get(package, 0)}
    assert not lowered, f"Fewer than before: run with --accept to lower the numbers of {sorted(lowered)}"


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("told = 1", ["told"]),
        ("class SaidTwice: ...", ["Said"]),
        ("def is_kept_beside(): ...", ["kept", "beside"]),
        ("# as it was told", ["told"]),
        ("message = 'Colour is kept.'", ["Colour", "kept"]),
        ("unsaid = keeper = toldo = 1", []),
    ],
)
def test_words_are_found_in_names_comments_and_texts(text: str, found: list[str]) -> None:
    assert [each.name for each in old_words(text)] == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("row.twin_of = 1", []),
        ("twin = row.twin_of", ["twin"]),
        ("my_twin_of = twin_ofs = 1", ["twin", "twin"]),
        ("stream.tell()", []),
        ("tell()  # the user", ["tell"]),
    ],
)
def test_a_published_name_is_allowed_as_a_whole_only(text: str, found: list[str]) -> None:
    assert [each.name for each in old_words(text)] == found


def test_each_published_name_is_used() -> None:
    text = "\n".join(path.read_text(encoding="utf-8") for path in ratchet.ROOT.rglob("*.py"))

    assert [name for name in tables()["published"] if name not in text] == []


@pytest.mark.parametrize(
    "name",
    [
        "_EMBED_BUDGET_S",
        "_MIN_HITS",
        "MAX_BYTES",
        "_MAX_SNIPPET_CHARS",
        "_ROWS_PER_BATCH",
        "_MAX_TERMS_IN_QUERY",
        "WIDTH_PX",
    ],
)
def test_a_unit_is_recognized(name: str) -> None:
    assert has_unit(name)


@pytest.mark.parametrize(
    "name", ["_FEW", "_MUCH", "_MOST", "_PATIENCE", "_LONG", "_WINDOW", "_MAX", "_A_SEARCH"]
)
def test_a_missing_unit_is_recognized(name: str) -> None:
    assert not has_unit(name)


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("_FEW = 5", ["_FEW"]),
        ("_LONG: int = 1 << 20", ["_LONG"]),
        ("class A:\n    MUCH = -2.5", ["MUCH"]),
        ("_MAX_BYTES = 1 << 20", []),
        ("_NAMES = ()\nIS_ON = True\nfew = 5", []),
    ],
)
def test_only_numbers_need_a_unit(code: str, found: list[str]) -> None:
    assert [each.name for each in numbers_without_unit(ast.parse(code))] == found


def test_a_vague_word_is_refused_only_as_a_whole_name() -> None:
    code = "found = 1\ndef f(ours, found_at): not_found = found"
    assert ["found", "ours"] == [each.name for each in vague_names(ast.parse(code))]


def test_names_of_tests_are_plain() -> None:
    tests = Path(__file__).parents[1]
    names = {
        node.name
        for path in tests.rglob("test_*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")
    }
    assert len(names) > 1000, "else nothing was looked at"
    assert [] == [(name, word.name) for name in sorted(names) for word in old_words(f"def {name}(): ...")]
