"""Cooks one message in the dialect of its request.

`Request.api` is the dialect. OPENAI, CLAUDE and GEMINI are cooked as in llm-path (b9fa012, February 2026),
from the original content (`native`) if it is available; everything else is cooked from the parts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import msgspec

from agent_journal.model import Code, Media, Message, Other, Reasoning, Text, ToolCall, ToolResult, tree
from agent_journal.writers.dialects.json_bytes import encode

if TYPE_CHECKING:
    from collections.abc import Hashable, Iterable, Sequence

    from agent_journal.model import Part

OPENAI, CLAUDE, GEMINI = "openai", "claude", "gemini"
_RESPONSE_BLOCK_TYPES = ("text", "thinking")
_MEDIA_PREFIXES = ("image/", "audio/", "video/")

Call: TypeAlias = dict[str, Any]


class Cooked(NamedTuple):
    """A message of the target format, before it gets its number."""

    role: str
    content: str = ""
    tool_calls: list[Call] | None = None
    tool_use_id: str | None = None
    is_error: bool | None = None

    @property
    def identity(self) -> Hashable:
        """The key that equal messages share. The format defines it as a SHA-256 of the same five values."""
        if self.tool_calls is None:
            return self
        return self._replace(tool_calls=None), sorted_json(self.tool_calls)


def cook_sent(message: Message, api: str | None) -> list[Cooked]:
    """Cook a message of a request."""
    if api == OPENAI:
        return _openai(message)
    if api == CLAUDE and message.native is not None:
        return _claude_request_message(message.role, message.native)
    if api == GEMINI and message.native is not None:
        return _gemini(message)
    return _from_parts(message)


def cook_response(message: Message, api: str | None) -> list[Cooked]:
    """Cook a message of a response; empty if it has no content."""
    if api == OPENAI and not isinstance(message.native, list):
        return _openai(message)
    if api == CLAUDE and message.native is not None:
        return _claude_response_message(message.native)
    if api == GEMINI and message.native is not None:
        return _gemini(message)
    cooked = _from_parts(message)
    if api is None:
        return cooked
    # This includes answers of Claude to requests that look the same as OpenAI's: plain text, no tools.
    return sorted(filter(_has_content, cooked), key=lambda entry: entry.role != "thinking")


def _has_content(cooked: Cooked) -> bool:
    return bool(cooked.content or cooked.tool_calls)


def cook_error(error: Any) -> Cooked:
    """Cook the error of a failed request: its text, or its body as compact JSON."""
    return Cooked("assistant", f"Error: {error if isinstance(error, str) else encode(error).decode()}")


EMPTY_RESPONSE = Cooked("assistant")


# OpenAI: one message per message, or one per item if the content is a list.


def _openai(message: Message) -> list[Cooked]:
    calls = [
        _call(part.name, _arguments(part.input), part.call_id) for part in tree.calls_in(message)
    ] or None
    content = _openai_content(message) if message.native is None else message.native
    if message.role == "tool":
        items = content if isinstance(content, list) else [content]
        return [_openai_result(message, _openai_item(item)) for item in items]
    if isinstance(content, list):
        # Each item becomes a message with the same role; calls follow in a separate message.
        cooked = [Cooked(message.role, _openai_item(item)) for item in content]
        return [*cooked, Cooked("tool_use", tool_calls=calls)] if calls else cooked
    has_calls = calls and message.role == "assistant"
    return [Cooked("tool_use" if has_calls else message.role, _string(content), calls)]


def _openai_result(message: Message, content: str) -> Cooked:
    result = next(tree.results_in(message), ToolResult())
    return _result(content, result.call_id, result.is_error)


def _openai_item(item: Any) -> str:
    if not isinstance(item, dict):
        return _string(item)
    match item.get("type"):
        case "text":
            return _string(item.get("text"))
        case "image_url":
            image = item.get("image_url")
            return _openai_image(_string(image.get("url") if isinstance(image, dict) else image))
    return _json(item)


def _openai_image(url: str) -> str:
    return "[image: base64 data]" if url.startswith("data:") else f"[image: {url}]"


def _openai_content(message: Message) -> str | list[str] | None:
    """The content equivalent to the parts: None, one text, or a list."""
    parts = [part for part in message.parts if not isinstance(part, ToolCall | Reasoning)]
    if len(parts) == 1 and isinstance(parts[0], Text | ToolResult):
        return _text_of(parts[0])
    return [_openai_part(part) for part in parts] or None


def _openai_part(part: Part) -> str:
    if isinstance(part, Media) and part.kind == "image":
        return _openai_image("data:" if part.ref is None else part.ref)
    return _text_of(part)


# Claude: one message per block, then all calls of the message together.


def _claude_request_message(role: str, content: Any) -> list[Cooked]:
    if role == "system" and not content:
        return []
    if not isinstance(content, list):
        return [Cooked(role, _string(content))]
    cooked = [entry for block in content if (entry := _claude_block(role, block)) is not None]
    calls = _claude_calls(content)
    return [*cooked, Cooked("tool_use", tool_calls=calls)] if calls else cooked


def _claude_block(role: str, block: Any) -> Cooked | None:
    """The message of a single block; None for calls and empty thinking."""
    if not isinstance(block, dict):
        return Cooked(role, _string(block))
    match block.get("type"):
        case "text":
            return Cooked(role, _string(block.get("text")))
        case "thinking":
            return _thinking(block.get("thinking"))
        case "tool_use":
            return None
        case "tool_result":
            content = _claude_output(block.get("content"))
            return _result(content, block.get("tool_use_id"), block.get("is_error"))
        case "image":
            return Cooked(role, "[image]")
    return Cooked(role, _json(block))


def _claude_response_message(content: Any) -> list[Cooked]:
    """A response: thinking, then each non-empty text, then the calls; other blocks are omitted."""
    blocks = content if isinstance(content, list) else [content]
    entries = [_claude_block("assistant", block) for block in blocks if _is_response_block(block)]
    thinking = [entry for entry in entries if entry is not None and entry.role == "thinking"]
    texts = [entry for entry in entries if entry is not None and entry.role != "thinking" and entry.content]
    calls = _claude_calls(blocks)
    return [*thinking, *texts, *([Cooked("tool_use", tool_calls=calls)] if calls else ())]


def _is_response_block(block: Any) -> bool:
    return not isinstance(block, dict) or block.get("type") in _RESPONSE_BLOCK_TYPES


def omitted_blocks(content: Any) -> int:
    """The number of blocks of a Claude response that are not cooked, such as redacted thinking."""
    blocks = content if isinstance(content, list) else []
    return sum(not _is_response_block(block) and block.get("type") != "tool_use" for block in blocks)


def _claude_calls(blocks: Iterable[Any]) -> list[Call]:
    return [
        _call(_string(block.get("name")), _arguments(block.get("input")), block.get("id"))
        for block in blocks
        if isinstance(block, dict) and block.get("type") == "tool_use"
    ]


def _claude_output(content: Any) -> str:
    if not isinstance(content, list):
        return "" if content is None else _python_str(content)
    return "\n".join(_claude_output_block(block) for block in content)


def _claude_output_block(block: Any) -> str:
    if isinstance(block, dict) and isinstance(block.get("text"), str):
        return str(block["text"])
    return _python_str(block)


# Gemini: function responses, then all text as one message, then the calls. Thoughts, which llm-path treats as
# text, come first as separate messages, as the format defines them.


def _gemini(message: Message) -> list[Cooked]:
    role, content = message.role, message.native
    parts = content if isinstance(content, list) else [content]
    if role == "system":
        return [Cooked(role, text) for part in parts if (text := _gemini_text(part))]
    thoughts = [
        Cooked("thinking", text) for part in parts if _is_thought(part) and (text := _gemini_text(part))
    ]
    cooked = [entry for part in parts if (entry := _gemini_part(role, part)) is not None]
    text = "".join(_gemini_text(part) for part in parts if not _is_thought(part))
    read_parts: Sequence[Part | None] = (
        message.parts if len(message.parts) == len(parts) else [None] * len(parts)
    )
    calls = [
        _gemini_call(call, read_part)
        for part, read_part in zip(parts, read_parts, strict=True)
        if (call := _field(part, "functionCall", "function_call"))
    ]
    return [
        *thoughts,
        *cooked,
        *([Cooked(role, text)] if text else ()),
        *([Cooked("tool_use", tool_calls=calls)] if calls else ()),
    ]


def _gemini_text(part: Any) -> str:
    return _string(part.get("text")) if isinstance(part, dict) else _string(part)


def _is_thought(part: Any) -> bool:
    return isinstance(part, dict) and part.get("thought") is True


def _field(part: Any, *names: str) -> dict[str, Any] | None:
    """A part's object under any of the names: the service uses camelCase, its clients snake_case."""
    values = (part.get(name) for name in names) if isinstance(part, dict) else ()
    return next((value for value in values if isinstance(value, dict) and value), None)


