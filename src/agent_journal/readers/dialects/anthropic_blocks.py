"""The Anthropic message dialect: converts content blocks to parts and the usage object to Usage.

Used by the Messages API and by tools that log it. Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted
from agent_journal.model import (
    Citation,
    Media,
    MediaKind,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolKind,
    ToolResult,
    Usage,
)
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.dialects import program_output

if TYPE_CHECKING:
    from agent_journal.notes import Notes

ToolKinds = dict[str, ToolKind]

# Known blocks that the model has no part for: a summary that replaces earlier messages, a change of model,
# a tool found by a search, and the client's changes to its instructions and tools during a conversation.
_OPAQUE_BLOCKS = (
    *("compaction", "fallback", "tool_reference"),
    *("mid_conv_system", "tool_addition", "tool_removal"),
)
# Tuples, not sets: values from a source may be unhashable.
_SUMMED_COUNTS = ("input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h")
_WEB_SCHEMES = ("https://", "http://")
_SOURCE_TYPES = ("base64", "url", "file", "text")
_MEDIA: dict[str, MediaKind] = {"image": "image", "document": "document", "container_upload": "file"}


def parse_blocks(content: Any, note: Notes, location: int | str, tool_kinds: ToolKinds) -> list[Part]:
    """Return the parts of a message's content, a string or a list of blocks; it is not modified."""
    if content.__class__ is str:
        return [Text(text=content)]
    if content is None:
        return []
    if content.__class__ is not list:
        unwrapped = unwrapped_parts(content, lambda inner: parse_blocks(inner, note, location, tool_kinds))
        if unwrapped is not None:
            return unwrapped
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [parse_block(block, note, location, tool_kinds) for block in content]


def parse_content(
    content: Any, note: Notes, location: int | str, tool_kinds: ToolKinds
) -> tuple[list[Part], Any]:
    """Return the parts, and the content itself unless the parts preserve it exactly.

    They do so for a string, and for a single plain block other than text: writers that promise the original
    content rebuild it from them.
    """
    if content.__class__ is str:
        return [Text(text=content)], None
    # Most logs have one block per message, and the list would cost more than the part.
    if content.__class__ is list and len(content) == 1 and (block := content[0]).__class__ is dict:
        plain_part = parse_plain_block(block.get("type"), block, tool_kinds)
        if plain_part is not None:
            return [plain_part], content if plain_part.__class__ is Text else None
    return parse_blocks(content, note, location, tool_kinds), content


def parse_block(block: Any, note: Notes, location: int | str, tool_kinds: ToolKinds) -> Part:
    """Return the part of one block, which is not modified."""
    if block.__class__ is not dict:
        return Text(text=block) if block.__class__ is str else Other(data=block)
    kind = block.get("type")
    plain_part = parse_plain_block(kind, block, tool_kinds)
    if plain_part is not None:
        return plain_part
    fields = Fields(dict(block), note, location)
    fields.take("type")
    match kind:
        case "text":
            return _text(fields, block)
        case "thinking":
            return _thinking(fields, block)
        case "redacted_thinking":
            return Reasoning(encrypted=fields.text("data"), extra=fields.rest())
        case "image" | "document" | "container_upload":
            return _media(_MEDIA[kind], fields)
        case "web_search_result" | "search_result":
            return _search_result(kind, fields)
        case str() if kind.endswith("tool_use"):
            return _call(kind, fields, tool_kinds)
        case str() if kind.endswith("tool_result"):
            return _result(kind, fields, tool_kinds)
    if kind not in _OPAQUE_BLOCKS:
        note(Kind.UNKNOWN_TYPE, location, f"content block {str(kind)[:40]!r}")
    return Other(data=block, name=kind if isinstance(kind, str) else None)


