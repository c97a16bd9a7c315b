"""A tool's use: the editor keeps what was asked and what came of it in one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import ToolCall, ToolResult
from agent_journal.readers.cursor.names import kind_of
from agent_journal.readers.cursor.values import parsed, said

if TYPE_CHECKING:
    from agent_journal.model import Part
    from agent_journal.notes import Notes

# Results are objects; these fields hold what a command printed and what is in a file.
_OUTPUTS = ("output", "contents")
_FAILED = ("error", "cancelled")
_MESSAGES = ("clientVisibleErrorMessage", "modelVisibleErrorMessage")


def parts(data: dict[str, Any], bubble_id: str, note: Notes, where: str) -> list[Part]:
    """The call and, if there was one, its result; none if the record names no tool.

    A call without an id is known by its bubble: a bubble never holds two.
    """
    if not data.get("name") and not data.get("tool"):
        return []
    fields = Fields(data, note, where)
    name = fields.text("name") or str(fields.look("tool"))
    call_id = fields.text("toolCallId") or bubble_id
    arguments = _arguments(fields)
    result = _result(fields, call_id)
    extra = said(fields.rest())
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=kind_of(name), extra=extra)
    return [call] if result is None else [call, result]


def _arguments(fields: Fields) -> Any:
    """What the model wrote, else what the editor made of it: the former is empty or cut in some versions."""
    raw = fields.look("rawArgs")
    is_whole = raw[:1] + raw[-1:] == "{}" if isinstance(raw, str) else isinstance(raw, dict)
    return fields.take("rawArgs" if is_whole or not fields.look("params") else "params")


def _result(fields: Fields, call_id: str) -> ToolResult | None:
    status, error = fields.look("status"), fields.look("error")
    raw = fields.take("result")
    failed = status in _FAILED or bool(error)
    if raw in (None, "") and not failed:
        if status != "completed":
            return None
        return ToolResult(call_id=call_id, is_error=False)
    output, extra = _output(raw)
    return ToolResult(
        call_id=call_id,
        output=output or _error_text(error),
        is_error=failed if failed or status == "completed" else None,
        extra=extra,
    )


def _output(raw: Any) -> tuple[str, dict[str, Any]]:
    """The text of a result, and what else it says."""
    value = parsed(raw) if isinstance(raw, str) else raw
    if isinstance(value, dict):
        for name in _OUTPUTS:
            if isinstance(text := value.get(name), str):
                del value[name]
                return text, {"result": value} if value else {}
    if isinstance(raw, str):
        return raw, {}
    return "", {} if raw is None else {"result": raw}


def _error_text(error: Any) -> str:
    told = parsed(error) if isinstance(error, str) else error
    if isinstance(told, dict):
        return next((text for name in _MESSAGES if isinstance(text := told.get(name), str) and text), "")
    return error if isinstance(error, str) else ""
