"""A conversation as it was before this program wrote it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, UnsetType
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
from agent_journal.readers.unified.own_documents import (
    CodeBlock,
    Document,
    Happened,
    Image,
    Lines,
    MessageLeft,
    PartLeft,
    Result,
    Said,
    TextBlock,
    Thinking,
    ToolUse,
    UsageLeft,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.model import Bag
    from agent_journal.readers.unified.own_documents import Block

_NO_VERSION = "unknown"
# What metadata holds beside what is the source's own.
_PLATFORM_FACTS = frozenset(
    {"title", "conversation_id", "account_id", "head_message_id", "link", "feedback", "origin", "name"}
)
_MESSAGE_FACTS = frozenset(
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
_TEXT_FACTS = frozenset({"citations", "injected"})
_CODE_FACTS = frozenset({"line_range"})
_THINKING_FACTS = frozenset({"summary", "encrypted"})
_IMAGE_FACTS = frozenset({"ref", "size", "mime", "text"})
_RESULT_FACTS = frozenset({"name"})
_NO_FACTS: frozenset[str] = frozenset()
_PLACEHOLDERS = ("media", "other", "reasoning")
_COUNTS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_write",
    "cache_read_input_tokens": "cache_read",
    "reasoning_tokens": "reasoning",
    "total_tokens": "total",
}
_CACHED = {"ephemeral_5m_input_tokens": "cache_write_5m", "ephemeral_1h_input_tokens": "cache_write_1h"}
_NOTHING_LEFT = PartLeft()
_NO_MESSAGE_LEFT = MessageLeft()
_NOTHING_SAID = [TextBlock(text="")]
_NO_USAGE_LEFT = UsageLeft()


def restored(document: Document) -> Conversation:
    """The conversation that a document was made of; a `ValidationError` if somebody else changed it."""
    left = document.agent_journal
    platform, context = document.platform, document.context
    bags = _Bags(left.names)
    metadata, own = platform.metadata, left.metadata.names
    facts = {name: value for name, value in metadata.items() if name not in left.platform}
    conversation = Conversation(
        id=document.session.session_id,
        source=left.source,
        title=_words(facts, "title", own),
        started_at=document.created_at,
        updated_at=document.updated_at,
        app_version=None if platform.version == _NO_VERSION else platform.version,
        model=platform.model,
        cwd=context.workspace.path,
        git_branch=context.workspace.git_branch,
        git_commit=context.workspace.git_commit,
        account_id=_words(facts, "account_id", own),
        editor=context.environment.editor,
        os=context.environment.os,
        shell=context.environment.shell,
        archived=True if document.status else None,
        tags=document.tags,
        shape="tree" if any(said.parent_message_id for said in document.messages) else "list",
        head_id=_words(facts, "head_message_id", own),
        link=_value(facts, "link", own, Link | None),
        timeline=_timeline(document, _Content(document, bags)),
        summaries=_summaries(document),
        feedback=_value(facts, "feedback", own, list[Feedback] | None) or [],
        tools=document.tools,
        requests=document.requests,
        platform={name: metadata[name] for name in left.platform if name in metadata},
        context=context.custom,
        extra=bags.own(facts, _PLATFORM_FACTS, own) | _copies(metadata, left.metadata.same),
    )
    return replace(conversation, **_set(left.conversation))


def _timeline(document: Document, content: _Content) -> list[Message | Event]:
    """Messages and events in the order they had."""
    messages = map(content.message, document.messages)
    if not document.events:
        return list(messages)
    events = map(_event, document.events)
    places = set(document.agent_journal.events)
    found: list[Message | Event] = []
    for place in range(len(document.messages) + len(document.events)):
        entry = next(events if place in places else messages, None)
        if entry is not None:
            found.append(entry)
    return [*found, *messages, *events]  # a document whose messages were changed may have more


def _event(happened: Happened) -> Event:
    left = happened.agent_journal
    return Event(
        id=happened.event_id,
        name=happened.name,
        made_id=left.made_id,
        parent_id=happened.parent_id,
        at=happened.timestamp if left.at is UNSET else left.at,
        data=happened.data,
    )


def _summaries(document: Document) -> list[Summary]:
    stated = document.agent_journal.summaries
    moments = stated if len(stated) == len(document.summaries) else None
    return [
        Summary(
            text=each.text,
            kind=each.type,
            at=each.timestamp if moments is None else moments[place],
            message_id=each.covers_messages[-1] if each.covers_messages else None,
            extra=each.metadata,
        )
        for place, each in enumerate(document.summaries)
    ]


class _Bags:
    """Takes what is the source's own out of metadata, and gives it the source's names again."""

    def __init__(self, names: dict[str, str]) -> None:
        self._names = names

    def own(self, metadata: Bag, facts: frozenset[str], own: Mapping[str, str | None] | None = None) -> Bag:
        """All but the facts; `own` are names that have another meaning here than elsewhere."""
        usual = self._names
        if not own:
            return {usual.get(name, name): value for name, value in metadata.items() if name not in facts}
        found: Bag = {}
        for name, value in metadata.items():
            original = own.get(name) if name in own else None if name in facts else usual.get(name, name)
            if original is not None:
                found[original] = value
        return found


class _Content:
    """Messages and their parts as they were."""

    def __init__(self, document: Document, bags: _Bags) -> None:
        left = document.agent_journal
        self._bags = bags
        self._kinds = left.kinds
        self._inputs = left.inputs
        self._repeats = left.repeats
        self._no_error: bool | None = False if left.is_error is UNSET else None

    def message(self, said: Said) -> Message:
        """A message."""
        left = said.agent_journal or _NO_MESSAGE_LEFT
        if said.role == "function" and said.metadata.get("role") != said.role:
            raise msgspec.ValidationError("the role was changed")
        if left.empty and said.content != _NOTHING_SAID:
            raise msgspec.ValidationError("the content was changed")
        metadata, own = said.metadata, left.names
        extra: Bag = {}
        if metadata:
            extra = self._bags.own(metadata, _MESSAGE_FACTS, own)
            if left.same:
                extra |= _copies(metadata, left.same)
        response_id = _words(metadata, "response_id", own)
        is_inferred = "timestamp_inferred" in metadata and "timestamp_inferred" not in own
        at = None if is_inferred else said.timestamp
        return Message(
            id=said.message_id,
            role="tool" if said.role == "function" else said.role,
            made_id=left.made_id,
            parent_id=said.parent_message_id if left.parent_id is UNSET else left.parent_id,
            at=at if left.at is UNSET else left.at,
            model=_words(metadata, "model_override", own),
            stop_reason=_words(metadata, "stop_reason", own),
            hidden="hidden" in metadata and "hidden" not in own,
            sidechain="sidechain" in metadata and "sidechain" not in own,
            response_id=response_id,
            parts=[] if left.empty else self._parts(said.content, left.parts),
            usage=self._usage(said, response_id, left.usage, own),
            extra=extra,
        )

    def _usage(
        self, said: Said, response_id: str | None, left: UsageLeft | None, own: dict[str, str]
    ) -> Usage | None:
        if said.tokens is None and said.cost is None and left is None:
            return None
        request_id = said.metadata.get("request_id")
        is_known = response_id is not None and request_id.__class__ is str
        told = {
            "key": f"{response_id}:{request_id}" if is_known else response_id,
            "cost_usd": None if said.cost is None else said.cost.amount,
            **_counts(said.tokens or {}),
        }
        left = left or _NO_USAGE_LEFT
        told["extra"] = self._stated_by_source(said, left, own)
        told |= _set(left, but=("extra", "repeats"))
        return Usage(**told)

    def _stated_by_source(self, said: Said, left: UsageLeft, own: dict[str, str]) -> Bag:
        """The source's own usage object."""
        tokens, metadata = said.tokens or {}, said.metadata
        repeats = self._repeats if left.repeats is UNSET else left.repeats
        found = {name: tokens[name] for name in repeats if name in tokens}
        found |= {name: value for name, value in tokens.items() if name not in _COUNTED}
        if "service_tier" in metadata and "service_tier" not in own:
            found["service_tier"] = metadata["service_tier"]
        if "usage" in metadata and "usage" not in own:
            found |= _value(metadata, "usage", own, dict[str, Any])
        return found | left.extra

    def _parts(self, blocks: list[Any], left: list[PartLeft | None]) -> list[Any]:
        if not left:
            return [self._part(block, _NOTHING_LEFT) for block in blocks]
        if len(left) != len(blocks):
            raise msgspec.ValidationError("the content was changed")
        pairs = zip(blocks, left, strict=True)
        return [self._part(block, each or _NOTHING_LEFT) for block, each in pairs]

    def _part(self, block: Block, left: PartLeft) -> Part:
        match block:
            case TextBlock():
                return self._text(block, left) if block.metadata else Text(text=block.text)
            case ToolUse():
                return self._call(block, left)
            case Result():
                return self._result(block, left)
            case Thinking():
                return self._reasoning(block, left)
            case CodeBlock():
                return self._code(block, left)
        return self._image(block, left)

    def _own(self, metadata: Bag, facts: frozenset[str], left: PartLeft) -> Bag:
        if not metadata:
            return {}
        extra = self._bags.own(metadata, facts, left.names)
        return extra | _copies(metadata, left.same) if left.same else extra

    def _text(self, block: TextBlock, left: PartLeft) -> Part:
        metadata = block.metadata
        if metadata.get("type") in _PLACEHOLDERS and not left.text:
            part: Part = msgspec.convert(metadata, Media | Other | Reasoning)
            return part
        citations = _value(metadata, "citations", left.names, list[Citation] | None) or []
        return Text(
            text=block.text,
            injected=_value(metadata, "injected", left.names, bool | None) or False,
            citations=citations,
            extra=self._own(metadata, _TEXT_FACTS, left),
        )

    def _call(self, block: ToolUse, left: PartLeft) -> ToolCall:
        return ToolCall(
            name=block.name,
            call_id=block.id if left.call_id is UNSET else None,
            input=self._input(block.input, left),
            kind=self._kinds.get(block.name) if left.kind is UNSET else left.kind,
            extra=self._own(block.metadata, _NO_FACTS, left),
        )

    def _input(self, value: Bag, left: PartLeft) -> Any:
        if left.input_text is not None:
            return left.input_text
        is_raw = value.keys() == {"raw"}
        form = left.input or ("" if is_raw else self._inputs)
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

    def _result(self, block: Result, left: PartLeft) -> ToolResult:
        output = block.content
        if output.__class__ is not str:
            output = self._parts(output, left.parts)  # type: ignore[arg-type] # it is a list
        is_error: bool | None = True if block.is_error else self._no_error
        return ToolResult(
            call_id=block.tool_use_id if left.call_id is UNSET else None,
            output=output,  # type: ignore[arg-type] # parts now
            is_error=is_error if left.is_error is UNSET else left.is_error,
            name=_words(block.metadata, "name", left.names),
            extra=self._own(block.metadata, _RESULT_FACTS, left),
        )

    def _reasoning(self, block: Thinking, left: PartLeft) -> Reasoning:
        metadata, own = block.metadata, left.names
        is_text = left.thinking is None
        return Reasoning(
            text=block.thinking if is_text else None,
            summary=block.thinking if left.thinking == "summary" else _words(metadata, "summary", own),
            signature=block.signature,
            encrypted=_words(metadata, "encrypted", own),
            extra=self._own(metadata, _THINKING_FACTS, left),
        )

    def _code(self, block: CodeBlock, left: PartLeft) -> Code:
        lines = block.line_range or _value(block.metadata, "line_range", left.names, Lines | None) or Lines()
        return Code(
            code=block.code,
            language=block.language,
            file=block.file_path,
            first_line=lines.start,
            last_line=lines.end,
            extra=self._own(block.metadata, _CODE_FACTS, left),
        )

    def _image(self, block: Image, left: PartLeft) -> Media:
        metadata, own, source = block.metadata, left.names, block.source
        is_inline = source is not None and source.type == "base64"
        return Media(
            kind="image",
            mime=_words(metadata, "mime", own) if source is None else source.media_type,
            name=block.alt_text,
            size=_value(metadata, "size", own, int | None),
            ref=_words(metadata, "ref", own) if source is None or is_inline else source.data,
            data=source.data if source is not None and is_inline else None,
            text=_words(metadata, "text", own),
            extra=self._own(metadata, _IMAGE_FACTS, left),
        )


