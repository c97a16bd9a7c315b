"""The names that the formats use: types of lines, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

START, MESSAGE, COMPACTION = "session_start", "message", "compaction_state"
CALL, RESULT, COMPLETION, INIT = "tool_call", "tool_result", "completion", "system"

EVENTS = frozenset({START, "session_end", "todo_state", COMPACTION, "agent_turn_outcome"})
STREAM_EVENTS = frozenset({INIT, COMPLETION, "error"})

TOOL_KINDS: dict[str, ToolKind] = {
    "Execute": "shell",
    "Shell": "shell",
    "Read": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "ApplyPatch": "edit",
    "Create": "write",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebSearch": "web",
    "FetchUrl": "web",
    "Task": "agent",
    "TodoWrite": "plan",
    "ExitSpecMode": "plan",
}
