"""A folder of small JSON files: one for each session, message and part, as the app kept them until 2026.

They stay where they are when the app moves them into its database; a session that is there is not read twice.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import files_below
from agent_journal.notes import Kind
from agent_journal.readers.opencode.detect import MIGRATION
from agent_journal.readers.opencode.message import Record, created, of_parts_alone
from agent_journal.readers.opencode.rows import session_ids

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.session import Sessions

_SUFFIX = ".json"
# Lists that belong to a session, in a file of its name.
_LISTS = ("todo", "session_diff")
_KNOWN = ("session", "info", "message", "part", "project", MIGRATION, *_LISTS)


def conversations(source: Source, sessions: Sessions, note: Notes) -> Iterator[Conversation]:
    """Every session of a folder, the oldest first."""
    folder = Folder(source, note)
    there = _in_database(source)
    again = 0
    for info in folder.infos():
        if info["id"] in there:
            again += 1
        else:
            yield sessions.conversation(info, folder.records(info["id"]))
    if left := [*folder.left_of(None)]:
        yield sessions.conversation({}, left)
    if again:
        note(Kind.IGNORED_FILE, "", f"{again} sessions are also in the database beside this folder")
    for child in source.children():
        if child.name not in _KNOWN:
            # `share` among them: its secrets are nobody's business.
            note.add(Kind.IGNORED_FILE, child.label, "", "it holds no conversation")


def _in_database(source: Source) -> set[str]:
    """The sessions of the databases that lie beside the folder."""
    found: set[str] = set()
    for file in source.companions(".."):
        if file.name.endswith(".db") and not file.is_folder:
            found |= session_ids(file)
    return found


class Folder:
    """The files of one folder, each read when it is needed."""

    def __init__(self, source: Source, note: Notes) -> None:
        self._source = source
        self._note = note
        self._messages = {child.name: child for child in source.companions("message") if child.is_folder}
        self._parts: dict[str, Source] = {}
        self._strays: dict[str, list[dict[str, Any]]] = {}
        for message, file in self._find_parts():
            part = self._loaded(file)
            if part is not None:
                named = part.get("messageID")
                name = named if isinstance(named, str) and named else message
                self._strays.setdefault(name, []).append(part)

    def _find_parts(self) -> list[tuple[str, Source]]:
        """Note where the parts of each message are; what is left are those that no message's file is for."""
        known = {
            file.name.removesuffix(_SUFFIX)
            for folder in self._messages.values()
            for file in folder.children()
        }
        strays: list[tuple[str, Source]] = []
        for child in self._source.companions("part"):
            if not child.is_folder:
                strays.append(("", child))
            elif (
                child.name in self._messages
            ):  # mid-2025: a folder for each session, with one for each message
                self._parts |= {below.name: below for below in child.children() if below.is_folder}
            else:
                self._parts[child.name] = child
        for name in [name for name in self._parts if name not in known]:
            strays.extend((name, file) for file in files_below(self._parts.pop(name)))
        return strays

    def infos(self) -> list[dict[str, Any]]:
        """What is known of each session, the oldest first; also of those that only have messages."""
        found: dict[str, dict[str, Any]] = {}
        projects = self._projects()
        for file in self._session_files():
            info = self._loaded(file)
            if info is not None:
                name = info.get("id")
                name = name if isinstance(name, str) and name else file.name.removesuffix(_SUFFIX)
                project = projects.get(str(info.get("projectID", "")))
                found[name] = info | {"id": name} | ({"project": project} if project is not None else {})
        left = {str(part.get("sessionID", "")) for parts in self._strays.values() for part in parts} - {""}
        for name in sorted({*self._messages, *left} - found.keys()):
            self._note(Kind.MISSING_FILE, f"session {name}", "only its messages are there")
            found[name] = {"id": name}
        for name, info in found.items():
            self._add_lists(name, info)
        return sorted(found.values(), key=lambda info: (created(info), info["id"]))

    def _session_files(self) -> Iterable[Source]:
        """Files of sessions: in a folder for each project; in mid-2025 in one folder beside the messages."""
        below = [*self._source.companions("session"), *self._source.companions("info")]
        for child in below:
            yield from files_below(child) if child.is_folder else (child,)

    def _projects(self) -> dict[str, dict[str, Any]]:
        files = [file for file in self._source.companions("project") if not file.is_folder]
        loaded = [(file.name.removesuffix(_SUFFIX), self._loaded(file)) for file in files]
        return {name: project for name, project in loaded if project is not None}

    def _add_lists(self, session: str, info: dict[str, Any]) -> None:
        for name in _LISTS:
            file = self._source.companion(name, f"{session}{_SUFFIX}")
            value = None if file is None else self._value(file)
            if value and name not in info:
                info[name] = value

    def records(self, session: str) -> list[Record]:
        """The messages of a session in the order of their times, each with its parts."""
        found: list[tuple[int, Record]] = []
        folder = self._messages.get(session)
        last = 0
        for file in folder.children() if folder is not None else ():
            record = self._record(file)
            if record is not None:
                # Names count up, too: what tells no time follows the one before it.
                last = created(record.info) or last
                found.append((last, record))
        found.sort(key=lambda placed: (placed[0], placed[1].info["id"]))
        return [*(record for _, record in found), *self.left_of(session)]

    def _record(self, file: Source) -> Record | None:
        """The message of a file with its parts; of a file that is damaged, its parts are left."""
        info, named = self._loaded(file), file.name.removesuffix(_SUFFIX)
        if info is None:
            parts = self._parts_of(named)
            return of_parts_alone(named, parts) if parts else None
        name = info.get("id")
        name = name if isinstance(name, str) and name else named
        return Record(info | {"id": name}, self._parts_of(name), f"message {name}")

    def _parts_of(self, message: str) -> list[Any]:
        folder = self._parts.get(message)
        files = [file for file in folder.children() if not file.is_folder] if folder is not None else []
        loaded = (self._loaded(file) for file in files)
        return [*(part for part in loaded if part is not None), *self._strays.pop(message, ())]

    def left_of(self, session: str | None) -> Iterator[Record]:
        """Parts of a session's messages that are not there; of None, all that are left."""
        for name, parts in [*self._strays.items()]:
            if session is None or any(part.get("sessionID") == session for part in parts):
                self._note(Kind.MISSING_FILE, f"message {name}", "only its parts are there")
                yield of_parts_alone(name, self._strays.pop(name))

    def _loaded(self, file: Source) -> dict[str, Any] | None:
        value = self._value(file)
        if value is None or value.__class__ is dict:
            return value
        self._note.add(Kind.WRONG_TYPE, file.label, "", f"it holds {type(value).__name__}, not an object")
        return {"value": value}

    def _value(self, file: Source) -> Any:
        if not file.name.endswith(_SUFFIX):
            self._note.add(Kind.IGNORED_FILE, file.label, "", "no JSON by its name")
            return None
        try:
            value = json_stream.load(file, self._note.about(file.label))
        except UnreadableSource as error:
            self._note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
            return None
        return None if value is json_stream.BAD else value
