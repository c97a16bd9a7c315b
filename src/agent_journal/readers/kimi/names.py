"""The names that the formats use: types of records, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

METADATA = "metadata"
MESSAGE, LOOP_EVENT = "context.append_message", "context.append_loop_event"
PROMPT, STEER = "turn.prompt", "turn.steer"
USAGE, REQUEST, TOOLS = "usage.record", "llm.request", "llm.tools_snapshot"
COMPACTION, UNDO = "context.apply_compaction", "context.undo"
CONFIG, PROFILE = "config.update", "profile.bind"

# Records that become events, by their first word: 2.1 has about a hundred types of them.
_FAMILIES = frozenset(
    """
    agent config context cron full_compaction goal interaction journal llm mcp micro_compaction permission
    plan_mode plugin profile prompt runtime session skill skills subagent swarm swarm_mode task token_counting
    tool tools turn usage workspace
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)
_SINGLE_WORDS = frozenset({METADATA, "forked", "step"})

# Records of Kimi CLI that become events.
CLI_EVENTS = frozenset(
    """
    metadata TurnBegin SteerInput TurnEnd StepBegin StepInterrupted StepRetry CompactionBegin CompactionEnd
    HookTriggered HookResolved MCPLoadingBegin MCPLoadingEnd MCPStatusSnapshot StatusUpdate Notification
    PlanDisplay BtwBegin BtwEnd SubagentEvent ApprovalRequest ApprovalResponse ApprovalRequestResolved
    QuestionRequest QuestionResponse ToolCallRequest HookRequest HookResponse ToolCallPart
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)
CONTEXT_EVENTS = frozenset({"_checkpoint", "_usage"})

TOOL_KINDS: dict[str, ToolKind] = {
    # Kimi Code
    "Bash": "shell",
    "Read": "read",
    "ReadMediaFile": "read",
    "Edit": "edit",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "WebSearch": "web",
    "FetchURL": "web",
    "Agent": "agent",
    "AgentSwarm": "agent",
    "Task": "agent",
    "TaskList": "agent",
    "TaskOutput": "agent",
    "TodoList": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "CreateGoal": "plan",
    # Kimi CLI
    "Shell": "shell",
    "ReadFile": "read",
    "StrReplaceFile": "edit",
    "PatchFile": "edit",
    "WriteFile": "write",
    "SearchWeb": "web",
    "SetTodoList": "plan",
}


def is_known_type(name: str) -> bool:
    """Whether this is a type of records of Kimi Code."""
    return name in _SINGLE_WORDS or name.partition(".")[0] in _FAMILIES
