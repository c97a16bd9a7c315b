"""The OpenAI chat dialect: converts messages to roles and parts, tool definitions, and usage to Usage.

Used by Chat Completions, by the many services that imitate it, and by tools that log either.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.model import (
    Bag,
    Citation,
    Media,
    MediaKind,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.dialects import anthropic_blocks

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# Roles whose messages may be only a text; a tool's message is a result.
_PLAIN_ROLES = frozenset({"user", "assistant", "system"})
_PLAIN_MESSAGE_FIELD_COUNT = 2
# The number of fields of a usage object without details.
_BASIC_USAGE_FIELD_COUNT = 3
# Mistral's documents are linked like images.
_LINKED: dict[str, MediaKind] = {"image_url": "image", "video_url": "video", "document_url": "document"}
# Anthropic's blocks, which gateways pass through unchanged in this dialect.
_ANTHROPIC_BLOCKS = frozenset({"image", "document", "container_upload", "search_result", "compaction"})
_AUDIO = {"wav": "audio/wav", "mp3": "audio/mpeg"}


class ParsedMessage(NamedTuple):
    """A message's role and parts, its original content, and the fields that the model does not have."""

    role: Role
    parts: list[Part]
    native: Any
    extra: Bag


def parse_message(raw: Any, note: Notes, location: int | str) -> ParsedMessage:
    """Convert a chat message, which is not modified. A role that the model renames stays in `extra`."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a message is {type(raw).__name__}")
        return ParsedMessage("user", [Other(data=raw)], raw, {})
    if (plain := parse_plain_message(raw)) is not None:
        return plain
    fields = Fields(dict(raw), note, location)
    role = take_role(fields)
    content = fields.take("content")
    if role == "tool":
        parts = [_result(content, fields)]
    else:
        parts = [*_reasoning(fields), *_message_parts(content, fields), *_calls(fields)]
    return ParsedMessage(role, parts, content, fields.rest())


def parse_plain_message(raw: dict[str, Any]) -> ParsedMessage | None:
    """Convert a message with only a role and a text, as most are; None for any other."""
    if len(raw) != _PLAIN_MESSAGE_FIELD_COUNT:
        return None
    role, content = raw.get("role"), raw.get("content")
    if content.__class__ is not str or role.__class__ is not str or role not in _PLAIN_ROLES:
        return None
    return ParsedMessage(role, [Text(text=content)] if content else [], content, {})  # type: ignore[arg-type] # one of them


def take_role(fields: Fields) -> Role:
    """Take the role of a message; a name that the model does not use stays in the fields."""
    name = fields.take("role")
    role = roles.role(name)
    if name is not None and name != role:
        fields.keep("role", name)
    if role is None:
        fields.note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(name)[:40]!r}")
    return role or "user"


def _message_parts(content: Any, fields: Fields) -> list[Part]:
    parts = _with_citations(parse_content(content, fields.note, fields.where), fields)
    if refusal := fields.text("refusal"):
        parts.append(Text(text=refusal, extra={"type": "refusal"}))
    if has_values(fields.view("audio")):
        parts.append(_output_audio(fields))
    return [*parts, *_images(fields)]


def _images(fields: Fields) -> list[Part]:
    """Take images outside of the content: generated ones as parts (OpenRouter), inputs as base64 (Ollama)."""
    images = fields.view("images")
    if images.__class__ is not list or not all(_is_image(raw) for raw in images):
        return []
    fields.drop("images")
    return [
        Media(kind="image", data=raw) if raw.__class__ is str else _part(raw, fields.note, fields.where)
        for raw in images
    ]


def _is_image(raw: Any) -> bool:
    return bool(raw) and (raw.__class__ is str or (raw.__class__ is dict and raw.get("type") == "image_url"))


def _with_citations(parts: list[Part], fields: Fields) -> list[Part]:
    """Add the annotations to the first text; without a text they stay in the message."""
    if fields.view("annotations") == []:
        fields.drop("annotations")
    annotations = fields.view("annotations") or _grounding(fields)
    if annotations.__class__ is not list:
        return parts
    for index, part in enumerate(parts):
        if isinstance(part, Text) and annotations:
            fields.drop("annotations")
            citations = [_citation(raw, fields) for raw in annotations]
            return [*parts[:index], replace(part, citations=citations), *parts[index + 1 :]]
    return parts


def _grounding(fields: Fields) -> list[Any] | None:
    """Return the citations of an answer from the user's own data, which Azure writes in `context`."""
    context = fields.view("context")
    cited = context.get("citations") if isinstance(context, dict) else None
    return cited if isinstance(cited, list) else None


def parse_content(content: Any, note: Notes, location: int | str) -> list[Part]:
    """Convert a message's content: a string, a list of parts, or nothing."""
    if content.__class__ is str:
        return [Text(text=content)] if content else []
    if content is None:
        return []
    if content.__class__ is not list:
        unwrapped = unwrapped_parts(content, lambda inner: parse_content(inner, note, location))
        if unwrapped is not None:
            return unwrapped
        note(Kind.WRONG_TYPE, location, f"content is {type(content).__name__}")
        return [Other(data=content)]
    return [_part(raw, note, location) for raw in content]


