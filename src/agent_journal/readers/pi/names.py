"""The names that the format uses: types of lines, products, and kinds of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

HEADER, TITLE = "session", "title"
MESSAGE, CUSTOM_MESSAGE = "message", "custom_message"
COMPACTION, BRANCH_SUMMARY = "compaction", "branch_summary"
MODEL_CHANGE, THINKING_CHANGE, SESSION_INFO = "model_change", "thinking_level_change", "session_info"
MODEL_USAGE, CHILD_USAGE, TITLE_CHANGE = "model_usage", "child_usage_attributed", "title_change"

# Lines that become events. Pi has those of the first line, Oh My Pi and Prime Agent the others.
EVENTS = frozenset(
    f"""
    {HEADER} {MODEL_CHANGE} {THINKING_CHANGE} {COMPACTION} {BRANCH_SUMMARY} {SESSION_INFO} custom label leaf
    {TITLE} {TITLE_CHANGE} {CHILD_USAGE} service_tier_change mode_change session_init ttsr_injection
    credential_pin reset_boundary
    """.split()
)

# The folder of a product's files, below the home folder; a vendor's own folder needs no name.
PRODUCTS = {
    ".pi": "pi",
    ".omp": "oh-my-pi",
    ".prime": "prime-agent",
    ".openclaw": "openclaw",
    ".clawdbot": "openclaw",
    ".moltbot": "openclaw",
    ".kimi_openclaw": "openclaw",
    ".qclaw": "qclaw",
}
CLAW = "openclaw"

TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "exec": "shell",
    "process": "shell",
    "python": "shell",
    "eval": "shell",
    "ssh": "shell",
    "read": "read",
    "edit": "edit",
    "apply_patch": "edit",
    "ast_edit": "edit",
    "write": "write",
    "grep": "search",
    "find": "search",
    "ls": "search",
    "search": "search",
    "ast_grep": "search",
    "lsp": "search",
    "web_search": "web",
    "web_fetch": "web",
    "fetch": "web",
    "browser": "web",
    "task": "agent",
    "sessions_spawn": "agent",
    "sessions_send": "agent",
    "subagents": "agent",
    "todo_write": "plan",
    "todo": "plan",
    "memory_search": "memory",
    "memory_get": "memory",
    "image": "media",
    "image_generate": "media",
    "generate_image": "media",
    "tts": "media",
}
