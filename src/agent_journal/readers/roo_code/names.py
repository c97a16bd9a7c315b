"""Names: the files of a task, the extensions that write them, their tools and their locations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

API_FILE, UI_FILE, ITEM_FILE, METADATA_FILE = (
    "api_conversation_history.json",
    "ui_messages.json",
    "history_item.json",
    "task_metadata.json",
)
# The first versions wrote the UI records to a file of this name; some wrote the API history to it.
OLD_FILE = "claude_messages.json"
# The messages that Cline removed from the model's context, and when.
CONTEXT_FILE = "context_history.json"
SESSION_SUFFIX = ".messages.json"

ROO, CLINE, KILO, BOB, ZOO = "roo-code", "cline", "kilo-code", "ibm-bob", "zoo-code"
PRODUCTS = {ROO: "Roo Code", CLINE: "Cline", KILO: "Kilo Code", BOB: "IBM Bob", ZOO: "Zoo Code"}
# Each extension's folder in an editor's global storage, in lower case.
EXTENSIONS = {
    "rooveterinaryinc.roo-cline": ROO,
    "rooveterinaryinc.roo-code-nightly": ROO,
    "saoudrizwan.claude-dev": CLINE,
    "kilocode.kilo-code": KILO,
    "ibm.bob-code": BOB,
    "zoocodeorganization.zoo-code": ZOO,
}

# The folder in the user's home directory where tools outside of an editor store their tasks.
STANDALONE = {".cline": CLINE, ".kilocode": KILO}

# `roo-cline`, and the nightly build's `roo-code-nightly`.
_FOLDERS = (
    *("rooveterinaryinc.roo-*", "saoudrizwan.claude-dev", "kilocode.kilo-code"),
    *("ibm.bob-code", "zoocodeorganization.zoo-code"),
)
# VS Code and its variants (Insiders, VSCodium, Cursor, Windsurf, …) differ in the folder above `User`.
_STORAGES = (
    "~/.config/*/User/globalStorage",
    "~/Library/Application Support/*/User/globalStorage",
    "%APPDATA%/*/User/globalStorage",
    # Editors that work on a remote machine: `.vscode-server`, `.cursor-server`, `.vscode-remote`, …
    "~/.*/data/User/globalStorage",
    "~/.local/share/code-server/User/globalStorage",
)
HOMES = (
    *(f"{storage}/{folder}/tasks/*/" for folder in _FOLDERS for storage in _STORAGES),
    # Cline outside of an editor, and since 2026 also inside.
    *(
        f"{data}/{folder}/*/"
        for data in ("~/.cline/data", "%CLINE_DATA_DIR%", "%CLINE_DIR%/data")
        for folder in ("tasks", "sessions")
    ),
    # The Kilo Code CLI from October 2025 to February 2026; later versions are based on OpenCode.
    "~/.kilocode/cli/global/tasks/*/",
)

# Indexes and settings that the extensions store next to their tasks.
COMPANIONS = (
    "*/tasks/_index.json",
    "*/state/taskHistory.json",
    "*/.kilocode/cli/global/global-state.json",
    "*/settings/*custom_modes.*",
    "*/settings/*mcp_settings.json",
)

_KINDS: dict[str, ToolKind] = {
    "execute_command": "shell",
    "read_command_output": "shell",
    "read_file": "read",
    "list_files": "read",
    "list_code_definition_names": "read",
    "fetch_instructions": "read",
    "write_to_file": "write",
    "new_rule": "write",
    "apply_diff": "edit",
    "insert_content": "edit",
    "search_and_replace": "edit",
    "search_replace": "edit",
    "replace_in_file": "edit",
    "edit": "edit",
    "edit_file": "edit",
    "fast_edit_file": "edit",
    "apply_patch": "edit",
    "delete_file": "edit",
    "search_files": "search",
    "codebase_search": "search",
    "browser_action": "web",
    "web_fetch": "web",
    "web_search": "web",
    "use_mcp_tool": "mcp",
    "access_mcp_resource": "mcp",
    "new_task": "agent",
    "use_subagents": "agent",
    "update_todo_list": "plan",
    "focus_chain": "plan",
    "switch_mode": "plan",
    "plan_mode_respond": "plan",
    "generate_image": "media",
    # Cline's sessions.
    "run_commands": "shell",
    "read_files": "read",
    "editor": "edit",
    "search_codebase": "search",
    "fetch_web_content": "web",
    "spawn_agent": "agent",
    # Names of the calls in UI records.
    "readFile": "read",
    "readCommandOutput": "shell",
    "listFilesTopLevel": "read",
    "listFilesRecursive": "read",
    "listCodeDefinitionNames": "read",
    "newFileCreated": "write",
    "editedExistingFile": "edit",
    "appliedDiff": "edit",
    "insertContent": "edit",
    "searchAndReplace": "edit",
    "fileDeleted": "edit",
    "searchFiles": "search",
    "codebaseSearch": "search",
    "webFetch": "web",
    "webSearch": "web",
    "newTask": "agent",
    "finishTask": "agent",
    "switchMode": "plan",
    "updateTodoList": "plan",
    "imageGenerated": "media",
    "generateImage": "media",
}


class _ToolKinds(dict[str, "ToolKind"]):
    """Tool kinds by name; since late 2025 the tool of an MCP server is called `mcp--server--tool`."""

    def get(self, name: str, default: Any = None) -> Any:
        """Return the kind of a tool."""
        return super().get(name, "mcp" if name.startswith("mcp--") else default)


TOOL_KINDS = _ToolKinds(_KINDS)
_NEVER_XML = ("run_commands", "read_files", "editor", "search_codebase", "fetch_web_content", "spawn_agent")
# Tools with which the model addresses the user, and the parameter that holds the text.
SPOKEN_PARAMETERS = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
    "act_mode_respond": "response",
    # Cline's sessions.
    "ask_question": "question",
    "submit_and_exit": "summary",
}
# Tools that the model called in XML within its text; the last versions to do so are from late 2025.
XML_TOOLS = (
    *(name for name in TOOL_KINDS if name.islower() and name not in _NEVER_XML),
    "ask_followup_question",
    "attempt_completion",
    "act_mode_respond",
    "load_mcp_documentation",
    "run_slash_command",
    "condense",
    "summarize_task",
    "report_bug",
    "use_skill",
    "skill",
    "custom_tool",
)