def _gemini_part(role: str, part: Any) -> Cooked | None:
    """The message of a single part; None for texts and calls."""
    if not isinstance(part, dict) or "text" in part or _field(part, "functionCall", "function_call"):
        return None
    result = _field(part, "functionResponse", "function_response")
    if result is not None:
        # If calls have no ids, a result is linked by the name of its function.
        return _result(_gemini_output(result.get("response")), result.get("id") or result.get("name"), None)
    media = _field(part, "inlineData", "inline_data", "fileData", "file_data")
    if media is None:
        return Cooked(role, _json(part)) if part else None
    mime = _string(media.get("mimeType") or media.get("mime_type"))
    return Cooked(role, f"[{mime.partition('/')[0]}]" if mime.startswith(_MEDIA_PREFIXES) else "[file]")


def _gemini_output(response: Any) -> str:
    if isinstance(response, dict):
        return _string(response["content"]) if "content" in response else _json(response)
    return _python_str(response) if response is not None else ""


def _gemini_call(call: dict[str, Any], read_part: Part | None) -> Call:
    """A call. Its id may be one that the client assigned later, which the results refer to."""
    read_id = read_part.call_id if isinstance(read_part, ToolCall) else None
    return _call(_string(call.get("name")), _arguments(call.get("args")), call.get("id") or read_id)


