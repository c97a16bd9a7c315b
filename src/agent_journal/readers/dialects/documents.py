"""Files that are one document: a JSON object, of which the beginning is read if its end is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.text_encoding import utf8
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input


def load_document(source: Input, note: Notes) -> Fields:
    """Return the fields of the document that a file is."""
    value = json_stream.load(source, note)
    if value is json_stream.BAD:
        value = _beginning(source)
    if value.__class__ is not dict:
        raise UnreadableSource(source.label, "it is no document with fields")
    return Fields(value, note, "")


def load_companion(file: Input | None, note: Notes, where: str) -> Fields:
    """Return the fields of a document next to a conversation; none if it is missing or cannot be read."""
    value: Any = {}
    if file is not None:
        about = note.about(file.label)
        try:
            value = json_stream.load(file, about)
        except UnreadableSource as error:
            about(Kind.UNREADABLE_FILE, "", error.reason)
    return Fields(value if value.__class__ is dict else {}, note, where)


def _beginning(source: Input) -> Any:
    """Return what a document has before it breaks off."""
    with utf8(source) as stream:
        data = stream.read(json_stream.MAX_RECORD_BYTES)
    return json_stream.decode(json_stream.repaired(data), Notes(keep=0), "")
