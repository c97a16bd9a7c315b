"""`workspace.yaml` next to a session's events: the folder and the name of the session.

A file with more than its values, such as comments, is also stored as text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import yaml_text
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_MAX_FILE_BYTES = 1 << 20


def values_and_text(source: Input, name: str, note: Notes) -> tuple[dict[str, Any], str | None]:
    """Return the values of a companion file, and its text if it has more than the values."""
    file, text = source.companion(name), companion_text(source, name, note)
    if file is None or text is None:
        return {}, None
    values, is_complete = parsed(text, note, file.label)
    return values, None if is_complete else text


def companion_text(source: Input, name: str, note: Notes) -> str | None:
    """Return the text of a companion file, or None."""
    file = source.companion(name)
    if file is None:
        return None
    try:
        with file.open() as stream:
            data = stream.read(_MAX_FILE_BYTES + 1)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    if len(data) > _MAX_FILE_BYTES:
        note.add(Kind.TOO_LARGE, file.label, "", f"more than {_MAX_FILE_BYTES:,} bytes")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        note.add(Kind.BAD_ENCODING, file.label, "", "not UTF-8")
        return data.decode("utf-8", "replace")


def parsed(text: str, note: Notes, label: str) -> tuple[dict[str, Any], bool]:
    """Return the values of a text, and whether they are its entire content."""
    value = yaml_text.loads(text, note, label) if text.strip() else {}
    if not isinstance(value, dict):
        return {}, False
    # Comments and repeated keys are lost in the values.
    is_complete = "#" not in text and len(value) == sum(map(_starts_value, text.split("\n")))
    return {key: inner for key, inner in value.items() if inner is not None}, is_complete


def _starts_value(line: str) -> bool:
    return bool(line.strip()) and line[0] not in " \t-"
