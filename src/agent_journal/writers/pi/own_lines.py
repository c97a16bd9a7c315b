"""A session of the tool itself as its lines, from what its reader left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code, Event, Media, Message, Other, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Part
    from agent_journal.writers.pi.lines import Record

_EXECUTIONS = {"bashExecution": "command", "pythonExecution": "code"}
_SUMMARIES = ("branchSummary", "compactionSummary")
_TITLE = "title"


def session_lines(conversation: Conversation) -> Iterator[Record]:
    """Yield the lines of a session."""
    entries = [*conversation.timeline]
    first = entries[0] if entries else None
    if isinstance(first, Event) and first.name == _TITLE:
        yield _event(first)  # a line of fixed width before the first one
        del entries[0]
    head = {"id": conversation.id, "timestamp": conversation.started_at, "cwd": conversation.cwd}
    stated = {name: value for name, value in head.items() if value is not None}
    yield {"type": "session", **stated, **conversation.extra}
    has_title = False
    for entry in entries:
        if isinstance(entry, Event):
            has_title = has_title or entry.name in {"session_info", "title_change"}
            yield _event(entry)
        else:
            yield _message(entry)
    if conversation.title and not has_title and _TITLE not in conversation.extra:
        yield {"type": "session_info", "name": conversation.title}


def _event(event: Event) -> Record:
    line: Record = {} if event.name == "unknown" else {"type": event.name}
    return line | _links(event) | event.data


def _links(entry: Message | Event) -> Record:
    links = {"id": None if entry.made_id else entry.id, "parentId": entry.parent_id, "timestamp": entry.at}
    return {name: value for name, value in links.items() if value is not None}


def _message(message: Message) -> Record:
    rest = message.extra.get("message")
    body: Record = {**rest} if isinstance(rest, dict) else {}
    outer = {name: value for name, value in message.extra.items() if name != "message"}
    if "customType" in outer and "message" not in message.extra:
        content = [_block(part) for part in message.parts]
        return {"type": "custom_message", **_links(message), "content": content, **outer}
    if message.hidden and message.role == "assistant" and not message.parts:
        usage = message.usage.extra if message.usage is not None else None
        stated = {"model": message.model, "stopReason": message.stop_reason, "usage": usage}
        given = {name: value for name, value in stated.items() if value is not None}
        return {"type": "model_usage", **_links(message), **given, **outer}
    return {"type": "message", **_links(message), **outer, "message": _body(message, body)}


def _body(message: Message, rest: Record) -> Record:
    role = rest.get("role")
    if isinstance(role, str) and role in _EXECUTIONS:
        code = next((part.code for part in message.parts if isinstance(part, Code)), "")
        output = "".join(part.text for part in message.parts if isinstance(part, Text))
        return {_EXECUTIONS[role]: code, "output": output, **rest}
    if isinstance(role, str) and role in _SUMMARIES:
        return {"summary": "".join(part.text for part in message.parts if isinstance(part, Text)), **rest}
    if message.role == "tool" and len(message.parts) == 1 and isinstance(message.parts[0], ToolResult):
        return _result(message.parts[0]) | rest
    body: Record = {"role": message.role, "content": [_block(part) for part in _joined(message.parts)]}
    if message.role == "assistant":
        stated: Record = {"model": message.model, "stopReason": message.stop_reason}
        if message.usage is not None:
            stated["usage"] = message.usage.extra
        body |= {name: value for name, value in stated.items() if value is not None}
    return body | rest


def _joined(parts: list[Part]) -> Iterator[Part]:
    """Yield parts with the texts in one piece that the reader has separated from a prompt."""
    texts = [part for part in parts if isinstance(part, Text)]
    if any(part.injected for part in texts):
        yield Text(text="".join(part.text for part in texts))
        yield from (part for part in parts if not isinstance(part, Text))
    else:
        yield from parts


def _result(result: ToolResult) -> Record:
    output: list[Any] = [Text(text=result.output)] if isinstance(result.output, str) else result.output
    content = [_block(part) for part in output] if result.output else []
    stated = {"toolCallId": result.call_id, "toolName": result.name, "isError": result.is_error}
    given = {name: value for name, value in stated.items() if value is not None}
    return {"role": "toolResult", **given, "content": content}


def _block(part: Part) -> Any:
    match part:
        case Text():
            return {"type": "text", "text": part.text, **part.extra}
        case Reasoning():
            signature = part.encrypted or part.signature
            block: Record = {"type": "thinking", "thinking": part.text or ""}
            return block | ({} if signature is None else {"thinkingSignature": signature}) | part.extra
        case ToolCall():
            call = {"type": "toolCall", "name": part.name, "arguments": part.input, **part.extra}
            return call | ({} if part.call_id is None else {"id": part.call_id})
        case Media():
            data = {"data": part.data or part.ref, "mimeType": part.mime}
            return {"type": "image", **{name: each for name, each in data.items() if each}, **part.extra}
        case Other():
            return part.data
        case Code():
            return {"type": "text", "text": part.code}
    return {"type": "text", "text": ""}
