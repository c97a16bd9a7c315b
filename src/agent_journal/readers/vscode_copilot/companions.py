"""Companion files of a session: the open folder, and the editor's index with the titles."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import sqlite_copy
from agent_journal.model import ids
from agent_journal.notes import Kind, Notes
from agent_journal.readers.vscode_copilot import locations
from agent_journal.readers.vscode_copilot.detect import INDEX, detect_version, is_operation

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.inputs.sqlite_copy import Database
    from agent_journal.model import Bag

# Folders whose files are sessions of one workspace, or of windows without one.
_FOLDERS = ("chatSessions", "emptyWindowChatSessions", "transferredChatSessions")
_TRANSCRIPTS = "transcripts"
STATE_FILE = "state.vscdb"


def is_stored(source: Input) -> bool:
    """Whether a file is in one of the editor's session folders, not an export somewhere else."""
    return _parent_name(source) in _FOLDERS


def _parent_name(source: Input) -> str:
    steps = source.label.replace("\\", "/").split("/")
    return steps[-2] if len(steps) > 1 else ""


def short_name(source: Input) -> str:
    """Return the names of a file and its folder."""
    return f"{_parent_name(source)}/{source.name}"


def id_by_name(source: Input) -> str | None:
    """Return the id in the name of a stored file."""
    stem = source.name.rpartition(".")[0]
    return stem if is_stored(source) and ids.is_uuid(stem) else None


def find_duplicate(source: Input) -> Input | None:
    """Return the file with the same session that is read instead of this one.

    Since 1.109 a session is a log, and its previous file may still exist; a transcript is a second view of a
    session. An editor that crashes while it writes leaves a log that is empty or torn in its first line: then
    only this file has the session.
    """
    stem, _, suffix = source.name.rpartition(".")
    candidates: list[Input | None] = []
    if is_stored(source):
        candidates = [source.companion(f"{stem}.jsonl")] if suffix == "json" else []
    elif _parent_name(source) == _TRANSCRIPTS:
        names = (f"{stem}.jsonl", f"{stem}.json")
        candidates = [source.companion("..", "..", "chatSessions", name) for name in names]
    return next((file for file in candidates if file is not None and _has_session(file)), None)


def _has_session(file: Input) -> bool:
    """Whether a session can be read from a file; a file that cannot be opened may have one."""
    try:
        if not file.name.endswith(".jsonl"):
            return detect_version(Peek(file)) is not None
        entries = json_stream.lines(file, Notes(keep=0))
        return any(entry.__class__ is dict and is_operation(entry) for _, entry in entries)
    except UnreadableSource:
        return True


def load_workspace(source: Input, note: Notes) -> Bag:
    """Load the `folder` or `workspace` (a URI) that was open; empty for a window without one."""
    up = 1 if is_stored(source) else {_TRANSCRIPTS: 2}.get(_parent_name(source), 0)
    is_in_storage = up or source.name == STATE_FILE
    file = source.companion(*[".."] * up, "workspace.json") if is_in_storage else None
    if file is None:
        return {}
    try:
        workspace = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    return workspace if isinstance(workspace, dict) else {}


def workspace_folder(workspace: Bag) -> str | None:
    """Return the path of the folder, or of the file that lists several folders."""
    for name in ("folder", "workspace", "configuration"):
        uri = workspace.get(name)
        path = locations.remote_path_of(uri) if isinstance(uri, str) else locations.path_of(uri)
        if path:
            return path
    return None


def load_item(file: Input, key: str) -> Any:
    """Return the value of a key in the editor's store, as bytes; None if it does not exist."""
    if _load_item_in_place(file, key) is None and not sqlite_copy.has_wal(file):
        return None  # most stores do not have the key and need not be copied
    with sqlite_copy.opened(file) as state:
        return _value(state, key)


def _load_item_in_place(file: Input, key: str) -> Any:
    with sqlite_copy.glanced(file) as state:
        return _value(state, key)


def _value(state: Database, key: str) -> Any:
    if "ItemTable" not in state.tables:
        return None
    return next(state.rows("SELECT CAST(value AS BLOB) FROM ItemTable WHERE key = ?", key), (None,))[0]


def load_index_entry(source: Input, session_id: str, note: Notes) -> Bag:
    """Load the entry of a session in the editor's index."""
    file = source.companion("..", STATE_FILE) if is_stored(source) else None
    if file is None:
        return {}
    try:
        # The editor does not use a WAL, and a title is not worth a copy of the file.
        index = _load_item_in_place(file, INDEX)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    return _entry(index, session_id)


def _entry(encoded_index: Any, session_id: str) -> Bag:
    try:
        index: Any = msgspec.json.decode(encoded_index) if isinstance(encoded_index, bytes) else None
    except (msgspec.DecodeError, RecursionError):
        return {}
    entries = index.get("entries") if isinstance(index, dict) else None
    entry = entries.get(session_id) if isinstance(entries, dict) else None
    return entry if isinstance(entry, dict) else {}