def _part(raw: Any, note: Notes, location: int | str) -> Part:
    if raw.__class__ is str:
        return Text(text=raw)
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a content part is {type(raw).__name__}")
        return Other(data=raw)
    kind = raw.get("type")
    fields = Fields(dict(raw), note, location)
    fields.drop("type")
    match kind:
        case "text" if isinstance(raw.get("text"), str):
            return Text(text=fields.take("text"), extra=fields.rest())
        case "refusal" if isinstance(raw.get("refusal"), str):
            return Text(text=fields.take("refusal"), extra={"type": kind, **fields.rest()})
        case "image_url" | "video_url" | "document_url":
            return _linked(_LINKED[kind], kind, fields)
        case "input_audio":
            return _input_audio(fields)
        case "file":
            return _file(fields)
        case "thinking" if isinstance(raw.get("thinking"), list | str):
            return _thinking(fields)
    if kind.__class__ is str and kind in _ANTHROPIC_BLOCKS:
        return anthropic_blocks.parse_block(raw, note, location, {})
    note(Kind.UNKNOWN_TYPE, location, f"content part {str(kind)[:40]!r}")
    return Other(data=raw, name=kind if isinstance(kind, str) else None)


def _nested(fields: Fields, name: str) -> Fields | None:
    """Return the fields of a nested object, of which the original is not modified."""
    if isinstance(value := fields.view(name), dict):
        fields.keep(name, dict(value))
    return fields.nested(name)


def _linked(kind: MediaKind, field: str, fields: Fields) -> Part:
    if isinstance(url := fields.view(field), str):
        fields.drop(field)
    else:
        link = _nested(fields, field)
        url = link.text("url") if link is not None else None
    mime, data = parse_data_url(url)
    name = fields.text("document_name")
    return Media(kind=kind, mime=mime, name=name, data=data, ref=None if data else url, extra=fields.rest())


def parse_data_url(url: str | None) -> tuple[str | None, str | None]:
    """Return the media type and base64 data of a `data:` URL; None and None for any other."""
    if url is None or not url.startswith("data:"):
        return None, None
    head, comma, data = url.removeprefix("data:").partition(",")
    mime, _, form = head.partition(";")
    return (mime or None, data) if comma and form == "base64" else (None, None)


def _input_audio(fields: Fields) -> Part:
    audio = _nested(fields, "input_audio")
    data = form = None
    if audio is not None:
        data, form = audio.text("data"), audio.view("format")
    mime = _AUDIO.get(form) if isinstance(form, str) else None
    return Media(kind="audio", mime=mime, data=data, extra=fields.rest())


def _output_audio(fields: Fields) -> Part:
    """Take the audio of an answer and its transcript."""
    audio = Fields(dict(fields.take("audio")), fields.note, fields.where)
    ref, data, text = audio.text("id"), audio.text("data"), audio.text("transcript") or None
    return Media(kind="audio", ref=ref, data=data, text=text, extra=audio.rest())


def _file(fields: Fields) -> Part:
    file = _nested(fields, "file")
    if file is None:
        return Media(kind="file", extra=fields.rest())
    data = file.text("file_data")
    mime, decoded = parse_data_url(data)
    return Media(
        kind="file",
        mime=mime,
        name=file.text("filename"),
        ref=file.text("file_id"),
        data=decoded or data,
        extra=fields.rest(),
    )


def _thinking(fields: Fields) -> Part:
    """Mistral's thinking: a list of texts among the content parts (seen 2026)."""
    thinking = fields.take("thinking")
    if isinstance(thinking, str):
        return Reasoning(text=thinking, extra=fields.rest())
    pieces = [piece.get("text") if isinstance(piece, dict) else piece for piece in thinking]
    texts = [piece for piece in pieces if isinstance(piece, str)]
    if len(texts) < len(pieces):
        fields.keep("thinking", thinking)
    return Reasoning(text="".join(texts), extra=fields.rest())


def _reasoning(fields: Fields) -> list[Part]:
    """Take reasoning fields: `reasoning_content` (DeepSeek, xAI), `thinking` (Ollama), `reasoning`."""
    detailed: list[Reasoning] = []
    details = fields.view("reasoning_details")
    if isinstance(details, list) and details and all(isinstance(detail, dict) for detail in details):
        fields.drop("reasoning_details")
        detailed = [_detail(detail, fields) for detail in details]
    known_text = "".join(part.text or part.summary or "" for part in detailed) or fields.view(
        "reasoning_content"
    )
    # vLLM (since the end of 2025) and others write the same text under two names.
    for name in ("reasoning", "reasoning_content") if detailed else ("reasoning",):
        if fields.view(name) == "" or (known_text and fields.view(name) == known_text):
            fields.drop(name)
    parts: list[Part] = []
    if text := fields.text("reasoning_content"):
        parts.append(Reasoning(text=text))
    if nonempty_str(fields.view("thinking")):
        parts.append(Reasoning(text=fields.text("thinking")))
    if not detailed and not isinstance(fields.view("reasoning"), dict) and (text := fields.text("reasoning")):
        parts.append(Reasoning(text=text))
    return [*parts, *detailed]


