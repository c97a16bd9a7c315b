"""Transcripts are copies: find the same chat on this machine in a more detailed form."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.input import Member

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source

_FOLDER, _PROJECTS, _CHATS, _ACP = "agent-transcripts", "projects", "chats", "acp-sessions"
_STATE = ("Cursor", "User", "globalStorage", "state.vscdb")
# In the home directory, on Linux, macOS and Windows.
_EDITORS = ((".config",), ("Library", "Application Support"), ("AppData", "Roaming"))
_HAS_BUBBLES = "SELECT 1 FROM cursorDiskKV WHERE key >= ? AND key < ? LIMIT 1"


def find_original(source: Source, chat_id: str) -> str | None:
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


def _is_in_chats(source: Source, up: list[str], chat_id: str) -> bool:
    """Whether there is a store of the chat: below a hash of its working directory, or in an ACP folder."""
    if source.companion(*up, _ACP, chat_id, "store.db") is not None:
        return True
    try:
        folders = [child for child in source.companions(*up, _CHATS) if child.is_folder]
    except UnreadableSource:
        return False
    return any(folder.companion(chat_id, "store.db") is not None for folder in folders)


def _is_in_editor(state: Source | None, chat_id: str) -> bool:
    """Whether the editor's database has the chat; not checked in a zip, as that would need a copy."""
    if state is None or isinstance(state, Member):
        return False
    try:
        with sqlite_copy.glanced(state) as opened:
            return any(opened.rows(_HAS_BUBBLES, f"bubbleId:{chat_id}:", f"bubbleId:{chat_id};"))
    except UnreadableSource:
        return False
