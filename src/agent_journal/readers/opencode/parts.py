"""The parts of a message: what was said, thought, attached and done; steps and snapshots are events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.decoding.fields import Fields
from agent_journal.model import (
    Event,
    Media,
    MediaKind,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ids,
    timestamps,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.openai_messages import inline
from agent_journal.readers.opencode.names import kind_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes

# What happened while the model worked, and nobody said.
_EVENTS = frozenset({"step-start", "step-finish", "snapshot", "patch", "retry", "compaction"})
_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_DONE = ("completed", "success")
# Under these names providers keep what belongs to a thought.
_ENCRYPTED, _SIGNATURE = "reasoningEncryptedContent", "signature"

Spawned: TypeAlias = dict[str, tuple[str, str | None]]


class Owner:
    """The message whose parts are read; `spawned` gets the sessions that its calls started."""

    __slots__ = ("message", "session", "spawned")

    def __init__(self, session: str, message: str, spawned: Spawned) -> None:
        self.session = session
        self.message = message
        self.spawned = spawned


def is_event(raw: Any) -> bool:
    """Whether a part tells what happened, not what was said."""
    kind = raw.get("type") if raw.__class__ is dict else None
    return kind.__class__ is str and kind in _EVENTS


def event(raw: dict[str, Any], place: int, owner: Owner, note: Notes, where: str) -> Event:
    """The part at a place of a message as an event; it names the message."""
    fields = _fields(raw, owner, note, where)
    identity, name = fields.text("id"), fields.take("type")
    at = _moment(fields.look("time"))
    data = {"messageID": owner.message, **fields.rest()}
    return Event(
        id=identity or ids.made(owner.message, name, place), made_id=not identity, name=name, at=at, data=data
    )


def _moment(time: Any) -> str | None:
    if time.__class__ is not dict:
        return None
    return timestamps.moment(time.get("created")) or timestamps.moment(time.get("start"))


def _fields(raw: dict[str, Any], owner: Owner, note: Notes, where: str) -> Fields:
    """The fields of a part, without the names of its message and session, which the files repeat."""
    if "messageID" in raw and raw["messageID"] == owner.message:
        del raw["messageID"]
    if "sessionID" in raw and raw["sessionID"] == owner.session:
        del raw["sessionID"]
    return Fields(raw, note, where)


def content(raw: Any, owner: Owner, note: Notes, where: str) -> list[Part]:
    """What a part says: mostly one part of the model, of a tool its call and its result."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a part is {type(raw).__name__}")
        return [Other(data=raw)]
    kind = raw.get("type")
    make = _WAYS.get(kind) if kind.__class__ is str else None
    fields = _fields(raw, owner, note, where)
    found = None if make is None else make(fields, owner)
    if found is not None:
        return found
    if make is None:
        note(Kind.UNKNOWN_TYPE, where, f"part of type {str(kind)[:40]!r}")
    return [Other(data=fields.rest(), name=kind if kind.__class__ is str else None)]


