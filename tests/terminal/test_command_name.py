"""Hints name the command as the user called it."""

from __future__ import annotations

import os
import sys

import pytest

from agent_journal import terminal
from agent_journal.terminal.command_name import VARIABLE, command_name, with_command_name


@pytest.mark.parametrize(
    ("argument", "variable", "name"),
    [
        ("/checkout/.venv/bin/aj", "./aj", "./aj"),
        ("/checkout/.venv/bin/aj", "/checkout/aj", "/checkout/aj"),
        (".venv/bin/aj", "", ".venv/bin/aj"),
        ("/on/the/path/aj", "", "aj"),
        ("/checkout/.venv/bin/aj", "/on/the/path/aj", "aj"),
        ("aj", "", "aj"),
        ("/checkout/src/agent_journal/__main__.py", "", "aj"),
        ("C:\\aj.exe", "", "aj"),
    ],
)
def test_the_command_is_named_as_it_was_called(
    argument: str, variable: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "argv", [argument])
    monkeypatch.setenv("PATH", os.pathsep.join(["/usr/bin", "/on/the/path"]))
    monkeypatch.setenv(VARIABLE, variable)

    assert command_name() == name


def test_hints_and_usage_lines_are_changed_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(VARIABLE, "./aj")
    terminal.say("aj: The journal is empty. Run 'aj sync' to fill it.")

    assert capsys.readouterr().err == "aj: The journal is empty. Run './aj sync' to fill it.\n"
    assert with_command_name("Usage: aj list [OPTIONS]\n\n  ('aj\n  formats')\n") == (
        "Usage: ./aj list [OPTIONS]\n\n  ('./aj\n  formats')\n"
    )
    assert with_command_name("ajar, 'ajar x', aj sync") == "ajar, 'ajar x', aj sync"
