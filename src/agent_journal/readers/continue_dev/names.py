"""Names of the format: its files, its event kinds, and the kinds of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SOURCE = "continue"

# The names that the CLI and the editor extension give a session without a title.
DEFAULT_TITLES = frozenset({"Untitled Session", "New Session"})

INDEX = "sessions.json"
SESSIONS = "sessions"
DEV_DATA = "dev_data"
# Versions of the logs, newest first; the first ones were in the folder itself.
LOG_FOLDERS = (("0.2.0",), ("0.1.0",), ())

CHAT, FEEDBACK, TOOL_USE = "chatInteraction", "chatFeedback", "toolUsage"
# Event kinds with a prompt and an answer outside of any session.
STANDALONE_EVENTS = frozenset({"editInteraction", "quickEdit"})
EVENTS = frozenset(
    {
        CHAT,
        FEEDBACK,
        TOOL_USE,
        *STANDALONE_EVENTS,
        "editOutcome",
        "autocomplete",
        "tokensGenerated",
        "nextEditOutcome",
        "nextEditWithHistory",
    }
)

TOOL_KINDS: dict[str, ToolKind] = {
    # The editor extension; in 2025 these began with `builtin_`.
    "read_file": "read",
    "read_file_range": "read",
    "read_currently_open_file": "read",
    "view_diff": "read",
    "ls": "read",
    "view_repo_map": "read",
    "view_subdirectory": "read",
    "read_skill": "read",
    "request_rule": "read",
    "edit_existing_file": "edit",
    "single_find_and_replace": "edit",
    "search_and_replace_in_file": "edit",
    "multi_edit": "edit",
    "create_new_file": "write",
    "create_rule_block": "memory",
    "run_terminal_command": "shell",
    "grep_search": "search",
    "exact_search": "search",
    "file_glob_search": "search",
    "codebase": "search",
    "search_web": "web",
    "fetch_url_content": "web",
    # The CLI.
    "Read": "read",
    "List": "read",
    "Diff": "read",
    "Skills": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "Write": "write",
    "Bash": "shell",
    "CheckBackgroundJob": "shell",
    "Search": "search",
    "Fetch": "web",
    "Checklist": "plan",
    "Subagent": "agent",
}
