"""How a session file is told from other tools' logs: by the envelope of its lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.ids import is_uuid

if TYPE_CHECKING:
    from agent_journal.peek import Peek

WEB = "web"

# Lines that carry no message, and a field that only they have. A file may begin with dozens of them.
_METADATA = {
    "summary": "leafUuid",
    "file-history-snapshot": "snapshot",
    "queue-operation": "operation",
    "custom-title": "customTitle",
    "ai-title": "aiTitle",
    "agent-name": "agentName",
    "last-prompt": "lastPrompt",
    "permission-mode": "permissionMode",
    "mode": "mode",
    "tag": "tag",
    "system": "subtype",
    "progress": "data",
    "attachment": "attachment",
    "worktree-state": "worktreeSession",
    "pr-link": "prUrl",
    "relocated": "relocatedCwd",
    "continued-in": "continuedInSessionId",
}
# These two have neither a session nor an id.
_WITHOUT_SESSION = frozenset({"summary", "file-history-snapshot"})
_SPEAKERS = frozenset({"user", "assistant"})


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a session file, else None."""
    value = peek.value if peek.opening == "{" else None
    if isinstance(value, dict) and isinstance(lines := value.get("loglines"), list):
        return WEB if any(isinstance(line, dict) and _is_message(line) for line in lines) else None
    if any(_is_of_a_relative(record) for record in peek.records):
        return None
    if not any(_is_message(record) or _is_metadata(record) for record in peek.records):
        return None
    return "1" if any(_is_old(record) for record in peek.records) else "2"


def _is_of_a_relative(record: dict[str, Any]) -> bool:
    """Qwen Code and iFlow descend from the same design: Gemini's `parts`, and `session-` before the UUID."""
    message = record.get("message")
    if isinstance(message, dict) and "parts" in message:
        return True
    session = record.get("sessionId")
    is_prefixed = isinstance(session, str) and session.startswith("session-") and is_uuid(session[8:])
    return is_prefixed or "systemPayload" in record


def _is_message(record: dict[str, Any]) -> bool:
    message = record.get("message")
    if not isinstance(message, dict) or "role" in record:
        return False
    if record.get("type") in _SPEAKERS:
        return "timestamp" in record or "uuid" in record or "sessionId" in record
    # Excerpts made for counting tokens have lost their type.
    return "type" not in record and message.get("role") in _SPEAKERS and {"sessionId", "timestamp"} <= record.keys()


def _is_metadata(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    if not isinstance(kind, str) or _METADATA.get(kind) not in record:
        return False
    return kind in _WITHOUT_SESSION or isinstance(record.get("sessionId"), str) or kind == "attachment"


def _is_old(record: dict[str, Any]) -> bool:
    version = record.get("version")
    return "costUSD" in record or (isinstance(version, str) and version.startswith(("0.", "1.")))
