"""The kinds of the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TOOL_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "Read": "read",
    "read_file": "read",
    "read_thread": "read",
    "edit_file": "edit",
    "undo_edit": "edit",
    "create_file": "write",
    "format_file": "edit",
    "Grep": "search",
    "glob": "search",
    "finder": "search",
    "find_thread": "search",
    "codebase_search_agent": "search",
    "list_directory": "search",
    "web_search": "web",
    "read_web_page": "web",
    "Task": "agent",
    "oracle": "agent",
    "librarian": "agent",
    "handoff": "agent",
    "todo_write": "plan",
    "todo_read": "plan",
    "look_at": "media",
    "mermaid": "media",
    "painter": "media",
}
