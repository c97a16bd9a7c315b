"""The names that the log uses: types of steps, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

USER, MODEL, SYSTEM = "USER", "MODEL", "SYSTEM"
ANSWER, CHECKPOINT, MESSAGE = "PLANNER_RESPONSE", "CHECKPOINT", "SYSTEM_MESSAGE"

TOOL_KINDS: dict[str, ToolKind] = {
    "run_command": "shell",
    "command_status": "shell",
    "send_command_input": "shell",
    "view_file": "read",
    "view_file_outline": "read",
    "view_code_item": "read",
    "view_content_chunk": "read",
    "list_dir": "search",
    "find_by_name": "search",
    "grep_search": "search",
    "codebase_search": "search",
    "write_file": "write",
    "write_to_file": "write",
    "replace_file_content": "edit",
    "multi_replace_file_content": "edit",
    "search_web": "web",
    "read_url_content": "web",
    "browser_subagent": "agent",
    "task_boundary": "plan",
    "generate_image": "media",
}
