"""One record of a session as a message: what was thought and said, which tools ran and what they gave."""

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
from agent_journal.readers.dialects.injected_text import marked
from agent_journal.readers.gemini_cli.names import INJECTED, REFERENCES, SNAPSHOT, kind_of

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# What the app tells the person is neither hers nor the model's.
_ROLES: dict[str, Role] = {
    "user": "user",
    "gemini": "assistant",
    "info": "system",
    "warning": "system",
    "error": "system",
}
_EXACT = ("user", "gemini")
_EXIT = re.compile(r"^Exit Code: (-?\d{1,9})$", re.MULTILINE | re.ASCII)
# The exit code stands in the last lines of a command's output.
_TAIL = 400
_COUNTS = ("input", "output", "cached", "thoughts", "tool", "total")


class Place(NamedTuple):
    """Where a message stands: its id, whether that was made, and its parent."""

    id: str
    made_id: bool
    parent_id: str | None


def message(raw: dict[str, Any], place: Place, note: Notes, where: int | str) -> Message:
    """The message that a record is. The record is changed in place."""
    fields = Fields(raw, note, where)
    role = _role(fields)
    content = fields.take("content")
    thoughts = _thoughts(fields)
    calls = _calls(fields)
    said = google.parts(content, note, where, kind_of)
    if thoughts:
        said = _without_thoughts(said, thoughts)
    if calls:
        said, calls = _told_once(said, calls)
    at, model = fields.moment("timestamp"), fields.text("model")
    hidden = False
    if role == "user":
        said, hidden = with_injected_marked(said)
    return Message(
        id=place.id,
        made_id=place.made_id,
        parent_id=place.parent_id,
        role=role,
        at=at,
        model=model or None,
        hidden=hidden,
        parts=[*thoughts, *said, *calls],
        usage=_usage(fields),
        native=None if content.__class__ is str and not thoughts and not calls and content else content,
        extra=fields.rest(),
    )


def with_injected_marked(parts: list[Part]) -> tuple[list[Part], bool]:
    """The parts with those marked that the app, not the person, said to the model; and whether all are."""
    marked_parts, is_all = marked(parts, _is_injected)
    return (parts, True) if is_all else (_with_references_marked(marked_parts), False)


def _is_injected(text: str) -> bool:
    return text.startswith(INJECTED) or _is_snapshot(text)


def _with_references_marked(parts: list[Part]) -> list[Part]:
    """The parts, with the content of files marked that the app put there for each `@path` of a prompt."""
    found: list[Part] = []
    is_inside = False
    for part in parts:
        if not isinstance(part, Text):
            found.append(part)
            continue
        text = part.text.strip()
        is_inside = is_inside or (text == REFERENCES[0] and bool(found))
        found.append(replace(part, injected=True) if is_inside else part)
        is_inside = is_inside and text != REFERENCES[1]
    return found


def snapshot(message: Message) -> str | None:
    """The summary that a message is, if it stands for what came before."""
    first = message.parts[0] if message.hidden and message.parts else None
    return first.text if isinstance(first, Text) and _is_snapshot(first.text) else None


def _is_snapshot(text: str) -> bool:
    begin, end = SNAPSHOT
    return begin in text and text.rstrip().endswith(end)


def _role(fields: Fields) -> Role:
    kind = fields.look("type")
    role = _ROLES.get(kind) if kind.__class__ is str else None
    if role is None:
        fields.note(Kind.UNKNOWN_TYPE, fields.where, f"message of type {str(kind)[:40]!r}")
        role = roles.role(kind) or "system"
    if kind in _EXACT:
        fields.drop("type")
    return role


def _thoughts(fields: Fields) -> list[Part]:
    raw = fields.items("thoughts")
    return [_thought(thought, fields) for thought in raw] if raw else []


def _thought(raw: Any, fields: Fields) -> Part:
    if raw.__class__ is not dict:
        fields.note(Kind.WRONG_TYPE, fields.where, f"a thought is {type(raw).__name__}")
        return Other(data=raw, name="thought")
    thought = Fields(raw, fields.note, fields.where)
    return Reasoning(text=thought.text("description"), extra=thought.rest())


def _without_thoughts(said: list[Part], thoughts: list[Part]) -> list[Part]:
    """Content without the thoughts that the app wrote into it when the session was resumed."""
    again: set[str | None] = set()
    for thought in thoughts:
        if isinstance(thought, Reasoning) and thought.text:
            subject = thought.extra.get("subject")
            again.add(f"**{subject}** {thought.text}" if subject else thought.text)
    return [part for part in said if not (_is_bare(part) and part.text in again)]


def _is_bare(part: Part) -> TypeGuard[Reasoning]:
    """Whether a part is a thought and nothing else; what came from the model has a signature."""
    return isinstance(part, Reasoning) and not part.signature and not part.extra


def _calls(fields: Fields) -> list[Part]:
    found: list[Part] = []
    for raw in fields.items("toolCalls") or ():
        if raw.__class__ is dict:
            _add_call(Fields(raw, fields.note, fields.where), found)
        else:
            fields.note(Kind.WRONG_TYPE, fields.where, f"a tool call is {type(raw).__name__}")
            found.append(Other(data=raw, name="toolCall"))
    return found


def _add_call(call: Fields, found: list[Part]) -> None:
    """Put a call, and what it gave if that is known, behind the others."""
    call_id, name = call.text("id"), call.text("name") or ""
    arguments, result = call.take("args"), call.take("result")
    status = None if result is None else call.text("status")
    at = call.look("timestamp")
    kind = kind_of(name)
    found.append(ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=call.rest()))
    if result is None:
        return
    output = google.plain(google.outputs(result, call.note, call.where, kind_of))
    facts = {"status": status, "timestamp": at, "exit_code": _exit_code(output) if kind == "shell" else None}
    found.append(
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
    told = response.get("response") if response.__class__ is dict else None
    return True if google.is_failure(told) else None


def _exit_code(output: Any) -> int | None:
    if output.__class__ is not str:
        return None
    found = _EXIT.findall(output, max(len(output) - _TAIL, 0))
    return int(found[-1]) if found else None


def _told_once(said: list[Part], calls: list[Part]) -> tuple[list[Part], list[Part]]:
    """Content that came out of the model's history has the calls too: what it adds to them goes there."""
    known = {call.call_id: place for place, call in enumerate(calls) if isinstance(call, ToolCall)}
    left: list[Part] = []
    for part in said:
        place = known.get(part.call_id) if isinstance(part, ToolCall) and part.call_id else None
        call = None if place is None else calls[place]
        if isinstance(part, ToolCall) and isinstance(call, ToolCall) and _is_same(part, call):
            calls[known[part.call_id]] = replace(call, extra=part.extra | call.extra)
        else:
            left.append(part)
    return left, calls


def _is_same(one: ToolCall, other: ToolCall) -> bool:
    try:
        return one.name == other.name and one.input == other.input
    except RecursionError:
        return False


def _usage(fields: Fields) -> Usage | None:
    """Tokens: `input` is stated with what the cache gave, `output` without thoughts; `tool` comes on top."""
    raw = fields.look("tokens")
    if raw is None:
        fields.drop("tokens")
    if raw.__class__ is not dict:
        return None
    counts = [raw.get(name) for name in _COUNTS]
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