def _detail(raw: dict[str, Any], fields: Fields) -> Reasoning:
    detail = Fields(dict(raw), fields.note, fields.where)
    return Reasoning(
        text=detail.text("text"),
        summary=detail.text("summary"),
        signature=detail.text("signature"),
        encrypted=detail.text("data"),
        extra=detail.rest(),
    )


def _citation(raw: Any, fields: Fields) -> Citation:
    if not isinstance(raw, dict):
        return Citation(extra={"value": raw})
    cited = Fields(dict(raw), fields.note, fields.where)
    link = _nested(cited, "url_citation") or cited
    return Citation(
        title=link.text("title"),
        url=link.text("url"),
        text=link.text("content"),
        start=link.whole("start_index"),
        end=link.whole("end_index"),
        extra=cited.rest(),
    )


def _calls(fields: Fields) -> list[Part]:
    calls = [_call(raw, fields) for raw in fields.items("tool_calls") or ()]
    if has_values(fields.view("function_call")):
        # Until the end of 2023 calls had this form: one per message, without an id.
        legacy = Fields(dict(fields.take("function_call")), fields.note, fields.where)
        legacy.keep("type", "function_call")
        calls.append(_call_with_name(legacy, legacy))
    elif fields.view("function_call") is None:
        fields.drop("function_call")
    return calls


def has_values(value: Any) -> bool:
    """Return whether an object has any value; some services fill in every field with empty values."""
    return value.__class__ is dict and (not value or any(value.values()))


def _call(raw: Any, fields: Fields) -> Part:
    if raw.__class__ is not dict:
        fields.note(Kind.WRONG_TYPE, fields.where, f"a tool call is {type(raw).__name__}")
        return Other(data=raw, name="tool_call")
    call = Fields(dict(raw), fields.note, fields.where)
    if call.view("type") == "function":
        call.drop("type")
    return _call_with_name(call, _nested(call, "function") or _nested(call, "custom") or call)


def _call_with_name(call: Fields, inner: Fields) -> ToolCall:
    """Convert a call with its name and input in `inner`; arguments stay a string."""
    return ToolCall(
        call_id=call.text("id"),
        name=inner.text("name") or "",
        input=inner.take("arguments") if inner.has("arguments") else inner.take("input"),
        extra=call.rest(),
    )


def _result(content: Any, fields: Fields) -> Part:
    output: Any = content
    if content is None:
        output = ""
    elif content.__class__ is not str:
        output = parse_content(content, fields.note, fields.where)
    return ToolResult(call_id=fields.text("tool_call_id"), output=output, name=fields.text("name"))


def parse_tool(raw: Any, note: Notes, location: int | str) -> Tool:
    """Convert a tool definition, the chat dialect's nested one or a flat one; it is not modified."""
    if raw.__class__ is not dict:
        note(Kind.WRONG_TYPE, location, f"a tool is {type(raw).__name__}")
        return Tool(name="", extra={"value": raw})
    fields = Fields(dict(raw), note, location)
    inner = _nested(fields, "function") or _nested(fields, "custom") or fields
    kind = fields.view("type")
    # Built-in tools have a type instead of a name.
    name = inner.text("name") or (kind if isinstance(kind, str) else "")
    description = inner.text("description")
    schema = "input_schema" if inner.has("input_schema") else "parameters"
    return Tool(name=name, description=description, parameters=inner.take(schema), extra=fields.rest())


def parse_usage(raw: Any, key: str | None) -> Usage | None:
    """Return token counts, with the full object in `extra`; `prompt_tokens` includes all cache tokens."""
    if raw.__class__ is not dict:
        return None
    prompt, completion = counted(raw.get("prompt_tokens")), counted(raw.get("completion_tokens"))
    total = counted(raw.get("total_tokens"))
    cached = written = reasoning = None
    if len(raw) > _BASIC_USAGE_FIELD_COUNT or prompt is None or completion is None or total is None:
        cached = _detail_count(raw, "prompt_tokens_details", "cached_tokens")
        written = _detail_count(raw, "prompt_tokens_details", "cache_write_tokens")
        if cached is None:
            cached = counted(raw.get("prompt_cache_hit_tokens"))  # DeepSeek
        reasoning = _detail_count(raw, "completion_tokens_details", "reasoning_tokens")
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt - (cached or 0) - (written or 0), 0),
        output=_output_tokens(prompt, completion, reasoning, total),
        cache_read=cached,
        cache_write=written,
        reasoning=reasoning,
        total=total,
        extra=raw,
    )


def _output_tokens(
    prompt: int | None, completion: int | None, reasoning: int | None, total: int | None
) -> int | None:
    """Return the output tokens, with xAI's reasoning, which only its total includes (seen 2026)."""
    if prompt is None or completion is None or not reasoning or total != prompt + completion + reasoning:
        return completion
    return completion + reasoning


def _detail_count(raw: dict[str, Any], name: str, count: str) -> int | None:
    details = raw.get(name)
    return counted(details.get(count)) if isinstance(details, dict) else None
