"""Where chats were held: the folder a window was opened on, and what its own database says of them."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.notes import Kind
from agent_journal.readers.cursor.detect import HEADS
from agent_journal.readers.cursor.rows import ITEMS, Rows
from agent_journal.readers.cursor.values import loaded, path_of, record

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

_STORAGE, _DATABASE, _PLACE = "workspaceStorage", "state.vscdb", "workspace.json"


class Workspaces:
    """The folders beside the one of the database that all windows share."""

    def __init__(self, source: Source, note: Notes) -> None:
        self._source = source
        self._note = note

    def own(self) -> Bag:
        """What `workspace.json` beside the database says; nothing if it is not one window's database."""
        return _place(self._source.companion(_PLACE), self._note)

    def place(self, workspace_id: Any) -> Bag:
        """What is known of a window's place, by its id."""
        if not isinstance(workspace_id, str) or not workspace_id:
            return {}
        return _place(self._source.companion("..", _STORAGE, workspace_id, _PLACE), self._note)

    @cached_property
    def heads(self) -> dict[str, tuple[Bag, Bag]]:
        """The place and the head of each chat that some window's own database knows (until Cursor 3)."""
        found: dict[str, tuple[Bag, Bag]] = {}
        for workspace in self._windows():
            place = _place(workspace.companion(_PLACE), self._note)
            for chat_id, head in self._heads_in(workspace).items():
                found.setdefault(chat_id, (place, head))
        return found

    def _windows(self) -> Iterator[Source]:
        try:
            yield from (child for child in self._source.companions("..", _STORAGE) if child.is_folder)
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)

    def _heads_in(self, workspace: Source) -> dict[str, Bag]:
        file = workspace.companion(_DATABASE)
        if file is None:
            return {}
        note = self._note.about(file.label)
        try:
            with sqlite_copy.opened(file) as opened:
                return heads_in(Rows(opened, ITEMS, note), HEADS, note)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)
            return {}


def heads_in(items: Rows, key: str, note: Notes) -> dict[str, Bag]:
    """The head of each chat in a list of them, by its id; of some only the id is known."""
    listed = record(items.value(key), note, key) or {}
    heads, chosen = listed.get("allComposers"), listed.get("selectedComposerIds")
    found: dict[str, Bag] = {}
    for head in heads if isinstance(heads, list) else ():
        if isinstance(head, dict) and isinstance(chat_id := head.get("composerId"), str):
            found[chat_id] = head
    for chat_id in chosen if isinstance(chosen, list) else ():
        if isinstance(chat_id, str):
            found.setdefault(chat_id, {})
    return found


def folder_in(place: Bag) -> str | None:
    """The one folder a window was opened on; one opened on a list of folders has none."""
    return path_of(place.get("folder"))


def _place(file: Source | None, note: Notes) -> Bag:
    value = None if file is None else loaded(file, note)
    return value if isinstance(value, dict) else {}
