"""The parts of a message: text, reasoning, attachments and tool calls; steps and snapshots are events."""

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
from agent_journal.readers.dialects.openai_messages import parse_data_url
from agent_journal.readers.opencode.names import tool_kind

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes

# Parts that are not content.
_EVENTS = frozenset({"step-start", "step-finish", "snapshot", "patch", "retry", "compaction"})
_MEDIA: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_DONE_STATUSES = ("completed", "success")
# The providers' keys for encrypted reasoning and its signature.
_ENCRYPTED, _SIGNATURE = "reasoningEncryptedContent", "signature"

# The message and the call that started a subagent, by the subagent's session id.
SubagentCalls: TypeAlias = dict[str, tuple[str, str | None]]


class Owner:
    """The message of the parts; `subagent_calls` collects the sessions that its calls started."""

    __slots__ = ("message", "session", "subagent_calls")

    def __init__(self, session: str, message: str, subagent_calls: SubagentCalls) -> None:
        self.session = session
        self.message = message
        self.subagent_calls = subagent_calls


def is_event(raw: Any) -> bool:
    """Whether a part is an event, not content."""
    kind = raw.get("type") if raw.__class__ is dict else None
    return kind.__class__ is str and kind in _EVENTS


def event(raw: dict[str, Any], index: int, owner: Owner, note: Notes, where: str) -> Event:
    """Convert a part to an event, which names its message."""
    fields = _fields(raw, owner, note, where)
    stated, name = fields.text("id"), fields.take("type")
    at = _time_of(fields.view("time"))
    data = {"messageID": owner.message, **fields.rest()}
    return Event(
        id=stated or ids.made(owner.message, name, index), made_id=not stated, name=name, at=at, data=data
    )


def _time_of(time: Any) -> str | None:
    if time.__class__ is not dict:
        return None
    return timestamps.parse_timestamp(time.get("created")) or timestamps.parse_timestamp(time.get("start"))


def _fields(raw: dict[str, Any], owner: Owner, note: Notes, where: str) -> Fields:
    """Return the fields of a part, without the ids of its message and session, which the files repeat."""
    if "messageID" in raw and raw["messageID"] == owner.message:
        del raw["messageID"]
    if "sessionID" in raw and raw["sessionID"] == owner.session:
        del raw["sessionID"]
    return Fields(raw, note, where)


def content(raw: Any, owner: Owner, note: Notes, where: str) -> list[Part]:
    """Convert a part: mostly to one part of the model; a tool to its call and its result."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a part is {type(raw).__name__}")
        return [Other(data=raw)]
    kind = raw.get("type")
    convert = _CONVERTERS.get(kind) if kind.__class__ is str else None
    fields = _fields(raw, owner, note, where)
    parts = None if convert is None else convert(fields, owner)
    if parts is not None:
        return parts
    if convert is None:
        note(Kind.UNKNOWN_TYPE, where, f"part of type {str(kind)[:40]!r}")
    return [Other(data=fields.rest(), name=kind if kind.__class__ is str else None)]


def _text(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    if fields.view("text").__class__ is not str:
        return None
    fields.drop("type")
    return [Text(text=fields.take("text"), extra=fields.rest())]


def _reasoning(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    if fields.view("text").__class__ is not str:
        return None
    fields.drop("type")
    text = fields.take("text")
    encrypted, signature = take_reasoning_state(fields, "metadata")
    return [Reasoning(text=text or None, encrypted=encrypted, signature=signature, extra=fields.rest())]


def take_reasoning_state(fields: Fields, name: str) -> tuple[str | None, str | None]:
    """Take encrypted reasoning and its signature out of the metadata that the app returns to providers."""
    metadata = fields.nested(name) if fields.view(name).__class__ is dict else None
    providers = [] if metadata is None else [*metadata.rest()]
    encrypted = signature = None
    for provider in providers:
        inner = metadata.nested(provider) if metadata and metadata.view(provider).__class__ is dict else None
        if inner is not None:
            encrypted = encrypted or _take_text(inner, _ENCRYPTED)
            signature = signature or _take_text(inner, _SIGNATURE)
    return encrypted, signature


def _take_text(fields: Fields, name: str) -> str | None:
    return fields.text(name) if fields.view(name).__class__ is str else None


def _file(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    fields.drop("type")
    return [media(fields, "url", "filename")]


def media(fields: Fields, url_key: str, name_key: str) -> Media:
    """Convert a file with a URL, which may be a data URI."""
    mime, url = fields.text("mime"), fields.text(url_key)
    stated, data = parse_data_url(url)
    if data is not None and stated != mime:
        fields.keep("data_mime", stated)
    return Media(
        kind=media_kind(mime),
        mime=mime or stated,
        name=fields.text(name_key),
        data=data,
        ref=None if data is not None else url,
        extra=fields.rest(),
    )


def media_kind(mime: str | None) -> MediaKind:
    """Return the kind of a media type."""
    return "document" if mime == "application/pdf" else _MEDIA.get((mime or "").partition("/")[0], "file")


def _subtask(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    """Convert the user's prompt for another agent to a text."""
    if fields.view("prompt").__class__ is not str:
        return None
    return [Text(text=fields.take("prompt"), extra=fields.rest())]