# Everything else: one message per part.


def _from_parts(message: Message) -> list[Cooked]:
    cooked = [entry for part in message.parts if (entry := _part(message.role, part)) is not None]
    calls = [_call(part.name, _arguments(part.input), part.call_id) for part in tree.calls_in(message)]
    return [*cooked, Cooked("tool_use", tool_calls=calls)] if calls else cooked


def _part(role: str, part: Part) -> Cooked | None:
    match part:
        case ToolCall():
            return None
        case Reasoning():
            return _thinking(part.text or part.summary)
        case ToolResult():
            return _result(_text_of(part), part.call_id, part.is_error)
    if role == "tool":
        return _result(_text_of(part), None, None)
    return Cooked(role, _text_of(part))


def _text_of(part: Part) -> str:
    match part:
        case Text():
            return part.text
        case Code():
            return part.code
        case Reasoning():
            return part.text or part.summary or ""
        case Media():
            return placeholder(part)
        case ToolResult():
            return part.output if isinstance(part.output, str) else _joined(part.output)
        case ToolCall():
            return _json(_call(part.name, _arguments(part.input), part.call_id))
        case Other():
            return _json(part.data)


def _joined(parts: Sequence[Part]) -> str:
    return "\n".join([_text_of(part) for part in parts])


def placeholder(media: Media) -> str:
    """The placeholder of an image, a sound or a file, with its text."""
    label = None if media.kind == "image" else media.name or media.ref
    text = f"[{media.kind}: {label}]" if label else f"[{media.kind}]"
    return f"{text}\n{media.text}" if media.text else text


# Helpers for all dialects.


def _thinking(text: Any) -> Cooked | None:
    return Cooked("thinking", _string(text)) if text else None


def _result(content: str, call_id: Any, is_error: Any) -> Cooked:
    return Cooked("tool_result", content, None, None if call_id is None else _string(call_id), bool(is_error))


def _call(name: str, arguments: Any, call_id: Any) -> Call:
    call: Call = {"name": name, "arguments": arguments}
    if call_id is not None:
        call["id"] = call_id
    return call


def _arguments(value: Any) -> Any:
    """The arguments of a call as a value; a string that is no JSON becomes `{"raw": …}`."""
    if value is None:
        return {}
    decoded = tree.arguments(ToolCall(name="", input=value))
    return {"raw": value} if isinstance(value, str) and decoded is value else decoded


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else _json(value)


def _python_str(value: Any) -> str:
    """The result of `str()`, which the format uses in a few places; JSON if nested too deeply."""
    try:
        return str(value)
    except RecursionError:
        return _json(value)


def _json(value: Any) -> str:
    """The value as JSON on one line, with a space after each comma and colon."""
    compact = encode(value)
    try:
        return msgspec.json.format(compact, indent=0).decode()
    except RecursionError:
        return compact.decode()


def sorted_json(value: Any) -> bytes:
    """The value as JSON with sorted keys."""
    try:
        return msgspec.json.encode(value, order="sorted")
    except RecursionError:
        return encode(value)
