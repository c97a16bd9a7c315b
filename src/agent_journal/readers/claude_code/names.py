"""The names that the format uses: types of lines, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

# Lines with a message of their own.
_SPEAKERS = frozenset(("user", "assistant", "system"))

# As of 2.1.326; the list grows each month. Lines of other types become events, and each type is noted once.
KNOWN_TYPES = _SPEAKERS | frozenset(
    """
    attachment progress
    summary custom-title ai-title agent-name tag last-prompt
    queue-operation mode permission-mode worktree-state relocated continued-in derived-from ended-by-model
    pr-link frame-link bridge-session history-suppression session-owner isolation-latch dev-mods memory-mode
    atis-latch tools-used agent-color agent-setting speculation-accept marble-origami-commit
    marble-origami-snapshot resume-head-vouch observer-ref fork-context-ref started result
    file-history-snapshot file-history-delta attribution-snapshot content-replacement cost-state checkpoint
    api-request api-request-shape api-request-blob data-flow-records data-flow-incomplete
    artifact-comment-monitor artifact-autoreact-ledger repl-mode
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)

# Some of these quote messages: 2.1.326 writes each message as it was sent to the model (`api-request-blob`).
METADATA_TYPES = KNOWN_TYPES - _SPEAKERS

# Only writers use the data of these. A snapshot names every file that was changed so far, at every prompt.
OPAQUE_TYPES = frozenset(
    """
    file-history-snapshot file-history-delta attribution-snapshot content-replacement checkpoint progress
    marble-origami-commit marble-origami-snapshot data-flow-records
    api-request api-request-shape api-request-blob
    """.split()  # noqa: SIM905 (words are easier to read than a list of strings)
)

TOOL_KINDS: dict[str, ToolKind] = {
    "Bash": "shell",
    "BashOutput": "shell",
    "KillBash": "shell",
    "KillShell": "shell",
    "PowerShell": "shell",
    "Read": "read",
    "NotebookRead": "read",
    "Edit": "edit",
    "MultiEdit": "edit",
    "NotebookEdit": "edit",
    "Write": "write",
    "Grep": "search",
    "Glob": "search",
    "LS": "search",
    "ToolSearch": "search",
    "WebFetch": "web",
    "WebSearch": "web",
    "web_search": "web",
    "web_fetch": "web",
    "Task": "agent",
    "Agent": "agent",
    "AgentOutputTool": "agent",
    "TaskOutput": "agent",
    "SendMessage": "agent",
    "TodoRead": "plan",
    "TodoWrite": "plan",
    "TaskCreate": "plan",
    "TaskUpdate": "plan",
    "TaskList": "plan",
    "TaskGet": "plan",
    "EnterPlanMode": "plan",
    "ExitPlanMode": "plan",
    "exit_plan_mode": "plan",
    "ListMcpResourcesTool": "mcp",
    "ReadMcpResourceTool": "mcp",
}
