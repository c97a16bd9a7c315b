"""Messages, events and parts as entries that can be read back; what the draft cannot tell is ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import times
from agent_journal.blocks import DEEDS, answer, answered, exactly, parts_in, same
from agent_journal.model import Event, Message, Reasoning, ToolCall, ToolResult, Usage
from agent_journal.records import FAILED, OURS
from agent_journal.writers._record import without_nulls
from agent_journal.writers.agent_record_v3.passing import (
    ANSWER,
    CALL,
    MESSAGE,
    REASONING,
    RESULT,
    USAGE,
    is_count,
    pass_on,
)

if TYPE_CHECKING:
    from agent_journal.blocks import Deed
    from agent_journal.records import RecordForm

_FACTS = ("stop_reason", "hidden", "sidechain", "response_id")
_COUNTS = {
    "input": "input",
    "output": "output",
    "cached": "cache_read",
    "reasoning": "reasoning",
    "total": "total",
    "cost": "cost_usd",
}
_OTHER_COUNTS = ("key", "cache_write", "cache_write_5m", "cache_write_1h", "estimated")
# What one vendor calls the draft's counts; they are not said twice.
_SYNONYMS = {"input_tokens": "input", "output_tokens": "output", "cache_read_input_tokens": "cached"}


def entry(told: Message | Event, form: RecordForm) -> dict[str, Any]:
    """A message or event."""
    if isinstance(told, Event):
        return _event(told)
    if told.role == "tool":
        match told.parts:
            case [ToolResult() as result]:
                return _answer(told, result, form)
    return _message(told, form)


def _event(event: Event) -> dict[str, Any]:
    ours: dict[str, Any] = {}
    found = {"type": "system-event", "event-type": event.name} | _place(event, ours)
    if event.data:
        found["data"] = event.data
    return _with(found, ours)


def _place(told: Message | Event, ours: dict[str, Any]) -> dict[str, Any]:
    if told.made_id:
        ours["made_id"] = True
    return without_nulls({"id": told.id, "timestamp": times.moment(told.at), "parent-id": told.parent_id})


def _with(found: dict[str, Any], ours: dict[str, Any]) -> dict[str, Any]:
    return {**found, OURS: ours} if ours else found


def _facts(message: Message, ours: dict[str, Any]) -> dict[str, Any]:
    """What every message says, whatever kind of entry it is."""
    for name in _FACTS:
        value = getattr(message, name)
        if value is not None and value is not False:
            ours[name] = value
    usage = None if message.usage is None else _usage(message.usage, ours)
    return _place(message, ours) | without_nulls({"model-id": message.model, "token-usage": usage})


def _message(message: Message, form: RecordForm) -> dict[str, Any]:
    """A message with its content, and beside that its calls, results and thoughts."""
    ours: dict[str, Any] = {}
    content = message.native if message.native is not None else exactly(message.parts)
    deeds = [part for part in message.parts if isinstance(part, DEEDS)]
    match message.role:
        case "system":
            found: dict[str, Any] = {"type": "system-event", "event-type": "system-message"}
            ours["role"] = message.role
            found["data"] = None if content is None else {"content": content}
        case "tool":
            found = {"type": "tool-result", "output": "" if content is None else content}
            ours["role"] = message.role
            if content == "":
                ours["content"] = content
        case role:
            found = {"type": role, "content": content}
    _tell_parts(message, content, deeds, ours)
    found = without_nulls(found) | _facts(message, ours)
    if deeds:
        found["children"] = _children(message, deeds, form)
    _pass_on_all(found, message, ours, form.body, ANSWER if message.role == "tool" else MESSAGE)
    return _with(found, ours)


def _tell_parts(message: Message, content: Any, deeds: list[Deed], ours: dict[str, Any]) -> None:
    """Say what the parts are where that does not follow from the content and what is told beside it."""
    if not same(parts_in(content, deeds), message.parts):
        places = iter(range(len(deeds)))
        ours["parts"] = [next(places) if isinstance(part, DEEDS) else part for part in message.parts]
    if message.native is not None and same(exactly(message.parts), content):
        ours["native"] = True


def _children(message: Message, deeds: list[Deed], form: RecordForm) -> list[dict[str, Any]]:
    native = message.native
    blocks: list[Any] = [None] * len(deeds)
    # Where a source has blocks, each part was made of one of them.
    if isinstance(native, list) and len(native) == len(message.parts):
        pairs = zip(message.parts, native, strict=True)
        blocks = [block for part, block in pairs if isinstance(part, DEEDS)]
    return [_child(deed, block, form) for deed, block in zip(deeds, blocks, strict=True)]


def _child(deed: Deed, block: Any, form: RecordForm) -> dict[str, Any]:
    match deed:
        case ToolCall():
            return _call(deed)
        case ToolResult():
            ours: dict[str, Any] = {}
            return _with(_result(deed, block, ours, form, RESULT), ours)
    return _reasoning(deed)


def _call(call: ToolCall) -> dict[str, Any]:
    ours = without_nulls({"kind": call.kind})
    if call.input is None:
        ours["input"] = None
    found = {"type": "tool-call", "name": call.name, "input": {} if call.input is None else call.input}
    if call.call_id is not None:
        found["call-id"] = call.call_id
    pass_on(found, call.extra, ours, CALL)
    return _with(found, ours)


def _result(
    result: ToolResult, block: Any, ours: dict[str, Any], form: RecordForm, taken: frozenset[str]
) -> dict[str, Any]:
    found = {"type": "tool-result", "output": _output(result, block, ours)}
    found |= without_nulls({"call-id": result.call_id, "name": result.name})
    extra, failed = result.extra, result.is_error
    status = extra.get("status")
    if isinstance(status, str) and (failed is not None or status not in FAILED):
        # The source's own word; whether that means a failure is told beside it.
        found |= without_nulls({"status": status, "is-error": failed})
        extra = {name: value for name, value in extra.items() if name != "status"}
    elif failed is not None or not form.own_status:
        found["status"] = "error" if failed else "success"
        if failed is None:
            ours["is_error"] = None
    pass_on(found, extra, ours, taken)
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


def _reasoning(thought: Reasoning) -> dict[str, Any]:
    text, summary = thought.text, thought.summary
    stated = {"encrypted": thought.encrypted, "summary": summary, "signature": thought.signature}
    found = {"type": "reasoning", "content": (summary if text is None else text) or ""}
    found |= without_nulls(stated)
    ours: dict[str, Any] = {}
    if text != (found["content"] or None):
        ours["text"] = text
    pass_on(found, thought.extra, ours, REASONING)
    return _with(found, ours)


def _answer(message: Message, result: ToolResult, form: RecordForm) -> dict[str, Any]:
    """The message of a tool that says one result: one entry for both."""
    ours: dict[str, Any] = {}
    of_result: dict[str, Any] = {}
    found = _result(result, None, of_result, form, ANSWER)
    if fields := [name for name in found if name not in ANSWER]:
        of_result["fields"] = fields
    if of_result:
        ours["result"] = of_result
    if message.native is not None:
        ours["content"] = message.native
        _tell_parts(message, message.native, [result], ours)
    found |= _facts(message, ours)
    _pass_on_all(found, message, ours, form.body, ANSWER)
    return _with(found, ours)


def _pass_on_all(
    found: dict[str, Any], message: Message, ours: dict[str, Any], body: str, taken: frozenset[str]
) -> None:
    """Pass on what only the source has a field for, also what it has one level below."""
    extra = message.extra
    inner = extra.get(body) if body else None
    if isinstance(inner, dict) and inner:
        extra = {name: value for name, value in extra.items() if name != body}
        before = found.keys() | extra.keys()
        pass_on(found, {name: value for name, value in inner.items() if name not in before}, {}, taken)
        fields = [name for name in inner if name in found and name not in before]
        if fields:
            ours["inside"] = {body: fields}
        if kept := {name: value for name, value in inner.items() if name not in fields}:
            extra[body] = kept
            taken |= {body}
    pass_on(found, extra, ours, taken)


def _usage(usage: Usage, ours_of_message: dict[str, Any]) -> dict[str, Any]:
    """Counts by the draft's names, as the source states them where it uses the same names."""
    own = usage.extra
    found: dict[str, Any] = {}
    ours: dict[str, Any] = {}
    names: dict[str, str] = {}
    for name, field in _COUNTS.items():
        value, stated = getattr(usage, field), own.get(name)
        if _is_valid(name, stated):
            found[name] = stated
            names[name] = name
        elif _is_valid(name, value):
            found[name] = value
        if value != found.get(name):
            ours[field] = value
    for name in _OTHER_COUNTS:
        value = getattr(usage, name)
        if value is not None and value is not False:
            ours[name] = value
    names |= {
        synonym: name
        for synonym, name in _SYNONYMS.items()
        if is_count(own.get(synonym)) and own[synonym] == found.get(name)
    }
    if names:
        ours["names"] = names
    pass_on(found, {name: value for name, value in own.items() if name not in names}, ours, USAGE)
    if ours:
        ours_of_message["usage"] = ours
    return found


def _is_valid(name: str, value: Any) -> bool:
    return value.__class__ in (int, float) if name == "cost" else is_count(value)
