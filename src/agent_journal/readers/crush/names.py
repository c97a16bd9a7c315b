"""The names that the format uses: tables, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SESSIONS, MESSAGES, FILES = "sessions", "messages", "files"
TABLES = {
    SESSIONS: ("id", "parent_session_id", "title", "prompt_tokens", "completion_tokens", "cost"),
    MESSAGES: ("id", "session_id", "role", "parts", "created_at"),
}
# Joins the message and the call in the id of a subagent's session.
SEPARATOR = "$$"
# A session that only made the title of another one.
TITLE_PREFIX = "title-"

TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "job_output": "shell",
    "job_kill": "shell",
    "shell_command": "shell",
    "view": "read",
    "edit": "edit",
    "multiedit": "edit",
    "write": "write",
    "download": "write",
    "glob": "search",
    "grep": "search",
    "ls": "search",
    "sourcegraph": "search",
    "diagnostics": "search",
    "lsp_references": "search",
    "lsp_diagnostics": "search",
    "fetch": "web",
    "agentic_fetch": "web",
    "web_fetch": "web",
    "web_search": "web",
    "agent": "agent",
    "todos": "plan",
}
