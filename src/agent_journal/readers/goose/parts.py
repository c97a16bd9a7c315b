"""The blocks of a message: texts, thinking, and requests and responses of tools."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Media, Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.goose.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.model import Part
    from agent_journal.notes import Notes

_PLAIN = {"type", "text"}
_REQUESTS = ("toolRequest", "frontendToolRequest")


def parse_content(content: Any, note: Notes, where: str) -> list[Part]:
    """Return the parts of a message."""
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content.__class__ is not list:
        return [] if content is None else [Other(data=content)]
    return [_part(block, note, where) for block in content]


def _part(block: Any, note: Notes, where: str) -> Part:
    if block.__class__ is not dict:
        note(Kind.WRONG_TYPE, where, f"a block is {type(block).__name__}, not an object")
        return Other(data=block)
    kind = block.get("type")
    fields = Fields(dict(block), note, where)
    fields.drop("type")
    if kind in _REQUESTS:
        return _call(kind, fields)
    if kind == "toolResponse":
        return _result(fields)
    if kind == "text" and block.get("text").__class__ is str:
        return Text(text=fields.text("text") or "", extra=fields.rest())
    if kind == "thinking":
        text, signature = fields.text("thinking"), fields.text("signature")
        return Reasoning(text=text, signature=signature or None, extra=fields.rest())
    if kind == "redactedThinking":
        return Reasoning(encrypted=fields.text("data"), extra=fields.rest())
    if kind == "image":
        return Media(
            kind="image", mime=fields.text("mimeType"), data=fields.text("data"), extra=fields.rest()
        )
    return Other(data=block, name=nonempty_str(kind))


def _call(kind: Any, fields: Fields) -> Part:
    call_id, outcome = fields.text("id"), fields.view("toolCall")
    value = outcome.get("value") if outcome.__class__ is dict else None
    named: dict[str, Any] = value if value.__class__ is dict else {}
    name = named.get("name")
    if kind not in _REQUESTS[:1]:
        fields.keep("type", kind)
    if name.__class__ is not str:  # the model's call could not be understood
        return ToolCall(name="", call_id=call_id, extra=fields.rest())
    fields.drop("toolCall")
    status = {key: part for key, part in (outcome or {}).items() if key != "value"}
    if status != {"status": "success"}:
        fields.keep("toolCall", status)
    rest = {key: part for key, part in named.items() if key not in ("name", "arguments")}
    return ToolCall(
        name=name,
        call_id=call_id,
        input=named.get("arguments"),
        kind=TOOL_KINDS.get(name),
        extra=fields.rest() | rest,
    )


def _result(fields: Fields) -> Part:
    call_id, outcome = fields.text("id"), fields.view("toolResult")
    if outcome.__class__ is not dict:
        return ToolResult(call_id=call_id, extra=fields.rest())
    value, error = outcome.get("value"), outcome.get("error")
    if outcome.get("status") == "error" or value is None:
        return ToolResult(
            call_id=call_id,
            output=error if error.__class__ is str else "",
            is_error=True if outcome.get("status") == "error" else None,
            extra=fields.rest(),
        )
    fields.drop("toolResult")
    rest: dict[str, Any] = {}
    is_error: bool | None = False if outcome.get("status") == "success" else None
    if value.__class__ is dict:
        rest = {key: part for key, part in value.items() if key not in ("content", "isError")}
        is_error = value["isError"] if value.get("isError").__class__ is bool else is_error
        value = value.get("content")
    elif value.__class__ is not list:
        rest, value = {"value": value}, None
    outcome_rest = {key: part for key, part in outcome.items() if key not in ("value", "status")}
    return ToolResult(
        call_id=call_id,
        output=_output(value, fields.note, str(fields.where)),
        is_error=is_error,
        extra=fields.rest() | outcome_rest | rest,
    )


def _output(value: Any, note: Notes, where: str) -> Any:
    """Return what a tool answered, in the Model Context Protocol's blocks; one plain text is a text."""
    if value.__class__ is not list:
        return value if value.__class__ is str else ""
    if len(value) == 1 and value[0].__class__ is dict and value[0].keys() == _PLAIN:
        text = value[0]["text"]
        if text.__class__ is str:
            return text
    parts = [_part(item, note, where) for item in value]
    return [part for part in parts if not isinstance(part, ToolResult)]
