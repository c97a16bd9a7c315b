"""A field that is added to the model is carried everywhere, or a test fails for each writer that drops it.

The model gets a field `trial` on every struct, in a process of its own (`tests/trial_field.py`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from agent_journal import writers
from tests.expressed import NOT_OF_THE_SOURCE, reachable_structs
from tests.models import all_structs
from tests.test_not_preserved import declared

CARRIES_ALL = ("agent-record-v3", "json", "pam", "unified")
# What these writers have in the model's own form, with any field.
WHOLE = {
    "agent-record": frozenset({"Citation", "Code", "Media", "Other", "Reasoning"}),
    "parquet": frozenset({kind.__name__ for kind in all_structs()} - {"Conversation", "Link"}),
    "session": frozenset({"Code", "Media", "Other", "Reasoning"}),
}
DROPS = sorted(writers.discover().keys() - CARRIES_ALL)


@pytest.fixture(scope="module")
def report() -> dict[str, Any]:
    ran = subprocess.run(
        [sys.executable, "-m", "tests.trial_field"], capture_output=True, text=True, check=True
    )
    result: dict[str, Any] = json.loads(ran.stdout)
    return result


@pytest.mark.parametrize("name", CARRIES_ALL)
def test_it_is_carried_there_and_back(report: dict[str, Any], name: str) -> None:
    assert [] == report["undeclared"][name]
    assert [] == report["lost"][name]


@pytest.mark.parametrize("name", DROPS)
def test_a_writer_that_drops_it_fails_the_test_of_what_is_not_preserved(
    report: dict[str, Any], name: str
) -> None:
    listed = declared(name)
    written = reachable_structs(listed | NOT_OF_THE_SOURCE) - listed - {"Origin"}

    assert {f"{kind}.trial" for kind in written - WHOLE.get(name, frozenset())} == {
        *report["undeclared"][name]
    }


def test_an_archive_stores_it(report: dict[str, Any]) -> None:
    assert [] == report["archive"]


def test_secrets_in_it_are_redacted(report: dict[str, Any]) -> None:
    assert [] == report["secrets"]
