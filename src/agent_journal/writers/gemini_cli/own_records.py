"""A session of the tool itself as its records, from what its reader left of them."""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Any

from agent_journal.model import Media, Message, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.writers.dialects.agent_sessions import is_inline_image
from agent_journal.writers.dialects.training_dialogue import output_of
from agent_journal.writers.gemini_cli.records import Record, contents, image

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation

# The app cuts large outputs, and stores them in files; the reader puts them in place.
_CUT = "cut_output"
# Saved chats have these in place of messages.
_SAVED_CHAT = ("history", "clientHistory", "messages")
_TYPES = {"user": "user", "assistant": "gemini", "system": "info", "tool": "info"}


def lines(conversation: Conversation, project: str) -> Iterator[Record]:
    """Yield the lines of a session: its head, each message, and each rewind to an earlier one."""
    link = conversation.link
    head: Record = {
        "sessionId": conversation.id,
        "projectHash": project,
        "startTime": conversation.started_at,
        "lastUpdated": conversation.updated_at,
        "kind": "subagent" if link is not None and link.relation == "subagent" else "main",
        "summary": conversation.title,
    }
    extra = {name: value for name, value in conversation.extra.items() if name not in _SAVED_CHAT}
    yield {name: value for name, value in (head | extra).items() if value is not None}
    path: list[str] = []
    for message in tree.messages(conversation):
        if conversation.shape == "tree":
            parent = _message_above(conversation, message)
            start = path.index(parent) + 1 if parent in path else 0
            if start < len(path) and (parent is None or parent in path):
                yield {"$rewindTo": path[start]}
                del path[start:]
        path.append(message.id)
        yield _record(message)


def _message_above(conversation: Conversation, message: Message) -> str | None:
    """Return the id of the nearest message above another one."""
    chain = tree.chain_to(conversation.timeline, message.id)[:-1]
    return next((entry.id for entry in reversed(chain) if isinstance(entry, Message)), None)


def _record(message: Message) -> Record:
    record: Record = {"id": message.id}
    if message.at is not None:
        record["timestamp"] = message.at
    record |= {"type": _TYPES[message.role], "content": _content(message)}
    if message.role == "assistant":
        thoughts = [*_thoughts(message)]
        calls = [*_calls(message)]
        record |= {"thoughts": thoughts} if thoughts else {}
        record |= {"toolCalls": calls} if calls else {}
    if message.model is not None:
        record["model"] = message.model
    if message.usage is not None and message.usage.extra:
        record["tokens"] = message.usage.extra
    return record | message.extra


def _content(message: Message) -> Any:
    if message.native is not None:
        return message.native
    shown = [part for part in message.parts if not isinstance(part, Reasoning | ToolCall | ToolResult)]
    match shown:
        case []:
            return ""
        case [Text(text=text)]:
            return text
    return [*contents(shown)]


def _thoughts(message: Message) -> Iterator[Any]:
    """Yield the thoughts of a record; reasoning may also be a part of its content."""
    for part in message.parts:
        if isinstance(part, Other) and part.name == "thought":
            yield part.data
        elif isinstance(part, Reasoning) and _is_thought(part, message):
            yield part.extra | ({"description": part.text} if part.text is not None else {})


def _is_thought(part: Reasoning, message: Message) -> bool:
    if any(raw.get("thought") and raw.get("text") == part.text for raw in _objects(message.native)):
        return False
    return part.signature is None and (not part.extra or "subject" in part.extra or "timestamp" in part.extra)


def _objects(content: Any) -> list[Record]:
    return [raw for raw in content if isinstance(raw, dict)] if isinstance(content, list) else []


def _calls(message: Message) -> Iterator[Any]:
    """Yield the calls of a record, each followed by its result; others are in the content."""
    called = [raw["functionCall"] for raw in _objects(message.native) if "functionCall" in raw]
    in_content = [raw.get("name") for raw in _objects(called) if not raw.get("id")]
    for part, following in zip_longest(message.parts, message.parts[1:]):
        if isinstance(part, Other) and part.name == "toolCall":
            yield part.data
        elif isinstance(part, ToolCall) and (part.call_id is not None or part.name not in in_content):
            yield _call(part, following if isinstance(following, ToolResult) else None)


def _call(call: ToolCall, result: ToolResult | None) -> Record:
    record: Record = {"name": call.name, "args": call.input}
    if call.call_id is not None:
        record["id"] = call.call_id
    record |= call.extra
    if result is None:
        return record
    facts = {"status": result.extra.get("status"), "timestamp": result.extra.get("timestamp")}
    record |= {name: value for name, value in facts.items() if value is not None}
    return record | {"result": _output(call, result)}


def _output(call: ToolCall, result: ToolResult) -> Any:
    if result.native is not None and _CUT not in result.extra:
        return result.native
    if isinstance(result.output, str) and _CUT not in result.extra:
        return result.output
    images: list[Record] = []
    if not isinstance(result.output, str):
        images = [image(part) for part in result.output if isinstance(part, Media) and is_inline_image(part)]
        others: list[Any] = [part for part in result.output if not isinstance(part, Media | Other)]
        text = output_of(ToolResult(output=others))
    else:
        text = result.output
    response = {"id": call.call_id, "name": call.name, "response": {"output": text}}
    return [{"functionResponse": response}, *images]