_COUNTED = frozenset({*_COUNTS, "cache_creation", "estimated"})


def _counts(tokens: Bag) -> dict[str, Any]:
    """The counts by their names in the model."""
    found = {field: _whole(tokens[name]) for name, field in _COUNTS.items() if name in tokens}
    cached = tokens.get("cache_creation")
    if cached.__class__ is dict:
        found |= {field: _whole(cached[name]) for name, field in _CACHED.items() if name in cached}
    return {**found, "estimated": tokens.get("estimated") is True}


def _whole(value: Any) -> int | None:
    return value if value.__class__ is int else None


def _words(metadata: Bag, name: str, own: Mapping[str, Any]) -> str | None:
    """A text that metadata holds as a fact."""
    value = metadata.get(name)
    if value is None or name in own:
        return None
    if value.__class__ is not str:
        raise msgspec.ValidationError(f"{name} is no text")
    words: str = value
    return words


def _value(metadata: Bag, name: str, own: Mapping[str, Any], kind: Any) -> Any:
    """A value of some type that metadata holds as a fact."""
    return None if name in own or name not in metadata else msgspec.convert(metadata[name], kind)


def _copies(metadata: Bag, same: Mapping[str, str]) -> Bag:
    """What the source says twice and the document once."""
    return {original: metadata[name] for original, name in same.items() if name in metadata}


def _set(left: msgspec.Struct, but: tuple[str, ...] = ()) -> dict[str, Any]:
    """The fields that are stated."""
    values = ((name, getattr(left, name)) for name in left.__struct_fields__ if name not in but)
    return {name: value for name, value in values if not isinstance(value, UnsetType)}
