"""The names that the formats use: tables, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SESSIONS, MESSAGES, USAGES, PROMPTS = "sessions", "messages", "session_model_usage", "system_prompts"
# The line that a transcript begins with; later ones state changes.
META = "session_meta"

TOOL_KINDS: dict[str, ToolKind] = {
    "terminal": "shell",
    "shell": "shell",
    "process": "shell",
    "execute_code": "shell",
    "read_file": "read",
    "write_file": "write",
    "patch": "edit",
    "search_files": "search",
    "session_search": "search",
    "web_search": "web",
    "web_extract": "web",
    "browser_navigate": "web",
    "delegate_task": "agent",
    "todo": "plan",
    "memory": "memory",
    "image_generate": "media",
    "vision_analyze": "media",
}
