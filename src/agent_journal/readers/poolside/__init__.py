"""Poolside's agent: one file of events per session."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item, ToolKind
    from agent_journal.notes import Notes

TRAJECTORY = "trajectory"
_TYPES = ("session.", "thought.", "assistant_message.", "tool_call.")
TOOL_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "shell_view": "shell",
    "shell_input": "shell",
    "read": "read",
    "edit": "edit",
    "create": "write",
    "write": "write",
    "grep": "search",
    "glob": "search",
    "fetch": "web",
    "web_search": "web",
}

INFO = ReaderInfo(
    name="poolside",
    title="Poolside",
    versions=(TRAJECTORY,),
    names={"record": "poolside"},
    config_key="poolside",
    env=("AJ_POOLSIDE_PATH", "XDG_STATE_HOME"),
    homes=tuple(
        f"{home}/poolside/trajectories/trajectory-*.ndjson"
        for home in ("~/Library/Application Support", "~/.local/state", "%APPDATA%")
    ),
    tool_kinds=TOOL_KINDS,
    evidence=(
        "a program that reads its files (agentsview, from real ones); no real file was seen; verified "
        "November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim lines whose type names the field with their content."""
    if peek.is_folder or peek.opening != "{" or not {"type", "timestamp", "id"} <= peek.keys:
        return None
    return TRAJECTORY if any(map(_is_event, peek.records)) else None


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return kind.__class__ is str and kind.startswith(_TYPES) and kind.replace(".", "_") in record


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is only one)
    """Yield the conversation of a file."""
    from agent_journal.readers.poolside import trajectory  # noqa: PLC0415 (only reading needs it)

    yield trajectory.conversation(source, note, INFO.name)
