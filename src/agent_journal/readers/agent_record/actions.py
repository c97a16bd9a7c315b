"""Calls, results, thoughts and token counts, of entries of their own or of the children of a message."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agent_journal.model import Reasoning, Text, ToolCall, ToolResult, Usage
from agent_journal.model.content_blocks import tool_output
from agent_journal.readers.agent_record.own_fields import OfCall, OfResult, OfText, OfThought, OfUsage, taken
from agent_journal.records.forms import FAILED, TOKEN_COUNTS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.decoding.fields import Fields
    from agent_journal.model import ToolKind
    from agent_journal.model.content_blocks import Action


def call(fields: Fields, kinds: dict[str, ToolKind]) -> ToolCall:
    """What a tool was asked."""
    ours = taken(fields, OfCall)
    fields.drop(*ours.added)
    name, asked = fields.text("name") or "", fields.take("input")
    return ToolCall(
        name=name,
        call_id=fields.text("call-id"),
        input=asked if ours.input is UNSET else ours.input,
        kind=ours.kind or kinds.get(name),
        extra=_left(fields, ours.extra, ours.inside),
    )


def result(fields: Fields, kinds: dict[str, ToolKind]) -> ToolResult:  # noqa: ARG001 (one of several ways)
    """What a tool answered."""
    ours = taken(fields, OfResult)
    values = result_values(fields, ours)
    return ToolResult(**values, extra=_left(fields, ours.extra))


def result_values(fields: Fields, ours: OfResult) -> dict[str, Any]:
    """The values of a result, without what only the source has a field for."""
    fields.drop(*ours.added)
    value = fields.take("output")
    output, native = tool_output(value)
    failed, status = fields.flag("is-error"), fields.look("status")
    if failed is None and status.__class__ is str:
        failed = FAILED.get(status)
        if status in ("success", "error") and not ours.own_status:
            fields.drop("status")
    return {
        "call_id": fields.text("call-id"),
        "output": output if ours.output is UNSET else ours.output,
        "is_error": failed if ours.is_error is UNSET else ours.is_error,
        "name": fields.text("name") if ours.name is None else ours.name,
        "native": native if ours.native is None else value if ours.native else None,
    }


def thought(fields: Fields, kinds: dict[str, ToolKind]) -> Reasoning:  # noqa: ARG001 (one of several ways)
    """What a model thought; the draft allows any value for it."""
    ours = taken(fields, OfThought)
    content = fields.take("content")
    if content is not None and content.__class__ is not str:
        fields.keep("content", content)
        content = None
    text = None if ours.content == "summary" else content or None
    summary = fields.text("summary") if ours.summary is None else ours.summary
    return Reasoning(
        text=text if ours.text is UNSET else ours.text,
        summary=summary if ours.content is None else content,
        signature=fields.text("signature") if ours.signature is None else ours.signature,
        encrypted=fields.text("encrypted"),
        extra=_left(fields, ours.extra),
    )


WAYS: dict[str, Callable[[Fields, dict[str, ToolKind]], Action]] = {
    "tool-call": call,
    "tool-result": result,
    "reasoning": thought,
}


def text(fields: Fields) -> Text | None:
    """What was said in an entry that is a part of a message; None if that is no text."""
    if fields.look("content").__class__ is not str:
        return None
    ours = taken(fields, OfText)
    return Text(text=fields.take("content"), extra=_left(fields, ours.extra))


def _left(
    fields: Fields, extra: dict[str, Any], inside: dict[str, list[str]] | None = None
) -> dict[str, Any]:
    fields.drop("type")
    return put_back(fields, extra, inside or {})


def put_back(fields: Fields, extra: dict[str, Any], inside: dict[str, list[str]]) -> dict[str, Any]:
    """What only the source has a field for, where the source has it."""
    moved = {
        name: {field: fields.take(field) for field in names if fields.has(field)}
        for name, names in inside.items()
    }
    found = fields.rest() | extra
    for name, values in moved.items():
        kept = found.get(name)
        found[name] = (kept if isinstance(kept, dict) else {}) | values
    return found


def usage(fields: Fields, ours: OfUsage) -> Usage | None:
    """Tokens as they are stated: the draft does not say whether `input` is with what a cache gave."""
    if fields.look("token-usage").__class__ is not dict:
        return None
    stated: dict[str, Any] = fields.take("token-usage")
    own = {name: stated[told] for name, told in ours.names.items() if told in stated}
    values: dict[str, Any] = {}
    for name, field in TOKEN_COUNTS.items():
        if stated.get(name).__class__ is int:
            values[field] = stated.pop(name)
    if stated.get("cost").__class__ in (int, float):
        values["cost_usd"] = float(stated.pop("cost"))
    for field in (*TOKEN_COUNTS.values(), "cost_usd"):
        if (value := getattr(ours, field)) is not UNSET:
            values[field] = value
    return Usage(
        key=ours.key,
        cache_write=ours.cache_write,
        cache_write_5m=ours.cache_write_5m,
        cache_write_1h=ours.cache_write_1h,
        estimated=ours.estimated,
        extra=stated | own | ours.extra,
        **values,
    )
