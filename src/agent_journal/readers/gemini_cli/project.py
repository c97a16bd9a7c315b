"""Which project a session belongs to: it states only a hash of the folder, other files name the folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_CHATS = "chats"
_ROOT, _PROJECTS = ".project_root", "projects.json"
# A path is at most so long on any system.
_LONGEST = 32_768


class Spot(NamedTuple):
    """Where a session's file lies: in which project, how many steps below its folder, below which session."""

    project: str
    height: int
    parent: str | None


def spot(source: Source) -> Spot | None:
    """The place of a file in the app's folders; None if it lies elsewhere.

    Sessions are `<project>/chats/<file>`, those of sub-agents `<project>/chats/<session>/<file>`.
    """
    steps = source.label.replace("\\", "/").split("/")
    for height, parent in ((1, None), (2, steps[-2] if len(steps) > 1 else None)):
        if len(steps) > height + 1 and steps[-height - 1] == _CHATS:
            return Spot(steps[-height - 2], height, parent)
    return None


def folder(source: Source, head: dict[str, Any], note: Notes) -> str | None:
    """The project's folder, if a file nearby or a known folder's hash tells it."""
    hashed = head.get("projectHash")
    found = spot(source)
    if found is not None and (told := _told_nearby(source, found, hashed, note)):
        return told
    directories = head.get("directories")
    return _hashed_among(directories, hashed) if isinstance(directories, list) else None


def folder_of_list(source: Source, note: Notes) -> str | None:
    """The same for a file that lies in the project's own folder, which is called by a name or by the hash."""
    steps = source.label.replace("\\", "/").split("/")
    called = steps[-2] if len(steps) > 1 else ""
    return _told_nearby(source, Spot(called, 0, None), called, note)


def _told_nearby(source: Source, found: Spot, hashed: Any, note: Notes) -> str | None:
    up = [".."] * found.height
    if told := _root(source.companion(*up, _ROOT), note):
        return told
    projects = _projects(source.companion(*up, "..", "..", _PROJECTS), note)
    for path, slug in projects.items():
        if slug == found.project or _is_hash(path, hashed):
            return path
    return None


def _hashed_among(paths: Iterable[Any], hashed: Any) -> str | None:
    return next((path for path in paths if isinstance(path, str) and _is_hash(path, hashed)), None)


def _is_hash(path: str, hashed: Any) -> bool:
    return bool(hashlib.sha256(path.encode("utf-8", "replace")).hexdigest() == hashed)


def _root(file: Source | None, note: Notes) -> str | None:
    if file is None:
        return None
    try:
        with file.open() as stream:
            data = stream.read(_LONGEST)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    return data.decode("utf-8-sig", "replace").strip() or None


def _projects(file: Source | None, note: Notes) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        value = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    projects = value.get("projects") if isinstance(value, dict) else None
    return projects if isinstance(projects, dict) else {}
