"""Saved chats: the model's context when the person saved it, or before a tool changed files.

They have no ids and no times, and do not name their session.
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
from agent_journal.readers.gemini_cli.message import mark_injected
from agent_journal.readers.gemini_cli.names import kind_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_PREFIX, _SUFFIX = "checkpoint-", ".json"
# Before a tool changes files, the app saves what it displays and, as `clientHistory`, what the model saw.
_HISTORIES = ("clientHistory", "history")


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the saved conversation."""
    head, history = _load(source, note)
    if not history:
        raise UnreadableSource(source.label, "it has no message of a saved chat")
    owner = ids.made(name, source.name, _first_text(history))
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


def _load(source: Input, note: Notes) -> tuple[dict[str, Any], list[Any]]:
    """Load the history and the file's other fields; of a damaged file, the messages that can be read."""
    document = json_stream.load(source, note)
    if isinstance(document, list):
        return {}, document
    if isinstance(document, dict):
        fields = Fields(document, note, "")
        for name in _HISTORIES:
            if fields.view(name).__class__ is list:
                history = fields.take(name)
                return fields.rest(), history
        return {}, []
    for key in (None, *_HISTORIES):
        messages = [value for _, value in json_stream.elements(source, note, key)]
        if messages and not any(name in messages[0] for name in _HISTORIES if isinstance(messages[0], dict)):
            return {}, messages
    return {}, []


def _first_text(history: list[Any]) -> str:
    """Get the first text, which distinguishes saved chats of the same name."""
    contents = (content.get("parts") for content in history if content.__class__ is dict)
    parts = (part for content in contents if content.__class__ is list for part in content)
    texts = (part.get("text") for part in parts if part.__class__ is dict)
    return next((text for text in texts if text.__class__ is str), "")


def _title(source: Input) -> str | None:
    """Get the name under which the person saved the chat."""
    if not source.name.startswith(_PREFIX):
        return None
    return unquote(source.name.removeprefix(_PREFIX).removesuffix(_SUFFIX)) or None


def _message(raw: Any, message_id: str, note: Notes, location: str) -> Message:
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a message is {type(raw).__name__}")
        return Message(id=message_id, made_id=True, role="user", parts=[Other(data=raw)])
    fields = Fields(raw, note, location)
    stated_role = fields.view("role")
    role = roles.role(stated_role) or "user"
    if stated_role in ("user", "model"):
        fields.drop("role")
    else:
        note(Kind.UNKNOWN_ROLE, location, f"role {str(stated_role)[:40]!r}")
    content = fields.take("parts")
    parts, hidden = google.parse_parts(content, note, location, kind_of), False
    if role == "user":
        parts, hidden = mark_injected(parts)
    return Message(
        id=message_id,
        made_id=True,
        role=role,
        hidden=hidden,
        parts=parts,
        native=content,
        extra=fields.rest(),
    )
