"""The names that the format uses: types of records, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

SYSTEM, TITLE, COMPRESSION, TELEMETRY = "system", "custom_title", "chat_compression", "ui_telemetry"
PARENT = "parent_session"
NOTIFICATIONS = ("notification", "cron", "background_task_completed")

# Records of the type `system`, as of 0.24.
EVENTS = frozenset(
    f"""
    {SYSTEM} {TITLE} {COMPRESSION} {TELEMETRY} {PARENT} slash_command at_command session_source session_model
    session_sources_snapshot session_artifact_event session_artifact_snapshot session_recording_degraded
    rewind branch_checkpoint file_history_snapshot attribution_snapshot notification cron
    background_task_completed mid_turn_user_message agent_bootstrap agent_launch_prompt turn_result
    user_text_elements goal_state goal_runtime goal_turn_end goal_started goal_completed omni_recall
    """.split()
)

TOOL_KINDS: dict[str, ToolKind] = {
    "run_shell_command": "shell",
    "read_file": "read",
    "read_many_files": "read",
    "edit": "edit",
    "replace": "edit",
    "write_file": "write",
    "grep_search": "search",
    "search_file_content": "search",
    "glob": "search",
    "list_directory": "search",
    "lsp": "search",
    "web_fetch": "web",
    "web_search": "web",
    "agent": "agent",
    "task": "agent",
    "send_message": "agent",
    "todo_write": "plan",
    "exit_plan_mode": "plan",
    "save_memory": "memory",
}


def kind_of(name: str) -> ToolKind | None:
    """Return the kind of a tool."""
    return TOOL_KINDS.get(name)