def _text(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    if fields.look("text").__class__ is not str:
        return None
    fields.drop("type")
    return [Text(text=fields.take("text"), extra=fields.rest())]


def _reasoning(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    if fields.look("text").__class__ is not str:
        return None
    fields.drop("type")
    text = fields.take("text")
    encrypted, signature = sealed(fields, "metadata")
    return [Reasoning(text=text or None, encrypted=encrypted, signature=signature, extra=fields.rest())]


def sealed(fields: Fields, name: str) -> tuple[str | None, str | None]:
    """What a provider keeps of a thought, moved out of the metadata that the app passes back to it."""
    metadata = fields.nested(name) if fields.look(name).__class__ is dict else None
    providers = [] if metadata is None else [*metadata.rest()]
    encrypted = signature = None
    for provider in providers:
        inside = metadata.nested(provider) if metadata and metadata.look(provider).__class__ is dict else None
        if inside is not None:
            encrypted = encrypted or _text_in(inside, _ENCRYPTED)
            signature = signature or _text_in(inside, _SIGNATURE)
    return encrypted, signature


def _text_in(fields: Fields, name: str) -> str | None:
    return fields.text(name) if fields.look(name).__class__ is str else None


def _file(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    fields.drop("type")
    return [media(fields, "url", "filename")]


def media(fields: Fields, address: str, name: str) -> Media:
    """A file by its address, or inside of it."""
    mime, url = fields.text("mime"), fields.text(address)
    stated, data = inline(url)
    if data is not None and stated != mime:
        fields.keep("data_mime", stated)
    return Media(
        kind=media_kind(mime),
        mime=mime or stated,
        name=fields.text(name),
        data=data,
        ref=None if data is not None else url,
        extra=fields.rest(),
    )


def media_kind(mime: str | None) -> MediaKind:
    """What a media type is to people."""
    return "document" if mime == "application/pdf" else _MEDIA.get((mime or "").partition("/")[0], "file")


def _subtask(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    """What the person gave to another agent is something that was said."""
    if fields.look("prompt").__class__ is not str:
        return None
    return [Text(text=fields.take("prompt"), extra=fields.rest())]


def _agent(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    fields.drop("type")
    return [Other(data=fields.rest(), name="agent")]


def _tool(fields: Fields, owner: Owner) -> list[Part] | None:
    if fields.look("state").__class__ is not dict:
        return None
    fields.drop("type")
    name, call_id = fields.text("tool") or "", fields.text("callID")
    state = fields.nested("state")
    if state is None:
        return None
    _remember_spawned(state.look("metadata"), call_id, owner)
    arguments = state.take("input")
    result = _result(state, call_id, name)
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=fields.rest())
    return [call] if result is None else [call, result]


def _remember_spawned(metadata: Any, call_id: str | None, owner: Owner) -> None:
    if metadata.__class__ is dict:
        for name in ("sessionId", "sessionID"):
            if metadata.get(name).__class__ is str:
                owner.spawned.setdefault(metadata[name], (owner.message, call_id))


def _result(state: Fields, call_id: str | None, name: str) -> ToolResult | None:
    """What a call gave, taken out of its state; nothing while it runs."""
    status = state.look("status")
    is_failed = status == "error"
    if not is_failed and status not in _DONE and state.look("output") is None:
        return None
    state.drop("status")
    said = state.take("error" if is_failed and state.look("error") is not None else "output")
    attached = [_attachment(raw, state) for raw in state.items("attachments") or ()]
    facts = {"status": status, "exit_code": _exit_code(state.look("metadata"))}
    output = said if said.__class__ is str and not attached else _outputs(said, attached)
    return ToolResult(
        call_id=call_id,
        name=name or None,
        output=output,
        native=None if output is said else said,
        is_error=True if is_failed else False if status in _DONE else None,
        extra={key: value for key, value in facts.items() if value is not None},
    )


def _outputs(said: Any, attached: list[Media | Other]) -> str | list[Any]:
    if said is None and not attached:
        return ""
    if said is None:
        return attached
    return [Text(text=said) if said.__class__ is str else Other(data=said, name="output"), *attached]


def _attachment(raw: Any, state: Fields) -> Media | Other:
    if raw.__class__ is not dict:
        return Other(data=raw, name="attachment")
    return media(Fields(raw, state.note, state.where), "url", "filename")


def _exit_code(metadata: Any) -> int | None:
    code = metadata.get("exit") if metadata.__class__ is dict else None
    return code if code.__class__ is int else None


def _invocation(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (one of several ways)
    """A tool of the first versions (mid-2025)."""
    if fields.look("toolInvocation").__class__ is not dict:
        return None
    fields.drop("type")
    inside = fields.nested("toolInvocation")
    if inside is None:
        return None
    name, call_id = inside.text("toolName") or "", inside.text("toolCallId")
    arguments, result = inside.take("args"), inside.take("result")
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=fields.rest())
    if result is None:
        return [call]
    output = result if result.__class__ is str else _outputs(result, [])
    return [call, ToolResult(call_id=call_id, name=name or None, output=output)]


_WAYS: dict[str, Callable[[Fields, Owner], list[Part] | None]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tool": _tool,
    "file": _file,
    "agent": _agent,
    "subtask": _subtask,
    "tool-invocation": _invocation,
}
