"""The quick run leaves nothing out for good: what is heavy exists, and is run by CI."""

from __future__ import annotations

import re
import subprocess
import sys
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml

from tests.selection import HEAVY, KINDS, TESTS, Selection, selection_of

TOP = TESTS.parent
# Files with tests that are quick, heavy and of Hypothesis.
_SAMPLE = ("tests/mapping/test_grok.py", "tests/test_scale.py", "tests/model/test_tree.py")
_NAMED = sorted({name for kind in KINDS.values() for name in (*kind.tests, *kind.smoke)})


@pytest.mark.parametrize("name", _NAMED)
def test_what_a_kind_names_exists(name: str) -> None:
    path, _, function = name.partition("::")
    assert (TESTS / path).exists()
    if function:
        text = (TESTS / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {re.escape(function.partition('[')[0])}", text, re.MULTILINE)


def test_what_is_quick_nevertheless_is_of_its_kind() -> None:
    listed = [kind for kind in HEAVY.values() if kind.tests]

    assert [] == [name for kind in listed for name in kind.smoke if not name.startswith(kind.tests)]


def test_each_kind_is_explained_to_contributors() -> None:
    page = (TOP / "CONTRIBUTING.md").read_text(encoding="utf-8")

    assert set(HEAVY) == set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, Selection.QUICK),
        ({"args": ["tests/archive"]}, Selection.ALL),
        ({"keyword": "snippet"}, Selection.ALL),
        ({"markexpr": "drill"}, Selection.ALL),
        ({"lf": True}, Selection.ALL),
        ({"markexpr": "not once", "selection": Selection.QUICK}, Selection.QUICK),
        ({"selection": Selection.HEAVY}, Selection.HEAVY),
    ],
)
def test_naming_tests_runs_all_of_them(options: dict[str, Any], expected: Selection) -> None:
    assert expected is selection_of(fake_config(**options), is_reader=False)


def test_naming_a_reader_runs_its_quick_tests() -> None:
    assert selection_of(fake_config(keyword="chatgpt"), is_reader=True) is Selection.QUICK


def fake_config(**options: Any) -> pytest.Config:
    given = {"args": ["tests"], "selection": None} | options
    return cast(
        "pytest.Config",
        SimpleNamespace(
            args=given["args"],
            option=SimpleNamespace(selection=given["selection"]),
            getini=lambda _: ["tests"],
            getoption=given.get,
        ),
    )


def test_quick_and_heavy_tests_are_all_tests() -> None:
    every, quick, heavy = (collected(selection) for selection in ("--all", "--quick", "--heavy"))

    assert quick | heavy == every
    assert {name for name in quick & heavy if "test_tree.py" not in name} == set()
    assert quick
    assert heavy >= {name for name in every if "test_scale.py" in name} != set()


def collected(selection: str) -> set[str]:
    command = [sys.executable, "-m", "pytest", "-n", "0", "-p", "no:cacheprovider", "--collect-only"]
    done = subprocess.run(
        [*command, selection, *_SAMPLE], cwd=TOP, capture_output=True, text=True, check=True
    )
    return {line for line in done.stdout.splitlines() if "::" in line}


def test_ci_runs_what_the_quick_run_leaves_out() -> None:
    script = (TOP / ".ci" / "run").read_text(encoding="utf-8")
    workflow = yaml.safe_load((TOP / ".github" / "workflows" / "tests.yml").read_text(encoding="utf-8"))
    matrix = workflow["jobs"]["test"]["strategy"]["matrix"]

    assert re.search(r"^step .* \./test$", script, re.MULTILINE)
    assert re.search(r"^step .* \./test --heavy$", script, re.MULTILINE)
    assert ["--all"] == [entry["tests"] for entry in matrix["include"] if entry["python"] == "3.11"]
