"""The files of a task: in its folder, beside the one that was named, and in the folders above it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.roo_code.detect import API, ITEM, METADATA, UI, kind_of
from agent_journal.readers.roo_code.fastpath import SHAPE
from agent_journal.readers.roo_code.names import (
    API_FILE,
    CONTEXT_FILE,
    EXTENSIONS,
    ITEM_FILE,
    METADATA_FILE,
    OLD_FILE,
    OUTSIDE,
    UI_FILE,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

CONTEXT = "context"
_NAMES = {API_FILE: API, UI_FILE: UI, ITEM_FILE: ITEM, METADATA_FILE: METADATA, CONTEXT_FILE: CONTEXT}
# Where all tasks are listed, and as what: before each had a file of its own for that, and in Cline still.
_INDEXES = (
    (("..", "_index.json"), "entries"),
    (("..", "..", "state", "taskHistory.json"), "entries"),
    (("..", "..", "global-state.json"), "taskHistory"),
)
# An id is a UUID, or the milliseconds at which the task began.
_FEWEST_DIGITS = 10


class Files:
    """What there is of a task."""

    def __init__(self, source: Source, note: Notes) -> None:
        self.source = source
        self._note = note
        self._found: dict[str, Source] = {}
        self._inside = {child.name: child for child in source.children()}
        if source.is_folder or source.name in (*_NAMES, OLD_FILE):
            for name, kind in _NAMES.items():
                if (file := self._beside(name)) is not None:
                    self._found[kind] = file
            self._find_old()
            self._note_others()
        elif (alone := kind_of(Peek(source))) is not None:
            self._found[alone] = source
        if not self._found:
            raise UnreadableSource(source.label, "no file in it is one of a task")

    def _beside(self, name: str) -> Source | None:
        if self.source.is_folder:
            child = self._inside.get(name)
            return None if child is None or child.is_folder else child
        return self.source if name == self.source.name else self.source.companion(name)

    def _find_old(self) -> None:
        """Take a file of the first versions for what is in it, unless there is a newer one for that."""
        old = self._beside(OLD_FILE)
        kind = None if old is None else self._kind_of(old)
        if old is not None and kind is not None:
            self._found.setdefault(kind, old)

    def _kind_of(self, file: Source) -> str | None:
        try:
            return kind_of(Peek(file))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return None

    def _note_others(self) -> None:
        """Name what else lies in the folder; checkpoints are a repository of the files worked on."""
        for name, child in self._inside.items():
            if name not in _NAMES and name != OLD_FILE:
                self._note.add(Kind.IGNORED_FILE, child.label, "", "a folder" if child.is_folder else "")

    def note_of(self, kind: str) -> Notes:
        """Notes about one of the files."""
        file = self._found.get(kind)
        return self._note if file is None else self._note.about(file.label)

    def history(self, kind: str) -> list[tuple[int, Any]]:
        """The records of one of the histories, with their places; messages in the usual form if they can."""
        file = self._found.get(kind)
        return [] if file is None else list(self._elements(file, SHAPE if kind == API else json_stream.ANY))

    def _elements(self, file: Source, shape: json_stream.Shape) -> Iterator[tuple[int, Any]]:
        note = self._note.about(file.label)
        try:
            yield from json_stream.elements(file, note, shape=shape)
        except UnreadableSource as error:
            note(Kind.UNREADABLE_FILE, "", error.reason)

    def whole(self, kind: str) -> dict[str, Any]:
        """The object that a small file is; empty if there is none."""
        file = self._found.get(kind)
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
        steps = self.source.label.replace("\\", "/").rstrip("/").split("/")
        if not self.source.is_folder:
            del steps[-1:]
        name = steps[-1] if steps else ""
        is_id = ids.is_uuid(name) or (name.isascii() and name.isdigit() and len(name) >= _FEWEST_DIGITS)
        return name if name and (is_id or steps[-2:-1] == ["tasks"]) else None

    @property
    def extension(self) -> str | None:
        """The extension in whose folder the task lies."""
        steps = self.source.label.replace("\\", "/").lower().split("/")
        inside = (EXTENSIONS[step] for step in steps if step in EXTENSIONS)
        outside = (OUTSIDE[step] for step in steps if step in OUTSIDE)
        return next(inside, next(outside, None))

    def listed(self, task_id: str) -> dict[str, Any]:
        """What an index of all tasks says of this one; empty if there is none."""
        for place, name in _INDEXES:
            index = self.source.companion(*place)
            if index is None:
                continue
            note = self._note.about(index.label)
            try:
                key = None if Peek(index).opening == "[" else name
                for _, item in json_stream.elements(index, note, key):
                    if item.__class__ is dict and item.get("id") == task_id:
                        return item
            except UnreadableSource as error:
                note(Kind.UNREADABLE_FILE, "", error.reason)
        return {}

    def of_parent(self, parent_id: str) -> Iterator[tuple[int, Any]]:
        """What went to and from the model in the task that began this one."""
        file = self.source.companion("..", parent_id, API_FILE)
        if file is None:
            return iter(())
        return self._elements(file, json_stream.ANY)
