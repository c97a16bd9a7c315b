"""The names that the formats use: kinds of updates and lines, tags, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

USER, TEXT, THOUGHT = "user_message_chunk", "agent_message_chunk", "agent_thought_chunk"
CALL, CALL_UPDATE, TURN_END = "tool_call", "tool_call_update", "turn_completed"
CHUNKS = frozenset({USER, TEXT, THOUGHT, CALL, CALL_UPDATE, TURN_END})
EVENTS = frozenset(
    {
        *("plan", "current_mode_update", "available_commands_update", "compaction_checkpoint"),
        *("session_info_update", "config_option_update", "usage_update", "session_recap", "model_changed"),
    }
)
# Facts about single chunks, and what other fields say.
CHUNK_META = (
    *("eventId", "agentTimestampMs", "totalTokens", "promptId", "streamStartMs", "turnStartMs"),
    *("updateType", "updateParams", "chunkId"),
)
TOOL = "x.ai/tool"

LINES = frozenset({"system", "user", "reasoning", "assistant", "tool_result", "backend_tool_call"})
TYPED = "interjection"
QUERY = "user_query"
TAGS = (
    *("user_info", "git_status", "system-reminder", "agent_skills", "mcp_servers", "rules", "project_layout"),
    *("attached_files", "open_files", "system_reminder"),
)

TOOL_KINDS: dict[str, ToolKind] = {
    "run_terminal_command": "shell",
    "run_terminal_cmd": "shell",
    "bash": "shell",
    "get_terminal_output": "shell",
    "read_file": "read",
    "search_replace": "edit",
    "edit_file": "edit",
    "apply_patch": "edit",
    "write_file": "write",
    "write": "write",
    "grep": "search",
    "grep_search": "search",
    "list_dir": "search",
    "file_search": "search",
    "glob": "search",
    "web_search": "web",
    "web_search_call": "web",
    "web_fetch": "web",
    "x_search": "web",
    "spawn_subagent": "agent",
    "task": "agent",
    "todo_write": "plan",
    "update_plan": "plan",
}
