"""A message with its parts, as the app stores them since 2025: role, content, steps and cost."""

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
    """The record of a message, the records of its parts in order, and its location for notes."""

    info: dict[str, Any]
    parts: list[Any]
    where: str


def created(info: dict[str, Any]) -> int:
    """Return when a session or message was created, in milliseconds; zero if it has no time."""
    time = info.get("time")
    value = time.get("created") if time.__class__ is dict else None
    if value.__class__ is int:
        return value  # the app always writes milliseconds
    return timestamps.epoch_ms(timestamps.parse_timestamp(value)) or 0


def record_from_parts(name: str, parts: list[Any]) -> Record:
    """Make the record of a message that only has parts; its last step has some of the missing fields."""
    info: dict[str, Any] = {"id": name, "role": "assistant"}
    ends = [part for part in parts if part.__class__ is dict and part.get("type") == "step-finish"]
    if len(ends) == 1:
        step_names = {"tokens": "tokens", "cost": "cost", "finish": "reason"}
        info |= {key: ends[0][name] for key, name in step_names.items() if name in ends[0]}
    started_at = next((at for at in map(_part_started_at, parts) if at is not None), None)
    if started_at is not None:
        info["time"] = {"created": started_at}
    return Record(info, parts, f"message {name}")


def _part_started_at(part: Any) -> Any:
    """Return when a part started, or was printed."""
    for holder, name in (("time", "start"), ("event", "timestamp")):
        inner = part.get(holder) if part.__class__ is dict else None
        if inner.__class__ is dict and inner.get(name) is not None:
            return inner[name]
    return None


def convert_record(
    record: Record, session: str, subagent_calls: parts_of.SubagentCalls, note: Notes
) -> list[Entry]:
    """Convert a message, with the events before and after its content. The records are changed in place."""
    fields = Fields(record.info, note, record.where)
    stated = fields.text("id") or None
    if stated is None:
        note(Kind.MISSING_ID, record.where, "a message has no id")
    message_id = stated or ids.made(session, record.where)
    owner = parts_of.Owner(session, message_id, subagent_calls)
    parts: list[Part] = []
    before: list[Entry] = []
    after: list[Entry] = []
    for index, part in enumerate([*record.parts, *(fields.items("parts") or ())]):
        if parts_of.is_event(part):
            (after if parts else before).append(parts_of.event(part, index, owner, note, record.where))
        else:
            parts.extend(parts_of.content(part, owner, note, record.where))
    return [*before, _message(fields, owner, parts, made_id=stated is None), *after]


def _message(fields: Fields, owner: parts_of.Owner, parts: list[Part], *, made_id: bool) -> Message:
    if fields.view("sessionID") == owner.session:
        fields.drop("sessionID")
    role = _role(fields)
    facts = _facts(fields)
    time = (facts if fields.view("time").__class__ is not dict else fields).nested("time")
    answer = facts.nested("assistant") if facts is not fields else None
    stated = answer or fields
    at = None if time is None else time.timestamp("created")
    model = stated.text("modelID") if role == "assistant" else None
    parts += take_error(stated)
    return Message(
        id=owner.message,
        made_id=made_id,
        role=role,
        at=at,
        model=model,
        stop_reason=stop_reason(stated),
        hidden=role == "user" and _is_synthetic(parts),
        parts=_mark_injected(parts) if role == "user" else parts,
        usage=usage(stated, at, model) if role == "assistant" else None,
        extra=fields.rest(),
    )


def stop_reason(fields: Fields) -> str | None:
    """Return why an answer ended; the field also stays, for writers that pass on the source's own fields."""
    reason = fields.text("finish")
    if reason is not None:
        fields.keep("finish", reason)
    return reason


def take_error(fields: Fields) -> list[Part]:
    """Take the error that ended an answer, as the app shows it; not if the user aborted it."""
    raw = fields.view("error")
    if raw.__class__ is not dict or _ABORTED in f"{raw.get('name')} {raw.get('type')}".lower():
        return []
    error = fields.nested("error") or fields
    details = (error.nested("data") if error.view("data").__class__ is dict else None) or error
    text = details.text("message") if details.view("message").__class__ is str else None
    return [Text(text=text, extra={"type": "error"})] if text else []


def _facts(fields: Fields) -> Fields:
    """Return the object with the time and the model, which was separate in the first versions (mid-2025)."""
    is_old = fields.view("time") is None and fields.view("metadata").__class__ is dict
    return (fields.nested("metadata") or fields) if is_old else fields


def _role(fields: Fields) -> Role:
    stated = fields.view("role")
    role = roles.role(stated)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
    elif role == stated:
        fields.drop("role")
    return role or "assistant"


def _is_synthetic(parts: list[Part]) -> bool:
    """Whether the app, not the user, wrote all parts."""
    return bool(parts) and all(map(_is_app_text, parts))


def _is_app_text(part: Part) -> bool:
    return isinstance(part, Text) and part.extra.get("synthetic") is True


def _mark_injected(parts: list[Part]) -> list[Part]:
    """Mark the parts of a prompt that the app wrote, such as the contents of files."""
    if _is_synthetic(parts):
        return parts
    return [
        replace(part, injected=True) if isinstance(part, Text) and _is_app_text(part) else part
        for part in parts
    ]
