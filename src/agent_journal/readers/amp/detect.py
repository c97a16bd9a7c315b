"""Detects threads by their id and the numbers of their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

THREAD = "thread"
_ID_PREFIX = "T-"
_OWN_FIELDS = {"usageLedger", "agentMode", "env", "created", "v"}


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a thread, else None."""
    if peek.is_folder or not peek.keys >= {"id", "messages"} or peek.keys.isdisjoint(_OWN_FIELDS):
        return None
    document = peek.records[0]
    thread, messages = document.get("id"), document.get("messages")
    if thread.__class__ is not str or messages.__class__ is not list:
        return None
    if not messages:
        return THREAD if thread.startswith(_ID_PREFIX) and "created" in document else None
    return THREAD if any(map(_is_message, messages)) else None


def _is_message(message: Any) -> bool:
    if message.__class__ is not dict:
        return False
    return (
        message.get("messageId").__class__ is int
        and message.get("role").__class__ is str
        and message.get("content").__class__ is list
    )
