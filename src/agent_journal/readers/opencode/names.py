"""The kinds of the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TOOL_KINDS: dict[str, ToolKind] = {
    "bash": "shell",
    "shell": "shell",
    "read": "read",
    "edit": "edit",
    "multiedit": "edit",
    "patch": "edit",
    "apply_patch": "edit",
    "write": "write",
    "glob": "search",
    "grep": "search",
    "list": "search",
    "codesearch": "search",
    "lsp": "search",
    "webfetch": "web",
    "websearch": "web",
    "task": "agent",
    "todowrite": "plan",
    "todoread": "plan",
    "plan_enter": "plan",
    "plan_exit": "plan",
    "skill": "read",
}


def tool_kind(tool: str) -> ToolKind | None:
    """Return the kind of a tool; MCP tools (`<server>_<tool>`) cannot be distinguished from the others."""
    return TOOL_KINDS.get(tool)
