"""The documentation is true: generated parts are fresh, commands print what is shown, examples run."""

from __future__ import annotations

import io
import json
import os
import re
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import jsonschema_rs
import pytest

import agent_journal
from agent_journal import cli

TOP = Path(__file__).parents[1]
PAGES = [*sorted(TOP.glob("*.md")), *sorted((TOP / "docs").rglob("*.md"))]
_FENCE = re.compile(r"^```(?P<language>\w+)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE)
_LEFT_OUT = (".*", "__pycache__", "corpus")
_LARGE = ("src", "tests")
# What changes the program; commands of other pages run it where it lies, and it is compiled once for all.
_CHANGES_IT = "aj dev new-reader "
# Commands that would run the tests from within the tests, or take minutes: CI runs the first two.
_NOT_RUN_HERE = ("./test", "bash .ci/run", "python bench/run.py", "python bench/pages.py", "aj web")


class Block(NamedTuple):
    """A fenced block of a page."""

    language: str
    text: str


def blocks(page: Path) -> list[Block]:
    return [Block(*found.groups()) for found in _FENCE.finditer(page.read_text(encoding="utf-8"))]


def pages_with(language: str) -> pytest.MarkDecorator:
    """A test for each page that has blocks of a language."""
    pages = [page for page in PAGES if any(block.language == language for block in blocks(page))]
    return pytest.mark.parametrize("page", pages, ids=lambda page: page.name)


class Step(NamedTuple):
    """A command and what it is said to print."""

    command: str
    shown: str


def steps(text: str) -> list[Step]:
    """The `$ ` lines of a console block; `> ` lines belong to the command above them."""
    found: list[Step] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:], ""))
        elif line.startswith("> ") and not found[-1].shown:
            found[-1] = Step(f"{found[-1].command}\n{line[2:]}", "")
        else:
            found[-1] = Step(found[-1].command, f"{found[-1].shown}{line}\n")
    return found


def matches(shown: str, printed: str) -> bool:
    """Whether it is what was printed; `…` stands for anything, also for several lines."""
    pattern = ".*?".join(re.escape(piece) for piece in shown.split("…"))
    return re.fullmatch(pattern, printed, re.DOTALL) is not None


@pytest.fixture
def checkout(page: Path, tmp_path: Path) -> Path:
    """A copy of the project in which the commands of one page may leave what they like."""
    copy = tmp_path / "agent-journal"
    shutil.copytree(TOP, copy, ignore=shutil.ignore_patterns(*_LEFT_OUT, *_LARGE))
    changes_it = any(_CHANGES_IT in block.text for block in blocks(page))
    for name in _LARGE:
        if changes_it:
            shutil.copytree(TOP / name, copy / name, ignore=shutil.ignore_patterns(*_LEFT_OUT))
        else:
            (copy / name).symlink_to(TOP / name)
    run_it = f'#!/bin/sh\nexec "{sys.executable}" -m agent_journal "$@"\n'
    for command in (copy / "aj", copy / "bin" / "aj"):
        command.parent.mkdir(exist_ok=True)
        command.write_text(run_it, encoding="utf-8")
        command.chmod(0o755)
    (copy / "bin" / "python").symlink_to(sys.executable)
    return copy


def run(arguments: list[str], checkout: Path) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": f"{checkout / 'bin'}:{os.environ['PATH']}",
        "PYTHONPATH": str((checkout / "src").resolve()),
        "PYTHONPYCACHEPREFIX": os.environ["PYTHONPYCACHEPREFIX"],
        "LC_ALL": "C.UTF-8",
        "HOME": str(checkout),
    }
    return subprocess.run(
        arguments,
        check=False,
        cwd=checkout,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
    )


def test_generated_parts_are_fresh() -> None:
    done = subprocess.run(
        [sys.executable, TOP / "docs" / "generate.py", "--check"], check=False, capture_output=True, text=True
    )

    assert ("", "") == (done.stdout, done.stderr)


@pages_with("console")
def test_commands_print_what_the_page_shows(page: Path, checkout: Path) -> None:
    for block in blocks(page):
        for step in steps(block.text) if block.language == "console" else ():
            done = run(["bash", "-c", step.command], checkout)

            assert done.returncode == 0, f"{step.command}\n{done.stdout}"
            assert matches(step.shown, done.stdout), f"{step.command}\n{done.stdout}"


@pages_with("python")
def test_python_examples_run(page: Path, checkout: Path) -> None:
    """A `text` block behind a `python` block is what it prints."""
    for block, following in pairwise([*blocks(page), Block("", "")]):
        if block.language == "python":
            done = run([sys.executable, "-W", "error", "-c", block.text], checkout)

            assert done.returncode == 0, done.stdout
            if following.language == "text":
                assert following.text == done.stdout


@pages_with("sh")
def test_commands_without_output_work(page: Path, checkout: Path) -> None:
    for block in blocks(page):
        for line in block.text.splitlines() if block.language == "sh" else ():
            if not line.startswith(_NOT_RUN_HERE):
                done = run(["bash", "-c", line], checkout)

                assert (0, "") == (done.returncode, done.stdout), line


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    targets = re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text(encoding="utf-8"))

    assert [] == [target for target in targets if not (page.parent / target).exists()]


def test_the_schema_describes_what_is_written() -> None:
    schema = json.loads((TOP / "docs" / "model.schema.json").read_text(encoding="utf-8"))
    validator = jsonschema_rs.validator_for(schema)
    out = io.BytesIO()
    agent_journal.convert(TOP / "examples", "json", out)
    written = [json.loads(line) for line in out.getvalue().splitlines()]

    assert len(written) == 5
    assert [] == [error.message for line in written for error in validator.iter_errors(line)]
    assert not validator.is_valid({**written[0], "timeline": "none"})


def test_every_verb_is_documented() -> None:
    text = (TOP / "docs" / "cli.md").read_text(encoding="utf-8")

    assert [] == [verb for verb in cli.VERBS if f"## aj {verb}\n" not in text]


@pytest.mark.parametrize(
    ("shown", "printed", "expected"),
    [
        ("a\n…\nd\n", "a\nb\nc\nd\n", True),
        ("{…}\n", '{"x": 1}\n', True),
        ("a\n", "a\nb\n", False),
        ("", "a\n", False),
        ("a.c\n", "abc\n", False),
    ],
)
def test_matching_of_shown_output(shown: str, printed: str, *, expected: bool) -> None:
    assert expected == matches(shown, printed)
