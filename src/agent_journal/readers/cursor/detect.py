"""Detection: by tables and keys, by the shape of lines, by markers in a text."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.cursor.names import CLI, IDE, TRANSCRIPT, TRANSCRIPT_TEXT

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

# Keys in the editor's state that only Cursor's chats have.
TABS_KEY = "workbench.panel.aichat.view.aichat.chatdata"
CHAT_LIST = "composer.composerData"
_OWN_KEYS = (TABS_KEY, CHAT_LIST, "composer.composerHeaders", "aiService.prompts", "aiService.generations")

_ROLES = ("user", "assistant")
_MARKERS = (b"<user_query>", b"\n[Tool call] ", b"\n[Tool result]", b"\n[Thinking]")
_FOLDER = "agent-transcripts/"


def detect_version(peek: Peek) -> str | None:
    """The form if the input is the source's, else None."""
    if peek.is_folder:
        return None
    if peek.raw.startswith(b"SQLite format 3\0"):
        return _detect_database(peek)
    if peek.opening == "{":
        is_transcript = {"role", "message"} <= peek.keys and _are_transcript_lines(peek.records)
        return TRANSCRIPT if is_transcript else None
    return TRANSCRIPT_TEXT if peek.opening in ("u", "a") and _is_text_transcript(peek) else None


def _detect_database(peek: Peek) -> str | None:
    tables = peek.tables
    if "cursorDiskKV" in tables:
        return IDE
    if "ItemTable" in tables:
        placeholders = ", ".join("?" * len(_OWN_KEYS))
        rows = peek.query(f"SELECT 1 FROM ItemTable WHERE key IN ({placeholders}) LIMIT 1", *_OWN_KEYS)  # noqa: S608
        return IDE if rows else None
    if {"blobs", "meta"} <= tables:
        return CLI if any(_is_meta(value) for (value,) in peek.query(META)) else None
    return None


META = "SELECT value FROM meta WHERE key = '0'"


def _is_meta(value: Any) -> bool:
    """Whether a value is the metadata of a chat: JSON, encoded in hexadecimal digits."""
    text = decode_meta(value)
    return b'"agentId"' in text or b'"latestRootBlobId"' in text


def decode_meta(value: Any) -> bytes:
    """Decode the JSON of a chat's metadata; empty if it is not metadata."""
    data = value.encode("ascii", "replace") if isinstance(value, str) else value
    if not isinstance(data, bytes):
        return b""
    if data[:1] == b"{":
        return data
    try:
        return bytes.fromhex(data.decode("ascii"))
    except ValueError:
        return b""


def _are_transcript_lines(records: tuple[dict[str, Any], ...]) -> bool:
    """Whether the role is next to the message: other tools have it inside, or use an envelope."""
    return any(_is_transcript_line(record) for record in records) and not any(
        "uuid" in record for record in records
    )


def _is_transcript_line(record: dict[str, Any]) -> bool:
    message = record.get("message")
    if record.get("role") not in _ROLES or not isinstance(message, dict) or "type" in record:
        return False
    return "content" in message and "role" not in message


def _is_text_transcript(peek: Peek) -> bool:
    """Whether the first line is only a role, followed by a marker that only transcripts have."""
    text = peek.head.lstrip().replace(b"\r\n", b"\n")
    if not text.startswith((b"user:\n", b"assistant:\n")):
        return False
    return any(marker in text for marker in _MARKERS) or _FOLDER in peek.path
