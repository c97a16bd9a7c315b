"""Workspaces: the folder that a window was opened on, and the chats in its own database."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.cursor.detect import CHAT_LIST
from agent_journal.readers.cursor.rows import ITEMS, Rows
from agent_journal.readers.cursor.values import decode_object, load_json, path_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

_STORAGE, _DATABASE, _WORKSPACE_FILE = "workspaceStorage", "state.vscdb", "workspace.json"


class Workspaces:
    """The workspace folders next to the folder of the shared database."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._note = note

    def load_own(self) -> Bag:
        """Load `workspace.json` next to the database; empty if the database is not that of one window."""
        return _load_workspace(self._source.companion(_WORKSPACE_FILE), self._note)

    def load(self, workspace_id: Any) -> Bag:
        """Load the `workspace.json` of a window by its id."""
        if not isinstance(workspace_id, str) or not workspace_id:
            return {}
        return _load_workspace(
            self._source.companion("..", _STORAGE, workspace_id, _WORKSPACE_FILE), self._note
        )

    @cached_property
    def list_entries(self) -> dict[str, tuple[Bag, Bag]]:
        """The workspace and list entry of each chat in the windows' own databases (until Cursor 3)."""
        entries: dict[str, tuple[Bag, Bag]] = {}
        for folder in self._folders():
            workspace = _load_workspace(folder.companion(_WORKSPACE_FILE), self._note)
            for chat_id, entry in self._read_chat_list(folder).items():
                entries.setdefault(chat_id, (workspace, entry))
        return entries

    def _folders(self) -> Iterator[Input]:
        try:
            yield from (child for child in self._source.companions("..", _STORAGE) if child.is_folder)
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)

    def _read_chat_list(self, folder: Input) -> dict[str, Bag]:
        file = folder.companion(_DATABASE)
        if file is None:
            return {}
        note = self._note.about(file.label)
        try:
            with sqlite_copy.opened(file) as opened:
                return read_chat_list(Rows(opened, ITEMS, note), CHAT_LIST, note)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)
            return {}


def read_chat_list(items: Rows, key: str, note: Notes) -> dict[str, Bag]:
    """Return the entry of each chat in a chat list, by id; some entries have only an id."""
    listed = decode_object(items.value(key), note, key) or {}
    composers, selected = listed.get("allComposers"), listed.get("selectedComposerIds")
    entries: dict[str, Bag] = {}
    for entry in composers if isinstance(composers, list) else ():
        if isinstance(entry, dict) and isinstance(chat_id := entry.get("composerId"), str):
            entries[chat_id] = entry
    for chat_id in selected if isinstance(selected, list) else ():
        if isinstance(chat_id, str):
            entries.setdefault(chat_id, {})
    return entries


def workspace_folder(workspace: Bag) -> str | None:
    """Return the folder a window was opened on; None if it was opened on several folders."""
    return path_of(workspace.get("folder"))


def _load_workspace(file: Input | None, note: Notes) -> Bag:
    value = None if file is None else load_json(file, note)
    return value if isinstance(value, dict) else {}
