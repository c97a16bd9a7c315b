"""Tool calls, results and reasoning as entries or as children of a message's entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Message, Reasoning, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import ACTIONS, output_as_json, same, tool_output
from agent_journal.model.leftovers import Leftovers
from agent_journal.records.forms import FAILED, OWN_FIELDS
from agent_journal.writers.agent_record_v3.passthrough import (
    ANSWER,
    CALL,
    REASONING,
    RESULT,
    SEPARATE_CALL,
    SEPARATE_REASONING,
    add_all_source_fields,
    add_source_fields,
)
from agent_journal.writers.dialects.agent_records import value_at, without_nulls

if TYPE_CHECKING:
    from agent_journal.model.content_blocks import Action
    from agent_journal.records.forms import RecordForm

_CALL_LEFTOVERS = Leftovers(ToolCall, represented=("name", "call_id", "input", "extra"))
_RESULT_LEFTOVERS = Leftovers(ToolResult, represented=("call_id", "output", "is_error", "native", "extra"))
_REASONING_LEFTOVERS = Leftovers(Reasoning, represented=("text", "summary", "encrypted", "extra"))


def children(message: Message, actions: list[Action], form: RecordForm) -> list[dict[str, Any]]:
    """The child entries of a message: its calls, results and reasoning."""
    native = message.native
    # If the source has blocks, each part was read from one of them.
    if isinstance(native, list) and len(native) == len(message.parts):
        pairs = zip(message.parts, native, strict=True)
        blocks = [block for part, block in pairs if isinstance(part, ACTIONS)]
    else:
        blocks = [None] * len(actions)
    entries: list[dict[str, Any]] = []
    call: ToolCall | None = None
    for action, block in zip(actions, blocks, strict=True):
        if isinstance(action, ToolCall):
            call = action
        entries.append(action_entry(action, block, call, message, form))
    return entries


def action_entry(
    action: Action, block: Any, call: ToolCall | None, message: Message, form: RecordForm
) -> dict[str, Any]:
    """The entry of a call, result or reasoning part; `call` is the call before a result."""
    own_fields: dict[str, Any] = {}
    match action:
        case ToolCall():
            entry = _call(action, own_fields, form)
            if form.call_at:
                _add_field(entry, "timestamp", _time_of_call(action, form.call_at, message, form), own_fields)
        case ToolResult():
            entry = result_entry(action, block, own_fields, form, RESULT)
            if form.answer_at:
                _add_field(entry, "timestamp", _time_of_call(call, form.answer_at, message, form), own_fields)
            repeat_call_field(entry, call, own_fields, form)
        case _:
            entry = _reasoning(action, own_fields)
    if own_fields:
        entry[OWN_FIELDS] = own_fields
    return entry


def separate_entry(
    message: Message, actions: list[Action], form: RecordForm, own_fields: dict[str, Any]
) -> dict[str, Any]:
    """The entry of a message with actions only: the first one, with the others as its children."""
    first, *others = actions
    part_fields: dict[str, Any] = {}
    match first:
        case ToolCall():
            reserved = SEPARATE_CALL
            entry = _call(first, part_fields, form, reserved)
        case Reasoning():
            reserved = SEPARATE_REASONING
            entry = _reasoning(first, part_fields, reserved)
        case _:
            reserved = ANSWER
            entry = result_entry(first, None, part_fields, form, reserved)
    if fields := [name for name in entry if name not in reserved]:
        part_fields["fields"] = fields
    if part_fields:
        own_fields["part"] = part_fields
    if others:
        call = first if isinstance(first, ToolCall) else None
        entry["children"] = [action_entry(action, None, call, message, form) for action in others]
    return entry


def repeat_call_field(
    entry: dict[str, Any], call: ToolCall | None, own_fields: dict[str, Any], form: RecordForm
) -> None:
    """Add the field of a call that the source repeats in its result."""
    if form.again_at and call is not None:
        _add_field(entry, form.again_at[-1], value_at(call.extra, form.again_at) or None, own_fields)


def _add_field(entry: dict[str, Any], name: str, value: Any, own_fields: dict[str, Any]) -> None:
    """Add a field that the source has at a different place, and record that."""
    if value is not None and name not in entry:
        entry[name] = value
        own_fields.setdefault("added", []).append(name)


def _time_of_call(
    call: ToolCall | None, path: tuple[str, ...], message: Message, form: RecordForm
) -> str | None:
    """The time of a call or its result: as stated, or the time of its message."""
    stated = None if call is None else timestamps.parse_timestamp(value_at(call.extra, path))
    return stated if stated or form.part_of else timestamps.parse_timestamp(message.at)


def _call(
    call: ToolCall, own_fields: dict[str, Any], form: RecordForm, reserved: frozenset[str] = CALL
) -> dict[str, Any]:
    _CALL_LEFTOVERS.add(call, own_fields)
    if call.input is None:
        own_fields["input"] = None
    entry = {"type": "tool-call", "name": call.name, "input": {} if call.input is None else call.input}
    if call.call_id is not None:
        entry["call-id"] = call.call_id
    if form.call_body:
        # Its times and its status are in fields of the draft.
        paths = (form.call_at, form.answer_at, form.status_at)
        represented = {path[1] for path in paths if path[:1] == (form.call_body,)}
        add_all_source_fields(entry, call.extra, own_fields, form.call_body, reserved, excluded=represented)
    elif call.extra:
        add_source_fields(entry, call.extra, own_fields, reserved)
    return entry


def result_entry(
    result: ToolResult, block: Any, own_fields: dict[str, Any], form: RecordForm, reserved: frozenset[str]
) -> dict[str, Any]:
    """The entry of a result; `block` is its block in the source's content."""
    entry = {"type": "tool-result", "output": _output(result, block, own_fields)}
    if result.call_id is not None:
        entry["call-id"] = result.call_id
    _RESULT_LEFTOVERS.add(result, own_fields)
    extra, failed = result.extra, result.is_error
    status = extra.get("status")
    if isinstance(status, str):
        entry["status"] = status
        own_fields["own_status"] = True
        if FAILED.get(status) is not failed:
            own_fields["is_error"] = failed
        extra = {name: value for name, value in extra.items() if name != "status"}
    elif "status" in form.derived:
        if failed is not None:
            own_fields["is_error"] = failed
    elif failed is not None or not form.own_status:
        entry["status"] = "error" if failed else "success"
        if failed is None:
            own_fields["is_error"] = None
    if extra:
        add_source_fields(entry, extra, own_fields, reserved | form.derived if form.derived else reserved)
    return entry


