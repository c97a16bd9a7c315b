"""Detection of tasks and sessions: by the records of their histories, never by a file name alone."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.roo_code.names import (
    API_FILE,
    ITEM_FILE,
    METADATA_FILE,
    OLD_FILE,
    SESSION_SUFFIX,
    UI_FILE,
)

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

TASK, SESSION, DOCUMENTED = "task", "session", "documented"
API, UI, ITEM, METADATA = "api", "ui", "item", "metadata"

_FILES = (API_FILE, UI_FILE, OLD_FILE, ITEM_FILE, METADATA_FILE)
_API_NAMES = (API_FILE, OLD_FILE)
_ROLES = ("user", "assistant")
_ITEM_KEYS = frozenset({"id", "ts", "task", "tokensIn", "tokensOut"})
# Tags that the extensions put around the user's text, and next to it.
_EXTENSION_TAGS = ("<task>", "<user_message>", "<feedback>", "<environment_details>", "<new_task>")
_API_KEYS = frozenset(
    {
        *("role", "content", "ts", "id", "type", "isSummary", "condenseId", "condenseParent", "truncationId"),
        *("truncationParent", "isTruncationMarker", "reasoning_details", "reasoning_content", "summary"),
        *("encrypted_content", "text", "modelInfo", "metrics"),
    }
)
# Timestamps in milliseconds are above this since 2001; those in seconds never are.
_MIN_TIMESTAMP_MS = 1_000_000_000_000
# Keys that only the documented form of a session has; it must also have messages.
_MODE_KEYS = (
    *("active_mode", "activeMode", "available_modes", "availableModes"),
    *("mode_persistence", "modePersistence"),
)
_PROMPT_KEYS = (
    *("systemPrompt", "system_prompt", "roleDefinition"),
    *("customInstructions", "custom_instructions"),
)
_ID_KEYS = ("sessionId", "session_id", "taskId", "task_id")
_BUILT_IN_MODES = ("architect", "code", "ask", "debug", "orchestrator")


def detect_version(peek: Peek) -> str | None:
    """Return the version of the format if the input is a task or a session, else None."""
    if peek.is_folder:
        return _detect_folder(peek)
    keys = peek.keys
    if peek.opening == "[" and "messages" not in keys:
        return TASK if file_kind(peek) is not None else None
    if "messages" in keys:
        if peek.opening == "{" and any(_is_session(record) for record in peek.records):
            return SESSION
        return DOCUMENTED if any(_is_documented(record) for record in peek.records) else None
    return TASK if file_kind(peek) is not None else None


def _detect_folder(peek: Peek) -> str | None:
    members = peek.members
    if any(name in members and _is_task_file(peek, name) for name in _FILES):
        return TASK
    if any(name.endswith(SESSION_SUFFIX) and _is_session_file(peek, name) for name in members):
        return SESSION
    return None


def _is_task_file(folder: Peek, name: str) -> bool:
    member = folder.member(name)
    return member is not None and file_kind(member) is not None


def _is_session_file(folder: Peek, name: str) -> bool:
    member = folder.member(name)
    return member is not None and any(_is_session(record) for record in member.records)


def file_kind(peek: Peek) -> str | None:
    """Return which file of a task this is (a history or metadata), or None if it is no such file."""
    keys, records = peek.keys, peek.records
    if peek.opening == "[":
        if "ts" in keys and "type" in keys and any(_is_ui_record(record) for record in records):
            return UI
        return API if "role" in keys and "content" in keys and _is_api_history(peek) else None
    if peek.opening != "{" or len(records) != 1:
        return None
    if keys >= _ITEM_KEYS and isinstance(records[0].get("task"), str):
        return ITEM
    return METADATA if isinstance(records[0].get("files_in_context"), list) else None


def _is_ui_record(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return kind in ("ask", "say") and isinstance(record.get(kind), str) and isinstance(record.get("ts"), int)


def _is_api_history(peek: Peek) -> bool:
    records = [record for record in peek.records if record.get("role") in _ROLES]
    if not records:
        return False
    if peek.name in _API_NAMES or any(_starts_with_tag(record.get("content")) for record in records):
        return True
    return all(_API_KEYS.issuperset(record) and _is_dated(record.get("ts")) for record in peek.records)


def _is_dated(ts: Any) -> bool:
    return isinstance(ts, int) and ts > _MIN_TIMESTAMP_MS


def _starts_with_tag(content: Any) -> bool:
    if isinstance(content, list):
        texts = (block.get("text") for block in content if isinstance(block, dict))
        return any(isinstance(text, str) and text.lstrip().startswith(_EXTENSION_TAGS) for text in texts)
    return isinstance(content, str) and content.lstrip().startswith(_EXTENSION_TAGS)


def _is_session(record: dict[str, Any]) -> bool:
    return (
        isinstance(record.get("messages"), list)
        and isinstance(record.get("sessionId"), str)
        and isinstance(record.get("agent"), str)
        and "version" in record
    )


def _is_documented(record: dict[str, Any]) -> bool:
    """Whether a record has messages, a mode, and another key of the documented form.

    If the mode is built into the extension, an id is enough.
    """
    if not isinstance(record.get("messages"), list):
        return False
    if any(name in record for name in _MODE_KEYS):
        return True
    mode = record.get("mode")
    if not isinstance(mode, str):
        return False
    has_prompt = any(name in record for name in _PROMPT_KEYS)
    return has_prompt or (
        mode in _BUILT_IN_MODES and any(isinstance(record.get(name), str) for name in _ID_KEYS)
    )
