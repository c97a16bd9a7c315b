"""A session of the tool itself as lines of a rollout, from what its reader left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Event, Media, Message, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.writers.codex.items import Record, content_of, line
from agent_journal.writers.dialects.agent_sessions import data_url
from agent_journal.writers.dialects.training_dialogue import output_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Part

_META = "session_meta"
_INDEX = "session_index"
# Calls that are items of a kind of their own, with the field that has their input.
_OWN_KINDS = {"local_shell": "action", "web_search": "action", "tool_search": "arguments"}
_SHOWN_TEXTS = {"user_message": "message", "agent_message": "message"}


def rollout_lines(conversation: Conversation) -> Iterator[Record]:
    """Yield the lines of a rollout in the order of its file."""
    first = next((entry for entry in conversation.timeline if _is_own_meta(entry)), None)
    is_bare = first is None  # rollouts of 2025 have items without an envelope
    at = conversation.started_at if first is None else first.at
    more = first.data if isinstance(first, Event) else {}
    yield line(at, _META, _meta(conversation)) | more
    has_name = False
    for entry in conversation.timeline:
        if entry is first:
            continue
        if isinstance(entry, Event):
            has_name = has_name or entry.name == "thread_name_updated"
            if "type" in entry.data:
                yield _with_time(entry.at, entry.data)
        else:
            for record in _lines(entry, is_bare=is_bare):
                yield _with_time(entry.at, record)
    if conversation.title and not has_name:
        name = {
            "type": "thread_name_updated",
            "thread_id": conversation.id,
            "thread_name": conversation.title,
        }
        yield line(conversation.updated_at, "event_msg", name)


def _is_own_meta(entry: Message | Event) -> bool:
    return isinstance(entry, Event) and entry.name == _META and "payload" not in entry.data


def _with_time(at: str | None, record: Record) -> Record:
    return record if at is None else {"timestamp": at, **record}


def _lines(message: Message, *, is_bare: bool) -> Iterator[Record]:
    """Yield the line of a message, with what its reader left of it."""
    payload = message.extra.get("payload")
    if isinstance(payload, dict) and message.extra.get("type") == "event_msg":
        yield {**message.extra, "payload": _shown(payload, message)}
        return
    outer = {} if is_bare else {name: value for name, value in message.extra.items() if name != "payload"}
    rest = message.extra if is_bare else payload if isinstance(payload, dict) else {}
    for item in _items(message, {**rest}):
        yield {**outer, "type": "response_item", "payload": item}


def _meta(conversation: Conversation) -> Record:
    stated = {
        "id": conversation.id,
        "timestamp": conversation.started_at,
        "cwd": conversation.cwd,
        "cli_version": conversation.app_version,
    }
    meta: Record = {name: value for name, value in stated.items() if value is not None}
    meta |= {name: value for name, value in conversation.extra.items() if name != _INDEX}
    git = {"branch": conversation.git_branch, "commit_hash": conversation.git_commit}
    known = {name: value for name, value in git.items() if value is not None}
    if known:
        rest = meta.get("git")
        meta["git"] = {**(rest if isinstance(rest, dict) else {}), **known}
    return meta


def _shown(payload: Record, message: Message) -> Record:
    """Put the text of an event that shows it back."""
    texts = [part.text for part in message.parts if isinstance(part, Text | Reasoning) and part.text]
    if payload.get("type") not in _SHOWN_TEXTS and not (
        message.parts and isinstance(message.parts[0], Reasoning)
    ):
        content = [{"type": "Text", "text": text} for text in texts]
        for name in ("item", "error"):
            if isinstance(payload.get(name), dict):
                whole = {"content": content} if name == "item" else {"message": "".join(texts)}
                return {**payload, name: {**payload[name], **whole}}
        return payload
    return {**payload, _SHOWN_TEXTS.get(str(payload.get("type")), "text"): "".join(texts)}


def _items(message: Message, rest: Record) -> Iterator[Record]:
    """Yield the item that a message was; none if it only has the tokens of an answer."""
    if not message.made_id:
        rest["id"] = message.id
    if len(message.parts) > 1 and isinstance(message.parts[0], ToolCall):  # an image that was generated
        call, result = message.parts[0], message.parts[1]
        data = next((part.data for part in _output(result) if isinstance(part, Media)), None)
        item = {"type": "image_generation_call", "id": call.call_id, "revised_prompt": call.input}
        yield rest | item | ({"result": data} if data is not None else {})
        return
    match message.parts:
        case []:
            if message.usage is None:
                yield {"type": "message", "role": _role(message, rest), "content": []} | rest
        case [Reasoning() as thought]:
            yield _reasoning(thought) | rest
        case [ToolCall() as call]:
            yield _call(call) | rest
        case [ToolResult() as result]:
            yield _result(result) | rest
        case _:
            kind = "agent_message" if "recipient" in rest or "author" in rest else "message"
            yield {"type": kind, "role": _role(message, rest), "content": _content(message)} | rest


def _role(message: Message, rest: Record) -> str:
    return str(rest.get("role") or message.role)


def _content(message: Message) -> Any:
    if message.native is not None:
        return message.native
    return [*content_of(message.parts, is_output=message.role == "assistant")]


def _output(part: Part) -> list[Any]:
    return part.output if isinstance(part, ToolResult) and isinstance(part.output, list) else []


def _reasoning(thought: Reasoning) -> Record:
    item: Record = {"type": "reasoning", "summary": []}
    if thought.summary is not None:
        item["summary"] = [{"type": "summary_text", "text": thought.summary}]
    if thought.text is not None:
        item["content"] = [{"type": "reasoning_text", "text": thought.text}]
    if thought.encrypted is not None:
        item["encrypted_content"] = thought.encrypted
    return item | thought.extra


def _call(call: ToolCall) -> Record:
    if call.name in _OWN_KINDS and not isinstance(call.input, str):
        item = {"type": f"{call.name}_call", _OWN_KINDS[call.name]: call.input}
        return item | ({"call_id": call.call_id} if call.call_id is not None else {})
    is_object = isinstance(tree.arguments(call), dict)
    known: Record = {"name": call.name} | ({} if call.call_id is None else {"call_id": call.call_id})
    if is_object or not isinstance(call.input, str):
        return {"type": "function_call", **known, "arguments": call.input}
    return {"type": "custom_tool_call", **known, "input": call.input}


def _result(result: ToolResult) -> Record:
    known: Record = {} if result.call_id is None else {"call_id": result.call_id}
    if result.native is not None or isinstance(result.output, str):
        output = result.output if result.native is None else result.native
        return {"type": "function_call_output", **known, "output": output}
    others = [part for part in result.output if not isinstance(part, Text | Media)]
    if len(result.output) == 1 and len(others) == 1 and getattr(others[0], "name", None) == "tools":
        return {"type": "tool_search_output", **known, "tools": getattr(others[0], "data", None)}
    pieces: list[Record] = []
    for part in result.output:
        if isinstance(part, Media):
            pieces.append({"type": "input_image", "image_url": data_url(part)})
        elif text := output_of(ToolResult(output=[part])):
            pieces.append({"type": "input_text", "text": text})
    return {"type": "function_call_output", **known, "output": pieces}
