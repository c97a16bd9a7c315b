"""The names that the formats use: files, folders, kinds of lines, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TABLE, OLD_TABLE = "conversations_v2", "conversations"
# The first 32 digits of the SHA-256 of a constant name in the editor.
EXECUTIONS = "414d1636299d2b9e4ce7e17fb11f63e9"

PROMPT, ANSWER, RESULTS = "Prompt", "AssistantMessage", "ToolResults"
LINES = frozenset({PROMPT, ANSWER, RESULTS, "Compaction", "Clear", "ResetTo", "CancelledPrompt"})
EVENTS = frozenset({"turn_start", "turn_end", "usage_summary", "session_start", "checkpoint", "error"})
PAYLOADS = EVENTS | {"user", "assistant", "tool_call", "tool_result"}

TOOL_KINDS: dict[str, ToolKind] = {
    "execute_bash": "shell",
    "execute_cmd": "shell",
    "shell": "shell",
    "runCommand": "shell",
    "executeBash": "shell",
    "fs_read": "read",
    "read": "read",
    "readCode": "read",
    "readFile": "read",
    "readFiles": "read",
    "fs_write": "edit",
    "write": "edit",
    "replace": "edit",
    "strReplace": "edit",
    "append": "edit",
    "create": "write",
    "fsWrite": "write",
    "grep": "search",
    "glob": "search",
    "search": "search",
    "fileSearch": "search",
    "grepSearch": "search",
    "code": "search",
    "web_search": "web",
    "web_fetch": "web",
    "use_aws": "web",
    "use_subagent": "agent",
    "delegate": "agent",
    "todo_list": "plan",
    "thinking": "plan",
    "knowledge": "memory",
}
