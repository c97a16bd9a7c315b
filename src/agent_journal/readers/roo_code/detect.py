"""How a task is told from other logs: by the records of its histories, never by a name alone."""

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
_SPEAKERS = ("user", "assistant")
_ITEM = frozenset({"id", "ts", "task", "tokensIn", "tokensOut"})
# What the extensions put around a person's words, and beside them.
_MARKS = ("<task>", "<user_message>", "<feedback>", "<environment_details>", "<new_task>")
_API_KEYS = frozenset(
    {
        *("role", "content", "ts", "id", "type", "isSummary", "condenseId", "condenseParent", "truncationId"),
        *("truncationParent", "isTruncationMarker", "reasoning_details", "reasoning_content", "summary"),
        *("encrypted_content", "text", "modelInfo", "metrics"),
    }
)
# Milliseconds since 1970, from the year 2001 on.
_MILLISECONDS = 1_000_000_000_000
# What only the documented form of a session says; it must also have messages.
_DOCUMENTED = (
    *(
        "active_mode",
        "activeMode",
        "available_modes",
        "availableModes",
        "mode_persistence",
        "modePersistence",
    ),
    *("systemPrompt", "system_prompt", "roleDefinition"),
)
_INSTRUCTIONS = ("customInstructions", "custom_instructions")
_IDS = ("sessionId", "session_id", "taskId", "task_id")
_MODES = ("architect", "code", "ask", "debug", "orchestrator")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a task or a session, else None."""
    if peek.is_folder:
        return _version_of_folder(peek)
    keys = peek.keys
    if peek.opening == "[" and "messages" not in keys:
        return TASK if kind_of(peek) is not None else None
    if "messages" in keys:
        if peek.opening == "{" and any(_is_session(record) for record in peek.records):
            return SESSION
        return DOCUMENTED if any(_is_documented(record) for record in peek.records) else None
    return TASK if kind_of(peek) is not None else None


def _version_of_folder(peek: Peek) -> str | None:
    members = peek.members
    if any(name in members and _is_of_a_task(peek, name) for name in _FILES):
        return TASK
    if any(name.endswith(SESSION_SUFFIX) and _is_of_a_session(peek, name) for name in members):
        return SESSION
    return None


def _is_of_a_task(folder: Peek, name: str) -> bool:
    member = folder.member(name)
    return member is not None and kind_of(member) is not None


def _is_of_a_session(folder: Peek, name: str) -> bool:
    member = folder.member(name)
    return member is not None and any(_is_session(record) for record in member.records)


def kind_of(peek: Peek) -> str | None:
    """Which file of a task this is: a history or what is known of the task; None if it is none."""
    keys, records = peek.keys, peek.records
    if peek.opening == "[":
        if "ts" in keys and "type" in keys and any(_is_shown(record) for record in records):
            return UI
        is_said = "role" in keys and "content" in keys and _is_api(peek)
        return API if is_said else None
    if peek.opening != "{" or len(records) != 1:
        return None
    if keys >= _ITEM and isinstance(records[0].get("task"), str):
        return ITEM
    return METADATA if isinstance(records[0].get("files_in_context"), list) else None


def _is_shown(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    return kind in ("ask", "say") and isinstance(record.get(kind), str) and isinstance(record.get("ts"), int)


def _is_api(peek: Peek) -> bool:
    records = [record for record in peek.records if record.get("role") in _SPEAKERS]
    if not records:
        return False
    if peek.name in _API_NAMES or any(_is_marked(record.get("content")) for record in records):
        return True
    return all(_API_KEYS.issuperset(record) and _is_dated(record.get("ts")) for record in peek.records)


def _is_dated(ts: Any) -> bool:
    return isinstance(ts, int) and ts > _MILLISECONDS


def _is_marked(content: Any) -> bool:
    if isinstance(content, list):
        texts = (block.get("text") for block in content if isinstance(block, dict))
        return any(isinstance(text, str) and text.lstrip().startswith(_MARKS) for text in texts)
    return isinstance(content, str) and content.lstrip().startswith(_MARKS)


def _is_session(record: dict[str, Any]) -> bool:
    return (
        isinstance(record.get("messages"), list)
        and isinstance(record.get("sessionId"), str)
        and isinstance(record.get("agent"), str)
        and "version" in record
    )


def _is_documented(record: dict[str, Any]) -> bool:
    """Whether a record has messages, a mode, and something else that the documented form has.

    Where the mode is one that the extension comes with, an id is enough.
    """
    if not isinstance(record.get("messages"), list):
        return False
    if any(name in record for name in _DOCUMENTED[:6]):
        return True
    has_more = any(name in record for name in (*_DOCUMENTED, *_INSTRUCTIONS))
    mode = record.get("mode")
    if not isinstance(mode, str):
        return False
    return has_more or (mode in _MODES and any(isinstance(record.get(name), str) for name in _IDS))
