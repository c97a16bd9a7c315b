"""Names: the forms of the source, and the kinds of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

NAME = "cursor"

# The forms in which a chat may be stored, the most detailed first.
IDE, CLI, TRANSCRIPT, TRANSCRIPT_TEXT = "ide", "cli", "transcript", "transcript-text"

# Encryption keys for data on the vendor's servers; they are secrets, not part of a chat.
SECRETS = ("blobEncryptionKey", "speculativeSummarizationEncryptionKey")

# Tools of the IDE have lower-case names; those of the CLI and of transcripts are capitalized.
TOOL_KINDS: dict[str, ToolKind] = {
    "run_terminal_cmd": "shell",
    "run_terminal_command": "shell",
    "run_terminal_command_v2": "shell",
    "Shell": "shell",
    "read_file": "read",
    "read_file_v2": "read",
    "list_dir": "read",
    "list_dir_v2": "read",
    "list_directory": "read",
    "read_lints": "read",
    "Read": "read",
    "ReadFile": "read",
    "LS": "read",
    "ReadLints": "read",
    "edit_file": "edit",
    "edit_file_v2": "edit",
    "edit_notebook": "edit",
    "search_replace": "edit",
    "MultiEdit": "edit",
    "multi_edit": "edit",
    "apply_patch": "edit",
    "reapply": "edit",
    "delete_file": "edit",
    "StrReplace": "edit",
    "Edit": "edit",
    "MultiStrReplace": "edit",
    "EditNotebook": "edit",
    "ApplyPatch": "edit",
    "Delete": "edit",
    "write": "write",
    "Write": "write",
    "grep": "search",
    "ripgrep": "search",
    "ripgrep_raw_search": "search",
    "grep_search": "search",
    "codebase_search": "search",
    "semantic_search_full": "search",
    "file_search": "search",
    "glob_file_search": "search",
    "search_symbols": "search",
    "Grep": "search",
    "rg": "search",
    "search_conversations": "search",
    "Glob": "search",
    "SemanticSearch": "search",
    "web_search": "web",
    "web_fetch": "web",
    "fetch": "web",
    "WebSearch": "web",
    "WebFetch": "web",
    "task": "agent",
    "task_v2": "agent",
    "Task": "agent",
    "Subagent": "agent",
    "todo_write": "plan",
    "todo_read": "plan",
    "create_plan": "plan",
    "TodoWrite": "plan",
    "CreatePlan": "plan",
    "update_current_step": "plan",
    "UpdateCurrentStep": "plan",
    "updateCurrentStep": "plan",
    "update_memory": "memory",
    "knowledge_base": "memory",
    "generate_image": "media",
    "GenerateImage": "media",
    "call_mcp_tool": "mcp",
    "CallMcpTool": "mcp",
}


def tool_kind(tool: str) -> ToolKind | None:
    """Return the kind of a tool; the names of MCP tools contain the name of their server."""
    if tool.startswith(("mcp_", "mcp-")):
        return "mcp"
    return TOOL_KINDS.get(tool)