def _output(result: ToolResult, block: Any, own_fields: dict[str, Any]) -> Any:
    """The output of a tool in the source's own form, if reading that gives the same result."""
    output = result.output
    if result.native is None:
        if output.__class__ is str:
            return output
        stated = block.get("content") if isinstance(block, dict) else None
        value = (
            stated if stated is not None and same(tool_output(stated)[0], output) else output_as_json(output)
        )
    else:
        value = result.native
    read, native = tool_output(value)
    if not same(read, output):
        own_fields["output"] = output
    if (native is None) != (result.native is None):
        own_fields["native"] = result.native is not None
    return value


def _reasoning(
    reasoning: Reasoning, own_fields: dict[str, Any], reserved: frozenset[str] = REASONING
) -> dict[str, Any]:
    text, summary = reasoning.text, reasoning.summary
    content = (summary if text is None else text) or ""
    entry = {"type": "reasoning", "content": content}
    if reasoning.encrypted is not None:
        entry["encrypted"] = reasoning.encrypted
    if content and summary == content:
        own_fields["content"] = "summary" if text is None else "both"
    else:
        own_fields |= without_nulls({"summary": summary})
        if text != (content or None):
            own_fields["text"] = text
    _REASONING_LEFTOVERS.add(reasoning, own_fields)
    add_source_fields(entry, reasoning.extra, own_fields, reserved)
    return entry
