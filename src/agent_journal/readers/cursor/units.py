"""Read a file according to its form.

Transcripts are copies: one is skipped if the same chat is on this machine in a more detailed form.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.input import Member
from agent_journal.model import Message
from agent_journal.notes import Kind
from agent_journal.readers.cursor import plain_transcript, transcript
from agent_journal.readers.cursor.names import CLI, IDE, TRANSCRIPT_TEXT
from agent_journal.readers.cursor.state import State
from agent_journal.readers.cursor.store import Store

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_FOLDER, _PROJECTS, _CHATS, _ACP = "agent-transcripts", "projects", "chats", "acp-sessions"
_STATE = ("Cursor", "User", "globalStorage", "state.vscdb")
# In the home directory, on Linux, macOS and Windows.
_EDITORS = ((".config",), ("Library", "Application Support"), ("AppData", "Roaming"))
_HAS_BUBBLES = "SELECT 1 FROM cursorDiskKV WHERE key >= ? AND key < ? LIMIT 1"


def read_unit(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield every chat of a file."""
    if version == IDE:
        with sqlite_copy.opened(source) as opened:
            yield from State(opened, source, note).conversations()
    elif version == CLI:
        with sqlite_copy.opened(source) as opened:
            yield Store(opened, source, note).conversation()
    else:
        yield from _read_transcript(source, version, note)


def _read_transcript(source: Input, version: str, note: Notes) -> Iterator[Item]:
    chat_id = transcript.chat_id_of(source)
    if (reason := _duplicate_reason(source, version, chat_id)) is not None:
        note(Kind.IGNORED_FILE, "", reason)
        return
    is_text = version == TRANSCRIPT_TEXT
    entries = (plain_transcript if is_text else transcript).read_entries(source, chat_id, note)
    if not any(isinstance(entry, Message) for entry in entries):
        raise UnreadableSource(source.label, "it contains no messages")
    yield transcript.make_conversation(source, entries, chat_id)


def _duplicate_reason(source: Input, version: str, chat_id: str | None) -> str | None:
    if chat_id is None:
        return None
    if version == TRANSCRIPT_TEXT:
        lines = f"{chat_id}.jsonl"
        if source.companion(lines) is not None or source.companion(chat_id, lines) is not None:
            return "the same transcript is next to it as JSON Lines, which is more detailed"
    return _find_original(source, chat_id)


def _find_original(source: Input, chat_id: str) -> str | None:
    """Describe where the same chat is with ids, times and results; None if there is only the transcript."""
    path = source.label.replace("\\", "/").split("/")
    if _FOLDER not in path:
        return None
    index = len(path) - 1 - path[::-1].index(_FOLDER)
    if index < 2 or path[index - 2] != _PROJECTS:  # noqa: PLR2004 (projects/<project>/agent-transcripts)
        return None
    up = [".."] * (len(path) - index + 1)
    if _is_in_chats(source, up, chat_id):
        return "the same chat is in store.db"
    if any(_is_in_editor(source.companion(*up, "..", *home, *_STATE), chat_id) for home in _EDITORS):
        return "the same chat is in the editor's state.vscdb"
    return None


def _is_in_chats(source: Input, up: list[str], chat_id: str) -> bool:
    """Whether there is a store of the chat: below a hash of its working directory, or in an ACP folder."""
    if source.companion(*up, _ACP, chat_id, "store.db") is not None:
        return True
    try:
        folders = [child for child in source.companions(*up, _CHATS) if child.is_folder]
    except UnreadableSource:
        return False
    return any(folder.companion(chat_id, "store.db") is not None for folder in folders)


def _is_in_editor(state: Input | None, chat_id: str) -> bool:
    """Whether the editor's database has the chat; not checked in a zip, as that would need a copy."""
    if state is None or isinstance(state, Member):
        return False
    try:
        with sqlite_copy.glanced(state) as opened:
            return any(opened.rows(_HAS_BUBBLES, f"bubbleId:{chat_id}:", f"bubbleId:{chat_id};"))
    except UnreadableSource:
        return False
