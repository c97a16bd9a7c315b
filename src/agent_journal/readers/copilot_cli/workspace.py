"""`workspace.yaml`, which lies beside a session's events: where the session is, and what it is called.

Only YAML's plainest form is understood, one `key: value` to a line. A file that has more than that is also
kept as the text it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.source import Source

_LARGEST = 1 << 20
_NULLS = ("", "~", "null", "Null", "NULL")
# What begins a block, a list, an object, a reference or a tag.
_NOT_PLAIN = tuple("|>[{&*!%@`-?,]}#")


class Unplain(ValueError):
    """A value in a form that is not understood."""


def values_and_text(source: Source, name: str, note: Notes) -> tuple[dict[str, str], str | None]:
    """The values in a file beside the source, and its whole text if the values are not all."""
    text = text_beside(source, name, note)
    if text is None:
        return {}, None
    found, is_whole = parsed(text)
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


def parsed(text: str) -> tuple[dict[str, str], bool]:
    """The values of plain lines, and whether that is all there is."""
    found: dict[str, str | None] = {}
    is_whole = True
    last = ""
    for line in text.replace("\r\n", "\n").split("\n"):
        if not line.strip():
            continue
        key, colon, value = line.partition(":")
        if not _is_key(key) or not colon or (value and not value.startswith(" ")):
            # A comment, or the value above goes on: then what it says so far is not all of it.
            is_whole = False
            found[last] = None if line[0].isspace() else found.get(last)
        elif key in found:
            is_whole = False
        else:
            last = key
            try:
                found[key] = _scalar(value.strip())
            except Unplain:
                is_whole, found[key] = False, None
    return {key: value for key, value in found.items() if value is not None}, is_whole


def _is_key(key: str) -> bool:
    return bool(key) and key.isascii() and key.replace("_", "").replace("-", "").isalnum()


def _scalar(value: str) -> str | None:
    if value.startswith('"'):
        return _double_quoted(value)
    if value.startswith("'"):
        inner = value[1:-1]
        if len(value) < 2 or not value.endswith("'") or "'" in inner.replace("''", ""):  # noqa: PLR2004 (two quotes)
            raise Unplain(value)
        return inner.replace("''", "'")
    if value.startswith(_NOT_PLAIN) and not value[1:].isdigit():
        raise Unplain(value)
    if " #" in value or ": " in value or value.endswith(":"):
        raise Unplain(value)
    return None if value in _NULLS else value


def _double_quoted(value: str) -> str:
    """The text in double quotes; JSON's escapes are YAML's most usual ones."""
    try:
        text: Any = msgspec.json.decode(value)
    except msgspec.DecodeError as error:
        raise Unplain(value) from error
    if not isinstance(text, str):
        raise Unplain(value)
    return text
