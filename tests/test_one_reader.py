"""`./test -k READER` runs what is about one reader."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from tests import one_reader

TESTS = Path(__file__).parent


def test_only_files_about_the_reader_are_collected() -> None:
    files = [path for path in TESTS.rglob("test_*.py") if one_reader.is_about("continue", path)]

    assert {"test_readers.py", "test_continue_dev.py"} == {path.name for path in files}
    assert one_reader.is_about("continue", TESTS / "mapping")
    assert not one_reader.is_about("continue", TESTS / "archive")


def test_the_run_has_the_cases_of_that_reader_and_no_others() -> None:
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            "-n",
            "0",
            "-p",
            "no:cacheprovider",
            "--collect-only",
            "-k",
            "json",
        ],
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    collected = [line for line in done.stdout.splitlines() if "::" in line]

    assert any("[json/" in line for line in collected)
    assert {"tests/test_readers.py"} == {line.partition("::")[0] for line in collected}
    assert "Only the quick tests of this reader" in done.stdout
