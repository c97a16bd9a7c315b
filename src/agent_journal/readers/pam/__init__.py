"""Portable AI Memory: a bundle as a folder or zip, one conversation of it, or a memory store alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.pam.names import CONVERSATION, SCHEMAS, SOURCE, STORE, STORE_FILE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="Portable AI Memory",
    category="datasets",
    versions=("1.0",),
    revision=3,
    undercounts="only the tokens of answers are counted, not what was sent",
    evidence="the specification, JSON Schemas and examples of version 1.0, February 2026, and its Python SDK "
    "1.0.0; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim objects whose `schema` is one of the format's, and a folder that contains a memory store."""
    if peek.is_folder:
        store = peek.member(STORE_FILE)
        return "1.0" if store is not None and _schema(store) == STORE else None
    return "1.0" if _schema(peek) is not None else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (one version)
    """Yield memories and conversations, in the order in which they were written."""
    from agent_journal.detection.peek import Peek  # noqa: PLC0415 (imported when something is read)
    from agent_journal.readers.pam import bundle  # noqa: PLC0415 (imported when something is read)

    if source.is_folder:
        return bundle.read_folder(source, note)
    schema = _schema(Peek(source))
    if schema == CONVERSATION:
        return bundle.read_conversation_file(source, note)
    if schema == STORE:
        return bundle.read_store_file(source, note)
    return bundle.ignore_embeddings(source, note)


def _schema(file: Peek) -> str | None:
    """Get the schema that a file names, if it is one of the format's."""
    if "schema" not in file.keys or file.opening != "{":
        return None
    stated = file.records[0].get("schema")
    return stated if isinstance(stated, str) and stated in SCHEMAS else None
