"""A session of the tool itself as its records, from what its reader left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code, Event, Media, Message, Other, Reasoning, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Part
    from agent_journal.writers.qwen_code.records import Record

_TYPES = {"user": "user", "assistant": "assistant", "tool": "tool_result", "system": "user"}
# The reader adds tokens of other requests to messages of their own, under such ids.
_USAGE = ":usage"


def lines(conversation: Conversation) -> Iterator[Record]:
    """Yield the records of a session."""
    session, _, agent = conversation.id.partition(":")
    envelope: Record = {"sessionId": session}
    facts = {"cwd": conversation.cwd, "version": conversation.app_version}
    facts["gitBranch"] = conversation.git_branch
    envelope |= {name: value for name, value in facts.items() if value is not None}
    if agent:
        envelope |= {"isSidechain": True, "agentId": agent}
    has_title = False
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            has_title = has_title or entry.name == "custom_title"
            kind = {} if entry.name == "unknown" else {"type": "system", "subtype": entry.name}
            yield {**_links(entry, entry.data), **envelope, **kind, **entry.data}
        elif not (entry.made_id and entry.id.endswith(_USAGE)):
            yield _message(entry, envelope)
    if conversation.title and not has_title and not agent:
        payload = {"customTitle": conversation.title}
        yield {**envelope, "type": "system", "subtype": "custom_title", "systemPayload": payload}


def subagent_facts(conversation: Conversation) -> Record:
    """Return what the file next to a subagent's session states; nothing for other sessions."""
    link, meta = conversation.link, conversation.extra.get("meta")
    _, _, agent = conversation.id.partition(":")
    if not agent:
        return {}
    facts: Record = {"description": conversation.title, "model": conversation.model}
    if link is not None:
        session, _, parent = link.conversation_id.partition(":")
        facts |= {"parentSessionId": session, "parentAgentId": parent or None, "toolUseId": link.call_id}
    given = {name: value for name, value in facts.items() if value is not None}
    return given | (meta if isinstance(meta, dict) else {})


def _links(entry: Message | Event, rest: Record) -> Record:
    own_id = rest.get("id") if entry.made_id else entry.id
    links = {"uuid": own_id, "parentUuid": entry.parent_id, "timestamp": entry.at}
    return {name: value for name, value in links.items() if value is not None}


def _message(message: Message, envelope: Record) -> Record:
    rest = {name: value for name, value in message.extra.items() if name not in {"message", "id"}}
    body = message.extra.get("message")
    content: Record = {"role": "model" if message.role == "assistant" else "user"}
    content["parts"] = [_part(part) for part in message.parts]
    record: Record = {**_links(message, message.extra), **envelope, "type": _TYPES[message.role]}
    if message.model is not None:
        record["model"] = message.model
    if message.usage is not None and message.usage.extra:
        record["usageMetadata"] = message.usage.extra
    return {**record, "message": content | (body if isinstance(body, dict) else {}), **rest}


def _part(part: Part) -> Any:
    match part:
        case Text():
            return {"text": part.text, **part.extra}
        case Reasoning():
            signature = {} if part.signature is None else {"thoughtSignature": part.signature}
            return {"text": part.text or "", "thought": True, **signature, **part.extra}
        case ToolCall():
            return _nested("functionCall", part.extra, id=part.call_id, name=part.name, args=part.input)
        case ToolResult():
            return _result(part)
        case Media():
            kind, place = ("inlineData", "data") if part.data is not None else ("fileData", "fileUri")
            stated = {"mimeType": part.mime, place: part.data or part.ref, "displayName": part.name}
            return _nested(kind, part.extra, **stated)
        case Code():
            return _nested("executableCode", part.extra, language=part.language, code=part.code)
        case Other():
            return part.data


def _nested(kind: str, extra: Record, **fields: Any) -> Record:
    """Return a part whose fields are in an object named by its kind."""
    inner = {name: value for name, value in fields.items() if value is not None}
    rest = extra.get(kind)
    return {**extra, kind: inner | (rest if isinstance(rest, dict) else {})}


def _result(result: ToolResult) -> Record:
    key = "error" if result.is_error else "output"
    response: Any = {key: result.output}
    attached: list[Any] = []
    if not isinstance(result.output, str):
        texts = [part for part in result.output if isinstance(part, Text)]
        values = [part.data for part in result.output if isinstance(part, Other) and part.name == "response"]
        rest = texts[0].extra.get("response", {}) if texts else {}
        response = values[0] if values else {key: texts[0].text, **rest} if texts else {}
        attached = [_part(part) for part in result.output if isinstance(part, Media)]
    stated = {"id": result.call_id, "name": result.name, "response": response, "parts": attached or None}
    return _nested("functionResponse", result.extra, **stated)
