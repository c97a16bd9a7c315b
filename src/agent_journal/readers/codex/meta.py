"""What a rollout says about itself as a whole: its first line, its name and the index beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Link
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_INDEX = "session_index.jsonl"
# `sessions/2026/02/10/rollout-….jsonl` is the deepest place, `archived_sessions/rollout-….jsonl` the highest.
_HEIGHTS = (4, 1)
# A thread that was taken back goes on in another file: its name has the thread's id, then one of its own.
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_IDS = re.compile(f"({_UUID})(?:_({_UUID}))?", re.IGNORECASE)
_ARCHIVED = "archived_sessions"


class Meta(Struct, frozen=True, kw_only=True):
    """The facts of the first line."""

    id: str | None = None
    at: str | None = None
    app_version: str | None = None
    cwd: str | None = None
    git_branch: str | None = None
    git_commit: str | None = None
    editor: str | None = None
    link: Link | None = None
    counts_of: str | None = None
    """The session whose token counts this one goes on with, if it begins with a copy of them."""
    extra: dict[str, Any] = {}


def meta(raw: dict[str, Any], note: Notes, where: int | str, *, goes_on: bool = False) -> Meta:
    """What the first line says; all of it that has no field of its own stays.

    `goes_on` tells that the file only goes on with its session: what it is based on is no other session.
    """
    fields = Fields(raw, note, where)
    session = fields.text("id") or fields.text("session_id")
    if fields.look("session_id") == session:
        fields.drop("session_id")
    git = fields.nested("git")
    forked = _text(fields.look("forked_from_id"))
    based = None if goes_on else _inside(fields.look("history_base"), "thread_id")
    return Meta(
        id=session,
        at=fields.moment("timestamp"),
        app_version=fields.text("cli_version"),
        cwd=fields.text("cwd"),
        git_branch=git.text("branch") if git is not None else None,
        git_commit=git.text("commit_hash") if git is not None else None,
        editor="vscode" if fields.look("source") == "vscode" else None,
        link=_link(fields, forked or (based if based != session else None)),
        # A paginated fork points to the lines of its parent instead of copying them.
        counts_of=forked if fields.look("history_base") is None else None,
        extra=fields.rest(),
    )


def _link(fields: Fields, origin: str | None) -> Link | None:
    """The session that this one came from: as a sub-agent's, if it says so, else as a fork."""
    spawned = _inside(fields.look("source"), "subagent", "thread_spawn", "parent_thread_id")
    parent = spawned or _text(fields.look("parent_thread_id"))
    if parent is not None:
        return Link(conversation_id=parent, relation="subagent")
    return None if origin is None else Link(conversation_id=origin, relation="fork")


def _inside(value: Any, *names: str) -> str | None:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return _text(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def id_in_name(source: Source) -> str | None:
    """The session that a rollout's file name tells."""
    found = _IDS.findall(source.name)
    return found[-1][0] if found else None


def own_id_in_name(source: Source) -> str | None:
    """The id that a file has for itself because its session has others before it."""
    found = _IDS.findall(source.name)
    return found[-1][1] or None if found else None


def is_archived(source: Source) -> bool:
    """Whether a rollout lies where the app puts those that were archived."""
    return _ARCHIVED in source.label.replace("\\", "/").split("/")


def indexed(source: Source, session: str, note: Notes) -> list[dict[str, Any]]:
    """What the index beside the sessions says of one, the last word last: it only grows."""
    for height in _HEIGHTS:
        index = source.companion(*[".."] * height, _INDEX)
        if index is not None:
            return _entries(index, session, note.about(index.label))
    return []


def all_entries(source: Source, note: Notes) -> dict[str, list[dict[str, Any]]]:
    """By session, what the index of names says that lies beside a list of all sessions."""
    found: dict[str, list[dict[str, Any]]] = {}
    index = source.companion(_INDEX)
    if index is None:
        return found
    about = note.about(index.label)
    try:
        for _, entry in json_stream.lines(index, about):
            session = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(session, str):
                found.setdefault(session, []).append(entry)
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
    return found


def title(entries: list[dict[str, Any]]) -> str | None:
    """The name that the person gave a session last."""
    names = [name for entry in entries if (name := _text(entry.get("thread_name")))]
    return names[-1] if names else None


def _entries(index: Source, session: str, note: Notes) -> list[dict[str, Any]]:
    mark, found = f'"{session}"'.encode("utf-8", "replace"), []
    try:
        for number, line, _ in json_stream.raw_lines(index, note):
            if mark in line:
                entry = json_stream.decode(line, note, number)
                if isinstance(entry, dict) and entry.get("id") == session:
                    found.append(entry)
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)
    return found
