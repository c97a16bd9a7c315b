"""A folder of small JSON files: one for each session, message and part, as the app stored them until 2026.

They remain when the app migrates them to its database; sessions that are in the database are skipped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.opencode.detect import MIGRATION
from agent_journal.readers.opencode.message import Record, created, record_from_parts
from agent_journal.readers.opencode.rows import session_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_SUFFIX = ".json"
# Folders of lists that belong to a session, in files named after it.
_LISTS = ("todo", "session_diff")
_KNOWN_NAMES = ("session", "info", "message", "part", "project", MIGRATION, *_LISTS)


def read_folder(source: Input, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Yield every session of a folder, the oldest first."""
    folder = Folder(source, note)
    migrated = _sessions_in_databases(source)
    skipped = 0
    for info in folder.infos():
        if info["id"] in migrated:
            skipped += 1
        else:
            yield sessions.conversation(info, folder.records(info["id"]))
    if unassigned := [*folder.take_orphans(None)]:
        yield sessions.conversation({}, unassigned)
    if skipped:
        note(Kind.IGNORED_FILE, "", f"{skipped} sessions are also in the database next to this folder")
    for child in source.children():
        if child.name not in _KNOWN_NAMES:
            # Among them is `share`, which contains secrets.
            note.add(Kind.IGNORED_FILE, child.label, "", "it contains no conversation")


def _sessions_in_databases(source: Input) -> set[str]:
    """Return the sessions in the databases next to the folder."""
    found_ids: set[str] = set()
    for file in source.companions(".."):
        if file.name.endswith(".db") and not file.is_folder:
            found_ids |= session_ids(file)
    return found_ids


class Folder:
    """The files of one folder, read on demand."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._note = note
        self._messages = {child.name: child for child in source.companions("message") if child.is_folder}
        self._parts: dict[str, Input] = {}
        self._orphans: dict[str, list[dict[str, Any]]] = {}
        for message, file in self._find_parts():
            part = self._load_object(file)
            if part is not None:
                stated = part.get("messageID")
                name = stated if isinstance(stated, str) and stated else message
                self._orphans.setdefault(name, []).append(part)

    def _find_parts(self) -> list[tuple[str, Input]]:
        """Index the folders of parts by message; return the files of parts without a message file."""
        known = {
            file.name.removesuffix(_SUFFIX)
            for folder in self._messages.values()
            for file in folder.children()
        }
        orphans: list[tuple[str, Input]] = []
        for child in self._source.companions("part"):
            if not child.is_folder:
                orphans.append(("", child))
            elif (
                child.name in self._messages
            ):  # mid-2025: a folder for each session, with one for each message
                self._parts |= {below.name: below for below in child.children() if below.is_folder}
            else:
                self._parts[child.name] = child
        for name in [name for name in self._parts if name not in known]:
            orphans.extend((name, file) for file in files_below(self._parts.pop(name)))
        return orphans

    def infos(self) -> list[dict[str, Any]]:
        """Return the record of each session, the oldest first; also of those that only have messages."""
        infos: dict[str, dict[str, Any]] = {}
        projects = self._projects()
        for file in self._session_files():
            info = self._load_object(file)
            if info is not None:
                name = info.get("id")
                name = name if isinstance(name, str) and name else file.name.removesuffix(_SUFFIX)
                project = projects.get(str(info.get("projectID", "")))
                infos[name] = info | {"id": name} | ({"project": project} if project is not None else {})
        stated = {str(part.get("sessionID", "")) for parts in self._orphans.values() for part in parts} - {""}
        for name in sorted({*self._messages, *stated} - infos.keys()):
            self._note(Kind.MISSING_FILE, f"session {name}", "only its messages exist")
            infos[name] = {"id": name}
        for name, info in infos.items():
            self._add_lists(name, info)
        return sorted(infos.values(), key=lambda info: (created(info), info["id"]))

    def _session_files(self) -> Iterable[Input]:
        """Yield the session files: in a folder per project, in mid-2025 in one folder."""
        children = [*self._source.companions("session"), *self._source.companions("info")]
        for child in children:
            yield from files_below(child) if child.is_folder else (child,)

    def _projects(self) -> dict[str, dict[str, Any]]:
        files = [file for file in self._source.companions("project") if not file.is_folder]
        loaded = [(file.name.removesuffix(_SUFFIX), self._load_object(file)) for file in files]
        return {name: project for name, project in loaded if project is not None}

    def _add_lists(self, session: str, info: dict[str, Any]) -> None:
        for name in _LISTS:
            file = self._source.companion(name, f"{session}{_SUFFIX}")
            value = None if file is None else self._load_value(file)
            if value and name not in info:
                info[name] = value

    def records(self, session: str) -> list[Record]:
        """Return the messages of a session in the order of their times, with their parts."""
        dated: list[tuple[int, Record]] = []
        folder = self._messages.get(session)
        last = 0
        for file in folder.children() if folder is not None else ():
            record = self._record(file)
            if record is not None:
                # File names are also in order: a record without a time follows the previous one.
                last = created(record.info) or last
                dated.append((last, record))
        dated.sort(key=lambda entry: (entry[0], entry[1].info["id"]))
        return [*(record for _, record in dated), *self.take_orphans(session)]

    def _record(self, file: Input) -> Record | None:
        """Return the message of a file with its parts; if the file is damaged, only with its parts."""
        info, stem = self._load_object(file), file.name.removesuffix(_SUFFIX)
        if info is None:
            parts = self._parts_of(stem)
            return record_from_parts(stem, parts) if parts else None
        name = info.get("id")
        name = name if isinstance(name, str) and name else stem
        return Record(info | {"id": name}, self._parts_of(name), f"message {name}")

    def _parts_of(self, message: str) -> list[Any]:
        folder = self._parts.get(message)
        files = [file for file in folder.children() if not file.is_folder] if folder is not None else []
        loaded = (self._load_object(file) for file in files)
        return [*(part for part in loaded if part is not None), *self._orphans.pop(message, ())]

    def take_orphans(self, session: str | None) -> Iterator[Record]:
        """Yield the parts of a session whose messages are missing; for None, all remaining ones."""
        for name, parts in [*self._orphans.items()]:
            if session is None or any(part.get("sessionID") == session for part in parts):
                self._note(Kind.MISSING_FILE, f"message {name}", "only its parts exist")
                yield record_from_parts(name, self._orphans.pop(name))

    def _load_object(self, file: Input) -> dict[str, Any] | None:
        value = self._load_value(file)
        if value is None or value.__class__ is dict:
            return value
        self._note.add(Kind.WRONG_TYPE, file.label, "", f"it is {type(value).__name__}, not an object")
        return {"value": value}

    def _load_value(self, file: Input) -> Any:
        if not file.name.endswith(_SUFFIX):
            self._note.add(Kind.IGNORED_FILE, file.label, "", "its name does not end with .json")
            return None
        try:
            value = json_stream.load(file, self._note.about(file.label))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return None
        return None if value is json_stream.BAD else value
