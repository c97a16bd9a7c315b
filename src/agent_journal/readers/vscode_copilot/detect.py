"""How chats of the editor are told from other tools' files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

LOG, EXPORT, TRANSCRIPT, STATE = "log", "export", "transcript", "state"
VERSIONS = (LOG, "3", "2", "1", EXPORT, TRANSCRIPT, STATE)

# Where the editor kept all sessions until 1.96, and where it lists them since.
OLD_SESSIONS, INDEX = "interactive.sessions", "chat.ChatSessionStore.index"

# Where a fork of the editor keeps chats of its own.
_FORKS_TABLE = "cursorDiskKV"
_FORKS_KEYS = (
    "composer.composerData",
    "composer.composerHeaders",
    "workbench.panel.aichat.view.aichat.chatdata",
    "aiService.prompts",
    "aiService.generations",
)
_KEYS = "SELECT key FROM ItemTable WHERE key IN (?, ?, ?, ?, ?, ?, ?)"

_ABOUT_A_SESSION = {"responderUsername", "initialLocation", "creationDate", "requesterUsername"}
_TOP = _ABOUT_A_SESSION | {
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


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is such a chat, else None."""
    keys = peek.keys
    if not keys:
        return STATE if "ItemTable" in peek.tables and _is_an_editors_state(peek) else None
    if "requests" in keys:
        return _flat(peek.records[0])
    if "kind" in keys:
        return LOG if any(map(is_operation, peek.records)) else None
    if "data" in keys:
        return TRANSCRIPT if any(map(_is_transcripts_start, peek.records)) else None
    return None


def _flat(record: dict[str, Any]) -> str | None:
    requests = record.get("requests")
    if not isinstance(requests, list):
        return None
    if record.keys().isdisjoint(_ABOUT_A_SESSION) and not (requests and _is_request(requests[0])):
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
    """Whether a line is the whole session, or changes something at its top or below."""
    kind = record.get("kind")
    if kind.__class__ is not int:
        return False
    if kind == 0:
        state = record.get("v")
        return isinstance(state, dict) and not state.keys().isdisjoint(_TOP)
    path = record.get("k")
    return kind in (_SET, _PUSH, _DELETE) and isinstance(path, list) and bool(path) and path[0] in _TOP_LIST


_TOP_LIST = tuple(_TOP)  # what is looked for may not be hashable


def _is_transcripts_start(record: dict[str, Any]) -> bool:
    """The first event of a transcript is that of the vendor's command line tool, and names the editor."""
    data = record.get("data")
    return record.get("type") == "session.start" and isinstance(data, dict) and "vscodeVersion" in data


def _is_an_editors_state(peek: Peek) -> bool:
    """The editor's store, if it holds or lists chats; that of a fork with chats of its own is no such."""
    if _FORKS_TABLE in peek.tables:
        return False
    keys = {key for (key,) in peek.query(_KEYS, OLD_SESSIONS, INDEX, *_FORKS_KEYS)}
    return not keys.isdisjoint((OLD_SESSIONS, INDEX)) and keys <= {OLD_SESSIONS, INDEX}
