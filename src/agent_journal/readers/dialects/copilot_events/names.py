"""The format's event types, and the kinds of its tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

# As of the public SDK of August 2026, and the schema of 1.0.102; events of other types are stored, and noted
# once. Those from `assistant.intent` on are sent to listeners and not meant for the file.
KNOWN_TYPES = frozenset(
    """
    session.start session.resume session.info session.warning session.error session.import_legacy
    session.model_change session.mode_changed session.plan_changed session.workspace_file_changed
    session.context_changed session.handoff session.truncation session.compaction_start
    session.compaction_complete session.task_complete session.shutdown session.remote_steerable_changed
    session.auto_mode_resolved session.usage_checkpoint session.usage_record session.snapshot_rewind
    session.title_changed
    session.binary_asset session.context_cleared session.permissions_changed session.session_limits_changed
    session.schedule_created session.schedule_rearmed session.schedule_cancelled
    session.autopilot_objective_changed session.canvas.recorded session.canvas.removed tool_search.activated
    user.message assistant.turn_start assistant.message assistant.reasoning assistant.turn_end
    tool.user_requested tool.execution_start tool.execution_complete
    external_tool.requested external_tool.completed permission.requested permission.completed
    skill.invoked subagent.started subagent.configured subagent.completed subagent.failed
    subagent.selected subagent.deselected
    model.turn_started model.model_call_started model.model_call_success model.model_call_failure
    model.message model.response model.turn_ended model.messages_snapshot
    hook.start hook.end system.message system.notification abort
    assistant.fusion_phase_completed assistant.fusion_phase_failed human_response.recorded
    mcp.oauth_recovery_completed permission.assentDetected permission.carriedForward
    permission.contextualAuthorization permission.messageAuthorization permission.messageAuthorizationDegraded
    permission.messageAuthorizationRead session.completion_receipt session.fusion_change_checkpoint
    session.fusion_commit_started session.fusion_completed session.fusion_handoff session.fusion_resolved
    session.fusion_route_failed session.mode_notice_delivered session.model_deselected
    session.permission_recovery session.request_body_compression_disabled skill.context_delivered
    skill.context_delivered_ref skill.invoked_ref
    model.turn_started model.model_call_started model.model_call_success model.model_call_failure
    model.message model.response model.turn_ended model.messages_snapshot
    assistant.intent assistant.message_start assistant.message_delta assistant.reasoning_delta
    assistant.streaming_delta assistant.usage session.usage_info session.idle pending_messages.modified
    tool.execution_progress tool.execution_partial_result
    user_input.requested user_input.completed elicitation.requested elicitation.completed
    command.queued command.execute command.completed exit_plan_mode.requested exit_plan_mode.completed
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)

# Model requests of a compaction, which files of 1.0.102 have although no schema does. The first of them have
# no parent, or one that is not in the file.
MODEL_EVENTS = "model."

TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "read_bash": "shell",
    "write_bash": "shell",
    "stop_bash": "shell",
    "list_bash": "shell",
    "powershell": "shell",
    "read_powershell": "shell",
    "write_powershell": "shell",
    "stop_powershell": "shell",
    "list_powershell": "shell",
    "shell": "shell",
    "local_shell": "shell",
    "view": "read",
    "read_file": "read",
    "create": "write",
    "create_file": "write",
    "edit": "edit",
    "apply_patch": "edit",
    "str_replace_editor": "edit",
    "delete_file": "edit",
    "grep": "search",
    "rg": "search",
    "glob": "search",
    "web_fetch": "web",
    "web_search": "web",
    "fetch": "web",
    "task": "agent",
    "read_agent": "agent",
    "write_agent": "agent",
    "list_agents": "agent",
    "update_todo": "plan",
    "report_intent": "plan",
    "exit_plan_mode": "plan",
    "store_memory": "memory",
}
