"""Moves of files, as tools record them."""

from __future__ import annotations

from typing import Any

import pytest

from agent_journal.blame.edits import changes_in, moves_in
from agent_journal.model import Message, ToolCall, ToolKind


def moves(name: str, kind: ToolKind | None, given: Any) -> list[tuple[str, str]]:
    message = Message(
        id="m", role="assistant", parts=[ToolCall(name=name, call_id="c", kind=kind, input=given)]
    )
    found = [*moves_in(message, "/home/ana")]
    assert {"c"} >= {move.call_id for move in found}
    return [(move.old, move.new) for move in found]


@pytest.mark.parametrize(
    "command",
    [
        "mv a.py b.py",
        "git mv a.py b.py",
        "cd . && git mv -f a.py b.py; ls",
        ["bash", "-lc", "mv ./a.py 'b.py'"],
        ["mv", "a.py", "b.py"],
        "echo 'open\nmv a.py b.py",
    ],
)
def test_a_command(command: Any) -> None:
    assert [("/home/ana/a.py", "/home/ana/b.py")] == moves("Bash", "shell", {"command": command})


@pytest.mark.parametrize(
    "command", ["mv a b c", "mv", "echo mv a b", "mvn a b", "mv --help", "x" * 30_000, 7]
)
def test_no_move(command: Any) -> None:
    assert [] == moves("Bash", "shell", {"command": command})


def test_a_move_into_a_folder() -> None:
    assert [("/home/ana/a.py", "/home/ana/src/a.py")] == moves("Bash", "shell", {"command": "mv a.py src/"})


def test_a_patch() -> None:
    patch = "*** Begin Patch\n*** Update File: a.py\n*** Move to: b.py\n@@\n-x\n+y\n*** End Patch"

    assert [("/home/ana/a.py", "/home/ana/b.py")] == moves("apply_patch", "edit", patch)


def test_a_unified_diff() -> None:
    patch = "diff --git a/a.py b/b.py\nsimilarity index 90%\nrename from a.py\nrename to b.py\n"

    assert [("/home/ana/a.py", "/home/ana/b.py")] == moves("patch", "edit", {"patch": patch})


def test_a_tool_that_moves() -> None:
    assert [("/x/a.py", "/x/b.py")] == moves(
        "move_file", None, {"source": "/x/a.py", "destination": "/x/b.py"}
    )


@pytest.mark.parametrize("given", [None, 5, [], {"path": 7}, {"edits": "x"}, "", "*** Update File: "])
def test_arguments_that_make_no_sense(given: Any) -> None:
    message = Message(id="m", role="assistant", parts=[ToolCall(name="e", kind="edit", input=given)])

    assert [] == [*moves_in(message, None), *changes_in(message, None)]
