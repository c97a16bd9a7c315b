"""Roles by the many words that sources have for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.model import Role

_ROLES: dict[str, Role] = {
    "user": "user",
    "human": "user",
    "request": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "agent": "assistant",
    "bot": "assistant",
    "model": "assistant",
    "response": "assistant",
    "system": "system",
    # OpenAI's name for system messages since the o1 models (December 2024).
    "developer": "system",
    "tool": "tool",
    "function": "tool",
    "function_call": "tool",
}


def role(value: Any) -> Role | None:
    """The role that a source's word means, in any case; None if the word is unknown."""
    return _ROLES.get(value.strip().lower()) if isinstance(value, str) else None
