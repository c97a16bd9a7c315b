"""The files of a task: in its folder, next to a single input file, and in the folders above."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.roo_code.detect import API, ITEM, METADATA, UI, file_kind
from agent_journal.readers.roo_code.fastpath import SHAPE
from agent_journal.readers.roo_code.names import (
    API_FILE,
    CONTEXT_FILE,
    EXTENSIONS,
    ITEM_FILE,
    METADATA_FILE,
    OLD_FILE,
    STANDALONE,
    UI_FILE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

CONTEXT = "context"
_NAMES = {API_FILE: API, UI_FILE: UI, ITEM_FILE: ITEM, METADATA_FILE: METADATA, CONTEXT_FILE: CONTEXT}
# Indexes of all tasks, each with the key of its list: used before every task had its own item file, and still
# used by Cline.
_INDEXES = (
    (("..", "_index.json"), "entries"),
    (("..", "..", "state", "taskHistory.json"), "entries"),
    (("..", "..", "global-state.json"), "taskHistory"),
)
# A task id is a UUID, or the time in milliseconds at which the task started.
_MIN_ID_DIGITS = 10


class Files:
    """The files of a task, by kind."""

    def __init__(self, source: Input, note: Notes) -> None:
        self.source = source
        self._note = note
        self._by_kind: dict[str, Input] = {}
        self._children = {child.name: child for child in source.children()}
        if source.is_folder or source.name in (*_NAMES, OLD_FILE):
            for name, kind in _NAMES.items():
                if (file := self._find(name)) is not None:
                    self._by_kind[kind] = file
            self._find_old()
            self._note_others()
        elif (own_kind := file_kind(Peek(source))) is not None:
            self._by_kind[own_kind] = source
        if not self._by_kind:
            raise UnreadableSource(source.label, "it contains no file of a task")

    def _find(self, name: str) -> Input | None:
        if self.source.is_folder:
            child = self._children.get(name)
            return None if child is None or child.is_folder else child
        return self.source if name == self.source.name else self.source.companion(name)

    def _find_old(self) -> None:
        """Add a file of the first versions under the kind of its contents, unless there is a newer one."""
        old = self._find(OLD_FILE)
        kind = None if old is None else self._kind_of(old)
        if old is not None and kind is not None:
            self._by_kind.setdefault(kind, old)

    def _kind_of(self, file: Input) -> str | None:
        try:
            return file_kind(Peek(file))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return None

    def _note_others(self) -> None:
        """Note the other entries of the folder; checkpoints are a repository of the edited files."""
        for name, child in self._children.items():
            if name not in _NAMES and name != OLD_FILE:
                self._note.add(Kind.IGNORED_FILE, child.label, "", "a folder" if child.is_folder else "")

    def note_of(self, kind: str) -> Notes:
        """Return the notes of one of the files."""
        file = self._by_kind.get(kind)
        return self._note if file is None else self._note.about(file.label)

    def history(self, kind: str) -> list[tuple[int, Any]]:
        """Return the records of a history with their indexes; common messages take the fast path."""
        file = self._by_kind.get(kind)
        shape = SHAPE if kind == API else json_stream.ANY
        return [] if file is None else list(self._read_elements(file, shape))

    def _read_elements(self, file: Input, shape: json_stream.Shape) -> Iterator[tuple[int, Any]]:
        note = self._note.about(file.label)
        try:
            yield from json_stream.elements(file, note, shape=shape)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)

    def load_object(self, kind: str) -> dict[str, Any]:
        """Return the object in a small file; empty if there is none."""
        file = self._by_kind.get(kind)
        if file is None:
            return {}
        note = self._note.about(file.label)
        try:
            value = json_stream.load(file, note)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)
            return {}
        if value.__class__ is dict:
            return value
        if value is not json_stream.BAD:
            note(Kind.BAD_RECORD, "", f"it is {type(value).__name__}, not an object")
        return {}

    @property
    def task_id(self) -> str | None:
        """The name of the task's folder, if it is an id."""
        folders = self.source.label.replace("\\", "/").rstrip("/").split("/")
        if not self.source.is_folder:
            del folders[-1:]
        name = folders[-1] if folders else ""
        is_id = ids.is_uuid(name) or (name.isascii() and name.isdigit() and len(name) >= _MIN_ID_DIGITS)
        return name if name and (is_id or folders[-2:-1] == ["tasks"]) else None

    @property
    def extension(self) -> str | None:
        """The extension that the task's folder belongs to."""
        folders = self.source.label.replace("\\", "/").lower().split("/")
        in_editor = (EXTENSIONS[folder] for folder in folders if folder in EXTENSIONS)
        standalone = (STANDALONE[folder] for folder in folders if folder in STANDALONE)
        return next(in_editor, next(standalone, None))

    def load_index_entry(self, task_id: str) -> dict[str, Any]:
        """Return the entry of this task in an index of all tasks; empty if there is none."""
        for path, list_key in _INDEXES:
            index = self.source.companion(*path)
            if index is None:
                continue
            note = self._note.about(index.label)
            try:
                key = None if Peek(index).opening == "[" else list_key
                for _, item in json_stream.elements(index, note, key):
                    if item.__class__ is dict and item.get("id") == task_id:
                        return item
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, "", error.reason)
        return {}

    def parent_history(self, parent_id: str) -> Iterator[tuple[int, Any]]:
        """Return the API history of the task that started this one."""
        file = self.source.companion("..", parent_id, API_FILE)
        if file is None:
            return iter(())
        return self._read_elements(file, json_stream.ANY)
