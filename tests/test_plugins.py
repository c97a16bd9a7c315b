"""Readers that other packages bring, and inputs that two readers claim."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.archive.test_worker import history

READER = """
from agent_journal.model import Conversation, Message, Text
from agent_journal.readers import ReaderInfo

INFO = ReaderInfo(name="{name}", title="A diary", versions=("1",), evidence="made up")

def sniff(peek):
    return "1" if "diary" in peek.keys else None

def read(source, version, note):
    yield Conversation(
        id="d1",
        source=INFO.name,
        started_at="2026-01-01T00:00:00Z",
        timeline=[Message(id="m1", role="user", parts=[Text(text="Dear diary")])],
    )
"""


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder like site-packages, with two packages that offer a reader each."""
    for name in ("diary", "journal"):
        (tmp_path / f"{name}_reader.py").write_text(READER.format(name=name))
        info = tmp_path / f"{name}_reader-1.0.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-reader\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[agent_journal.readers]\n{name} = {name}_reader\n")
    (tmp_path / "page.json").write_text('{"diary": []}')
    return tmp_path


def aj(site: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments],
        env={**os.environ, "PYTHONPATH": str(site), "HOME": str(site), "AJ_HOME": str(site / "journal")},
        cwd=site,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_reader_of_another_package_is_found(site: Path) -> None:
    rows = [json.loads(line) for line in aj(site, "formats", "--json").stdout.splitlines()]

    assert {"diary", "journal"} <= {row["name"] for row in rows if row["kind"] == "reader"}


def test_two_readers_that_claim_one_file_are_an_error_that_names_both(site: Path) -> None:
    done = aj(site, "convert", "page.json", "-t", "json")

    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.splitlines() == [
        (
            "aj: Ambiguous format of page.json: it could be diary or journal. "
            "Choose one with -f diary or -f NAME@VERSION."
        )
    ]


@pytest.mark.parametrize("choice", ["diary", "journal@1"])
def test_naming_one_settles_it(site: Path, choice: str) -> None:
    done = aj(site, "convert", "page.json", "-t", "json", "-f", choice)

    assert done.returncode == 0
    assert json.loads(done.stdout)["source"] == choice.split("@", maxsplit=1)[0]


@pytest.mark.parametrize("choice", ["nobody", "diary@7"])
def test_naming_one_that_is_not_there_is_wrong_usage(site: Path, choice: str) -> None:
    done = aj(site, "convert", "page.json", "-t", "json", "-f", choice)

    assert done.returncode == 2
    assert "choose one of: " in done.stderr


def test_a_mistake_in_a_reader_is_one_line(site: Path) -> None:
    (site / "diary_reader.py").write_text(READER.format(name="diary") + "    raise KeyError('oops')\n")
    done = aj(site, "convert", "page.json", "-t", "json", "-f", "diary")

    assert done.returncode == 3
    assert "Dear diary" in done.stdout
    (line,) = done.stderr.splitlines()
    assert line.startswith("note: page.json: reader-error: the diary reader failed with KeyError; ")
    report = Path(line.rpartition(" attach ")[2])
    assert report.parent == site / "journal" / "reports"
    assert "diary_reader.py" in report.read_text()


GOOD = READER.format(name="diary")


@pytest.mark.parametrize(
    ("code", "reason"),
    [
        ("raise RuntimeError('tea is out')", "RuntimeError: tea is out"),
        ("raise SystemExit", "SystemExit: it ends the program"),
        ("INFO = None", "INFO is a NoneType, not a ReaderInfo"),
        (GOOD.replace("def read(", "def reed("), "it has no function read"),
        (GOOD.replace("def sniff(", "sniff = 3\ndef sniffs("), "it has no function sniff"),
        (GOOD.replace('versions=("1",)', "versions=()"), "INFO has no name or no versions"),
        (GOOD.replace('versions=("1",)', 'versions=("1",), homes=(3,)'), "INFO: Expected `str`, got `int`"),
        (GOOD.replace('versions=("1",)', 'versions=("1",), homes="~/x"'), "INFO: Expected `array`"),
        (GOOD.replace('versions=("1",)', 'versions=("1",), homes=("~/a\\0b",)'), "a path that can be none"),
        (GOOD.replace('title="A diary"', "title=b''"), "INFO: Expected `str`"),
        (
            GOOD.replace("return ", "raise KeyError('x')\n    return "),
            "KeyError while it looked at page.json",
        ),
        (GOOD.replace('return "1"', "return 3"), "TypeError while it looked at page.json"),
        (GOOD.replace("def sniff(peek)", "def sniff()"), "TypeError while it looked at page.json"),
        ("import tea_leaves", "No module named 'tea_leaves'"),
        ("from agent_journal.readers import Teapot", "cannot import name 'Teapot'"),
        ("def read(:", "invalid syntax"),
        ("read = None", "diary_reader has no INFO"),
    ],
)
def test_what_cannot_be_used_is_reported_by_the_name_of_its_package(
    site: Path, code: str, reason: str
) -> None:
    (site / "diary_reader.py").write_text(code)
    done = aj(site, "convert", "page.json", "-t", "json")

    assert done.returncode == 3
    assert json.loads(done.stdout)["source"] == "journal"
    (line,) = done.stderr.splitlines()
    assert line.startswith("aj: Cannot use diary of the package diary-reader: ")
    assert reason in line
    assert "pip uninstall diary-reader" in line


@pytest.mark.parametrize(
    "code",
    [
        "import tea_leaves",
        "INFO = 'diary'",
        GOOD.replace("return ", "raise KeyError('x')\n    return "),
        GOOD + "\nread = lambda *_: None\n",
        GOOD.replace("    yield Conv", "    yield 3\n    yield Conv"),
        GOOD.replace('id="d1"', "id=[]"),
        GOOD.replace("def read(source, version, note):", "def read():"),
        GOOD.replace('versions=("1",)', 'versions=("1",), homes=(None,)'),
    ],
)
@pytest.mark.parametrize("verb", ["sync", "import"])
def test_a_broken_reader_stops_no_import(site: Path, code: str, verb: str) -> None:
    """It lies where its own histories do, beside those of others, and is named."""
    (site / "home").mkdir()
    code = code.replace('versions=("1",),', f'versions=("1",), homes=("{site}/home/*.page",),')
    (site / "diary_reader.py").write_text(code)
    (site / "home" / "a.page").write_text('{"diary": []}')
    session = history(site / "home", 1)
    other = f'versions=("1",), homes=("{site}/home/*.jsonl",)'
    (site / "journal_reader.py").write_text(
        READER.format(name="journal")
        .replace('versions=("1",)', other)
        .replace('"diary" in peek.keys', '"sessionId" in peek.keys and False')
    )
    done = aj(site, verb, *([] if verb == "sync" else [session.path, str(site / "home" / "a.page")]))

    assert "Traceback" not in done.stderr
    assert done.returncode == 3, done.stderr
    listed = aj(site, "list", "--json")
    assert "00000001" in listed.stdout, (done.stdout, done.stderr)
    assert "diary" in done.stderr


@pytest.mark.parametrize("name", ["_pages", "__init__", "html.prose"])
def test_a_module_that_is_no_writer_is_none(site: Path, name: str) -> None:
    done = aj(site, "convert", "page.json", "-f", "diary", "-t", name)

    assert done.returncode == 2
    assert f"Unknown writer '{name}'; choose one of: " in done.stderr
