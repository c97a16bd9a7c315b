"""Looks up the project of a session, which has only a hash of the folder; other files name the folder."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_CHATS = "chats"
_ROOT, _PROJECTS = ".project_root", "projects.json"
# The longest path of any system.
_MAX_PATH_BYTES = 32_768


class ProjectLocation(NamedTuple):
    """The location of a session's file: project, number of folders below it, and parent session."""

    project: str
    height: int
    parent: str | None


def locate(source: Input) -> ProjectLocation | None:
    """Get the location of a file in the app's folders; None if it is elsewhere.

    Sessions are `<project>/chats/<file>`, those of subagents `<project>/chats/<session>/<file>`.
    """
    steps = source.label.replace("\\", "/").split("/")
    for height, parent in ((1, None), (2, steps[-2] if len(steps) > 1 else None)):
        if len(steps) > height + 1 and steps[-height - 1] == _CHATS:
            return ProjectLocation(steps[-height - 2], height, parent)
    return None


def find_folder(source: Input, head: dict[str, Any], note: Notes) -> str | None:
    """Get the project's folder from a nearby file, or from the folder with the stated hash."""
    hashed = head.get("projectHash")
    location = locate(source)
    if location is not None and (folder := _folder_nearby(source, location, hashed, note)):
        return folder
    directories = head.get("directories")
    return _folder_with_hash(directories, hashed) if isinstance(directories, list) else None


def find_folder_of_prompts(source: Input, note: Notes) -> str | None:
    """Get the project's folder for a file in the app's folder of the project, named by a slug or the hash."""
    steps = source.label.replace("\\", "/").split("/")
    project = steps[-2] if len(steps) > 1 else ""
    return _folder_nearby(source, ProjectLocation(project, 0, None), project, note)


def _folder_nearby(source: Input, location: ProjectLocation, hashed: Any, note: Notes) -> str | None:
    up = [".."] * location.height
    if folder := _root(source.companion(*up, _ROOT), note):
        return folder
    projects = _projects(source.companion(*up, "..", "..", _PROJECTS), note)
    for path, slug in projects.items():
        if slug == location.project or _is_hash(path, hashed):
            return path
    return None


def _folder_with_hash(paths: Iterable[Any], hashed: Any) -> str | None:
    return next((path for path in paths if isinstance(path, str) and _is_hash(path, hashed)), None)


def _is_hash(path: str, hashed: Any) -> bool:
    return bool(hashlib.sha256(path.encode("utf-8", "replace")).hexdigest() == hashed)


def _root(file: Input | None, note: Notes) -> str | None:
    if file is None:
        return None
    try:
        with file.open() as stream:
            data = stream.read(_MAX_PATH_BYTES)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return None
    return data.decode("utf-8-sig", "replace").strip() or None


def _projects(file: Input | None, note: Notes) -> dict[str, Any]:
    if file is None:
        return {}
    try:
        value = json_stream.load(file, note.about(file.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, file.label, "", error.reason)
        return {}
    projects = value.get("projects") if isinstance(value, dict) else None
    return projects if isinstance(projects, dict) else {}
