"""The public names: all there, found without importing anything heavy, and typed."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

import agent_journal
from agent_journal import errors

SAMPLE = Path(__file__).parent / "readers" / "json" / "clean" / "journal.jsonl"


@pytest.mark.parametrize("name", agent_journal.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(agent_journal, name) is not None
    assert name in dir(agent_journal)


def test_every_exception_is_a_public_name_and_documented() -> None:
    page = (Path(__file__).parent.parent / "docs" / "errors-and-exit-codes.md").read_text(encoding="utf-8")
    raised = {
        name
        for name, each in vars(errors).items()
        if isinstance(each, type) and each.__module__ == errors.__name__
    }

    assert raised <= {*agent_journal.__all__}
    assert not [name for name in raised if f"`{name}`" not in page]


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'agent_journal' has no attribute 'nothing'"):
        agent_journal.nothing  # type: ignore[attr-defined] # noqa: B018 (the attribute access is the test)


@pytest.mark.parametrize("code", ["import agent_journal", "import agent_journal.cli as c; c.main()"])
def test_starting_imports_nothing_heavy(code: str) -> None:
    program = f"import sys; before = {{*sys.modules}}; sys.argv = ['aj', '--help']\n{code}\n"
    program += "print('new:', *sorted({*sys.modules} - before), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    loaded = set(done.stderr.removeprefix("new:").split())

    light = {
        "__future__",
        "agent_journal",
        *(
            f"agent_journal.{name}"
            for name in ("cli", "cli._home", "terminal", "terminal.command_name", "text", "text.sanitize")
        ),
    }
    assert light >= loaded


def test_read_write_and_convert_agree(tmp_path: Path) -> None:
    notes = agent_journal.Notes()
    items = list(agent_journal.read(SAMPLE, note=notes))
    written = io.BytesIO()
    agent_journal.write(items, "json", written)
    agent_journal.convert(SAMPLE, "json", tmp_path / "out.jsonl", from_format="json")

    assert {agent_journal.Conversation, agent_journal.Memory} == {type(item) for item in items}
    assert [json.loads(line)["id"] for line in written.getvalue().splitlines()] == [item.id for item in items]
    assert written.getvalue() == (tmp_path / "out.jsonl").read_bytes()
    assert not notes.damaged


def test_what_was_odd_reaches_the_caller(tmp_path: Path) -> None:
    (tmp_path / "torn.jsonl").write_bytes(SAMPLE.read_bytes() + b'{"type": "conv')
    notes = agent_journal.Notes()
    agent_journal.convert(tmp_path / "torn.jsonl", "json", io.BytesIO(), note=notes)

    assert [agent_journal.Kind.TORN_TAIL.label] == [note.kind for note in notes.collected]
    assert notes.damaged


def test_an_unreadable_input_is_an_error_of_ours() -> None:
    with pytest.raises(agent_journal.AgentJournalError, match="there is no such file"):
        list(agent_journal.read("/nowhere/at/all"))