def parse_plain_block(kind: Any, block: dict[str, Any], tool_kinds: ToolKinds) -> Part | None:
    """Return the part of a common block that has only its basic fields; None for any other block."""
    size = len(block)
    if kind == "text":
        if size == 2 and (text := block.get("text")).__class__ is str:  # noqa: PLR2004 (type and text)
            return Text(text=text)
    elif kind == "tool_use":
        name, call_id = block.get("name"), block.get("id")
        if size == 4 and name.__class__ is str and call_id.__class__ is str and "input" in block:  # noqa: PLR2004 (and type)
            return ToolCall(call_id=call_id, name=name, input=block["input"], kind=tool_kinds.get(name))
    elif kind == "tool_result":
        call_id, output, is_error = block.get("tool_use_id"), block.get("content"), block.get("is_error")
        if call_id.__class__ is str and output.__class__ is str and size == 3 + (is_error.__class__ is bool):
            return ToolResult(call_id=call_id, output=output, is_error=is_error)
    elif kind == "thinking" and size == 3:  # noqa: PLR2004 (and type)
        text, signature = block.get("thinking"), block.get("signature")
        if text.__class__ is str and signature.__class__ is str:
            return Reasoning(text=text, signature=signature)
    return None


def _text(fields: Fields, block: dict[str, Any]) -> Part:
    text = fields.text("text")
    if text is None:
        return Other(data=block, name="text")
    citations = [_citation(raw, fields) for raw in fields.items("citations") or ()]
    return Text(text=text, citations=citations, extra=fields.rest())


def _citation(raw: Any, fields: Fields) -> Citation:
    if not isinstance(raw, dict):
        return Citation(extra={"value": raw})
    cited = Fields(dict(raw), fields.note, fields.where)
    return Citation(
        title=cited.text("title") or cited.text("document_title"),
        url=cited.text("url"),
        text=cited.text("cited_text"),
        start=cited.whole("start_char_index"),
        end=cited.whole("end_char_index"),
        extra=cited.rest(),
    )


def _thinking(fields: Fields, block: dict[str, Any]) -> Part:
    text = fields.text("thinking")
    if text is None:
        return Other(data=block, name="thinking")
    return Reasoning(text=text, signature=fields.text("signature"), extra=fields.rest())


def _call(kind: str, fields: Fields, tool_kinds: ToolKinds) -> Part:
    if kind != "tool_use":
        fields.keep("type", kind)
    name = fields.text("name")
    return ToolCall(
        call_id=fields.text("id"),
        name=name or "",
        input=fields.take("input"),
        kind=tool_kinds.get(name or ""),
        extra=fields.rest(),
    )


def _result(kind: str, fields: Fields, tool_kinds: ToolKinds) -> Part:
    if kind != "tool_result":
        fields.keep("type", kind)
    content = fields.take("content")
    is_failure = (_type_of(content) or "").endswith("_tool_result_error")
    return ToolResult(
        call_id=fields.text("tool_use_id"),
        output=_output(content, fields, tool_kinds),
        is_error=True if is_failure else fields.flag("is_error"),
        name=fields.text("name"),
        extra=fields.rest(),
    )


def _output(content: Any, fields: Fields, tool_kinds: ToolKinds) -> Any:
    if content.__class__ is str:
        return content
    if content is None:
        return ""
    if content.__class__ is not list:
        return _server_tool_output(content, fields)
    blocks = parse_blocks(content, fields.note, fields.where, tool_kinds)
    return [
        Other(data=raw, name="tool_result") if isinstance(block, ToolResult) else block
        for block, raw in zip(blocks, content, strict=True)
    ]


def _server_tool_output(content: Any, fields: Fields) -> list[Part]:
    """Convert the output of the service's own tools: one object, a result or an error, instead of a list."""
    kind = _type_of(content)
    match content:
        case {"stdout": str()} | {"stderr": str()} if printed := program_output.printed_texts(content):
            return [*printed]
        case {"type": "web_fetch_result", "content": {"type": "document"}}:
            return [_fetched_page(Fields(dict(content), fields.note, fields.where))]
        case {"type": "advisor_result", "text": str(text)}:
            return [Text(text=text, extra=_without(content, "text"))]
        case {"type": "text_editor_code_execution_view_result", "content": str(text)}:
            return [Text(text=text, extra=_without(content, "content"))]
    return [Other(data=content, name=kind)]


