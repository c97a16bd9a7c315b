"""Verifiable agent records, 3.0.0-draft, unsigned: one record per conversation and line.

This is the plain profile: messages with their content as the source had it, tool calls, tool results and
reasoning as children, and few events. Parents, tokens and the models of single messages are left out.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import IO, TYPE_CHECKING, Any

from agent_journal import canonical, times, tree
from agent_journal.model import Event, Memory, Message, Reasoning, ToolCall, ToolResult
from agent_journal.writers import WriterInfo
from agent_journal.writers._content import content_of, of_parts

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation, Item, Part
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="agent-record",
    title="Verifiable agent record",
    suffix=".json",
    layout="lines",
    loses=(
        "memories",
        "system messages",
        "events other than queue operations, token counts and steps",
        "parents and branches",
        "tokens and cost",
        "the model of each message",
        "what only the source has a field for",
    ),
    evidence="draft-birkholz-verifiable-agent-conversations-00 and its CDDL, February 2026",
)
VERSION = "3.0.0-draft"
_EVENTS = frozenset({"queue-operation", "token-count", "step-start", "step-finish"})
_PROVIDER = re.compile(r"(?P<anthropic>claude)|(?P<google>gemini)|(?P<openai>gpt|o3|o4)")
_UNKNOWN = "unknown"
# Parts that are entries; the others are only part of a message's content.
_ENTRIES = (ToolCall, ToolResult, Reasoning)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one record on one line, in the form in which records are signed."""
    for item in items:
        if isinstance(item, Memory):
            run.cannot_say(item, "", "a memory is no conversation")
            continue
        out.write(canonical.encode(record(item, run)))
        out.write(b"\n")


def record(conversation: Conversation, run: Run) -> dict[str, Any]:
    """The record of a conversation; what it has no entry for is noted."""
    start = _start(conversation)
    name, _, version = run.program.partition("/")
    session = {
        "format": "interactive",
        "session-id": conversation.id,
        "session-start": start,
        "agent-meta": _agent_meta(conversation, run),
        "environment": None if conversation.cwd is None else {"working-dir": conversation.cwd},
        "entries": _entries(conversation, run),
    }
    whole = {
        "version": VERSION,
        "id": conversation.id,
        "created": start,
        "session": _without_nulls(session),
        "recording-agent": _without_nulls({"name": name, "version": version or None}),
    }
    return _without_nulls(whole)


def _without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _start(conversation: Conversation) -> str | None:
    """When it began: as stated, or the first time in it if that is earlier."""
    moments = (times.moment(entry.at) for entry in conversation.timeline)
    first = next((at for at in moments if at is not None), None)
    stated = times.moment(conversation.started_at)
    if first is None or stated is None:
        return stated or first
    return min(stated, first, key=lambda at: times.epoch_ms(at) or 0)


def _agent_meta(conversation: Conversation, run: Run) -> dict[str, Any]:
    seen = [message.model for message in tree.messages(conversation) if message.model]
    model = conversation.model or next(iter(seen), _UNKNOWN)
    models = sorted({model, *seen})
    return _without_nulls(
        {
            "model-id": model,
            "model-provider": _provider(model),
            "models": models if len(models) > 1 else None,
            "cli-name": run.name_of(conversation.source, "record"),
            "cli-version": conversation.app_version,
        }
    )


def _provider(model: str) -> str:
    """Who makes a model, by the beginning of its name."""
    found = _PROVIDER.match(model)
    return (found.lastgroup if found else None) or _UNKNOWN


def _entries(conversation: Conversation, run: Run) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    left_out: Counter[str] = Counter()
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            if entry.name in _EVENTS:
                entries.append({"type": "system-event", "event-type": entry.name} | _place(entry))
            else:
                left_out[f"event {entry.name}"] += 1
        elif entry.role == "tool":
            entries.extend(_tool_entries(entry))
        elif entry.role == "system":
            left_out["system message"] += 1
        else:
            entries.append(_message(entry))
    for what, count in sorted(left_out.items()):
        run.cannot_say(conversation, "", f"{count} × {what}")
    return entries


def _place(entry: Message | Event) -> dict[str, Any]:
    return _without_nulls({"timestamp": times.moment(entry.at), "id": None if entry.made_id else entry.id})


def _message(message: Message) -> dict[str, Any]:
    entry = {"type": message.role} | _place(message)
    content = content_of(message)
    if content is not None:
        entry["content"] = content
    children = list(_children(message))
    if children:
        entry["children"] = children
    return entry


def _children(message: Message) -> Iterator[dict[str, Any]]:
    native = message.native
    # Where a source has blocks, each part was made of one of them.
    blocks = native if isinstance(native, list) and len(native) == len(message.parts) else message.parts
    for part, block in zip(message.parts, blocks, strict=True):
        match part:
            case ToolCall():
                yield _call(part)
            case ToolResult():
                yield _result(part, block)
            case Reasoning():
                yield _reasoning(part)


def _call(call: ToolCall) -> dict[str, Any]:
    entry = {
        "type": "tool-call",
        "name": call.name or _UNKNOWN,
        "input": {} if call.input is None else call.input,
    }
    return entry if call.call_id is None else entry | {"call-id": call.call_id}


def _result(result: ToolResult, block: Any) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "tool-result"}
    if result.call_id is not None:
        entry["call-id"] = result.call_id
    native = result.native
    if native is None and isinstance(block, dict):
        native = block.get("content")
    entry["output"] = result.output if native is None else native
    entry["status"] = "error" if result.is_error else "success"
    return entry


def _reasoning(reasoning: Reasoning) -> dict[str, Any]:
    text = reasoning.summary if reasoning.text is None else reasoning.text
    entry = {"type": "reasoning", "content": text or ""}
    return entry if reasoning.encrypted is None else entry | {"encrypted": reasoning.encrypted}


def _tool_entries(message: Message) -> list[dict[str, Any]]:
    """What a tool said, as entries of their own: the draft's messages are the user's and the assistant's."""
    entries = list(_children(message))
    said: list[Part] = [part for part in message.parts if not isinstance(part, _ENTRIES)]
    if not entries and message.native is not None:
        entries.append({"type": "tool-result", "output": message.native})
    elif said or not entries:
        output = of_parts(said)
        entries.append({"type": "tool-result", "output": "" if output is None else output})
    place = _place(message)
    if len(entries) > 1:
        place.pop("id", None)  # an id names one entry
    return [entry | place for entry in entries]
