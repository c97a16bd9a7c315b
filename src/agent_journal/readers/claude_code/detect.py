"""Detects sessions and the prompt history by the envelope of their lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model.ids import is_uuid

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

WEB, PROMPTS = "web", "prompts"

# Lines without a message, and the fields that identify them. A file may begin with dozens of them.
_METADATA_FIELDS: dict[str, tuple[str, ...]] = {
    "summary": ("summary", "leafUuid"),
    "file-history-snapshot": ("messageId", "snapshot"),
    "queue-operation": ("operation", "sessionId"),
    "custom-title": ("customTitle", "sessionId"),
    "ai-title": ("aiTitle", "sessionId"),
    "agent-name": ("agentName", "sessionId"),
    "last-prompt": ("lastPrompt", "sessionId"),
    "permission-mode": ("permissionMode", "sessionId"),
    "mode": ("mode", "sessionId"),
    "tag": ("tag", "sessionId"),
    "pr-link": ("prUrl", "sessionId"),
    "worktree-state": ("worktreeSession", "sessionId"),
    "relocated": ("relocatedCwd", "sessionId"),
    "continued-in": ("continuedInSessionId", "sessionId"),
    "system": ("subtype", "uuid", "sessionId"),
    "progress": ("data", "uuid", "sessionId"),
    "attachment": ("attachment", "uuid", "sessionId"),
}
_SPEAKERS = ("user", "assistant")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session file, else None."""
    records = peek.records
    if "loglines" in peek.keys:
        lines = records[0].get("loglines")
        has_message = isinstance(lines, list) and any(
            isinstance(line, dict) and _is_message(line) for line in lines
        )
        return WEB if has_message else None
    if "display" in peek.keys:
        return PROMPTS if any(map(_is_prompt, records)) else None
    if any(_is_of_related_tool(record) for record in records):
        return None
    if not any(_is_enveloped(r) or _is_message(r) or _is_metadata(r) for r in records):
        return None
    return "1" if any(_is_version_1(record) for record in records) else "2"


def _is_prompt(record: dict[str, Any]) -> bool:
    """Whether a record is a line of the prompt history: without a type, and with a number as its time."""
    if not isinstance(record.get("display"), str) or not isinstance(record.get("timestamp"), int):
        return False
    return "type" not in record and ("pastedContents" in record or "project" in record)


def _is_of_related_tool(record: dict[str, Any]) -> bool:
    """Qwen Code and iFlow share the envelope, but have `parts`, `systemPayload`, or `session-` and a UUID."""
    message, session = record.get("message"), record.get("sessionId")
    if "systemPayload" in record or (isinstance(message, dict) and "parts" in message):
        return True
    return isinstance(session, str) and session.startswith("session-") and is_uuid(session[len("session-") :])


def _is_enveloped(record: dict[str, Any]) -> bool:
    """A first line that contains an image may be cut off after these fields."""
    return "parentUuid" in record and "isSidechain" in record


def _is_message(record: dict[str, Any]) -> bool:
    message = record.get("message")
    if not isinstance(message, dict) or "role" in record:
        return False
    if record.get("type") in _SPEAKERS:
        return "timestamp" in record or "uuid" in record
    # Excerpts for token counters have no type.
    is_typeless = "type" not in record and message.get("role") in _SPEAKERS
    return is_typeless and "sessionId" in record and "timestamp" in record


def _is_metadata(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    required = _METADATA_FIELDS.get(kind) if isinstance(kind, str) else None
    return required is not None and all(name in record for name in required)


def _is_version_1(record: dict[str, Any]) -> bool:
    version = record.get("version")
    return "costUSD" in record or (isinstance(version, str) and version.startswith(("0.", "1.")))
