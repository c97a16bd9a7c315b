"""Texts of files in an export, as users write them and attach them to a message."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

MAX_TEXT_BYTES = 2_000_000
_TEXT_TYPES = ("text/", "application/json")


def is_text(mime: str | None) -> bool:
    """Return whether a media type is readable as text."""
    return (mime or "").startswith(_TEXT_TYPES)


def read_text(file: Input, note: Notes) -> str | None:
    """Return the text of a file; None if it is too long to be hand-written or not UTF-8."""
    try:
        with file.open() as stream:
            return decode_text(stream.read(MAX_TEXT_BYTES + 1))
    except UnreadableSource as error:
        # The file is listed anyway; an export archived before texts were read lacks it.
        note.add(Kind.IGNORED_FILE, error.where, "", f"its text cannot be read: {error.reason}")
        return None


def decode_text(content: bytes) -> str | None:
    """Decode bytes as a text that a user may have written; None if they are not such a text."""
    if len(content) > MAX_TEXT_BYTES or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig") or None
    except UnicodeDecodeError:
        return None
