"""What other files say about a session: its product, its parent, and the list of sessions next to it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Link
from agent_journal.notes import Kind
from agent_journal.readers.dialects.session_log import steps_of
from agent_journal.readers.pi.names import PRODUCTS
from agent_journal.readers.pi.session import id_in_name

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes
    from agent_journal.readers.pi.session import Session

_LIST = "sessions.json"
_SUBAGENT = "subagent"
_ARCHIVED = (".jsonl.reset.", ".jsonl.deleted.")


def product(source: Input) -> str | None:
    """Return the product that the folder of a file belongs to; for most, only its name distinguishes them."""
    return next((PRODUCTS[step] for step in reversed(steps_of(source.label)) if step in PRODUCTS), None)


def facts(source: Input, session: Session, note: Notes) -> dict[str, Any]:
    """Return the fields of a conversation that other files, or the names of files, state."""
    known: dict[str, Any] = {}
    if any(mark in source.name for mark in _ARCHIVED):
        known["archived"] = True
    parent = _parent_file(source)
    if parent is not None:
        known["link"] = Link(conversation_id=id_in_name(parent), relation="subagent")
    elif session.is_begun_by(_SUBAGENT):
        known |= _facts_in_list(source, session.id, note)
    return known


def _facts_in_list(source: Input, session: str, note: Notes) -> dict[str, Any]:
    """Return what OpenClaw's list of sessions states.

    The list changes with each message of any session, and whatever depends on it is read again then. So only
    a subagent's session looks there for its parent.
    """
    rows = _listed(source, note)
    own = next((row for row in rows.values() if row.get("sessionId") == session), None)
    return (
        {}
        if own is None
        else listed_facts(own, {key: nonempty_str(row.get("sessionId")) for key, row in rows.items()})
    )


def listed_facts(row: dict[str, Any], sessions: dict[str, str | None]) -> dict[str, Any]:
    """Return the fields that a session's entry in OpenClaw's list states; `sessions` are ids by key."""
    known: dict[str, Any] = {}
    if label := nonempty_str(row.get("label")):
        known["title"] = label
    spawned_by = nonempty_str(row.get("spawnedBy"))
    parent = None if spawned_by is None else sessions.get(spawned_by)
    if parent is not None:
        known["link"] = Link(conversation_id=parent, relation="subagent")
    return known


def _parent_file(source: Input) -> str | None:
    """Return the file of the session that started a subagent: it is named like the subagent's folder."""
    steps = steps_of(source.label)
    name = f"{steps[-2]}.jsonl" if len(steps) > 1 else ""
    return name if name and source.companion("..", name) is not None else None


def _listed(source: Input, note: Notes) -> dict[str, dict[str, Any]]:
    """Return the entries of OpenClaw's list of sessions by key."""
    file = source.companion(_LIST)
    if file is None:
        return {}
    about = note.about(file.label)
    try:
        value = json_stream.load(file, about)
    except UnreadableSource as error:
        about(Kind.UNREADABLE_FILE, "", error.reason)
        return {}
    if value.__class__ is not dict:
        return {}
    return {key: row for key, row in value.items() if row.__class__ is dict}
