"""Journals made of conversations that a test writes."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from agent_journal import config
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.journal.importing import import_files
from agent_journal.model import (
    Conversation,
    Event,
    Item,
    Link,
    Message,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from tests.test_writers import written

_DAY = "2026-03-12"
MODEL = "claude-sonnet-4-5"


def make_journal(home: Path, items: Iterable[Item]) -> Path:
    """A journal with some conversations."""
    data, notes = written("json", [*items])
    assert not notes
    file = home.with_suffix(".json")
    file.write_bytes(data)
    problems: list[object] = []
    import_files(config.load(home, {}), [ImportCandidate(str(file))], problems.append)
    return home


def at(minute: int) -> str:
    """A time on the day of all conversations."""
    return f"{_DAY}T{10 + minute // 60:02}:{minute % 60:02}:00Z"


def message(
    id: str,  # noqa: A002 (the model's name)
    role: Role,
    *parts: Part | str,
    minute: int = 0,
    parent: str | None = None,
    usage: Usage | None = None,
) -> Message:
    """A message at a minute."""
    all_parts = [Text(text=part) if isinstance(part, str) else part for part in parts]
    return Message(
        id=id,
        role=role,
        at=at(minute),
        parent_id=parent,
        model=MODEL if role == "assistant" else None,
        usage=usage,
        parts=all_parts,
    )


def _usage(number: int) -> Usage:
    return Usage(input=200 * number, output=40, cache_read=1000 * number)


def tides() -> Conversation:
    """A conversation with thinking, edits, a failed command, a subagent, an event and a compaction."""
    edit = {"file_path": "/home/ana/tides/table.py", "old_string": "hour = 1", "new_string": "hour = 2"}
    again = {**edit, "old_string": "hour = 2", "new_string": "hour = 3"}
    timeline: list[Message | Event] = [
        message("q1", "user", "The tide table is one hour late. Where is the **needle**?"),
        message(
            "a1",
            "assistant",
            Reasoning(text="Perhaps daylight saving time"),
            ToolCall(name="Edit", kind="edit", call_id="c1", input=edit),
            minute=1,
            usage=_usage(1),
        ),
        message("r1", "tool", ToolResult(call_id="c1", output="The file has been updated."), minute=1),
        message(
            "a2",
            "assistant",
            ToolCall(name="Bash", kind="shell", call_id="c2", input={"command": "pytest -q"}),
            minute=2,
            usage=_usage(2),
        ),
        message("r2", "tool", ToolResult(call_id="c2", output="1 failed: haystack", is_error=True), minute=3),
        message(
            "a3",
            "assistant",
            ToolCall(name="Task", kind="agent", call_id="c3", input={"description": "Read the almanac"}),
            minute=4,
            usage=_usage(3),
        ),
        message("r3", "tool", ToolResult(call_id="c3", output="High water is at noon."), minute=6),
        Event(id="e1", name="compact_boundary", at=at(7), data={"trigger": "auto"}),
        message("q2", "user", "Go on, please.", minute=8),
        message(
            "a4",
            "assistant",
            ToolCall(name="Edit", kind="edit", call_id="c4", input=again),
            minute=9,
            usage=_usage(1),
        ),
        message("r4", "tool", ToolResult(call_id="c4", output="The file has been updated."), minute=9),
        message("a5", "assistant", "The table is right now. Grüße, 終わり.", minute=10, usage=_usage(2)),
    ]
    return Conversation(
        id="tides/1",
        source="claude-code",
        title="The tide table",
        cwd="/home/ana/tides",
        git_branch="main",
        started_at=at(0),
        updated_at=at(10),
        shape="list",
        timeline=timeline,
    )


def almanac() -> Conversation:
    """The work of the subagent that `tides` starts."""
    return Conversation(
        id="almanac",
        source="claude-code",
        title="Read the almanac",
        cwd="/home/ana/tides",
        started_at=at(4),
        updated_at=at(6),
        shape="list",
        link=Link(conversation_id="tides/1", relation="subagent", call_id="c3"),
        timeline=[
            message("s1", "user", "Read the almanac", minute=4),
            message("s2", "assistant", "High water is at noon.", minute=6, usage=_usage(4)),
        ],
    )


def branches() -> Conversation:
    """A question with three answers, of which the last is shown."""
    return Conversation(
        id="branches",
        source="chatgpt",
        title="Names for a boat",
        started_at=at(60),
        updated_at=at(70),
        shape="tree",
        head_id="c2",
        timeline=[
            message("b1", "user", "Name my boat.", minute=60),
            message("x1", "assistant", "Albatross", minute=61, parent="b1"),
            message("y1", "assistant", "Barnacle", minute=62, parent="b1"),
            message("c1", "assistant", "Cormorant", minute=63, parent="b1"),
            message("c2", "user", "I take that one.", minute=64, parent="c1"),
        ],
    )


def long(messages: int = 450) -> Conversation:
    """More messages than a page has at first."""
    timeline: list[Message | Event] = []
    for number in range(messages // 2):
        timeline.append(message(f"p{number}", "user", f"Question {number}: plain", minute=number))
        words = "buoy" if number == messages // 2 - 5 else "kelp"
        timeline.append(message(f"o{number}", "assistant", f"Answer {number}: {words}", minute=number))
    return Conversation(
        id="long",
        source="codex",
        title="A long one",
        started_at=at(0),
        updated_at=at(1),
        shape="list",
        timeline=timeline,
    )


def everything() -> list[Item]:
    """All of these conversations."""
    return [tides(), almanac(), branches(), long()]
