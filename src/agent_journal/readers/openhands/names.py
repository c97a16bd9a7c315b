"""The names that the formats use: kinds of events, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

STATE, EVENTS, METADATA = "base_state.json", "events", "metadata.json"

PROMPT, MESSAGE, ACTION = "SystemPromptEvent", "MessageEvent", "ActionEvent"
OBSERVATION, REJECTION, FAILURE = "ObservationEvent", "UserRejectObservation", "AgentErrorEvent"
CONDENSATION, UPDATE = "Condensation", "ConversationStateUpdateEvent"
KINDS = frozenset(
    {
        *(PROMPT, MESSAGE, ACTION, OBSERVATION, REJECTION, FAILURE, CONDENSATION, UPDATE),
        *("CondensationRequest", "CondensationSummaryEvent", "ConversationErrorEvent", "PauseEvent"),
        *("TokenEvent", "LLMCompletionLogEvent", "ACPToolCallEvent", "HookExecutionEvent"),
        *("InterruptEvent", "ServerErrorEvent", "StreamingDeltaEvent"),
    }
)
# Actions and observations of version 0 that are no work of a tool.
OLD_EVENTS = frozenset(
    {
        *(
            "change_agent_state",
            "agent_state_changed",
            "null",
            "recall",
            "condensation",
            "condensation_request",
        ),
        *("loop_recovery", "user_rejected", "success", "pause", "resume", "start", "stop"),
    }
)
SOURCES = ("agent", "user", "environment", "hook")

TOOL_KINDS: dict[str, ToolKind] = {
    "terminal": "shell",
    "execute_bash": "shell",
    "run": "shell",
    "run_ipython": "shell",
    "execute_ipython_cell": "shell",
    "read": "read",
    "write": "write",
    "edit": "edit",
    "file_editor": "edit",
    "str_replace_editor": "edit",
    "planning_file_editor": "edit",
    "apply_patch": "edit",
    "edit_file": "edit",
    "glob": "search",
    "grep": "search",
    "browse": "web",
    "browser": "web",
    "browse_interactive": "web",
    "fetch": "web",
    "task": "agent",
    "delegate": "agent",
    "task_tracker": "plan",
    "think": "plan",
    "call_tool_mcp": "mcp",
}