def _without(raw: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in raw.items() if key != name}


def _fetched_page(page: Fields) -> Part:
    """Convert a fetched page: the document, with its URL."""
    document = Fields(dict(page.take("content")), page.note, page.where)
    document.drop("type")
    media = _media("document", document)
    return replace(media, ref=media.ref or page.text("url"), extra={**media.extra, **page.rest()})


def _search_result(kind: str, fields: Fields) -> Text:
    """Convert a search result: its text or title, with a citation of its source."""
    fields.keep("type", kind)
    title, url, content = fields.text("title"), fields.text("url"), fields.view("content")
    source = fields.view("source")
    if url is None and source.__class__ is str and source.startswith(_WEB_SCHEMES):
        url = fields.text("source")
    texts = [block.get("text") for block in content] if _are_texts(content) else [title or url or ""]
    if _are_texts(content):
        fields.drop("content")
    return Text(text="\n".join(texts), citations=[Citation(title=title, url=url)], extra=fields.rest())


def _are_texts(content: Any) -> bool:
    """Return whether content is a list of text blocks only."""
    return content.__class__ is list and all(
        block.__class__ is dict
        and block.keys() == {"type", "text"}
        and block["type"] == "text"
        and block["text"].__class__ is str
        for block in content
    )


def _type_of(block: Any) -> str | None:
    kind = block.get("type") if isinstance(block, dict) else None
    return kind if isinstance(kind, str) else None


def _media(kind: MediaKind, fields: Fields) -> Media:
    if isinstance(raw := fields.view("source"), dict):
        fields.keep("source", dict(raw))  # a copy, so that the block itself is not modified
    source = fields.nested("source")
    mime = ref = data = text = None
    if source is not None:
        form = source.take("type")
        mime = source.text("media_type")
        if form == "base64":
            data = source.text("data")
        elif form == "text":
            text = source.text("data") or None
        elif form == "content" and isinstance(source.view("content"), str):
            text = source.take("content") or None
        ref = source.text("url") or source.text("file_id")
        if form not in _SOURCE_TYPES and form is not None:
            source.keep("type", form)
    return Media(
        kind=kind,
        mime=mime,
        name=fields.text("title"),
        ref=ref or fields.text("file_id"),
        data=data,
        text=text,
        extra=fields.rest(),
    )


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts, with the full object in `extra`; `input_tokens` excludes cached tokens."""
    if raw.__class__ is not dict:
        return None
    counts, iterations = _counts(raw, key), raw.get("iterations")
    if iterations.__class__ is list and len(iterations) > 1:
        return _with_compactions(counts, iterations)
    return counts


def _counts(raw: dict[str, Any], key: str | None) -> Usage:
    cached, details = raw.get("cache_creation"), raw.get("output_tokens_details")
    if cached.__class__ is not dict:
        cached = {}
    return Usage(
        key=key,
        input=counted(raw.get("input_tokens")),
        output=counted(raw.get("output_tokens")),
        cache_read=counted(raw.get("cache_read_input_tokens")),
        cache_write=counted(raw.get("cache_creation_input_tokens")),
        cache_write_5m=counted(cached.get("ephemeral_5m_input_tokens")),
        cache_write_1h=counted(cached.get("ephemeral_1h_input_tokens")),
        reasoning=counted(details.get("thinking_tokens")) if details.__class__ is dict else None,
        extra=raw,
    )


def _with_compactions(usage: Usage, iterations: list[Any]) -> Usage:
    """Add the counts of compactions, which the totals of an answer leave out.

    Requests to other models (`advisor_message`, `fallback_message`) don't belong to the answer.
    """
    for iteration in iterations:
        if iteration.__class__ is dict and iteration.get("type") == "compaction":
            more = _counts(iteration, None)
            counts = {name: _sum(getattr(usage, name), getattr(more, name)) for name in _SUMMED_COUNTS}
            usage = replace(usage, **counts)
    return usage


def _sum(left: int | None, right: int | None) -> int | None:
    return left if right is None else right + (left or 0)
