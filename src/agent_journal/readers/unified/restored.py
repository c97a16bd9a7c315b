"""Restores a conversation from a document that this program wrote."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET
from msgspec.structs import replace

from agent_journal.decoding import json_text
from agent_journal.model import (
    Citation,
    Code,
    Conversation,
    Event,
    Feedback,
    Link,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from agent_journal.model.leftovers import leftover_fields
from agent_journal.readers.unified.own_documents import (
    CodeBlock,
    Document,
    DocumentEvent,
    DocumentMessage,
    Image,
    Lines,
    MessageOwnFields,
    PartOwnFields,
    TextBlock,
    Thinking,
    ToolResultBlock,
    ToolUse,
    UsageOwnFields,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.model import Bag
    from agent_journal.readers.unified.own_documents import Block

_NO_VERSION = "unknown"
# Names in metadata that stand for fields of the model; all others are the source's local_names fields.
_PLATFORM_FIELDS = frozenset(
    {"title", "conversation_id", "account_id", "head_message_id", "link", "feedback", "origin", "name"}
)
_MESSAGE_FIELDS = frozenset(
    {
        "model_override",
        "response_id",
        "stop_reason",
        "hidden",
        "sidechain",
        "timestamp_inferred",
        "usage",
        "service_tier",
    }
)
_TEXT_FIELDS = frozenset({"citations", "injected"})
_CODE_FIELDS = frozenset({"line_range"})
_THINKING_FIELDS = frozenset({"summary", "encrypted"})
_IMAGE_FIELDS = frozenset({"ref", "size", "mime", "text"})
_RESULT_FIELDS = frozenset({"name"})
_NO_FIELDS: frozenset[str] = frozenset()
_PLACEHOLDERS = ("media", "other", "reasoning")
_TOKEN_FIELDS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_write",
    "cache_read_input_tokens": "cache_read",
    "reasoning_tokens": "reasoning",
    "total_tokens": "total",
}
_CACHE_WRITE_FIELDS = {
    "ephemeral_5m_input_tokens": "cache_write_5m",
    "ephemeral_1h_input_tokens": "cache_write_1h",
}
_NO_PART_OWN_FIELDS = PartOwnFields()
_NO_MESSAGE_OWN_FIELDS = MessageOwnFields()
_EMPTY_CONTENT = [TextBlock(text="")]
_NO_USAGE_OWN_FIELDS = UsageOwnFields()


def restored(document: Document) -> Conversation:
    """Restore the conversation of a document; raises `ValidationError` if another program changed it."""
    own_fields = document.agent_journal
    platform, context = document.platform, document.context
    source_fields = _SourceFields(own_fields.names)
    metadata, local_names = platform.metadata, own_fields.metadata.names
    fields = {name: value for name, value in metadata.items() if name not in own_fields.platform}
    conversation = Conversation(
        id=document.session.session_id,
        source=own_fields.source,
        title=_text_field(fields, "title", local_names),
        started_at=document.created_at,
        updated_at=document.updated_at,
        app_version=None if platform.version == _NO_VERSION else platform.version,
        model=platform.model,
        cwd=context.workspace.path,
        git_branch=context.workspace.git_branch,
        git_commit=context.workspace.git_commit,
        account_id=_text_field(fields, "account_id", local_names),
        editor=context.environment.editor,
        os=context.environment.os,
        shell=context.environment.shell,
        archived=True if document.status else None,
        tags=document.tags,
        shape="tree" if any(message.parent_message_id for message in document.messages) else "list",
        head_id=_text_field(fields, "head_message_id", local_names),
        link=_typed_field(fields, "link", local_names, Link | None),
        timeline=_timeline(document, _MessageRestorer(document, source_fields)),
        summaries=_summaries(document),
        feedback=_typed_field(fields, "feedback", local_names, list[Feedback] | None) or [],
        tools=document.tools,
        requests=document.requests,
        platform={name: metadata[name] for name in own_fields.platform if name in metadata},
        context=context.custom,
        extra=source_fields.restore(fields, _PLATFORM_FIELDS, local_names)
        | _duplicated_fields(metadata, own_fields.metadata.same),
    )
    return replace(conversation, **leftover_fields(own_fields.conversation))


def _timeline(document: Document, content: _MessageRestorer) -> list[Message | Event]:
    """Restore the messages and events in their original order."""
    messages = map(content.message, document.messages)
    if not document.events:
        return list(messages)
    events = map(_event, document.events)
    event_positions = set(document.agent_journal.events)
    timeline: list[Message | Event] = []
    for position in range(len(document.messages) + len(document.events)):
        entry = next(events if position in event_positions else messages, None)
        if entry is not None:
            timeline.append(entry)
    return [*timeline, *messages, *events]  # a changed document may have more messages


def _event(event: DocumentEvent) -> Event:
    values: dict[str, Any] = {
        "id": event.event_id,
        "name": event.name,
        "parent_id": event.parent_id,
        "at": event.timestamp,
        "data": event.data,
    }
    return Event(**values | leftover_fields(event.agent_journal))


def _summaries(document: Document) -> list[Summary]:
    stated = document.agent_journal.summaries
    original_times = stated if len(stated) == len(document.summaries) else None
    summaries: list[Summary] = []
    for index, each in enumerate(document.summaries):
        values: dict[str, Any] = {
            "text": each.text,
            "kind": each.type,
            "at": each.timestamp if original_times is None else original_times[index],
            "message_id": each.covers_messages[-1] if each.covers_messages else None,
            "extra": each.metadata,
        }
        summaries.append(Summary(**values | leftover_fields(each.agent_journal)))
    return summaries


class _SourceFields:
    """Restores the source's own fields from metadata, under their original names."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def restore(
        self, metadata: Bag, model_fields: frozenset[str], local_names: Mapping[str, str | None] | None = None
    ) -> Bag:
        """Get all fields that are not the model's; `local_names` are names with another meaning here."""
        names = self._names
        if not local_names:
            return {
                names.get(name, name): value for name, value in metadata.items() if name not in model_fields
            }
        extra: Bag = {}
        for name, value in metadata.items():
            if name in local_names:
                original = local_names[name]
            else:
                original = None if name in model_fields else names.get(name, name)
            if original is not None:
                extra[original] = value
        return extra


