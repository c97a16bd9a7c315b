"""Calls, results and thoughts as entries, also where they are children of a message's entry."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Message, Reasoning, ToolCall, ToolResult, timestamps
from agent_journal.model.content_blocks import DEEDS, answer, answered, same
from agent_journal.records.forms import FAILED, OURS
from agent_journal.writers.agent_record_v3.passthrough import (
    ANSWER,
    CALL,
    REASONING,
    RESULT,
    SEPARATE_CALL,
    SEPARATE_REASONING,
    pass_on,
    pass_on_all,
)
from agent_journal.writers.dialects.agent_records import value_at, without_nulls

if TYPE_CHECKING:
    from agent_journal.model.content_blocks import Deed
    from agent_journal.records.forms import RecordForm


def children(message: Message, deeds: list[Deed], form: RecordForm) -> list[dict[str, Any]]:
    """What is told beside the content of a message."""
    native = message.native
    # Where a source has blocks, each part was made of one of them.
    if isinstance(native, list) and len(native) == len(message.parts):
        pairs = zip(message.parts, native, strict=True)
        blocks = [block for part, block in pairs if isinstance(part, DEEDS)]
    else:
        blocks = [None] * len(deeds)
    found: list[dict[str, Any]] = []
    call: ToolCall | None = None
    for deed, block in zip(deeds, blocks, strict=True):
        if isinstance(deed, ToolCall):
            call = deed
        found.append(told(deed, block, call, message, form))
    return found


def told(deed: Deed, block: Any, call: ToolCall | None, message: Message, form: RecordForm) -> dict[str, Any]:
    """A call, result or thought; `call` is the one before a result."""
    ours: dict[str, Any] = {}
    match deed:
        case ToolCall():
            found = _call(deed, ours, form)
            if form.call_at:
                _add(found, "timestamp", _moment(deed, form.call_at, message, form), ours)
        case ToolResult():
            found = answered_by(deed, block, ours, form, RESULT)
            if form.answer_at:
                _add(found, "timestamp", _moment(call, form.answer_at, message, form), ours)
            tell_again(found, call, ours, form)
        case _:
            found = _reasoning(deed, ours)
    if ours:
        found[OURS] = ours
    return found


def separate(message: Message, deeds: list[Deed], form: RecordForm, ours: dict[str, Any]) -> dict[str, Any]:
    """The entry of a message that is nothing but deeds: the first of them, and the others below it."""
    first, *others = deeds
    of_part: dict[str, Any] = {}
    match first:
        case ToolCall():
            taken = SEPARATE_CALL
            found = _call(first, of_part, form, taken)
        case Reasoning():
            taken = SEPARATE_REASONING
            found = _reasoning(first, of_part, taken)
        case _:
            taken = ANSWER
            found = answered_by(first, None, of_part, form, taken)
    if fields := [name for name in found if name not in taken]:
        of_part["fields"] = fields
    if of_part:
        ours["part"] = of_part
    if others:
        call = first if isinstance(first, ToolCall) else None
        found["children"] = [told(deed, None, call, message, form) for deed in others]
    return found


def tell_again(found: dict[str, Any], call: ToolCall | None, ours: dict[str, Any], form: RecordForm) -> None:
    """What is told of a call and of its result, both."""
    if form.again_at and call is not None:
        _add(found, form.again_at[-1], value_at(call.extra, form.again_at) or None, ours)


def _add(found: dict[str, Any], name: str, value: Any, ours: dict[str, Any]) -> None:
    """Add a field that the source has elsewhere."""
    if value is not None and name not in found:
        found[name] = value
        ours.setdefault("added", []).append(name)


def _moment(call: ToolCall | None, place: tuple[str, ...], message: Message, form: RecordForm) -> str | None:
    """When a tool was called, or answered: as stated, or when its message was written."""
    stated = None if call is None else timestamps.moment(value_at(call.extra, place))
    return stated if stated or form.part_of else timestamps.moment(message.at)


def _call(
    call: ToolCall, ours: dict[str, Any], form: RecordForm, taken: frozenset[str] = CALL
) -> dict[str, Any]:
    if call.kind is not None:
        ours["kind"] = call.kind
    if call.input is None:
        ours["input"] = None
    found = {"type": "tool-call", "name": call.name, "input": {} if call.input is None else call.input}
    if call.call_id is not None:
        found["call-id"] = call.call_id
    if form.call_body:
        # Its times and how it went are told in the draft's own fields.
        places = (form.call_at, form.answer_at, form.status_at)
        told_otherwise = {place[1] for place in places if place[:1] == (form.call_body,)}
        pass_on_all(found, call.extra, ours, form.call_body, taken, told=told_otherwise)
    elif call.extra:
        pass_on(found, call.extra, ours, taken)
    return found


def answered_by(
    result: ToolResult, block: Any, ours: dict[str, Any], form: RecordForm, taken: frozenset[str]
) -> dict[str, Any]:
    """The entry of a result; `block` is what the source has it as in the content of its message."""
    found = {"type": "tool-result", "output": _output(result, block, ours)}
    if result.call_id is not None:
        found["call-id"] = result.call_id
    if result.name is not None:
        ours["name"] = result.name
    extra, failed = result.extra, result.is_error
    status = extra.get("status")
    if isinstance(status, str):
        found["status"] = status
        ours["own_status"] = True
        if FAILED.get(status) is not failed:
            ours["is_error"] = failed
        extra = {name: value for name, value in extra.items() if name != "status"}
    elif "status" in form.derived:
        if failed is not None:
            ours["is_error"] = failed
    elif failed is not None or not form.own_status:
        found["status"] = "error" if failed else "success"
        if failed is None:
            ours["is_error"] = None
    if extra:
        pass_on(found, extra, ours, taken | form.derived if form.derived else taken)
    return found


def _output(result: ToolResult, block: Any, ours: dict[str, Any]) -> Any:
    """What a tool gave as the source has it, if our reading of it can be read of it again."""
    output = result.output
    if result.native is None:
        if output.__class__ is str:
            return output
        stated = block.get("content") if isinstance(block, dict) else None
        value = stated if stated is not None and same(answer(stated)[0], output) else answered(output)
    else:
        value = result.native
    read, native = answer(value)
    if not same(read, output):
        ours["output"] = output
    if (native is None) != (result.native is None):
        ours["native"] = result.native is not None
    return value


def _reasoning(thought: Reasoning, ours: dict[str, Any], taken: frozenset[str] = REASONING) -> dict[str, Any]:
    text, summary = thought.text, thought.summary
    content = (summary if text is None else text) or ""
    found = {"type": "reasoning", "content": content}
    if thought.encrypted is not None:
        found["encrypted"] = thought.encrypted
    if content and summary == content:
        ours["content"] = "summary" if text is None else "both"
    else:
        ours |= without_nulls({"summary": summary})
        if text != (content or None):
            ours["text"] = text
    ours |= without_nulls({"signature": thought.signature})
    pass_on(found, thought.extra, ours, taken)
    return found
