"""Modules can be imported by the paths that they had until version 0.1; each path warns."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

import pytest

import agent_journal
from agent_journal import moved

EACH = """
import sys, warnings
from importlib import import_module
old, new = sys.argv[1:3]
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    module = import_module(old)
assert [each.category for each in caught] == [DeprecationWarning] * len(caught) and caught
assert f"{old} is now {new}" in str(caught[-1].message)
assert module is import_module(new) is sys.modules[old]
assert module.__name__ == module.__spec__.name == new
"""
USED = """
import warnings
warnings.simplefilter("error", DeprecationWarning)
def warned(statement):
    try:
        exec(statement)
    except DeprecationWarning as warning:
        return warning
    raise AssertionError(statement)
warned("from agent_journal.source import File")
warned("from agent_journal import fields")
warnings.simplefilter("ignore")
import agent_journal.redact.rules
from agent_journal import jsonstream, peek
from agent_journal.decoding import json_stream
from agent_journal.inputs.input import File
from agent_journal.redaction import rules
from agent_journal.source import File as SameFile
assert SameFile is File
assert jsonstream is json_stream
assert agent_journal.redact.rules is rules
"""


def run(code: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    "old",
    [
        "source",
        "peek",
        "fields",
        "jsonstream",
        "ids",
        "times",
        "redact",
        "signing",
        "validate",
        "readers._prompts",
    ],
)
def test_an_old_path_gives_the_module_itself_and_warns(old: str) -> None:
    done = run(EACH, f"agent_journal.{old}", f"agent_journal.{moved.PATHS[old]}")

    assert (done.returncode, done.stderr) == (0, "")


def test_names_and_modules_below_come_by_old_paths_too() -> None:
    done = run(USED)

    assert (done.returncode, done.stderr) == (0, "")


def test_the_line_that_imports_is_named() -> None:
    done = run("import warnings; warnings.simplefilter('always')\n\nfrom agent_journal import times")

    assert done.stderr.startswith(
        "<string>:3: DeprecationWarning: agent_journal.times is now agent_journal.model"
    )


def test_who_uses_a_plugin_is_not_bothered() -> None:
    done = run("exec(compile('import agent_journal.source', 'x', 'exec'), {'__name__': 'plugin'})")

    assert (done.returncode, done.stderr) == (0, "")


def test_every_path_leads_to_a_module() -> None:
    for new in moved.PATHS.values():
        assert import_module(f"agent_journal.{new}").__name__ == f"agent_journal.{new}"
        assert moved.new_path(f"agent_journal.{new}") is None


def test_the_package_knows_which_names_are_old() -> None:
    tops = {path for path in moved.PATHS if not path.startswith("readers.")}

    assert {path.split(".")[0] for path in tops} == agent_journal._OLD_NAMES


def test_what_was_never_there_is_not_found() -> None:
    done = run("import agent_journal.nothing")

    assert "ModuleNotFoundError: No module named 'agent_journal.nothing'" in done.stderr
    assert "moved" not in run("import sys, agent_journal.api; print(*sys.modules)").stdout
