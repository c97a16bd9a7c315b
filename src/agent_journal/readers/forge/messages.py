"""Messages: values of an enumeration, in newer versions next to their tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.model import (
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.injected_text import with_typed_text
from agent_journal.readers.dialects.openai_messages import parse_data_url
from agent_journal.readers.forge import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_FORMS = ("text", "tool", "image")


def message_of(raw: Any, note: Notes, where: str, own_id: str) -> Message | None:
    """Return a message; None if it has an unknown form."""
    rest: dict[str, Any] = {}
    usage = None
    if raw.__class__ is dict and raw.get("message").__class__ is dict:
        usage = _usage(raw.get("usage"), own_id)
        rest = {
            name: value
            for name, value in raw.items()
            if name != "message" and (name != "usage" or (usage is None and value is not None))
        }
        raw = raw["message"]
    form, value = next(iter(raw.items())) if raw.__class__ is dict and len(raw) == 1 else ("", None)
    if form not in _FORMS or value.__class__ is not dict:
        return None
    fields = Fields(dict(value), note, where)
    if form == "tool":
        part = _result(fields)
        return Message(id=own_id, made_id=True, role="tool", parts=[part], extra=fields.rest() | rest)
    if form == "image":
        part = _image(fields)
        return Message(id=own_id, made_id=True, role="user", parts=[part], extra=fields.rest() | rest)
    return _text_message(fields, usage, rest, own_id)


def _text_message(fields: Fields, usage: Usage | None, rest: dict[str, Any], own_id: str) -> Message:
    label = fields.view("role")
    role = roles.role(label)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(label)[:40]!r}")
    else:
        fields.drop("role")
    parts: list[Part] = [_thought(Fields(dict(raw), fields.note, fields.where)) for raw in _details(fields)]
    content = fields.text("content") or ""
    raw_content = fields.view("raw_content")
    typed = (
        nonempty_str(raw_content.get("Text") or raw_content.get("text"))
        if raw_content.__class__ is dict
        else None
    )
    if content:
        part = Text(text=content)
        if typed is not None:
            fields.drop("raw_content")
        parts.append(with_typed_text(part, typed) if typed is not None and typed != content else part)
    parts += [_call(raw, fields) for raw in fields.items("tool_calls") or ()]
    if fields.view("droppable") is False:
        fields.drop("droppable")
    for name in ("raw_content", "thought_signature", "reasoning_details"):
        if fields.view(name) is None:
            fields.drop(name)
    model = fields.text("model")
    return Message(
        id=own_id,
        made_id=True,
        role=role or "user",
        model=model if role == "assistant" else None,
        parts=parts,
        usage=usage,
        extra=fields.rest() | rest | ({"model": model} if model and role != "assistant" else {}),
    )


def _details(fields: Fields) -> list[dict[str, Any]]:
    details = fields.view("reasoning_details")
    if details.__class__ is not list or len([*objects(details)]) != len(details):
        return []
    fields.drop("reasoning_details")
    return details


def _thought(detail: Fields) -> Part:
    text, signature, data = detail.text("text"), detail.text("signature"), detail.text("data")
    rest = {name: value for name, value in detail.rest().items() if value is not None}
    return Reasoning(text=text or None, signature=signature, encrypted=data, extra=rest)


def _call(raw: Any, fields: Fields) -> Part:
    if raw.__class__ is not dict:
        return Other(data=raw, name="tool_call")
    call = Fields(dict(raw), fields.note, fields.where)
    name = call.text("name") or ""
    if call.view("thought_signature") is None:
        call.drop("thought_signature")
    return ToolCall(
        call_id=call.text("call_id"),
        name=name,
        input=call.take("arguments"),
        kind=TOOL_KINDS.get(name),
        extra=call.rest(),
    )


def _result(fields: Fields) -> Part:
    output = fields.nested("output") or Fields({}, fields.note, fields.where)
    values = output.items("values") or []
    parts: list[Any] = []
    conversations: list[str] = []
    for value in values:
        parts += _values(value, conversations)
    only = parts[0] if len(parts) == 1 else None
    return ToolResult(
        call_id=fields.text("call_id"),
        name=fields.text("name"),
        output=only.text if isinstance(only, Text) else parts or "",
        is_error=output.flag("is_error"),
        extra={"conversation_id": conversations[0]} if conversations else {},
    )


def _values(value: Any, conversations: list[str]) -> list[Any]:
    """Return the parts of a value; that of a subagent has the id of its conversation."""
    content: Any = None
    form: Any = value
    if value.__class__ is dict and len(value) == 1:
        form, content = next(iter(value.items()))
    match form, content:
        case (("text" | "markdown"), str()):
            return [Text(text=content)]
        case "ai", {"value": str(text)}:
            if nonempty_str(content.get("conversation_id")):
                conversations.append(content["conversation_id"])
            return [Text(text=text)]
        case "image", dict():
            mime, data = parse_data_url(nonempty_str(content.get("url")))
            ref = None if data else nonempty_str(content.get("url"))
            return [
                Media(kind="image", mime=nonempty_str(content.get("mime_type")) or mime, data=data, ref=ref)
            ]
        case "pair", [first, _]:
            # The second is the same for people.
            return [*_values(first, conversations), Other(data=content[1], name="pair")]
        case "empty", _:
            return []
    return [Other(data=value, name=form if form.__class__ is str else None)]


def _image(fields: Fields) -> Part:
    url = fields.text("url")
    mime, data = parse_data_url(url)
    return Media(kind="image", mime=fields.text("mime_type") or mime, data=data, ref=None if data else url)


def _usage(raw: Any, key: str) -> Usage | None:
    """Return tokens, each of which is counted or estimated; prompts include cached ones."""
    if raw.__class__ is not dict:
        return None
    counts: dict[str, int | None] = {}
    estimated = False
    for name in ("prompt_tokens", "completion_tokens", "total_tokens", "cached_tokens"):
        value: Any = raw.get(name)
        form, count = next(iter(value.items()), ("", None)) if value.__class__ is dict else ("", value)
        counts[name] = counted(count)
        estimated = estimated or (form.__class__ is str and form.lower() == "approx")
    prompt, cached = counts["prompt_tokens"], counts["cached_tokens"]
    if not prompt and not counts["completion_tokens"]:
        return None
    cost = raw.get("cost")
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt - (cached or 0), 0),
        output=counts["completion_tokens"],
        cache_read=cached,
        total=counts["total_tokens"],
        cost_usd=float(cost) if cost.__class__ in (int, float) else None,
        estimated=estimated,
        extra=raw,
    )
