"""Converts calls, results, reasoning and token counts, in separate entries or in children of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agent_journal.model import Reasoning, Text, ToolCall, ToolResult, Usage
from agent_journal.model.content_blocks import tool_output
from agent_journal.model.leftovers import leftover_fields
from agent_journal.readers.agent_record.own_fields import (
    CallOwnFields,
    ReasoningOwnFields,
    ResultOwnFields,
    TextOwnFields,
    UsageOwnFields,
    take_own_fields,
)
from agent_journal.records.forms import FAILED, TOKEN_COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.decoding.fields import Fields
    from agent_journal.model import ToolKind
    from agent_journal.model.content_blocks import Action


def tool_call(fields: Fields, kinds: dict[str, ToolKind]) -> ToolCall:
    """Convert a tool call."""
    own_fields = take_own_fields(fields, CallOwnFields)
    fields.drop(*own_fields.added)
    name, value = fields.text("name") or "", fields.take("input")
    values: dict[str, Any] = {
        "name": name,
        "call_id": fields.text("call-id"),
        "input": value if own_fields.input is UNSET else own_fields.input,
        "kind": kinds.get(name),
        "extra": _extra(fields, own_fields.extra, own_fields.inside),
    }
    return ToolCall(**values | leftover_fields(own_fields))


def tool_result(fields: Fields, kinds: dict[str, ToolKind]) -> ToolResult:  # noqa: ARG001 (all converters have this signature)
    """Convert a tool result."""
    own_fields = take_own_fields(fields, ResultOwnFields)
    values = result_values(fields, own_fields)
    return ToolResult(**values, extra=_extra(fields, own_fields.extra))


def result_values(fields: Fields, own_fields: ResultOwnFields) -> dict[str, Any]:
    """Take the values of a result, except `extra`."""
    fields.drop(*own_fields.added)
    value = fields.take("output")
    output, native = tool_output(value)
    is_error, status = fields.flag("is-error"), fields.view("status")
    if is_error is None and status.__class__ is str:
        is_error = FAILED.get(status)
        if status in ("success", "error") and not own_fields.own_status:
            fields.drop("status")
    return {
        "call_id": fields.text("call-id"),
        "output": output if own_fields.output is UNSET else own_fields.output,
        "is_error": is_error if own_fields.is_error is UNSET else own_fields.is_error,
        "name": fields.text("name"),
        "native": native if own_fields.native is None else value if own_fields.native else None,
        **leftover_fields(own_fields),
    }


def reasoning(fields: Fields, kinds: dict[str, ToolKind]) -> Reasoning:  # noqa: ARG001 (all converters have this signature)
    """Convert reasoning; the draft allows any value as its content."""
    own_fields = take_own_fields(fields, ReasoningOwnFields)
    content = fields.take("content")
    if content is not None and content.__class__ is not str:
        fields.keep("content", content)
        content = None
    text = None if own_fields.content == "summary" else content or None
    summary = fields.text("summary") if own_fields.summary is None else own_fields.summary
    values: dict[str, Any] = {
        "text": text if own_fields.text is UNSET else own_fields.text,
        "summary": summary if own_fields.content is None else content,
        "signature": fields.text("signature"),
        "encrypted": fields.text("encrypted"),
        "extra": _extra(fields, own_fields.extra),
    }
    return Reasoning(**values | leftover_fields(own_fields))


CONVERTERS: dict[str, Callable[[Fields, dict[str, ToolKind]], Action]] = {
    "tool-call": tool_call,
    "tool-result": tool_result,
    "reasoning": reasoning,
}


def text_part(fields: Fields) -> Text | None:
    """Convert an entry that is a text part of a message; None if its content is not text."""
    if fields.view("content").__class__ is not str:
        return None
    own_fields = take_own_fields(fields, TextOwnFields)
    values = {"text": fields.take("content"), "extra": _extra(fields, own_fields.extra)}
    return Text(**values | leftover_fields(own_fields))


def _extra(
    fields: Fields, extra: dict[str, Any], nested_names: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    fields.drop("type")
    return restored_extra(fields, extra, nested_names or {})


def restored_extra(
    fields: Fields, extra: dict[str, Any], nested_names: dict[str, list[str]]
) -> dict[str, Any]:
    """Get the source's own fields, and move those that it has in an object back into that object."""
    moved = {
        name: {field: fields.take(field) for field in names if fields.has(field)}
        for name, names in nested_names.items()
    }
    restored = fields.rest() | extra
    for name, values in moved.items():
        existing = restored.get(name)
        restored[name] = (existing if isinstance(existing, dict) else {}) | values
    return restored


def usage(fields: Fields, own_fields: UsageOwnFields) -> Usage | None:
    """Take the stated token counts; the draft does not say whether `input` includes cached tokens."""
    if fields.view("token-usage").__class__ is not dict:
        return None
    stated: dict[str, Any] = fields.take("token-usage")
    source_counts = {name: stated[field] for name, field in own_fields.names.items() if field in stated}
    values: dict[str, Any] = {}
    for name, field in TOKEN_COUNTS.items():
        if stated.get(name).__class__ is int:
            values[field] = stated.pop(name)
    if stated.get("cost").__class__ in (int, float):
        values["cost_usd"] = float(stated.pop("cost"))
    values["extra"] = stated | source_counts | own_fields.extra
    return Usage(**values | leftover_fields(own_fields))
