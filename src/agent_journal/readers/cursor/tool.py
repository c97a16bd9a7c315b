"""Tool uses: the editor stores a call and its result in one record."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import ToolCall, ToolResult
from agent_journal.readers.cursor.names import tool_kind
from agent_journal.readers.cursor.values import nonempty_fields, parse_json

if TYPE_CHECKING:
    from agent_journal.model import Part
    from agent_journal.notes import Notes

# Results are objects; these fields hold the output of a command and the contents of a file.
_OUTPUT_KEYS = ("output", "contents")
_FAILED_STATUSES = ("error", "cancelled")
_ERROR_KEYS = ("clientVisibleErrorMessage", "modelVisibleErrorMessage")


def parts(data: dict[str, Any], bubble_id: str, note: Notes, where: str) -> list[Part]:
    """Return the call and its result, if there is one; an empty list if the record names no tool.

    A call without an id gets the id of its bubble: a bubble never contains two calls.
    """
    if not data.get("name") and not data.get("tool"):
        return []
    fields = Fields(data, note, where)
    name = fields.text("name") or str(fields.look("tool"))
    call_id = fields.text("toolCallId") or bubble_id
    arguments = _arguments(fields)
    result = _result(fields, call_id)
    extra = nonempty_fields(fields.rest())
    call = ToolCall(name=name, call_id=call_id, input=arguments, kind=tool_kind(name), extra=extra)
    return [call] if result is None else [call, result]


def _arguments(fields: Fields) -> Any:
    """Take the model's arguments, or the editor's version if they are empty or cut, as in some versions."""
    raw = fields.look("rawArgs")
    is_complete = raw[:1] + raw[-1:] == "{}" if isinstance(raw, str) else isinstance(raw, dict)
    return fields.take("rawArgs" if is_complete or not fields.look("params") else "params")


def _result(fields: Fields, call_id: str) -> ToolResult | None:
    status, error = fields.look("status"), fields.look("error")
    raw = fields.take("result")
    failed = status in _FAILED_STATUSES or bool(error)
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
    """Return the text of a result, and its other fields."""
    value = parse_json(raw) if isinstance(raw, str) else raw
    if isinstance(value, dict):
        for name in _OUTPUT_KEYS:
            if isinstance(text := value.get(name), str):
                del value[name]
                return text, {"result": value} if value else {}
    if isinstance(raw, str):
        return raw, {}
    return "", {} if raw is None else {"result": raw}


def _error_text(error: Any) -> str:
    details = parse_json(error) if isinstance(error, str) else error
    if isinstance(details, dict):
        texts = (text for name in _ERROR_KEYS if isinstance(text := details.get(name), str))
        return next(filter(None, texts), "")
    return error if isinstance(error, str) else ""
