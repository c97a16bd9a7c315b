"""Detects session files: the envelope is Claude Code's, the content is Google's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

LOG = "log"
_SPEAKERS = ("user", "assistant", "tool_result")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session file, else None."""
    if peek.is_folder or not peek.keys >= {"uuid", "sessionId", "type"}:
        return None
    return LOG if any(map(_is_record, peek.records)) else None


def _is_record(record: dict[str, Any]) -> bool:
    if not all(record.get(name).__class__ is str for name in ("uuid", "sessionId", "timestamp")):
        return False
    kind, message = record.get("type"), record.get("message")
    if kind == "system":
        return "subtype" in record and "systemPayload" in record
    return kind in _SPEAKERS and message.__class__ is dict and message.get("parts").__class__ is list
