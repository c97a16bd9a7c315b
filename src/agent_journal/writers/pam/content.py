"""Message content in PAM: one text or several parts, with citations, attachments and tool calls."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agent_journal.model import Code, Media, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.model.leftovers import Leftovers
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.pam.values import uri, without_nulls

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.model import Citation, Part

_UNKNOWN_TOOL = "unknown"
# The other fields of a part are in its entry under the own key.
_TEXT_LEFTOVERS = Leftovers(Text, represented=("text",))
# Citations are written apart from the content.
_PLAIN_TEXT = Leftovers(Text, represented=("text", "citations"))
_CODE_LEFTOVERS = Leftovers(Code, represented=("code", "language"))
_REASONING_LEFTOVERS = Leftovers(Reasoning, represented=("text", "extra"))
_CALL_LEFTOVERS = Leftovers(ToolCall, represented=("name", "call_id", "input"))
_RESULT_LEFTOVERS = Leftovers(ToolResult, represented=("output", "native", "extra"))
_INLINE_LEFTOVERS = Leftovers(Media, represented=("data", "text"))
_MEDIA_LEFTOVERS = Leftovers(Media, represented=("text",))
_ATTACHMENT_LEFTOVERS = Leftovers(Media, represented=("kind", "mime", "name", "ref", "size", "text"))
SEPARATOR = "\n"
"""The separator of a message's texts that are joined into one text in PAM."""
Form: TypeAlias = Literal["auto", "parts", "text"]
"""The form of the source's content: always `parts`; a `text` with separate files; or whichever fits."""


def content(parts: Sequence[Part], form: Form, literal: str | None = None) -> dict[str, Any] | None:
    """The content of a message: one text, plus separate parts if the text is not everything.

    `literal` is the source's own text of the complete content.
    """
    kinds = Text | Code if form == "text" else Text | Code | Media
    shown = [part for part in parts if isinstance(part, kinds)]
    if not shown:
        return None if literal is None else {"type": "text", "text": literal}
    texts = [
        part.text if isinstance(part, Text) else part.code
        for part in shown
        if not isinstance(part, Media) and not (isinstance(part, Text) and part.injected)
    ]
    if literal is None and form != "parts" and is_plain(shown):
        return {"type": "text", "text": SEPARATOR.join(texts)}
    text = SEPARATOR.join(texts) if literal is None and texts else literal
    return {
        "type": "multipart",
        **without_nulls({"text": text}),
        "parts": [_content_part(part) for part in shown],
    }


def is_plain(parts: Sequence[Part]) -> bool:
    """Whether the parts are nothing but plain text."""
    return all(isinstance(part, Text) and not _PLAIN_TEXT.exist_in(part) for part in parts)


def _content_part(part: Text | Code | Media) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Code():
            return without_nulls({"type": "code", "text": part.code, "language": part.language})
    kind = "file" if part.kind == "document" else part.kind
    return without_nulls({"type": kind, "text": part.text, "mime_type": part.mime, "ref": part.ref})


