"""The kinds of the service's tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TOOL_KINDS: dict[str, ToolKind] = {
    "artifacts": "write",
    "bash_tool": "shell",
    "conversation_search": "search",
    "create_file": "write",
    "drive_search": "search",
    "google_drive_fetch": "read",
    "google_drive_search": "search",
    "image_search": "web",
    "launch_extended_search_task": "agent",
    "memory_user_edits": "memory",
    "project_knowledge_search": "search",
    "recent_chats": "search",
    "repl": "shell",
    "str_replace": "edit",
    "view": "read",
    "web_fetch": "web",
    "web_search": "web",
}
