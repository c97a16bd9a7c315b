"""The texts of files that lie in an export: those that somebody may have written and gave to a model."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

LONGEST = 2_000_000  # bytes
_KINDS = ("text/", "application/json")


def is_text(mime: str | None) -> bool:
    """Whether a file of this type can be read as it is."""
    return (mime or "").startswith(_KINDS)


def written(file: Source, note: Notes) -> str | None:
    """The text that a file is; None of what is too long to have been written, or no UTF-8."""
    try:
        with file.open() as stream:
            return as_text(stream.read(LONGEST + 1))
    except UnreadableSource as error:
        # It is named all the same; an export that was kept before texts were read lacks it.
        note.add(Kind.IGNORED_FILE, error.where, "", f"its text is not told: {error.reason}")
        return None


def as_text(content: bytes) -> str | None:
    """Bytes as a text that somebody may have written; None if they are none."""
    if len(content) > LONGEST or b"\0" in content:
        return None
    try:
        return content.decode("utf-8-sig") or None
    except UnicodeDecodeError:
        return None
