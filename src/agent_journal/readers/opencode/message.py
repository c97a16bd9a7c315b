"""A message with its parts, as the app keeps them since 2025: who said what, in which steps, at what cost."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, Part, Role, Text, ids, roles, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.opencode import parts as parts_of
from agent_journal.readers.opencode.usage import usage

if TYPE_CHECKING:
    from agent_journal.notes import Notes

Entry: TypeAlias = Message | Event
# `MessageAbortedError`, or in newer files the type `aborted`.
_ABORTED = "abort"


class Record(NamedTuple):
    """A message's record and its parts' records, in their order, and its place for notes."""

    info: dict[str, Any]
    parts: list[Any]
    where: str


def created(info: dict[str, Any]) -> int:
    """When a session or message was made, in milliseconds; zero if that is not told."""
    time = info.get("time")
    moment = time.get("created") if time.__class__ is dict else None
    if moment.__class__ is int:
        return moment  # milliseconds, in all that the app writes
    return timestamps.epoch_ms(timestamps.moment(moment)) or 0


def of_parts_alone(name: str, parts: list[Any]) -> Record:
    """The message of parts whose own record is not there: a step that ended tells what it would say."""
    info: dict[str, Any] = {"id": name, "role": "assistant"}
    ends = [part for part in parts if part.__class__ is dict and part.get("type") == "step-finish"]
    if len(ends) == 1:
        stated = {"tokens": "tokens", "cost": "cost", "finish": "reason"}
        info |= {ours: ends[0][theirs] for ours, theirs in stated.items() if theirs in ends[0]}
    first = next((at for at in map(_told_at, parts) if at is not None), None)
    if first is not None:
        info["time"] = {"created": first}
    return Record(info, parts, f"message {name}")


def _told_at(part: Any) -> Any:
    """When a part began, or was printed."""
    for holder, name in (("time", "start"), ("event", "timestamp")):
        inside = part.get(holder) if part.__class__ is dict else None
        if inside.__class__ is dict and inside.get(name) is not None:
            return inside[name]
    return None


def told(record: Record, session: str, spawned: parts_of.Spawned, note: Notes) -> list[Entry]:
    """The message, with the events of its parts before and behind it. The records are changed in place."""
    fields = Fields(record.info, note, record.where)
    identity = fields.text("id") or None
    if identity is None:
        note(Kind.MISSING_ID, record.where, "a message has no id")
    name = identity or ids.made(session, record.where)
    owner = parts_of.Owner(session, name, spawned)
    said: list[Part] = []
    before: list[Entry] = []
    after: list[Entry] = []
    for place, part in enumerate([*record.parts, *(fields.items("parts") or ())]):
        if parts_of.is_event(part):
            (after if said else before).append(parts_of.event(part, place, owner, note, record.where))
        else:
            said.extend(parts_of.content(part, owner, note, record.where))
    return [*before, _message(fields, owner, said, made=identity is None), *after]


def _message(fields: Fields, owner: parts_of.Owner, said: list[Part], *, made: bool) -> Message:
    if fields.look("sessionID") == owner.session:
        fields.drop("sessionID")
    role = _role(fields)
    facts = _facts(fields)
    time = (facts if fields.look("time").__class__ is not dict else fields).nested("time")
    answer = facts.nested("assistant") if facts is not fields else None
    stated = answer or fields
    at = None if time is None else time.moment("created")
    model = stated.text("modelID") if role == "assistant" else None
    said += failure(stated)
    return Message(
        id=owner.message,
        made_id=made,
        role=role,
        at=at,
        model=model,
        stop_reason=ending(stated),
        hidden=role == "user" and _is_synthetic(said),
        parts=_marked(said) if role == "user" else said,
        usage=usage(stated, at, model) if role == "assistant" else None,
        extra=fields.rest(),
    )


def ending(fields: Fields) -> str | None:
    """Why an answer ended; the word also stays, for writers that pass on what a source calls its own."""
    word = fields.text("finish")
    if word is not None:
        fields.keep("finish", word)
    return word


def failure(fields: Fields) -> list[Part]:
    """Why there is no more of an answer, as the app shows it; not if the person broke it off."""
    raw = fields.look("error")
    if raw.__class__ is not dict or _ABORTED in f"{raw.get('name')} {raw.get('type')}".lower():
        return []
    error = fields.nested("error") or fields
    told = (error.nested("data") if error.look("data").__class__ is dict else None) or error
    text = told.text("message") if told.look("message").__class__ is str else None
    return [Text(text=text, extra={"type": "error"})] if text else []


def _facts(fields: Fields) -> Fields:
    """Where the time and the model are: in the first versions (mid-2025) in an object of their own."""
    is_old = fields.look("time") is None and fields.look("metadata").__class__ is dict
    return (fields.nested("metadata") or fields) if is_old else fields


def _role(fields: Fields) -> Role:
    named = fields.look("role")
    role = roles.role(named)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(named)[:40]!r}")
    elif role == named:
        fields.drop("role")
    return role or "assistant"


def _is_synthetic(said: list[Part]) -> bool:
    """Whether the app, not the person, said all of it."""
    return bool(said) and all(map(_is_of_the_app, said))


def _is_of_the_app(part: Part) -> bool:
    return isinstance(part, Text) and part.extra.get("synthetic") is True


def _marked(said: list[Part]) -> list[Part]:
    """The parts of a prompt, with those marked that the app wrote: what it read of files, for instance."""
    if _is_synthetic(said):
        return said
    return [
        replace(part, injected=True) if isinstance(part, Text) and _is_of_the_app(part) else part
        for part in said
    ]
