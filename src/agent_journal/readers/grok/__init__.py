"""Grok: the export of an xAI account as a zip, a folder or its main file; chats in an archive of X."""

from __future__ import annotations

import io
from itertools import islice
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.notes import Notes
from agent_journal.readers import ReaderInfo
from agent_journal.readers.grok.names import (
    ASSETS,
    BILLING,
    CHATS,
    MAIN,
    PROFILE,
    SCRIPT,
    SECTIONS,
    SOURCE,
    TOOL_KINDS,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item

_X_ARCHIVE = "x-archive"
INFO = ReaderInfo(
    name=SOURCE,
    title="Grok",
    category="chat apps",
    versions=("2026", "2025", _X_ARCHIVE),
    revision=6,
    names={"pam": "grok", "record": "grok"},
    companions=(f"*/{PROFILE}", f"*/{BILLING}", f"*/{ASSETS}/*"),
    tool_kinds=TOOL_KINDS,
    evidence="exports from June 2025 to July 2026 as several open-source readers and the Portable AI Memory "
    "field mappings describe them, one sample of 2025, one of an X archive; the vendor documents nothing; "
    "verified November 2026",
)
# A file with so many of an export's sections is one, even without conversations.
_MIN_SECTIONS = 3


def sniff(peek: Peek) -> str | None:
    """Claim conversations with their responses, the folder of an export, and chat items of X."""
    if not peek.is_folder:
        return _X_ARCHIVE if SCRIPT.match(peek.head) else _version(peek)
    if MAIN in peek.members:
        main = peek.member(MAIN)
        version = None if main is None else _version(main)
        return version or ("2026" if not {PROFILE, BILLING}.isdisjoint(peek.members) else None)
    chats = [name for name in peek.members if CHATS.fullmatch(name)]
    parts = (part for name in chats if (part := peek.member(name)) is not None)
    return _X_ARCHIVE if any(SCRIPT.match(part.head) for part in parts) else None


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the account, each conversation, and the other records of an export."""
    if version == _X_ARCHIVE:
        from agent_journal.readers.grok.x_archive import read_archive  # noqa: PLC0415 (only reading needs it)

        return read_archive(source, note)
    from agent_journal.readers.grok.assets import Assets  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.grok.export import read_file, read_folder  # noqa: PLC0415 (only reading needs it)

    return read_folder(source, note) if source.is_folder else read_file(source, Assets(), note)


def _version(file: Peek) -> str | None:
    """Get the version: `2025` if a conversation or response has the id fields of that year."""
    if file.keys and SECTIONS.isdisjoint(file.keys):
        return None
    value = file.value if file.value is not None else _damaged_value(file)
    if not isinstance(value, dict) or SECTIONS.isdisjoint(value):
        return None
    conversations = value.get("conversations")
    entries = (
        [entry for entry in conversations if _is_conversation(entry)]
        if isinstance(conversations, list)
        else []
    )
    if entries:
        return "2025" if any(_is_of_2025(entry) for entry in entries) else "2026"
    sections = [name for name in SECTIONS if isinstance(value.get(name), list)]
    return "2026" if len(sections) >= _MIN_SECTIONS and not conversations else None


def _damaged_value(file: Peek) -> dict[str, Any] | None:
    """Get the first conversation of a file that is not valid JSON, as the file's value."""
    if file.opening != "{" or b'"responses"' not in file.head:
        return None
    conversations = json_stream.elements_in(io.BytesIO(file.head), Notes(), "conversations")
    return {"conversations": [value for _, value in islice(conversations, 1)]}


def _is_conversation(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("responses"), list)
        and (
            isinstance(entry.get("conversation"), dict)
            or any(_has_response(response) for response in entry["responses"])
        )
    )


def _has_response(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("response"), dict)


def _is_of_2025(entry: dict[str, Any]) -> bool:
    conversation = entry.get("conversation")
    if isinstance(conversation, dict) and "id" in conversation:
        return False
    responses = (
        entry_response["response"] for entry_response in entry["responses"] if _has_response(entry_response)
    )
    return (isinstance(conversation, dict) and "conversation_id" in conversation) or any(
        "response_id" in entry_response for entry_response in responses
    )