def _agent(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    fields.drop("type")
    return [Other(data=fields.rest(), name="agent")]


def _tool(fields: Fields, owner: Owner) -> list[Part] | None:
    if fields.view("state").__class__ is not dict:
        return None
    fields.drop("type")
    name, call_id = fields.text("tool") or "", fields.text("callID")
    state = fields.nested("state")
    if state is None:
        return None
    _remember_subagent(state.view("metadata"), call_id, owner)
    arguments = state.take("input")
    result = _result(state, call_id, name)
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=tool_kind(name), extra=fields.rest())
    return [call] if result is None else [call, result]


def _remember_subagent(metadata: Any, call_id: str | None, owner: Owner) -> None:
    if metadata.__class__ is dict:
        for name in ("sessionId", "sessionID"):
            if metadata.get(name).__class__ is str:
                owner.subagent_calls.setdefault(metadata[name], (owner.message, call_id))


def _result(state: Fields, call_id: str | None, name: str) -> ToolResult | None:
    """Take the result of a call out of its state; None while it is running."""
    status = state.view("status")
    is_failed = status == "error"
    if not is_failed and status not in _DONE_STATUSES and state.view("output") is None:
        return None
    state.drop("status")
    raw_output = state.take("error" if is_failed and state.view("error") is not None else "output")
    attachments = [_attachment(raw, state) for raw in state.items("attachments") or ()]
    facts = {"status": status, "exit_code": _exit_code(state.view("metadata"))}
    is_text = raw_output.__class__ is str and not attachments
    output = raw_output if is_text else _outputs(raw_output, attachments)
    return ToolResult(
        call_id=call_id,
        name=name or None,
        output=output,
        native=None if output is raw_output else raw_output,
        is_error=True if is_failed else False if status in _DONE_STATUSES else None,
        extra={key: value for key, value in facts.items() if value is not None},
    )


def _outputs(raw: Any, attachments: list[Media | Other]) -> str | list[Any]:
    if raw is None and not attachments:
        return ""
    if raw is None:
        return attachments
    return [Text(text=raw) if raw.__class__ is str else Other(data=raw, name="output"), *attachments]


def _attachment(raw: Any, state: Fields) -> Media | Other:
    if raw.__class__ is not dict:
        return Other(data=raw, name="attachment")
    return media(Fields(raw, state.note, state.where), "url", "filename")


def _exit_code(metadata: Any) -> int | None:
    code = metadata.get("exit") if metadata.__class__ is dict else None
    return code if code.__class__ is int else None


def _invocation(fields: Fields, owner: Owner) -> list[Part] | None:  # noqa: ARG001 (all converters have it)
    """Convert a tool call of the first versions (mid-2025)."""
    if fields.view("toolInvocation").__class__ is not dict:
        return None
    fields.drop("type")
    inner = fields.nested("toolInvocation")
    if inner is None:
        return None
    name, call_id = inner.text("toolName") or "", inner.text("toolCallId")
    arguments, result = inner.take("args"), inner.take("result")
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=tool_kind(name), extra=fields.rest())
    if result is None:
        return [call]
    output = result if result.__class__ is str else _outputs(result, [])
    return [call, ToolResult(call_id=call_id, name=name or None, output=output)]


_CONVERTERS: dict[str, Callable[[Fields, Owner], list[Part] | None]] = {
    "text": _text,
    "reasoning": _reasoning,
    "tool": _tool,
    "file": _file,
    "agent": _agent,
    "subtask": _subtask,
    "tool-invocation": _invocation,
}
