"""How the app's data is told from other tools': by the tables of a database, the names in a record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DATABASE, FILES, EXPORT, STREAM = "database", "files", "export", "stream"

MIGRATION = "migration"

_COLUMNS = "SELECT name FROM pragma_table_info('session')"
_OF_SESSIONS = {"id", "project_id", "directory"}


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is the app's, else None."""
    if peek.is_folder:
        return FILES if _is_storage(peek) or _is_emptied(peek) else None
    if peek.opening in {"{", "["}:
        return _of_json(peek)
    return DATABASE if _is_database(peek) else None


def _is_database(peek: Peek) -> bool:
    tables = peek.tables
    if "session" not in tables or not ({"message", "part"} <= tables or "session_message" in tables):
        return False
    return {name for (name,) in peek.query(_COLUMNS)} >= _OF_SESSIONS


def _is_storage(peek: Peek) -> bool:
    """Folders of sessions, messages and parts with a record in one of them."""
    names = {"message", "part"} & set(peek.folders)
    if not names or not {"session", "info", "message"} & set(peek.folders):
        return False
    return any(_has_record(peek.folder(name)) for name in sorted(names))


def _is_emptied(peek: Peek) -> bool:
    """What is left where the database has all sessions: how far the app has moved, and changes of files."""
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


def _of_json(peek: Peek) -> str | None:
    keys = peek.keys
    if "info" in keys and "messages" in keys:
        return EXPORT if any(map(is_export, peek.records)) else None
    if peek.opening == "[":
        return None
    if "sessionID" in keys:
        is_one = any(_is_part(record) or _is_message(record) or is_wrapped(record) for record in peek.records)
        # One record alone is a file out of the middle of a folder.
        return STREAM if is_one and (peek.is_cut or peek.head.count(b'"sessionID"') > 1) else None
    if "projectID" in keys or "worktree" in keys or "secret" in keys:
        is_one = any(_is_session(record) or _is_beside(record) for record in peek.records)
        return STREAM if is_one and b'"sessionID"' in peek.head and b'"messageID"' in peek.head else None
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
    """Whether a record is an event that brings a part, as `run --format json` prints them."""
    return isinstance(record.get("part"), dict) and isinstance(record.get("sessionID"), str)


def _is_part(record: dict[str, Any]) -> bool:
    return isinstance(record.get("type"), str) and isinstance(record.get("messageID"), str)


def _is_message(record: dict[str, Any]) -> bool:
    is_named = isinstance(record.get("sessionID"), str) and isinstance(record.get("id"), str)
    return is_named and record.get("role") in ("user", "assistant") and isinstance(record.get("time"), dict)


def _is_session(record: dict[str, Any]) -> bool:
    return all(isinstance(record.get(name), str) for name in ("id", "projectID", "directory"))


def _is_beside(record: dict[str, Any]) -> bool:
    """A project, or what a session was shared as."""
    return {"id", "worktree", "time"} <= record.keys() or {"id", "secret", "url"} <= record.keys()
