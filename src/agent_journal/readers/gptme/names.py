"""The kinds of the tools."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.model import ToolKind

TOOL_KINDS: dict[str, ToolKind] = {
    "shell": "shell",
    "ipython": "shell",
    "tmux": "shell",
    "computer": "shell",
    "read": "read",
    "save": "write",
    "append": "write",
    "patch": "edit",
    "patch_many": "edit",
    "morph": "edit",
    "browser": "web",
    "search": "web",
    "rag": "search",
    "chats": "search",
    "gh": "web",
    "subagent": "agent",
    "todo": "plan",
    "todowrite": "plan",
    "memory": "memory",
    "vision": "media",
    "screenshot": "media",
    "youtube": "media",
    "mcp": "mcp",
}
# Tools that end a turn or ask the user.
OTHER_TOOLS = (
    "complete",
    "choice",
    "form",
    "autocommit",
    "autocompact",
    "convert",
    "lessons",
    "recall",
    "vent",
)
EVERY_TOOL = (*TOOL_KINDS, *OTHER_TOOLS)
