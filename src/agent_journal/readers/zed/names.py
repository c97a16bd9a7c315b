"""The names that the format uses: the forms of messages and parts, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TABLE = "threads"
USER, AGENT, RESUME, COMPACTION = "User", "Agent", "Resume", "Compaction"
FORMS = (USER, AGENT, COMPACTION)

TOOL_KINDS: dict[str, ToolKind] = {
    "terminal": "shell",
    "read_file": "read",
    "open": "read",
    "edit_file": "edit",
    "streaming_edit_file": "edit",
    "create_file": "write",
    "write_file": "write",
    "save_file": "write",
    "copy_path": "edit",
    "move_path": "edit",
    "delete_path": "edit",
    "create_directory": "edit",
    "grep": "search",
    "find_path": "search",
    "list_directory": "search",
    "diagnostics": "search",
    "project_notifications": "search",
    "web_search": "web",
    "fetch": "web",
    "spawn_agent": "agent",
    "subagent": "agent",
    "update_plan": "plan",
}
