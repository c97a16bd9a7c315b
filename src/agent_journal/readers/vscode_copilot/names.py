"""Names of the format: tools and their kinds, the parts of a response, and file locations."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

# The model's name of a tool, by the editor's name: calls have the former, their invocations the latter.
MODEL_TOOL_NAMES = {
    "copilot_applyPatch": "apply_patch",
    "copilot_searchCodebase": "semantic_search",
    "copilot_searchWorkspaceSymbols": "search_workspace_symbols",
    "copilot_listCodeUsages": "list_code_usages",
    "copilot_updateUserPreferences": "update_user_preferences",
    "copilot_getVSCodeAPI": "get_vscode_api",
    "copilot_testFailure": "test_failure",
    "copilot_runTests1": "run_tests",
    "copilot_findFiles": "file_search",
    "copilot_findTextInFiles": "grep_search",
    "copilot_readFile": "read_file",
    "copilot_listDirectory": "list_dir",
    "copilot_getErrors": "get_errors",
    "copilot_getDocInfo": "get_doc_info",
    "copilot_getChangedFiles": "get_changed_files",
    "copilot_readProjectStructure": "read_project_structure",
    "copilot_createNewWorkspace": "create_new_workspace",
    "copilot_createNewJupyterNotebook": "create_new_jupyter_notebook",
    "copilot_insertEdit": "insert_edit_into_file",
    "copilot_createFile": "create_file",
    "copilot_replaceString": "replace_string_in_file",
    "copilot_multiReplaceString": "multi_replace_string_in_file",
    "copilot_editNotebook": "edit_notebook_file",
    "copilot_runNotebookCell": "run_notebook_cell",
    "copilot_readNotebookCellOutput": "read_notebook_cell_output",
    "copilot_installExtension": "install_extension",
    "copilot_fetchWebPage": "fetch_webpage",
    "copilot_memory": "memory",
    "copilot_findTestFiles": "test_search",
    "copilot_getProjectSetupInfo": "get_project_setup_info",
    "copilot_getSearchResults": "get_search_view_results",
    "copilot_githubRepo": "github_repo",
    "copilot_createAndRunTask": "create_and_run_task",
    "copilot_openSimpleBrowser": "open_simple_browser",
    "copilot_createDirectory": "create_directory",
    "copilot_runVscodeCommand": "run_vscode_command",
    "copilot_editFiles": "edit_files",
}

TOOL_KINDS: dict[str, ToolKind] = {
    "run_in_terminal": "shell",
    "get_terminal_output": "shell",
    "terminal_selection": "shell",
    "terminal_last_command": "shell",
    "create_and_run_task": "shell",
    "run_task": "shell",
    "get_task_output": "shell",
    "runTests": "shell",
    "run_tests": "shell",
    "run_notebook_cell": "shell",
    "run_agent_script": "shell",
    "read_file": "read",
    "get_errors": "read",
    "get_changed_files": "read",
    "get_doc_info": "read",
    "read_project_structure": "read",
    "read_notebook_cell_output": "read",
    "copilot_getNotebookSummary": "read",
    "test_failure": "read",
    "create_file": "write",
    "create_directory": "write",
    "create_new_workspace": "write",
    "create_new_jupyter_notebook": "write",
    "apply_patch": "edit",
    "insert_edit_into_file": "edit",
    "replace_string_in_file": "edit",
    "multi_replace_string_in_file": "edit",
    "edit_notebook_file": "edit",
    "edit_files": "edit",
    "file_search": "search",
    "grep_search": "search",
    "list_dir": "search",
    "semantic_search": "search",
    "search_workspace_symbols": "search",
    "list_code_usages": "search",
    "test_search": "search",
    "get_search_view_results": "search",
    "fetch_webpage": "web",
    "github_repo": "web",
    "open_simple_browser": "web",
    "runSubagent": "agent",
    "manage_todo_list": "plan",
    "memory": "memory",
    "update_user_preferences": "memory",
}

# Parts of a response that are not content: progress, marks between edits, preparations of the editor. A
# thought without text is one too: it marks the end of the reasoning.
MARKS = frozenset(
    """
    prepareToolInvocation undoStop codeblockUri progressTaskSerialized progressTask progressMessage
    mcpServersStarting hook clearToPreviousToolInvocation autoModeResolution disabledClaudeHooks usage
    thinking voiceProgress mcpServersStartingSlow externalEdits
    """.split()  # noqa: SIM905 (easier to read than a list of strings)
)
# Parts that are shown to the user and have no better counterpart in the model.
SHOWN = frozenset(
    """
    notebookEditGroup notebookEdit workspaceEdit externalEdit confirmation elicitation elicitationSerialized
    command treeData multiDiffData questionCarousel extensions pullRequest mcpAuthenticationRequired
    """.split()  # noqa: SIM905
)
# Parts with a text of the editor, or a plan or question for the user, and the fields of the text.
EDITOR_TEXT_KEYS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(("warning", "info", "systemNotification", "planReview"), ("content",)),
    **dict.fromkeys(("confirmation", "elicitation", "elicitationSerialized"), ("title", "message")),
}
# The invocation of a call whose input and output are one text each.
SIMPLE = "simpleToolInvocation"


def tool_kind(tool: str) -> ToolKind | None:
    """Return the kind of a tool; the names of MCP tools contain their server."""
    return TOOL_KINDS.get(tool) or ("mcp" if tool.startswith("mcp_") else None)


_EDITORS = (
    *("Code/User", "Code - Insiders/User", "VSCodium/User", "Cursor/User"),
    *("Windsurf/User", "Windsurf - Next/User", "Positron/User"),
)
_ROOTS = ("~/.config", "~/Library/Application Support", "%APPDATA%")
# On a remote machine.
_SERVERS = ("~/.vscode-server/data/User", "~/.vscode-server-insiders/data/User")
# A portable installation with its own data.
_PORTABLE = "%VSCODE_PORTABLE%/user-data/User"
_PATTERNS = (
    "workspaceStorage/*/chatSessions/*.json",
    "workspaceStorage/*/chatSessions/*.jsonl",
    "workspaceStorage/*/GitHub.copilot-chat/transcripts/*.jsonl",
    "workspaceStorage/*/state.vscdb",
    "globalStorage/emptyWindowChatSessions/*.json",
    "globalStorage/emptyWindowChatSessions/*.jsonl",
    "globalStorage/transferredChatSessions/*.json",
    "globalStorage/state.vscdb",
)


def homes() -> tuple[str, ...]:
    """Return globs of all files with sessions, for each editor on each system."""
    users = [f"{root}/{editor}" for root in _ROOTS for editor in _EDITORS]
    return tuple(f"{user}/{pattern}" for user in [*users, *_SERVERS, _PORTABLE] for pattern in _PATTERNS)