class _MessageRestorer:
    """Restores messages and their parts."""

    def __init__(self, document: Document, source_fields: _SourceFields) -> None:
        own_fields = document.agent_journal
        self._source_fields = source_fields
        self._kinds = own_fields.kinds
        self._inputs = own_fields.inputs
        self._repeats = own_fields.repeats
        self._no_error: bool | None = False if own_fields.is_error is UNSET else None

    def message(self, message: DocumentMessage) -> Message:
        """Restore a message."""
        own_fields = message.agent_journal or _NO_MESSAGE_OWN_FIELDS
        if message.role == "function" and message.metadata.get("role") != message.role:
            raise msgspec.ValidationError("the role was changed")
        if own_fields.empty and message.content != _EMPTY_CONTENT:
            raise msgspec.ValidationError("the content was changed")
        metadata, local_names = message.metadata, own_fields.names
        extra: Bag = {}
        if metadata:
            extra = self._source_fields.restore(metadata, _MESSAGE_FIELDS, local_names)
            if own_fields.same:
                extra |= _duplicated_fields(metadata, own_fields.same)
        response_id = _text_field(metadata, "response_id", local_names)
        is_inferred = "timestamp_inferred" in metadata and "timestamp_inferred" not in local_names
        values: dict[str, Any] = {
            "id": message.message_id,
            "role": "tool" if message.role == "function" else message.role,
            "parent_id": message.parent_message_id,
            "at": None if is_inferred else message.timestamp,
            "model": _text_field(metadata, "model_override", local_names),
            "stop_reason": _text_field(metadata, "stop_reason", local_names),
            "hidden": "hidden" in metadata and "hidden" not in local_names,
            "sidechain": "sidechain" in metadata and "sidechain" not in local_names,
            "response_id": response_id,
            "parts": [] if own_fields.empty else self._parts(message.content, own_fields.parts),
            "usage": self._usage(message, response_id, own_fields.usage, local_names),
            "extra": extra,
        }
        return Message(**values | leftover_fields(own_fields))

    def _usage(
        self,
        message: DocumentMessage,
        response_id: str | None,
        own_fields: UsageOwnFields | None,
        local_names: dict[str, str],
    ) -> Usage | None:
        if message.tokens is None and message.cost is None and own_fields is None:
            return None
        request_id = message.metadata.get("request_id")
        is_known = response_id is not None and request_id.__class__ is str
        values = {
            "key": f"{response_id}:{request_id}" if is_known else response_id,
            "cost_usd": None if message.cost is None else message.cost.amount,
            **_counts(message.tokens or {}),
        }
        own_fields = own_fields or _NO_USAGE_OWN_FIELDS
        values["extra"] = self._usage_extra(message, own_fields, local_names)
        return Usage(**values | leftover_fields(own_fields))

    def _usage_extra(
        self, message: DocumentMessage, own_fields: UsageOwnFields, local_names: dict[str, str]
    ) -> Bag:
        """Restore the source's own fields of a usage."""
        tokens, metadata = message.tokens or {}, message.metadata
        repeats = self._repeats if own_fields.repeats is UNSET else own_fields.repeats
        extra = {name: tokens[name] for name in repeats if name in tokens}
        extra |= {name: value for name, value in tokens.items() if name not in _TOKEN_NAMES}
        if "service_tier" in metadata and "service_tier" not in local_names:
            extra["service_tier"] = metadata["service_tier"]
        if "usage" in metadata and "usage" not in local_names:
            extra |= _typed_field(metadata, "usage", local_names, dict[str, Any])
        return extra | own_fields.extra

    def _parts(self, blocks: list[Any], own_fields: list[PartOwnFields | None]) -> list[Any]:
        if not own_fields:
            return [self._part(block, _NO_PART_OWN_FIELDS) for block in blocks]
        if len(own_fields) != len(blocks):
            raise msgspec.ValidationError("the content was changed")
        pairs = zip(blocks, own_fields, strict=True)
        return [self._part(block, each or _NO_PART_OWN_FIELDS) for block, each in pairs]

    def _part(self, block: Block, own_fields: PartOwnFields) -> Part:
        if own_fields is _NO_PART_OWN_FIELDS:
            return self._block_part(block, own_fields)
        part = self._block_part(block, own_fields)
        leftovers = leftover_fields(own_fields, type(part))
        return replace(part, **leftovers) if leftovers else part

    def _block_part(self, block: Block, own_fields: PartOwnFields) -> Part:
        match block:
            case TextBlock():
                return self._text(block, own_fields) if block.metadata else Text(text=block.text)
            case ToolUse():
                return self._call(block, own_fields)
            case ToolResultBlock():
                return self._result(block, own_fields)
            case Thinking():
                return self._reasoning(block, own_fields)
            case CodeBlock():
                return self._code(block, own_fields)
        return self._image(block, own_fields)

    def _extra(self, metadata: Bag, model_fields: frozenset[str], own_fields: PartOwnFields) -> Bag:
        if not metadata:
            return {}
        extra = self._source_fields.restore(metadata, model_fields, own_fields.names)
        return extra | _duplicated_fields(metadata, own_fields.same) if own_fields.same else extra

    def _text(self, block: TextBlock, own_fields: PartOwnFields) -> Part:
        metadata = block.metadata
        if metadata.get("type") in _PLACEHOLDERS and not own_fields.text:
            part: Part = msgspec.convert(metadata, Media | Other | Reasoning)
            return part
        citations = _typed_field(metadata, "citations", own_fields.names, list[Citation] | None) or []
        return Text(
            text=block.text,
            injected=_typed_field(metadata, "injected", own_fields.names, bool | None) or False,
            citations=citations,
            extra=self._extra(metadata, _TEXT_FIELDS, own_fields),
        )

    def _call(self, block: ToolUse, own_fields: PartOwnFields) -> ToolCall:
        return ToolCall(
            name=block.name,
            call_id=block.id if own_fields.call_id is UNSET else None,
            input=self._input(block.input, own_fields),
            kind=self._kinds.get(block.name) if own_fields.kind is UNSET else own_fields.kind,
            extra=self._extra(block.metadata, _NO_FIELDS, own_fields),
        )

    def _input(self, value: Bag, own_fields: PartOwnFields) -> Any:
        if own_fields.input_text is not None:
            return own_fields.input_text
        is_raw = value.keys() == {"raw"}
        form = own_fields.input or ("" if is_raw else self._inputs)
        if form == "none":
            return None
        if not form:
            return value["raw"] if is_raw else value
        if form == "object":
            return value
        text = json_text.text_of(value["raw"] if is_raw else value, form)
        if text is None:
            raise msgspec.ValidationError(f"{form} is no form of a text")
        return text

    def _result(self, block: ToolResultBlock, own_fields: PartOwnFields) -> ToolResult:
        output = block.content
        if output.__class__ is not str:
            output = self._parts(output, own_fields.parts)  # type: ignore[arg-type] # it is a list
        is_error: bool | None = True if block.is_error else self._no_error
        return ToolResult(
            call_id=block.tool_use_id if own_fields.call_id is UNSET else None,
            output=output,  # type: ignore[arg-type] # parts now
            is_error=is_error if own_fields.is_error is UNSET else own_fields.is_error,
            name=_text_field(block.metadata, "name", own_fields.names),
            extra=self._extra(block.metadata, _RESULT_FIELDS, own_fields),
        )

    def _reasoning(self, block: Thinking, own_fields: PartOwnFields) -> Reasoning:
        metadata, local_names = block.metadata, own_fields.names
        has_text = own_fields.thinking is None
        return Reasoning(
            text=block.thinking if has_text else None,
            summary=block.thinking
            if own_fields.thinking == "summary"
            else _text_field(metadata, "summary", local_names),
            signature=block.signature,
            encrypted=_text_field(metadata, "encrypted", local_names),
            extra=self._extra(metadata, _THINKING_FIELDS, own_fields),
        )

    def _code(self, block: CodeBlock, own_fields: PartOwnFields) -> Code:
        lines = (
            block.line_range
            or _typed_field(block.metadata, "line_range", own_fields.names, Lines | None)
            or Lines()
        )
        return Code(
            code=block.code,
            language=block.language,
            file=block.file_path,
            first_line=lines.start,
            last_line=lines.end,
            extra=self._extra(block.metadata, _CODE_FIELDS, own_fields),
        )

    def _image(self, block: Image, own_fields: PartOwnFields) -> Media:
        metadata, local_names, source = block.metadata, own_fields.names, block.source
        is_inline = source is not None and source.type == "base64"
        return Media(
            kind="image",
            mime=_text_field(metadata, "mime", local_names) if source is None else source.media_type,
            name=block.alt_text,
            size=_typed_field(metadata, "size", local_names, int | None),
            ref=_text_field(metadata, "ref", local_names) if source is None or is_inline else source.data,
            data=source.data if source is not None and is_inline else None,
            text=_text_field(metadata, "text", local_names),
            extra=self._extra(metadata, _IMAGE_FIELDS, own_fields),
        )


