"""Detection of the editor's chats."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

LOG, EXPORT, TRANSCRIPT, STATE = "log", "export", "transcript", "state"
VERSIONS = (LOG, "3", "2", "1", EXPORT, TRANSCRIPT, STATE)

# The key of all sessions until 1.96, and of their index since.
OLD_SESSIONS, INDEX = "interactive.sessions", "chat.ChatSessionStore.index"

# The table and keys of the chats of Cursor, a fork of the editor.
_FORK_TABLE = "cursorDiskKV"
_FORK_KEYS = (
    "composer.composerData",
    "composer.composerHeaders",
    "workbench.panel.aichat.view.aichat.chatdata",
    "aiService.prompts",
    "aiService.generations",
)
_SELECT_KEYS = "SELECT key FROM ItemTable WHERE key IN (?, ?, ?, ?, ?, ?, ?)"

_SESSION_KEYS = {"responderUsername", "initialLocation", "creationDate", "requesterUsername"}
_TOP_KEYS = _SESSION_KEYS | {
    "requests",
    "sessionId",
    "customTitle",
    "inputState",
    "hasPendingEdits",
    "pendingRequests",
    "repoData",
    "lastMessageDate",
    "version",
}
_SET, _PUSH, _DELETE = 1, 2, 3


def detect_version(peek: Peek) -> str | None:
    """Return the version of the format if the input is such a chat, else None."""
    keys = peek.keys
    if not keys:
        return STATE if "ItemTable" in peek.tables and _is_editor_store(peek) else None
    if "requests" in keys:
        return _detect_object(peek.records[0])
    if "kind" in keys:
        return LOG if any(map(is_operation, peek.records)) else None
    if "data" in keys:
        return TRANSCRIPT if any(map(_is_transcript_start, peek.records)) else None
    return None


def _detect_object(record: dict[str, Any]) -> str | None:
    requests = record.get("requests")
    if not isinstance(requests, list):
        return None
    if record.keys().isdisjoint(_SESSION_KEYS) and not (requests and _is_request(requests[0])):
        return None
    version = record.get("version")
    if version in (2, 3) and version.__class__ is int:
        return str(version)
    return "1" if "sessionId" in record else EXPORT


def _is_request(request: Any) -> bool:
    return (
        isinstance(request, dict)
        and "requestId" in request
        and ("message" in request or "response" in request)
    )


def is_operation(record: dict[str, Any]) -> bool:
    """Whether a line is a session, or an operation at a path of a session."""
    kind = record.get("kind")
    if kind.__class__ is not int:
        return False
    if kind == 0:
        state = record.get("v")
        return isinstance(state, dict) and not state.keys().isdisjoint(_TOP_KEYS)
    path = record.get("k")
    return kind in (_SET, _PUSH, _DELETE) and isinstance(path, list) and bool(path) and path[0] in _TOP_LIST


_TOP_LIST = tuple(_TOP_KEYS)  # not a set, as the first step of a path may be unhashable


def _is_transcript_start(record: dict[str, Any]) -> bool:
    """Whether a record is the first event of a transcript: a CLI event with the editor's version."""
    data = record.get("data")
    return record.get("type") == "session.start" and isinstance(data, dict) and "vscodeVersion" in data


def _is_editor_store(peek: Peek) -> bool:
    """Whether a database is the editor's store with chats or an index of them, but not that of a fork."""
    if _FORK_TABLE in peek.tables:
        return False
    keys = {key for (key,) in peek.query(_SELECT_KEYS, OLD_SESSIONS, INDEX, *_FORK_KEYS)}
    return not keys.isdisjoint((OLD_SESSIONS, INDEX)) and keys <= {OLD_SESSIONS, INDEX}
