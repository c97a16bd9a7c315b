"""Metadata of a rollout: from its first line, its file name, and the index of session names."""

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
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_INDEX = "session_index.jsonl"
# Folders up: from `sessions/2026/02/10/rollout-….jsonl`, and from `archived_sessions/rollout-….jsonl`.
_INDEX_HEIGHTS = (4, 1)
# After a rollback a thread continues in another file: its name has the thread's id, then the file's own.
_UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
_IDS = re.compile(f"({_UUID})(?:_({_UUID}))?", re.IGNORECASE)
_ARCHIVE_FOLDER = "archived_sessions"


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
    copied_counts_from: str | None = None
    """The session whose token counts this one continues, if it begins with a copy of them."""
    extra: dict[str, Any] = {}


def parse(raw: dict[str, Any], note: Notes, location: int | str, *, is_continuation: bool = False) -> Meta:
    """Parse the first line; `extra` has what has no field of its own.

    `is_continuation` says that the file continues its own session, so it is not based on another one.
    """
    fields = Fields(raw, note, location)
    session = fields.text("id") or fields.text("session_id")
    if fields.view("session_id") == session:
        fields.drop("session_id")
    git = fields.nested("git")
    forked = _text(fields.view("forked_from_id"))
    base = None if is_continuation else _text_at(fields.view("history_base"), "thread_id")
    return Meta(
        id=session,
        at=fields.timestamp("timestamp"),
        app_version=fields.text("cli_version"),
        cwd=fields.text("cwd"),
        git_branch=git.text("branch") if git is not None else None,
        git_commit=git.text("commit_hash") if git is not None else None,
        editor="vscode" if fields.view("source") == "vscode" else None,
        link=_link(fields, forked or (base if base != session else None)),
        # A paginated fork points to the lines of its parent instead of copying them.
        copied_counts_from=forked if fields.view("history_base") is None else None,
        extra=fields.rest(),
    )


def _link(fields: Fields, origin: str | None) -> Link | None:
    """Link to the session that this one came from: a subagent's parent if stated, else a fork's original."""
    spawned = _text_at(fields.view("source"), "subagent", "thread_spawn", "parent_thread_id")
    parent = spawned or _text(fields.view("parent_thread_id"))
    if parent is not None:
        return Link(conversation_id=parent, relation="subagent")
    return None if origin is None else Link(conversation_id=origin, relation="fork")


def _text_at(value: Any, *names: str) -> str | None:
    for name in names:
        value = value.get(name) if isinstance(value, dict) else None
    return _text(value)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def id_in_name(source: Input) -> str | None:
    """Get the session id in a rollout's file name."""
    ids = _IDS.findall(source.name)
    return ids[-1][0] if ids else None


def own_id_in_name(source: Input) -> str | None:
    """Get a file's own id, which it has if its session has earlier files."""
    ids = _IDS.findall(source.name)
    return ids[-1][1] or None if ids else None


def is_archived(source: Input) -> bool:
    """Whether a rollout is in the folder of archived sessions."""
    return _ARCHIVE_FOLDER in source.label.replace("\\", "/").split("/")


def index_entries(source: Input, session: str, note: Notes) -> list[dict[str, Any]]:
    """List a session's entries in the index of names, the newest last: the file only grows."""
    for height in _INDEX_HEIGHTS:
        index = source.companion(*[".."] * height, _INDEX)
        if index is not None:
            return _entries(index, session, note.about(index.label))
    return []


def entries_by_session(source: Input, note: Notes) -> dict[str, list[dict[str, Any]]]:
    """Group the entries of the index of names next to a prompt history by session."""
    entries: dict[str, list[dict[str, Any]]] = {}
    index = source.companion(_INDEX)
    if index is None:
        return entries
    about = note.about(index.label)
    try:
        for _, entry in json_stream.lines(index, about):
            session = entry.get("id") if isinstance(entry, dict) else None
            if isinstance(session, str):
                entries.setdefault(session, []).append(entry)
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
    return entries


def title(entries: list[dict[str, Any]]) -> str | None:
    """Get the last name that the person gave a session."""
    names = [name for entry in entries if (name := _text(entry.get("thread_name")))]
    return names[-1] if names else None


def _entries(index: Input, session: str, note: Notes) -> list[dict[str, Any]]:
    mark, entries = f'"{session}"'.encode("utf-8", "replace"), []
    try:
        for number, line, _ in json_stream.raw_lines(index, note):
            if mark in line:
                entry = json_stream.decode(line, note, number)
                if isinstance(entry, dict) and entry.get("id") == session:
                    entries.append(entry)
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)
    return entries
