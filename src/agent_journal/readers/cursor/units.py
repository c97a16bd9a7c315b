"""What is in a file, by the form it has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import Message
from agent_journal.notes import Kind
from agent_journal.readers.cursor import duplicates, plain_transcript, transcript
from agent_journal.readers.cursor.names import CLI, IDE, TRANSCRIPT_TEXT
from agent_journal.readers.cursor.state import State
from agent_journal.readers.cursor.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes


def conversations(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Every chat in a file."""
    if version == IDE:
        with sqlite_copy.opened(source) as opened:
            yield from State(opened, source, note).conversations()
    elif version == CLI:
        with sqlite_copy.opened(source) as opened:
            yield Store(opened, source, note).conversation()
    else:
        yield from _of_transcript(source, version, note)


def _of_transcript(source: Source, version: str, note: Notes) -> Iterator[Item]:
    chat_id = transcript.chat_id_of(source)
    if (why := _told_elsewhere(source, version, chat_id)) is not None:
        note(Kind.IGNORED_FILE, "", why)
        return
    is_text = version == TRANSCRIPT_TEXT
    entries = (plain_transcript if is_text else transcript).entries_in(source, chat_id, note)
    if not any(isinstance(entry, Message) for entry in entries):
        raise UnreadableSource(source.label, "nobody says anything in it")
    yield transcript.conversation(source, entries, chat_id)


def _told_elsewhere(source: Source, version: str, chat_id: str | None) -> str | None:
    if chat_id is None:
        return None
    if version == TRANSCRIPT_TEXT:
        lines = f"{chat_id}.jsonl"
        if source.companion(lines) is not None or source.companion(chat_id, lines) is not None:
            return "the same transcript lies beside it as JSON Lines, which tell more"
    return duplicates.richer(source, chat_id)