def citations(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The citations of all texts."""
    return [_citation(citation) for part in parts if isinstance(part, Text) for citation in part.citations]


def _citation(citation: Citation) -> dict[str, Any]:
    return without_nulls({"title": citation.title, "url": uri(citation.url), "snippet": citation.text})


def attachments(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The attachments of a message."""
    return [_attachment(part) for part in parts if isinstance(part, Media)]


def _attachment(media: Media) -> dict[str, Any]:
    return without_nulls(
        {
            "type": media.kind,
            "name": media.name,
            "mime_type": media.mime,
            "size_bytes": media.size if media.size is not None and media.size >= 0 else None,
            "ref": _inline(media) if is_inline(media) else media.ref,
            "provider_id": media.ref if media.ref is not None and ids.is_uuid(media.ref) else None,
        }
    )


def is_inline(media: Media) -> bool:
    """Whether a file is written as its content, as it has no reference."""
    return media.data is not None and media.ref is None


def _inline(media: Media) -> str:
    return f"data:{media.mime or ''};base64,{media.data}"


def tool_call(call: ToolCall, result: ToolResult | None) -> dict[str, Any]:
    """A tool call with its output. A generated id is not written."""
    value = call.input
    if value is not None and not isinstance(value, dict | str):
        value = encode(value).decode()
    entry = {
        "name": call.name or _UNKNOWN_TOOL,
        **without_nulls({"input": value}),
        "id": source_call_id(call),
    }
    output = None if result is None else output_text(result)
    return entry if output is None else {**entry, "output": output}


def source_call_id(call: ToolCall) -> str | None:
    """The id of a call in the source; None if it was no string and the reader generated one."""
    return call.call_id if isinstance(call.extra.get("id", ""), str) else None


def result_reference(result: ToolResult, call: ToolCall | None) -> list[dict[str, Any]]:
    """A reference from a result to its call, if the name of the tool is known."""
    name = result.name or (None if call is None else call.name)
    return [{"name": name, "id": result.call_id if call is None else source_call_id(call)}] if name else []


def output_text(result: ToolResult) -> str | None:
    """The output of a tool as text; None if it has only files or citations."""
    if isinstance(result.output, str):
        return result.output
    texts = [text for part in result.output if (text := _output_text_of(part))]
    return SEPARATOR.join(texts) if texts or not result.output else None


def _output_text_of(part: Part) -> str | None:
    match part:
        case Text(text=text) | Reasoning(text=text):
            return text
        case Code(code=code):
            return code
    return None


def entries(parts: Sequence[Part], form: Form, *, is_split: bool) -> list[dict[str, Any]]:
    """The model's parts of a message, without what other fields of the message contain.

    If `is_split`, reasoning and results are separate messages, which contain their `extra`.
    """
    is_joined = _is_joined(parts, in_parts=form == "parts")
    if form == "text":  # this form of content lacks the text of files
        return [
            _media_entry(part, is_attachment_only=True)
            if isinstance(part, Media)
            else _entry(part, is_joined=is_joined, is_split=is_split)
            for part in parts
        ]
    return [_entry(part, is_joined=is_joined, is_split=is_split) for part in parts]


def _is_joined(parts: Sequence[Part], *, in_parts: bool) -> bool:
    """Whether several texts are one in the content."""
    if in_parts or len(parts) == 1:
        return False
    shown = [part for part in parts if isinstance(part, Text | Code | Media)]
    return len(shown) > 1 and is_plain(shown)


def _entry(part: Part, *, is_joined: bool, is_split: bool) -> Any:
    match part:
        case Reasoning():
            entry = {
                "type": "reasoning",
                **_REASONING_LEFTOVERS.of(part),
                **_own_extra(part, is_split=is_split),
            }
            return {**entry, "text": None} if part.text is None else entry
        case ToolCall():
            return _call_entry(part)
        case ToolResult():
            return _result_entry(part, is_split=is_split)
    return _content_entry(part, is_joined=is_joined)


def _content_entry(part: Part, *, is_joined: bool) -> Any:
    """The remaining fields of a part that the content represents; any other part unchanged."""
    match part:
        case Text():
            entry = {"type": "text", **_TEXT_LEFTOVERS.of(part)}
            return {**entry, "length": len(part.text)} if is_joined else entry
        case Code():
            return {"type": "code", **_CODE_LEFTOVERS.of(part)}
        case Media():
            return _media_entry(part)
    return part


def _own_extra(part: Reasoning | ToolResult, *, is_split: bool) -> dict[str, Any]:
    """The source's own fields of a part, unless a separate message has them."""
    return {"extra": part.extra} if part.extra and not is_split else {}


def _call_entry(call: ToolCall) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": "tool_call"}
    if not call.name:
        entry["name"] = call.name
    if source_call_id(call) != call.call_id:
        entry["call_id"] = call.call_id
    entry |= _CALL_LEFTOVERS.of(call)
    if not (call.input is None or isinstance(call.input, dict | str)):
        entry["input"] = call.input
    return entry


def _result_entry(result: ToolResult, *, is_split: bool) -> dict[str, Any]:
    entry = {"type": "tool_result", **_RESULT_LEFTOVERS.of(result), **_own_extra(result, is_split=is_split)}
    if isinstance(result.output, str):
        return entry
    is_joined = _is_joined(result.output, in_parts=False)
    return {**entry, "output": [_content_entry(part, is_joined=is_joined) for part in result.output]}


def _media_entry(media: Media, *, is_attachment_only: bool = False) -> dict[str, Any]:
    """A file. Its text is in the content, unless the file is an attachment only."""
    text = {"text": media.text} if is_attachment_only and media.text is not None else {}
    if is_inline(media):
        return {"type": "media", **_INLINE_LEFTOVERS.of(media), **text, "inline": True}
    if not _ATTACHMENT_LEFTOVERS.exist_in(media) and (media.size is None or media.size >= 0):
        return {"type": "media", **text}
    return {"type": "media", **_MEDIA_LEFTOVERS.of(media), **text}
