"""Converts a record of a session to a message: reasoning, content, tool calls and their results."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeGuard

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import (
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects import google_parts as google
from agent_journal.readers.dialects.injected_text import mark_injected_parts
from agent_journal.readers.gemini_cli.names import INJECTED, REFERENCES, SNAPSHOT, kind_of

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# Messages of the app to the person are neither the person's nor the model's.
_ROLES: dict[str, Role] = {
    "user": "user",
    "gemini": "assistant",
    "info": "system",
    "warning": "system",
    "error": "system",
}
_IMPLIED_TYPES = ("user", "gemini")
_EXIT_CODE = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE | re.ASCII)
# The exit code is in the last lines of a command's output.
_TAIL_CHARS = 400
_COUNT_FIELDS = ("input", "output", "cached", "thoughts", "tool", "total")


class MessagePosition(NamedTuple):
    """The position of a message: its id, whether the id was made, and its parent."""

    id: str
    made_id: bool
    parent_id: str | None


def message(raw: dict[str, Any], position: MessagePosition, note: Notes, location: int | str) -> Message:
    """Convert a record, which is changed in place, to a message."""
    fields = Fields(raw, note, location)
    role = _role(fields)
    content = fields.take("content")
    reasoning = _reasoning_parts(fields)
    calls = _call_parts(fields)
    contents = google.parse_parts(content, note, location, kind_of)
    if reasoning:
        contents = _without_repeated_reasoning(contents, reasoning)
    if calls:
        contents, calls = _merge_calls(contents, calls)
    at, model = fields.timestamp("timestamp"), fields.text("model")
    hidden = False
    if role == "user":
        contents, hidden = mark_injected(contents)
    return Message(
        id=position.id,
        made_id=position.made_id,
        parent_id=position.parent_id,
        role=role,
        at=at,
        model=model or None,
        hidden=hidden,
        parts=[*reasoning, *contents, *calls],
        usage=_usage(fields),
        native=None if content.__class__ is str and not reasoning and not calls and content else content,
        extra=fields.rest(),
    )


def mark_injected(parts: list[Part]) -> tuple[list[Part], bool]:
    """Mark the parts that the app, not the person, wrote; also return whether the app wrote all of them."""
    marked_parts, is_all = mark_injected_parts(parts, _is_injected)
    return (parts, True) if is_all else (_mark_references(marked_parts), False)


def _is_injected(text: str) -> bool:
    return text.startswith(INJECTED) or _is_snapshot(text)


def _mark_references(parts: list[Part]) -> list[Part]:
    """Mark the contents of files that the app added for each `@path` of a prompt."""
    result: list[Part] = []
    is_inside = False
    for part in parts:
        if not isinstance(part, Text):
            result.append(part)
            continue
        text = part.text.strip()
        is_inside = is_inside or (text == REFERENCES[0] and bool(result))
        result.append(replace(part, injected=True) if is_inside else part)
        is_inside = is_inside and text != REFERENCES[1]
    return result


def snapshot(message: Message) -> str | None:
    """Get the summary in a message that replaces earlier messages."""
    first = message.parts[0] if message.hidden and message.parts else None
    return first.text if isinstance(first, Text) and _is_snapshot(first.text) else None


def _is_snapshot(text: str) -> bool:
    begin, end = SNAPSHOT
    return begin in text and text.rstrip().endswith(end)


def _role(fields: Fields) -> Role:
    kind = fields.view("type")
    role = _ROLES.get(kind) if kind.__class__ is str else None
    if role is None:
        fields.note(Kind.UNKNOWN_TYPE, fields.where, f"message of type {str(kind)[:40]!r}")
        role = roles.role(kind) or "system"
    if kind in _IMPLIED_TYPES:
        fields.drop("type")
    return role


def _reasoning_parts(fields: Fields) -> list[Part]:
    raw = fields.items("thoughts")
    return [_reasoning(thought, fields) for thought in raw] if raw else []


def _reasoning(raw: Any, fields: Fields) -> Part:
    if raw.__class__ is not dict:
        fields.note(Kind.WRONG_TYPE, fields.where, f"a thought is {type(raw).__name__}")
        return Other(data=raw, name="thought")
    thought = Fields(raw, fields.note, fields.where)
    return Reasoning(text=thought.text("description"), extra=thought.rest())


def _without_repeated_reasoning(contents: list[Part], reasoning: list[Part]) -> list[Part]:
    """Remove reasoning that the app repeated in the content when the session was resumed."""
    repeated: set[str | None] = set()
    for thought in reasoning:
        if isinstance(thought, Reasoning) and thought.text:
            subject = thought.extra.get("subject")
            repeated.add(f"**{subject}** {thought.text}" if subject else thought.text)
    return [part for part in contents if not (_is_only_text(part) and part.text in repeated)]


def _is_only_text(part: Part) -> TypeGuard[Reasoning]:
    """Whether a part is reasoning text and nothing else; parts of the model itself have a signature."""
    return isinstance(part, Reasoning) and not part.signature and not part.extra


def _call_parts(fields: Fields) -> list[Part]:
    parts: list[Part] = []
    for raw in fields.items("toolCalls") or ():
        if raw.__class__ is dict:
            _add_call(Fields(raw, fields.note, fields.where), parts)
        else:
            fields.note(Kind.WRONG_TYPE, fields.where, f"a tool call is {type(raw).__name__}")
            parts.append(Other(data=raw, name="toolCall"))
    return parts


def _add_call(call: Fields, parts: list[Part]) -> None:
    """Append a call, and its result if there is one."""
    call_id, name = call.text("id"), call.text("name") or ""
    arguments, result = call.take("args"), call.take("result")
    status = None if result is None else call.text("status")
    at = call.view("timestamp")
    kind = kind_of(name)
    parts.append(ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=call.rest()))
    if result is None:
        return
    output = google.simplify_output(google.parse_outputs(result, call.note, call.where, kind_of))
    facts = {"status": status, "timestamp": at, "exit_code": _exit_code(output) if kind == "shell" else None}
    parts.append(
        ToolResult(
            call_id=call_id,
            name=name or None,
            output=output,
            is_error=_is_error(status, result),
            native=None if result == output else result,
            extra={name: value for name, value in facts.items() if value is not None},
        )
    )


def _is_error(status: str | None, result: Any) -> bool | None:
    if status in ("success", "error"):
        return status == "error"
    first = result[0] if result.__class__ is list and result else result
    response = first.get("functionResponse") if first.__class__ is dict else None
    details = response.get("response") if response.__class__ is dict else None
    return True if google.is_failure(details) else None


def _exit_code(output: Any) -> int | None:
    if output.__class__ is not str:
        return None
    codes = _EXIT_CODE.findall(output, max(len(output) - _TAIL_CHARS, 0))
    return int(codes[-1]) if codes else None


def _merge_calls(contents: list[Part], calls: list[Part]) -> tuple[list[Part], list[Part]]:
    """Merge calls in the content, which comes from the model's history, with those of `toolCalls`."""
    known = {call.call_id: index for index, call in enumerate(calls) if isinstance(call, ToolCall)}
    remaining: list[Part] = []
    for part in contents:
        index = known.get(part.call_id) if isinstance(part, ToolCall) and part.call_id else None
        call = None if index is None else calls[index]
        if isinstance(part, ToolCall) and isinstance(call, ToolCall) and _is_same(part, call):
            calls[known[part.call_id]] = replace(call, extra=part.extra | call.extra)
        else:
            remaining.append(part)
    return remaining, calls


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    try:
        return one.name == other.name and one.input == other.input
    except RecursionError:
        return False


def _usage(fields: Fields) -> Usage | None:
    """Get the usage: the source's `input` includes cached tokens, `output` excludes thoughts; add `tool`."""
    raw = fields.view("tokens")
    if raw is None:
        fields.drop("tokens")
    if raw.__class__ is not dict:
        return None
    counts = [raw.get(name) for name in _COUNT_FIELDS]
    if not any(count.__class__ is int for count in counts):
        return None
    if not all(count is None or (count.__class__ is int and count >= 0) for count in counts):
        fields.note(Kind.WRONG_TYPE, fields.where, "tokens are not counts")
        return None
    fields.drop("tokens")
    sent, out, cached, thoughts, tool, total = counts
    return Usage(
        input=None if sent is None else max(sent - (cached or 0), 0) + (tool or 0),
        output=None if out is None and thoughts is None else (out or 0) + (thoughts or 0),
        cache_read=cached,
        reasoning=thoughts,
        total=total,
        extra=raw,
    )
