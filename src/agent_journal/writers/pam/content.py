"""What was said, as PAM has it: one text or several parts, with sources, files and tool calls beside it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from agent_journal.model import Code, Media, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.pam.values import stated, uri

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.model import Citation, Part

_UNKNOWN = "unknown"
JOINT = "\n"
"""What is between the texts of a message that are one text in PAM."""
Form: TypeAlias = Literal["auto", "parts", "text"]
"""What the source has: `parts`, also where it is one; a `text` with files beside it; or what suits them."""


def content(parts: Sequence[Part], form: Form, literal: str | None = None) -> dict[str, Any] | None:
    """The content of a message: its texts as one, and each part by itself if there is more than that.

    `literal` is how the source itself tells all of it as one text.
    """
    kinds = Text | Code if form == "text" else Text | Code | Media
    said = [part for part in parts if isinstance(part, kinds)]
    if not said:
        return None if literal is None else {"type": "text", "text": literal}
    texts = [
        part.text if isinstance(part, Text) else part.code
        for part in said
        if not isinstance(part, Media) and not (isinstance(part, Text) and part.injected)
    ]
    if literal is None and form != "parts" and is_plain(said):
        return {"type": "text", "text": JOINT.join(texts)}
    text = JOINT.join(texts) if literal is None and texts else literal
    return {"type": "multipart", **stated({"text": text}), "parts": [_content_part(part) for part in said]}


def is_plain(parts: Sequence[Part]) -> bool:
    """Whether nothing but text was said, in so many words."""
    return all(isinstance(part, Text) and not part.extra and not part.injected for part in parts)


def _content_part(part: Text | Code | Media) -> dict[str, Any]:
    match part:
        case Text():
            return {"type": "text", "text": part.text}
        case Code():
            return stated({"type": "code", "text": part.code, "language": part.language})
    kind = "file" if part.kind == "document" else part.kind
    return stated({"type": kind, "text": part.text, "mime_type": part.mime, "ref": part.ref})


def citations(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The sources of all texts."""
    return [_citation(cited) for part in parts if isinstance(part, Text) for cited in part.citations]


def _citation(cited: Citation) -> dict[str, Any]:
    return stated({"title": cited.title, "url": uri(cited.url), "snippet": cited.text})


def attachments(parts: Iterable[Part]) -> list[dict[str, Any]]:
    """The files that go with a message."""
    return [_attachment(part) for part in parts if isinstance(part, Media)]


def _attachment(media: Media) -> dict[str, Any]:
    return stated(
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
    """Whether a file is told as its content, because nothing refers to it."""
    return media.data is not None and media.ref is None


def _inline(media: Media) -> str:
    return f"data:{media.mime or ''};base64,{media.data}"


def tool_call(call: ToolCall, answer: ToolResult | None) -> dict[str, Any]:
    """A call, with what the tool answered. An id that only we gave it is not told."""
    value = call.input
    if value is not None and not isinstance(value, dict | str):
        value = encode(value).decode()
    found = {"name": call.name or _UNKNOWN, **stated({"input": value}), "id": told_id(call)}
    output = None if answer is None else output_text(answer)
    return found if output is None else {**found, "output": output}


def told_id(call: ToolCall) -> str | None:
    """The id that the source gave a call; none if that was no text, so that one was made."""
    return call.call_id if isinstance(call.extra.get("id", ""), str) else None


def answered_call(result: ToolResult, call: ToolCall | None) -> list[dict[str, Any]]:
    """Which call a result answers, if it is known what was called."""
    name = result.name or (None if call is None else call.name)
    return [{"name": name, "id": result.call_id if call is None else told_id(call)}] if name else []


def output_text(result: ToolResult) -> str | None:
    """What a tool answered, as text; None if it answered with files or sources alone."""
    if isinstance(result.output, str):
        return result.output
    texts = [text for part in result.output if (text := _answered(part))]
    return JOINT.join(texts) if texts or not result.output else None


def _answered(part: Part) -> str | None:
    match part:
        case Text(text=text) | Reasoning(text=text):
            return text
        case Code(code=code):
            return code
    return None


def entries(parts: Sequence[Part], form: Form, *, apart: bool) -> list[dict[str, Any]]:
    """The parts of a message as the model has them, without what the message says at another place.

    With `apart`, thoughts and answers are messages of their own, which have their `extra`.
    """
    is_joined = _is_joined(parts, in_parts=form == "parts")
    if form == "text":  # the content has no place for what files say in words
        return [
            _media_entry(part, is_beside=True)
            if isinstance(part, Media)
            else _entry(part, is_joined=is_joined, apart=apart)
            for part in parts
        ]
    return [_entry(part, is_joined=is_joined, apart=apart) for part in parts]


def _is_joined(parts: Sequence[Part], *, in_parts: bool) -> bool:
    """Whether several texts are one in the content."""
    if in_parts or len(parts) == 1:
        return False
    said = [part for part in parts if isinstance(part, Text | Code | Media)]
    return len(said) > 1 and is_plain(said)


def _entry(part: Part, *, is_joined: bool, apart: bool) -> Any:
    match part:
        case Reasoning():
            entry = _left(part, "reasoning", "text", *(["extra"] if apart else []))
            return {**entry, "text": None} if part.text is None else entry
        case ToolCall():
            return _call_entry(part)
        case ToolResult():
            return _result_entry(part, apart=apart)
    return _said_entry(part, is_joined=is_joined)


def _said_entry(part: Part, *, is_joined: bool) -> Any:
    """A part that the content tells of; what it does not tell of, as it is."""
    match part:
        case Text():
            entry = _left(part, "text", "text", *(() if part.injected else ("injected",)))
            return {**entry, "length": len(part.text)} if is_joined else entry
        case Code():
            return _left(part, "code", "code", "language")
        case Media():
            return _media_entry(part)
    return part


def _left(part: Part, tag: str, *said: str) -> dict[str, Any]:
    """What a part has beyond what was said: the fields that say something."""
    entry: dict[str, Any] = {"type": tag}
    for name in part.__struct_fields__:
        value = getattr(part, name)
        if name not in said and value is not None and value not in ({}, []):
            entry[name] = value
    return entry


def _call_entry(call: ToolCall) -> dict[str, Any]:
    said = ["input"]
    if call.name:
        said.append("name")
    if told_id(call) == call.call_id:
        said.append("call_id")
    entry = _left(call, "tool_call", *said)
    return (
        entry if call.input is None or isinstance(call.input, dict | str) else {**entry, "input": call.input}
    )


def _result_entry(result: ToolResult, *, apart: bool) -> dict[str, Any]:
    entry = _left(result, "tool_result", "output", "native", *(["extra"] if apart else []))
    if isinstance(result.output, str):
        return entry
    is_joined = _is_joined(result.output, in_parts=False)
    return {**entry, "output": [_said_entry(part, is_joined=is_joined) for part in result.output]}


def _media_entry(media: Media, *, is_beside: bool = False) -> dict[str, Any]:
    """A file; what it says in words is in the content, unless it stands beside that."""
    told = [] if is_beside else ["text"]
    if is_inline(media):
        return {**_left(media, "media", "data", *told), "inline": True}
    if media.data is None and not media.extra and (media.size is None or media.size >= 0):
        return {"type": "media", **stated({"text": media.text if is_beside else None})}
    return _left(media, "media", *told)
