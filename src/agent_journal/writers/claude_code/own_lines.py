"""A session of the tool itself as its lines, from what its reader left of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Event, Media, Message, ToolResult
from agent_journal.model.content_blocks import exactly, output_as_json

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Conversation, Usage

_Record = dict[str, Any]
# The reader adds tokens that no line states to messages without any, under keys of this form.
_SURPLUS_KEY = ":cost-state:"
_PREVIEW = "persisted_output_preview"
_UNTYPED = "unknown"
_TITLE_LINES = ("custom-title", "ai-title", "summary")


def session_lines(conversation: Conversation) -> Iterator[_Record]:
    """Yield the lines of a session, with all of its branches."""
    link = conversation.link
    is_subagent = link is not None and link.relation == "subagent"
    session = link.conversation_id if is_subagent and link is not None else conversation.id
    envelope = {
        "cwd": conversation.cwd,
        "sessionId": session,
        "version": conversation.app_version,
        "gitBranch": conversation.git_branch,
    }
    common = {name: value for name, value in envelope.items() if value is not None}
    titles: set[Any] = set()
    for entry in conversation.timeline:
        if isinstance(entry, Event):
            titles |= {
                each for each in entry.data.values() if entry.name in _TITLE_LINES and isinstance(each, str)
            }
            yield _event_line(entry, session)
        else:
            yield _message_line(entry, common)
    own_title = conversation.extra.get("custom-title") or conversation.extra.get("meta")
    if conversation.title and conversation.title not in titles and not own_title:
        yield {"type": "custom-title", "customTitle": conversation.title, "sessionId": session}


def _event_line(event: Event, session: str) -> _Record:
    line: _Record = {} if event.name == _UNTYPED else {"type": event.name}
    if not event.made_id:
        line["uuid"] = event.id
    if event.parent_id is not None:
        line["parentUuid"] = event.parent_id
    if event.at is not None:
        line["timestamp"] = event.at
    if not event.made_id or event.name in _TITLE_LINES:
        line["sessionId"] = session
    return _with_logical_parent(line | event.data, event.parent_id)


def _message_line(message: Message, common: _Record) -> _Record:
    fields = {**message.extra}
    line: _Record = {"parentUuid": message.parent_id, **common}
    if "attachment" in fields and fields.get("type") == "attachment":
        body = None
        fields["attachment"] = _attachment(fields["attachment"], message)
    elif message.role == "system" and "message" not in fields and "type" not in fields:
        body = {"type": "system", "content": _content(message)}
    else:
        body = {"type": message.role, "message": _body(message, fields.pop("message", None))}
    line |= body or {}
    if not message.made_id:
        line["uuid"] = message.id
    if message.at is not None:
        line["timestamp"] = message.at
    if message.sidechain:
        line["isSidechain"] = True
    if message.usage is not None and message.usage.cost_usd is not None and not _is_surplus(message.usage):
        line["costUSD"] = message.usage.cost_usd
    return _with_logical_parent(line | fields, message.parent_id)


def _with_logical_parent(line: _Record, parent: str | None) -> _Record:
    """Let a line after a compaction have no parent but its logical one, as the tool writes it."""
    if parent is not None and line.get("logicalParentUuid") == parent:
        return line | {"parentUuid": None}
    return line


def _attachment(attachment: Any, message: Message) -> Any:
    """Put the content of attached files back, which its reader has moved to the parts of the message."""
    files = [part for part in message.parts if isinstance(part, Media)]
    is_prompt = isinstance(attachment, dict) and "prompt" in attachment
    if not isinstance(attachment, dict) or not files or is_prompt:
        return attachment
    media = files[0]
    content: Any = attachment.get("content")
    names: _Record = {"filename": media.ref, "displayPath": media.name}
    if isinstance(content, dict) and isinstance(content.get("contents"), list):
        moved = [part for part in files if part.text is not None]
        contents = [
            each | {"text": part.text} if isinstance(each, dict) else each
            for each, part in zip(content["contents"], moved, strict=False)
        ]
        return {**attachment, "content": {**content, "contents": contents}}
    if not isinstance(content, dict) or not isinstance(content.get("file"), dict):
        place = "path" if attachment.get("type") == "directory" else "filename"
        return {place: media.ref, "displayPath": media.name, **attachment, "content": media.text}
    file: _Record = {"content": media.text} if media.data is None else {"base64": media.data}
    if media.mime is not None:
        file["type"] = media.mime
    if media.size is not None:
        file["originalSize"] = media.size
    given: _Record = {name: value for name, value in names.items() if value is not None}
    return given | attachment | {"content": {**content, "file": {**content["file"], **file}}}


def _body(message: Message, rest: Any) -> _Record:
    body: _Record = {"role": message.role}
    content = _content(message)
    if content is not None:
        body["content"] = content
    if message.role == "assistant":
        stated: _Record = {"id": message.response_id, "type": "message", "model": message.model}
        stated["stop_reason"] = message.stop_reason
        if message.usage is not None and not _is_surplus(message.usage):
            stated["usage"] = message.usage.extra or None
        body |= {name: value for name, value in stated.items() if value is not None}
    return body | rest if isinstance(rest, dict) else body


def _is_surplus(usage: Usage) -> bool:
    return usage.key is not None and _SURPLUS_KEY in usage.key


def _content(message: Message) -> Any:
    """The content as the tool wrote it; an output that it moved to a file is in its place again."""
    outputs = {
        part.call_id: part
        for part in message.parts
        if isinstance(part, ToolResult) and _PREVIEW in part.extra
    }
    content = _in_blocks(exactly(message.parts)) if message.native is None else message.native
    if not outputs or not isinstance(content, list):
        return content
    return [_with_output(block, outputs) for block in content]


def _with_output(block: Any, outputs: dict[str | None, ToolResult]) -> Any:
    result = outputs.get(block.get("tool_use_id")) if isinstance(block, dict) else None
    if result is None:
        return block
    fields = {name: value for name, value in block.items() if name != _PREVIEW}
    return fields | {"content": _in_blocks(output_as_json(result.output))}


def _in_blocks(content: Any) -> Any:
    """Content in which files have the form of the service."""
    if not isinstance(content, list):
        return content
    return [_in_block(block) for block in content]


def _in_block(block: Any) -> Any:
    if not isinstance(block, dict):
        return block
    if block.get("type") == "tool_result":
        return block | {"content": _in_blocks(block.get("content"))}
    if block.get("type") != "media" or not ("data" in block or "ref" in block):
        return block
    mime = {"media_type": block["mime"]} if "mime" in block else {}
    place = {"type": "base64", **mime, "data": block["data"]} if "data" in block else {"type": "url"}
    source = place if "data" in block else place | {"url": block["ref"]}
    return {"type": "image" if block.get("kind") == "image" else "document", "source": source}
