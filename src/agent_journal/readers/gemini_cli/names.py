"""The names that the format uses: tools, and texts of the app in the person's name."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

# Text that the app sends to the model in the person's name begins with one of these.
INJECTED = (
    "This is the Gemini CLI. We are setting up the context for our chat.",
    "<session_context>",
    "<hook_context>",
    "Here is the user's editor context as a JSON object.",
    "Here is a summary of changes in the user's editor context,",
    "System: Potential loop detected.",
    # To a subagent that ends without its closing call.
    "You have stopped calling tools without finishing.",
)
# Between these parts of a prompt, the app adds the contents of the files it refers to.
REFERENCES = ("--- Content from referenced files ---", "--- End of content ---")
# The summary that replaces a long history has these tags, sometimes after the model's reasoning about it.
SNAPSHOT = ("<state_snapshot>", "</state_snapshot>")

TOOL_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "get_internal_docs": "read",
    "replace": "edit",
    "edit": "edit",
    "write_file": "write",
    "glob": "search",
    "list_directory": "search",
    "search_file_content": "search",
    "grep_search": "search",
    "google_web_search": "web",
    "web_fetch": "web",
    "save_memory": "memory",
    "write_todos": "plan",
    "enter_plan_mode": "plan",
    "exit_plan_mode": "plan",
    "delegate_to_agent": "agent",
    "invoke_agent": "agent",
    "codebase_investigator": "agent",
    "generalist": "agent",
    "cli_help": "agent",
    "browser_agent": "agent",
}


def kind_of(tool: str) -> ToolKind | None:
    """Get a tool's kind; MCP tools have the server in their name."""
    return TOOL_KINDS.get(tool) or ("mcp" if tool.startswith("mcp_") or "__" in tool else None)
