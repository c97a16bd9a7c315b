"""Values as the editor writes them: JSON in columns and in strings, places of files, empty fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import words
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes


def record(raw: Any, note: Notes, where: str) -> dict[str, Any] | None:
    """The object that a column holds; None for a deleted one (null), and, noted, for what is no object."""
    if raw is None:
        return None
    data = raw.encode("utf-8", "replace") if isinstance(raw, str) else raw
    if not isinstance(data, bytes):
        note(Kind.BAD_RECORD, where, f"the row holds {type(raw).__name__}, expected JSON")
        return None
    value = json_stream.decode(data, note, where)
    if value is None or value is json_stream.BAD:
        return None
    if not isinstance(value, dict):
        note(Kind.BAD_RECORD, where, f"the row holds {type(value).__name__}, expected an object")
        return None
    return value


def loaded(file: Source, note: Notes) -> Any:
    """The value in a small file of JSON; None, noted, if it cannot be read."""
    try:
        value = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    return None if value is json_stream.BAD else value


def parsed(text: Any) -> Any:
    """The object or list in a string of JSON; None if there is none in it."""
    if not isinstance(text, str) or text[:1] not in {"{", "["}:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def said(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields that say something: a record has dozens of empty lists, objects and texts."""
    return {name: value for name, value in fields.items() if value or value == 0}


def text_in(bag: dict[str, Any], name: str) -> str | None:
    """The text under a name; None if there is none, or nothing in it."""
    return words(bag.get(name))


def path_of(uri: Any) -> str | None:
    """The path that a URI means, be it a text or an object with its components."""
    if isinstance(uri, dict):
        for name in ("fsPath", "path", "external", "_fsPath"):
            if isinstance(value := uri.get(name), str) and value:
                return path_of(value) if "://" in value else _of_drive(value, uri.get("scheme"))
        return None
    if not isinstance(uri, str) or not uri:
        return None
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return uri
    # The path begins behind the host: that of a machine far away, or none.
    return _of_drive(unquote("/" + rest.partition("/")[2]), scheme)


def _of_drive(path: str, scheme: Any) -> str:
    """A path without what a URI puts before a drive of Windows: `/c:/x` is `c:/x`."""
    is_drive = scheme == "file" and path[:1] == "/" and path[1:2].isalpha() and path[2:3] == ":"
    return path[1:] if is_drive else path
