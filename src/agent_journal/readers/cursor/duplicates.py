"""Transcripts are copies: whether the same chat lies on this machine in a form that tells more."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.inputs.input import Member

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source

_FOLDER, _PROJECTS, _CHATS, _ACP = "agent-transcripts", "projects", "chats", "acp-sessions"
_STATE = ("Cursor", "User", "globalStorage", "state.vscdb")
# Below a person's folder, on Linux, macOS and Windows.
_EDITORS = ((".config",), ("Library", "Application Support"), ("AppData", "Roaming"))
_HAS_BUBBLES = "SELECT 1 FROM cursorDiskKV WHERE key >= ? AND key < ? LIMIT 1"


def richer(source: Source, chat_id: str) -> str | None:
    """Where the same chat lies with ids, times and results, in words; None if this is all there is."""
    steps = source.label.replace("\\", "/").split("/")
    if _FOLDER not in steps:
        return None
    place = len(steps) - 1 - steps[::-1].index(_FOLDER)
    if place < 2 or steps[place - 2] != _PROJECTS:  # noqa: PLR2004 (projects, one of them, its transcripts)
        return None
    up = [".."] * (len(steps) - place + 1)
    if _is_in_chats(source, up, chat_id):
        return "the same chat is in store.db"
    if any(_is_in_editor(source.companion(*up, "..", *home, *_STATE), chat_id) for home in _EDITORS):
        return "the same chat is in the editor's state.vscdb"
    return None


def _is_in_chats(source: Source, up: list[str], chat_id: str) -> bool:
    """Folders of chats are called by a hash of the folder that was worked in; other editors' have none."""
    if source.companion(*up, _ACP, chat_id, "store.db") is not None:
        return True
    try:
        folders = [child for child in source.companions(*up, _CHATS) if child.is_folder]
    except UnreadableSource:
        return False
    return any(folder.companion(chat_id, "store.db") is not None for folder in folders)


def _is_in_editor(state: Source | None, chat_id: str) -> bool:
    """What lies in a zip is not asked: it would have to be copied for that."""
    if state is None or isinstance(state, Member):
        return False
    try:
        with sqlite_copy.glanced(state) as opened:
            return any(opened.rows(_HAS_BUBBLES, f"bubbleId:{chat_id}:", f"bubbleId:{chat_id};"))
    except UnreadableSource:
        return False
