"""Values as the editor writes them: JSON in columns and strings, paths of files, empty fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def decode_object(raw: Any, note: Notes, where: str) -> dict[str, Any] | None:
    """Decode the object in a column; None if deleted (null); None and a note if it is not an object."""
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


def load_json(file: Input, note: Notes) -> Any:
    """Load a small JSON file; None, and a note, if it cannot be read."""
    try:
        value = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    return None if value is json_stream.BAD else value


def parse_json(text: Any) -> Any:
    """Parse the object or list in a JSON string; None if there is none."""
    if not isinstance(text, str) or text[:1] not in {"{", "["}:
        return None
    try:
        return msgspec.json.decode(text)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def nonempty_fields(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are not empty: a record has dozens of empty lists, objects and texts."""
    return {name: value for name, value in fields.items() if value or value == 0}


def nonempty_text(bag: dict[str, Any], name: str) -> str | None:
    """Return the text of a field; None if it is missing or empty."""
    return nonempty_str(bag.get(name))


def path_of(uri: Any) -> str | None:
    """Return the path of a URI, which is a string or an object with its components."""
    if isinstance(uri, dict):
        for name in ("fsPath", "path", "external", "_fsPath"):
            if isinstance(value := uri.get(name), str) and value:
                return path_of(value) if "://" in value else _strip_drive_slash(value, uri.get("scheme"))
        return None
    if not isinstance(uri, str) or not uri:
        return None
    scheme, separator, rest = uri.partition("://")
    if not separator:
        return uri
    # The path begins after the host: that of a remote machine, or none.
    return _strip_drive_slash(unquote("/" + rest.partition("/")[2]), scheme)


def _strip_drive_slash(path: str, scheme: Any) -> str:
    """Remove the slash that a URI has in front of a Windows drive: `/c:/x` is `c:/x`."""
    is_drive = scheme == "file" and path[:1] == "/" and path[1:2].isalpha() and path[2:3] == ":"
    return path[1:] if is_drive else path
