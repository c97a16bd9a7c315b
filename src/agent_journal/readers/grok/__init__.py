"""Grok: the export of an xAI account as a zip, a folder or its main file; the chats in an archive of X."""

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
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item

_X_ARCHIVE = "x-archive"
INFO = ReaderInfo(
    name=SOURCE,
    title="Grok",
    versions=("2026", "2025", _X_ARCHIVE),
    revision=6,
    names={"pam": "grok", "record": "grok"},
    companions=(f"*/{PROFILE}", f"*/{BILLING}", f"*/{ASSETS}/*"),
    tool_kinds=TOOL_KINDS,
    evidence="exports from June 2025 to July 2026 as described by several open readers of them and by the "
    "Portable AI Memory field mappings, one sample of 2025, one of an X archive; no documentation by the "
    "vendor; verified November 2026",
)
# So many of an export's sections make it one, also where it has no conversation.
_ENOUGH = 3


def sniff(peek: Peek) -> str | None:
    """Claim conversations wrapped with their responses, the folder of an export, and X's chat items."""
    if not peek.is_folder:
        return _X_ARCHIVE if SCRIPT.match(peek.head) else _version(peek)
    if MAIN in peek.members:
        main = peek.member(MAIN)
        seen = None if main is None else _version(main)
        return seen or ("2026" if not {PROFILE, BILLING}.isdisjoint(peek.members) else None)
    chats = [name for name in peek.members if CHATS.fullmatch(name)]
    parts = (part for name in chats if (part := peek.member(name)) is not None)
    return _X_ARCHIVE if any(SCRIPT.match(part.head) for part in parts) else None


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the account, each conversation, and what else the export holds."""
    if version == _X_ARCHIVE:
        from agent_journal.readers.grok.x_archive import read_archive  # noqa: PLC0415 (imported when something is read)

        return read_archive(source, note)
    from agent_journal.readers.grok.assets import Assets  # noqa: PLC0415 (imported when something is read)
    from agent_journal.readers.grok.export import read_file, read_folder  # noqa: PLC0415 (imported when something is read)

    return read_folder(source, note) if source.is_folder else read_file(source, Assets(), note)


def _version(file: Peek) -> str | None:
    """`2025` if a conversation or response calls its id as exports did then."""
    if file.keys and SECTIONS.isdisjoint(file.keys):
        return None
    value = file.value if file.value is not None else _of_damaged(file)
    if not isinstance(value, dict) or SECTIONS.isdisjoint(value):
        return None
    listed = value.get("conversations")
    entries = [entry for entry in listed if _is_conversation(entry)] if isinstance(listed, list) else []
    if entries:
        return "2025" if any(_is_old(entry) for entry in entries) else "2026"
    sections = [name for name in SECTIONS if isinstance(value.get(name), list)]
    return "2026" if len(sections) >= _ENOUGH and not listed else None


def _of_damaged(file: Peek) -> dict[str, Any] | None:
    """What a file that is not JSON as a whole seems to hold, told by its first conversation that is."""
    if file.opening != "{" or b'"responses"' not in file.head:
        return None
    found = json_stream.elements_in(io.BytesIO(file.head), Notes(), "conversations")
    return {"conversations": [value for _, value in islice(found, 1)]}


def _is_conversation(entry: Any) -> bool:
    return (
        isinstance(entry, dict)
        and isinstance(entry.get("responses"), list)
        and (
            isinstance(entry.get("conversation"), dict)
            or any(_has_response(each) for each in entry["responses"])
        )
    )


def _has_response(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("response"), dict)


def _is_old(entry: dict[str, Any]) -> bool:
    about = entry.get("conversation")
    if isinstance(about, dict) and "id" in about:
        return False
    inner = (each["response"] for each in entry["responses"] if _has_response(each))
    return (isinstance(about, dict) and "conversation_id" in about) or any(
        "response_id" in each for each in inner
    )
