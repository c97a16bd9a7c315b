"""`logs.json`: what the person typed in all sessions of a project. It is left when sessions are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import ids, jsonstream
from agent_journal.fields import Fields
from agent_journal.model import Conversation, Message, Text
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.notes import Notes
    from agent_journal.source import Source


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """One conversation for each session: the prompts, without the answers."""
    by_session: dict[str, list[Message]] = {}
    for index, raw in jsonstream.elements(source, note):
        where = f"[{index}]"
        if raw.__class__ is not dict:
            note(Kind.WRONG_TYPE, where, f"a prompt is {type(raw).__name__}")
            continue
        fields = Fields(raw, note, where)
        session = fields.text("sessionId") or ""
        said = by_session.setdefault(session, [])
        said.append(_prompt(fields, ids.made(name, session, "prompt", len(said))))
    for session, timeline in by_session.items():
        if not session:
            note(Kind.MISSING_ID, "", "prompts of no session")
        yield Conversation(
            id=session or ids.made(name, source.name, "prompts"),
            made_id=not session,
            source=name,
            started_at=timeline[0].at,
            updated_at=timeline[-1].at,
            shape="list",
            timeline=[*timeline],
        )


def _prompt(fields: Fields, made: str) -> Message:
    if fields.look("type") == "user":
        fields.drop("type")
    text: Any = fields.text("message")
    at = fields.moment("timestamp")
    return Message(
        id=made,
        made_id=True,
        role="user",
        at=at,
        parts=[Text(text=text)] if text else [],
        extra=fields.rest(),
    )
