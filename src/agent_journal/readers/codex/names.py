"""The names that the format uses: kinds of lines, items and events, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

# As of August 2026. Lines of other kinds become events, and each kind is noted once.
KNOWN_KINDS = frozenset(
    """
    session_meta turn_context compacted world_state inter_agent_communication
    inter_agent_communication_metadata security_risk_score state token_usage_record dynamic_tools_updated
    realtime_item
    compaction compaction_summary context_compaction compaction_trigger ghost_snapshot
    user_message agent_message agent_reasoning agent_reasoning_raw_content agent_reasoning_section_break
    token_count task_started turn_started task_complete turn_complete turn_aborted turn.completed
    thread_rolled_back thread_name_updated thread_goal_updated thread_settings_applied
    context_compacted entered_review_mode exited_review_mode item_started item_completed
    exec_command_begin exec_command_end patch_apply_begin patch_apply_end turn_diff view_image_tool_call
    mcp_tool_call_begin mcp_tool_call_end web_search_begin web_search_end image_generation_end
    dynamic_tool_call_request dynamic_tool_call_response guardian_assessment plan_update
    sub_agent_activity collab_agent_spawn_begin collab_agent_spawn_end collab_agent_interaction_begin
    collab_agent_interaction_end collab_waiting_begin collab_waiting_end collab_close_begin collab_close_end
    undo_started undo_completed error warning stream_error background_event account/rateLimits/updated
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)

# Text that the app sends to the model in the person's name begins with one of these. It starts no turn, and
# neither does a command that the person ran.
INJECTED = (
    "<environment_context>",
    "<user_instructions>",
    "# AGENTS.md instructions",
    "<turn_aborted>",
    "<subagent_notification>",
    "<permissions instructions>",
    "<skill>",
    "<user_shell_command>",
    "<recommended_plugins>",
    "<goal_context>",
    "<codex_internal_context ",
    "<extension_context>",
    "<external_",
    "<hook_prompt ",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: apply_patch was requested via ",
    # The summary that replaces earlier messages after a compaction begins like this.
    "Another language model started to solve this problem and produced a summary",
)

# Editors put their open files before a request, under a heading of their own.
CONTEXTS = ("# Context from my IDE setup:", "# Files mentioned by the user:", "# In app browser:")
REQUEST = "## My request for Codex:"
# Texts of their own before and after an image.
IMAGE_TAGS = ("<image name=", "<image>", "</image>")

TOOL_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "shell_command": "shell",
    "local_shell": "shell",
    "container.exec": "shell",
    "exec_command": "shell",
    "write_stdin": "shell",
    "unified_exec": "shell",
    "apply_patch": "edit",
    "read_file": "read",
    "view_image": "read",
    "grep_files": "search",
    "list_dir": "search",
    "tool_search": "search",
    "web_search": "web",
    "update_plan": "plan",
    "spawn_agent": "agent",
    "send_input": "agent",
    "resume_agent": "agent",
    "wait": "agent",
    "wait_agent": "agent",
    "close_agent": "agent",
    "list_agents": "agent",
    "send_message": "agent",
    "followup_task": "agent",
    "interrupt_agent": "agent",
    "exec": "shell",
    "create_goal": "plan",
    "get_goal": "plan",
    "update_goal": "plan",
    "imagegen": "media",
    "image_generation": "media",
    "list_mcp_resources": "mcp",
    "list_mcp_resource_templates": "mcp",
    "read_mcp_resource": "mcp",
}


_NAMESPACES: dict[str, ToolKind] = {
    "web": "web",
    "image_gen": "media",
    "collaboration": "agent",
    "multi_agent_v1": "agent",
    "memories": "memory",
    "notes": "memory",
    "history": "memory",
}
_MCP_PREFIX = "mcp__"


def kind_of(tool: str, namespace: Any = None) -> ToolKind | None:
    """Get a tool's kind; MCP tools have the server in their name, or since 2026 in a namespace."""
    if namespace.__class__ is str:
        kind = "mcp" if namespace.startswith(_MCP_PREFIX) else _NAMESPACES.get(namespace)
        if kind is not None:
            return kind
    return TOOL_KINDS.get(tool) or ("mcp" if tool.startswith(_MCP_PREFIX) else None)