_TOKEN_NAMES = frozenset({*_TOKEN_FIELDS, "cache_creation", "estimated"})


def _counts(tokens: Bag) -> dict[str, Any]:
    """Get the token counts under the model's names."""
    counts = {field: _integer(tokens[name]) for name, field in _TOKEN_FIELDS.items() if name in tokens}
    cache_writes = tokens.get("cache_creation")
    if cache_writes.__class__ is dict:
        counts |= {
            field: _integer(cache_writes[name])
            for name, field in _CACHE_WRITE_FIELDS.items()
            if name in cache_writes
        }
    return {**counts, "estimated": tokens.get("estimated") is True}


def _integer(value: Any) -> int | None:
    return value if value.__class__ is int else None


def _text_field(metadata: Bag, name: str, local_names: Mapping[str, Any]) -> str | None:
    """Get a text from metadata that stands for a field of the model."""
    value = metadata.get(name)
    if value is None or name in local_names:
        return None
    if value.__class__ is not str:
        raise msgspec.ValidationError(f"{name} is no text")
    text: str = value
    return text


def _typed_field(metadata: Bag, name: str, local_names: Mapping[str, Any], kind: Any) -> Any:
    """Get a value of a type from metadata that stands for a field of the model."""
    return None if name in local_names or name not in metadata else msgspec.convert(metadata[name], kind)


def _duplicated_fields(metadata: Bag, same: Mapping[str, str]) -> Bag:
    """Get the fields that the source states twice and the document once."""
    return {original: metadata[name] for original, name in same.items() if name in metadata}
