"""What lies beside a session: the folder that was open, and the editor's index with the titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import ids
from agent_journal.notes import Kind, Notes
from agent_journal.readers.vscode_copilot import places
from agent_journal.readers.vscode_copilot.detect import INDEX, is_operation, version_of

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag

# Folders whose files are sessions of one workspace, or of windows without one.
_FOLDERS = ("chatSessions", "emptyWindowChatSessions", "transferredChatSessions")
_TRANSCRIPTS = "transcripts"
STATE_FILE = "state.vscdb"


def is_stored(source: Source) -> bool:
    """Whether a file lies where the editor keeps sessions, and not where somebody exported it to."""
    return _folder_of(source) in _FOLDERS


def _folder_of(source: Source) -> str:
    steps = source.label.replace("\\", "/").split("/")
    return steps[-2] if len(steps) > 1 else ""


def short_name(source: Source) -> str:
    """A file's name and its folder's."""
    return f"{_folder_of(source)}/{source.name}"


def id_by_name(source: Source) -> str | None:
    """The id that a stored file is called by."""
    stem = source.name.rpartition(".")[0]
    return stem if is_stored(source) and ids.is_uuid(stem) else None


def twin(source: Source) -> Source | None:
    """The file that has the same session, and counts instead of this one.

    Since 1.109 a session is a log, and the file it was before may still be there; a transcript is a second
    view of a session. An editor that dies while it writes leaves a log that is empty or torn in its first
    line: then there is nothing but this file.
    """
    stem, _, suffix = source.name.rpartition(".")
    found: list[Source | None] = []
    if is_stored(source):
        found = [source.companion(f"{stem}.jsonl")] if suffix == "json" else []
    elif _folder_of(source) == _TRANSCRIPTS:
        names = (f"{stem}.jsonl", f"{stem}.json")
        found = [source.companion("..", "..", "chatSessions", name) for name in names]
    return next((file for file in found if file is not None and _has_session(file)), None)


def _has_session(file: Source) -> bool:
    """Whether a session can be read out of a file; one that cannot be opened may well have it."""
    try:
        if not file.name.endswith(".jsonl"):
            return version_of(Peek(file)) is not None
        entries = json_stream.lines(file, Notes(keep=0))
        return any(entry.__class__ is dict and is_operation(entry) for _, entry in entries)
    except UnreadableSource:
        return True


def workspace(source: Source, note: Notes) -> Bag:
    """What the editor says was open: `folder` or `workspace`, a URI; nothing for a window without one."""
    up = 1 if is_stored(source) else {_TRANSCRIPTS: 2}.get(_folder_of(source), 0)
    is_ours = up or source.name == STATE_FILE
    file = source.companion(*[".."] * up, "workspace.json") if is_ours else None
    if file is None:
        return {}
    try:
        found = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    return found if isinstance(found, dict) else {}


def folder_of(found: Bag) -> str | None:
    """The path of the folder, or of the file that lists several folders."""
    for name in ("folder", "workspace", "configuration"):
        uri = found.get(name)
        path = places.remote_path_of(uri) if isinstance(uri, str) else places.path_of(uri)
        if path:
            return path
    return None


def item(file: Source, key: str) -> Any:
    """The value of a key in the editor's store, as bytes; None if there is none."""
    if _glimpsed(file, key) is None and not sqlite_copy.has_wal(file):
        return None  # most stores have none, and need not be copied
    with sqlite_copy.opened(file) as state:
        return _value(state, key)


def _glimpsed(file: Source, key: str) -> Any:
    with sqlite_copy.glanced(file) as state:
        return _value(state, key)


def _value(state: Database, key: str) -> Any:
    if "ItemTable" not in state.tables:
        return None
    return next(state.rows("SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ?", key), (None,))[0]


def index_entry(source: Source, session_id: str, note: Notes) -> Bag:
    """What the editor's index says about a session."""
    file = source.companion("..", STATE_FILE) if is_stored(source) else None
    if file is None:
        return {}
    try:
        # The editor keeps no -wal beside it, and a title is not worth a copy of the whole file.
        found = _glimpsed(file, INDEX)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    return _entry(found, session_id)


def _entry(found: Any, session_id: str) -> Bag:
    try:
        index: Any = msgspec.json.decode(found) if isinstance(found, bytes) else None
    except (msgspec.DecodeError, RecursionError):
        return {}
    entries = index.get("entries") if isinstance(index, dict) else None
    entry = entries.get(session_id) if isinstance(entries, dict) else None
    return entry if isinstance(entry, dict) else {}
