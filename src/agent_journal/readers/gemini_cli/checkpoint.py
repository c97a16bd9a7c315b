"""Saved chats: what the model had in view when the person saved it, or before a tool changed files.

They have no ids and no times, and do not say which session they were saved in.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Message, Other, ids, roles
from agent_journal.notes import Kind
from agent_journal.readers.dialects import google_parts as google
from agent_journal.readers.gemini_cli.message import with_injected_marked
from agent_journal.readers.gemini_cli.names import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

_PREFIX, _SUFFIX = "checkpoint-", ".json"
# Before a tool changes files, the app saves what it shows and, under the second name, what the model saw.
_HISTORIES = ("clientHistory", "history")


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """The one conversation that was saved."""
    head, history = _saved(source, note)
    if not history:
        raise UnreadableSource(source.label, "no message of a saved chat is in it")
    owner = ids.made(name, source.name, _first_words(history))
    yield Conversation(
        id=owner,
        made_id=True,
        source=name,
        title=_title(source),
        shape="list",
        timeline=[
            _message(raw, ids.made(owner, index), note, f"[{index}]") for index, raw in enumerate(history)
        ],
        extra=head,
    )


def _saved(source: Source, note: Notes) -> tuple[dict[str, Any], list[Any]]:
    """What stands beside the history, and the history; of a damaged file, the messages that are left."""
    whole = json_stream.load(source, note)
    if isinstance(whole, list):
        return {}, whole
    if isinstance(whole, dict):
        fields = Fields(whole, note, "")
        for name in _HISTORIES:
            if fields.look(name).__class__ is list:
                history = fields.take(name)
                return fields.rest(), history
        return {}, []
    for key in (None, *_HISTORIES):
        found = [value for _, value in json_stream.elements(source, note, key)]
        if found and not any(name in found[0] for name in _HISTORIES if isinstance(found[0], dict)):
            return {}, found
    return {}, []


def _first_words(history: list[Any]) -> str:
    """What was said first: saved chats of one name are told apart by it."""
    contents = (content.get("parts") for content in history if content.__class__ is dict)
    parts = (part for content in contents if content.__class__ is list for part in content)
    texts = (part.get("text") for part in parts if part.__class__ is dict)
    return next((text for text in texts if text.__class__ is str), "")


def _title(source: Source) -> str | None:
    """The word that the person saved it under."""
    if not source.name.startswith(_PREFIX):
        return None
    return unquote(source.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)) or None


def _message(raw: Any, made: str, note: Notes, where: str) -> Message:
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a message is {type(raw).__name__}")
        return Message(id=made, made_id=True, role="user", parts=[Other(data=raw)])
    fields = Fields(raw, note, where)
    named = fields.look("role")
    role = roles.role(named) or "user"
    if named in ("user", "model"):
        fields.drop("role")
    else:
        note(Kind.UNKNOWN_ROLE, where, f"role {str(named)[:40]!r}")
    content = fields.take("parts")
    parts, hidden = google.parts(content, note, where, kind_of), False
    if role == "user":
        parts, hidden = with_injected_marked(parts)
    return Message(
        id=made,
        made_id=True,
        role=role,
        hidden=hidden,
        parts=parts,
        native=content,
        extra=fields.rest(),
    )
