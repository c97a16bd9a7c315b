"""`workspace.yaml`, which lies beside a session's events: where the session is, and what it is called.

A file that says more than its values tell, as remarks do, is also kept as the text it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import yaml_text
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_LARGEST = 1 << 20


def values_and_text(source: Source, name: str, note: Notes) -> tuple[dict[str, Any], str | None]:
    """The values in a file beside the source, and its whole text if the values are not all."""
    file, text = source.companion(name), text_beside(source, name, note)
    if file is None or text is None:
        return {}, None
    found, is_whole = parsed(text, note, file.label)
    return found, None if is_whole else text


def text_beside(source: Source, name: str, note: Notes) -> str | None:
    """The text of a file beside the source, if there is one."""
    file = source.companion(name)
    if file is None:
        return None
    try:
        with file.open() as stream:
            data = stream.read(_LARGEST + 1)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    if len(data) > _LARGEST:
        note.add(Kind.TOO_LARGE, file.label, "", f"more than {_LARGEST:,} bytes")
        return None
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        note.add(Kind.BAD_ENCODING, file.label, "", "not UTF-8")
        return data.decode("utf-8", "replace")


def parsed(text: str, note: Notes, label: str) -> tuple[dict[str, Any], bool]:
    """The values that are stated, and whether that is all there is."""
    value = yaml_text.loads(text, note, label) if text.strip() else {}
    if not isinstance(value, dict):
        return {}, False
    # A remark is no value, and of a key that is there twice only one is.
    is_whole = "#" not in text and len(value) == sum(map(_begins_value, text.split("\n")))
    return {key: stated for key, stated in value.items() if stated is not None}, is_whole


def _begins_value(line: str) -> bool:
    return bool(line.strip()) and line[0] not in " \t-"
