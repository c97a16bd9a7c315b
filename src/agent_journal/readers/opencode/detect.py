"""Detection: by the tables of a database, the keys of a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DATABASE, FILES, EXPORT, STREAM = "database", "files", "export", "stream"

MIGRATION = "migration"

_SELECT_COLUMNS = "SELECT name FROM pragma_table_info('session')"
_SESSION_COLUMNS = {"id", "project_id", "directory"}


def detect_version(peek: Peek) -> str | None:
    """Return the version of the format if the input is the app's, else None."""
    if peek.is_folder:
        return FILES if _is_storage(peek) or _is_migrated_storage(peek) else None
    if peek.opening in {"{", "["}:
        return _detect_json(peek)
    return DATABASE if _is_database(peek) else None


def _is_database(peek: Peek) -> bool:
    tables = peek.tables
    if "model_usage" in tables and "tool_usage" in tables:  # a related tool's
        return False
    if "session" not in tables or not ({"message", "part"} <= tables or "session_message" in tables):
        return False
    return {name for (name,) in peek.query(_SELECT_COLUMNS)} >= _SESSION_COLUMNS


def _is_storage(peek: Peek) -> bool:
    """Whether there are folders of sessions, messages and parts with a record in one of them."""
    names = {"message", "part"} & set(peek.folders)
    if not names or not {"session", "info", "message"} & set(peek.folders):
        return False
    return any(_has_record(peek.folder(name)) for name in sorted(names))


def _is_migrated_storage(peek: Peek) -> bool:
    """Whether the database has all sessions: only the migration state and changes of files remain."""
    return MIGRATION in peek.members and set(peek.folders) == {"session_diff"}


def _has_record(folder: Peek | None) -> bool:
    for _ in range(3):  # folders of sessions, perhaps of messages in them
        if folder is None:
            return False
        files = [name for name in folder.members if name.endswith(".json")]
        first = folder.member(files[0]) if files else None
        if first is not None:
            return any(_is_part(record) or _is_message(record) for record in first.records)
        folder = folder.folder(folder.folders[0]) if folder.folders else None
    return False


def _detect_json(peek: Peek) -> str | None:
    keys = peek.keys
    if "info" in keys and "messages" in keys:
        return EXPORT if any(map(is_export, peek.records)) else None
    if peek.opening == "[":
        return None
    if "sessionID" in keys:
        is_known = any(
            _is_part(record) or _is_message(record) or is_wrapped(record) for record in peek.records
        )
        # A single record is one of the small files of a folder.
        return STREAM if is_known and (peek.is_cut or peek.head.count(b'"sessionID"') > 1) else None
    if "projectID" in keys or "worktree" in keys or "secret" in keys:
        is_known = any(_is_session(record) or _is_project_or_share(record) for record in peek.records)
        return STREAM if is_known and b'"sessionID"' in peek.head and b'"messageID"' in peek.head else None
    return None


def is_export(record: Any) -> bool:
    """Whether a value is a session with its messages, as the app exports them."""
    if not isinstance(record, dict):
        return False
    info, messages = record.get("info"), record.get("messages")
    return (
        isinstance(info, dict)
        and isinstance(info.get("id"), str)
        and isinstance(messages, list)
        and all(isinstance(message, dict) and "info" in message for message in messages)
    )


def is_wrapped(record: dict[str, Any]) -> bool:
    """Whether a record is an event around a part, as `run --format json` prints them."""
    return isinstance(record.get("part"), dict) and isinstance(record.get("sessionID"), str)


def _is_part(record: dict[str, Any]) -> bool:
    return isinstance(record.get("type"), str) and isinstance(record.get("messageID"), str)


def _is_message(record: dict[str, Any]) -> bool:
    has_ids = isinstance(record.get("sessionID"), str) and isinstance(record.get("id"), str)
    return has_ids and record.get("role") in ("user", "assistant") and isinstance(record.get("time"), dict)


def _is_session(record: dict[str, Any]) -> bool:
    return all(isinstance(record.get(name), str) for name in ("id", "projectID", "directory"))


def _is_project_or_share(record: dict[str, Any]) -> bool:
    return {"id", "worktree", "time"} <= record.keys() or {"id", "secret", "url"} <= record.keys()
