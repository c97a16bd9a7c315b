"""Detects databases by the columns of the table of threads, and single threads by their messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.dialects.database_rows import has_columns
from agent_journal.readers.zed.names import FORMS, RESUME, TABLE

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

DATABASE, THREAD = "database", "thread"
_COLUMNS = ("id", "summary", "updated_at", "data_type", "data")


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is the editor's, else None."""
    if peek.is_folder:
        return None
    if peek.opening == "{":
        return THREAD if "messages" in peek.keys and any(map(_is_thread, peek.records)) else None
    return DATABASE if has_columns(peek, TABLE, _COLUMNS) else None


def _is_thread(record: dict[str, Any]) -> bool:
    messages = record.get("messages")
    if messages.__class__ is not list or not messages or record.get("version").__class__ is not str:
        return False
    return all(map(_is_message, messages)) or ("summary" in record and all(map(_is_old_message, messages)))


def _is_message(message: Any) -> bool:
    """Whether a message has one key, its form, as Rust writes values of an enumeration."""
    if message == RESUME:
        return True
    return message.__class__ is dict and len(message) == 1 and next(iter(message)) in FORMS


def _is_old_message(message: Any) -> bool:
    return message.__class__ is dict and message.get("segments").__class__ is list
