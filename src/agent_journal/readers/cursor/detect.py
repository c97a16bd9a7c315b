"""How the source's files are told: by tables and keys, by the form of lines, by marks in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.cursor.names import CLI, IDE, TRANSCRIPT, TRANSCRIPT_TEXT

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

# Keys of the editor's own state that only this editor's chats have.
TABS = "workbench.panel.aichat.view.aichat.chatdata"
HEADS = "composer.composerData"
_OWN_KEYS = (TABS, HEADS, "composer.composerHeaders", "aiService.prompts", "aiService.generations")

_SPEAKERS = ("user", "assistant")
_MARKERS = (b"<user_query>", b"\n[Tool call] ", b"\n[Tool result]", b"\n[Thinking]")
_FOLDER = "agent-transcripts/"


def version_of(peek: Peek) -> str | None:
    """The form if the input is the source's, else None."""
    if peek.is_folder:
        return None
    if peek.raw.startswith(b"SQLite format 3\0"):
        return _of_database(peek)
    if peek.opening == "{":
        is_ours = {"role", "message"} <= peek.keys and _are_lines(peek.records)
        return TRANSCRIPT if is_ours else None
    return TRANSCRIPT_TEXT if peek.opening in ("u", "a") and _is_text(peek) else None


def _of_database(peek: Peek) -> str | None:
    tables = peek.tables
    if "cursorDiskKV" in tables:
        return IDE
    if "ItemTable" in tables:
        asked = ", ".join("?" * len(_OWN_KEYS))
        found = peek.query(f"SELECT 1 FROM ItemTable WHERE key IN ({asked}) LIMIT 1", *_OWN_KEYS)  # noqa: S608
        return IDE if found else None
    if {"blobs", "meta"} <= tables:
        return CLI if any(_is_head(value) for (value,) in peek.query(META)) else None
    return None


META = "SELECT value FROM meta WHERE key = '0'"


def _is_head(value: Any) -> bool:
    """Whether a value is a chat's head: JSON, written in hexadecimal digits."""
    text = decoded_head(value)
    return b'"agentId"' in text or b'"latestRootBlobId"' in text


def decoded_head(value: Any) -> bytes:
    """The JSON of a head; nothing if it is none."""
    data = value.encode("ascii", "replace") if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return b""
    if data[:1] == b"{":
        return data
    try:
        return bytes.fromhex(data.decode("ascii"))
    except ValueError:
        return b""


def _are_lines(records: tuple[dict[str, Any], ...]) -> bool:
    """A speaker beside a message that names none: other tools name him inside, or have an envelope."""
    return any(_is_line(record) for record in records) and not any("uuid" in record for record in records)


def _is_line(record: dict[str, Any]) -> bool:
    message = record.get("message")
    if record.get("role") not in _SPEAKERS or not isinstance(message, dict) or "type" in record:
        return False
    return "content" in message and "role" not in message


def _is_text(peek: Peek) -> bool:
    """A first line with nothing but a speaker, then what only a transcript has."""
    text = peek.head.lstrip().replace(b"\r\n", b"\n")
    if not text.startswith((b"user:\n", b"assistant:\n")):
        return False
    return any(marker in text for marker in _MARKERS) or _FOLDER in peek.path
