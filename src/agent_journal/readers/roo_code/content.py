"""Content: Anthropic's blocks, the few blocks that the extensions add, and texts with markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.model.content_blocks import unwrap
from agent_journal.readers.dialects import anthropic_blocks as blocks
from agent_journal.readers.roo_code import markup
from agent_journal.readers.roo_code.names import SPOKEN_PARAMETERS, TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part
    from agent_journal.notes import Notes


def blocks_of(content: Any) -> list[Any]:
    """Return content as a list of blocks, unwrapped from an object; a text that is not empty is one block."""
    if content.__class__ is dict:
        content, _ = unwrap(content)
    if content.__class__ is list:
        return content
    return [] if content is None or content == "" else [content]


def type_of(block: Any) -> Any:
    """Return the type of a block."""
    return block.get("type") if block.__class__ is dict else None


def text_of(block: Any) -> str | None:
    """Return the text of a text block or of a bare string; None for any other content."""
    if block.__class__ is str:
        return block
    if block.__class__ is dict and block.get("type") == "text":
        text = block.get("text")
        return text if text.__class__ is str else None
    return None


def native_content(content: Any, parts: list[Part]) -> Any:
    """Return the content itself, or None if a single part preserves it exactly."""
    if len(parts) != 1:
        return content
    part = parts[0]
    if content.__class__ is str:
        return None if part == Text(text=content) else content
    is_simple_call = part.__class__ is ToolCall and part.call_id is not None
    is_simple_result = part.__class__ is ToolResult and part.output.__class__ is str
    is_exact = (is_simple_call or is_simple_result) and not part.extra  # type: ignore[union-attr] # both have it
    return None if is_exact and len(content) == 1 else content


def common_parts(raw: list[Any]) -> list[Part]:
    """Return the parts of blocks that all have Anthropic's common shapes; else an empty list."""
    parts: list[Part] = []
    for block in raw:
        part = (
            blocks.parse_plain_block(block.get("type"), block, TOOL_KINDS)
            if block.__class__ is dict
            else None
        )
        if part is None:
            return []
        parts.append(part)
    return parts


def part_of(block: Any, note: Notes, where: int | str) -> Part:
    """Return the part of a block in Anthropic's form or in the extensions' own."""
    kind: Any = block.get("type") if block.__class__ is dict else None
    if kind is not None and (common_part := blocks.parse_plain_block(kind, block, TOOL_KINDS)) is not None:
        return common_part
    name, value_type = _OWN_BLOCKS.get(kind, _NO_OWN_BLOCK) if kind.__class__ is str else _NO_OWN_BLOCK
    if value_type is not None and block.get(name).__class__ is value_type:
        part = _CONVERTERS[kind](Fields(dict(block), note, where))
        if part is not None:
            return part
    return blocks.parse_content([block], note, where, TOOL_KINDS)[0][0]


def _reasoning(fields: Fields) -> Part:
    """Convert the reasoning of other vendors' models than Anthropic's."""
    fields.drop("type")
    return replace(reasoning(fields), extra=fields.rest())


def reasoning(fields: Fields) -> Reasoning:
    """Take reasoning: a text, or OpenAI's summary and encrypted form."""
    summary_text = None
    summary = fields.view("summary")
    if summary.__class__ is list and all(_summary_text(item) is not None for item in summary):
        fields.drop("summary")
        summary_text = "\n\n".join(_summary_text(item) or "" for item in summary) or None
    encrypted = fields.text("encrypted_content")
    return Reasoning(text=fields.text("text"), summary=summary_text, encrypted=encrypted)


def _summary_text(item: Any) -> str | None:
    text = item.get("text") if item.__class__ is dict and set(item) <= {"type", "text"} else item
    return text if text.__class__ is str else None


def reasoning_detail(fields: Fields) -> Reasoning:
    """Convert one of OpenRouter's `reasoning_details`."""
    return Reasoning(
        text=fields.text("text"),
        summary=fields.text("summary"),
        signature=fields.text("signature"),
        encrypted=fields.text("data"),
        extra=fields.rest(),
    )


def _signature(fields: Fields) -> Part:
    """Convert the signature of Gemini's reasoning."""
    fields.drop("type")
    return Reasoning(signature=fields.text("thoughtSignature"), extra=fields.rest())


def _thinking(fields: Fields) -> Part | None:
    """Convert a thinking block whose text is called `text`, as in text blocks."""
    if fields.has("thinking"):
        return None
    fields.drop("type")
    return Reasoning(text=fields.text("text"), signature=fields.text("signature"), extra=fields.rest())


def _file(fields: Fields) -> Part:
    """Convert the content of a file mentioned in a prompt."""
    fields.drop("type")
    return Code(code=fields.take("content"), file=fields.text("path"), extra=fields.rest())


def _image(fields: Fields) -> Part:
    """Convert an image of Cline's sessions."""
    fields.drop("type")
    return Media(kind="image", data=fields.take("data"), mime=fields.text("mediaType"), extra=fields.rest())


def _generated_media(fields: Fields) -> Part | None:
    """Convert generated media of Cline's sessions: the data or a reference to it."""
    raw = fields.view("media")
    source, kind = raw.get("source"), raw.get("modality")
    if source.__class__ is not dict or kind not in _MODALITIES:
        return None
    untyped_source = {name: value for name, value in source.items() if name != "type"}
    fields.drop("type")
    fields.keep("media", {name: value for name, value in raw.items() if name not in ("modality", "source")})
    media, location = fields.nested("media"), Fields(untyped_source, fields.note, fields.where)
    if media is None:
        return None
    part = Media(
        kind=kind,
        mime=media.text("mediaType"),
        name=media.text("name"),
        size=media.whole("sizeBytes"),
        data=location.text("data"),
        ref=location.text("url") or location.text("artifactId"),
    )
    if rest := location.rest():
        media.keep("source", rest)
    return replace(part, extra=fields.rest())


def _session_result(fields: Fields) -> Part | None:
    """Convert a tool result of Cline's sessions: a list of queries and their results."""
    entries = fields.view("content")
    if not entries or not all(_is_result_entry(entry) for entry in entries):
        return None
    fields.drop("type", "content")
    is_error = fields.flag("is_error")
    if is_error is None and all(entry.get("success") is False for entry in entries):
        is_error = True
    return ToolResult(
        call_id=fields.text("tool_use_id"),
        output=[part for entry in entries for part in _result_parts(entry, fields)],
        is_error=is_error,
        name=fields.text("name"),
        native=entries,
        extra=fields.rest(),
    )


def _is_result_entry(entry: Any) -> bool:
    return entry.__class__ is dict and "type" not in entry and entry.get("result").__class__ in (str, list)


def _result_parts(entry: dict[str, Any], fields: Fields) -> list[Any]:
    """Convert the result and the error of one entry; its other fields go to the first part."""
    result, error = entry["result"], entry.get("error")
    pieces = [result] if result.__class__ is str else result
    parts: list[Any] = [part_of(piece, fields.note, fields.where) for piece in pieces]
    rest = {name: value for name, value in entry.items() if name != "result"}
    if error.__class__ is str and error:
        del rest["error"]
        parts = [*(part for part in parts if part != Text(text="")), Text(text=error)]
    if not parts or isinstance(parts[0], Other):
        return [Text(text="", extra=rest), *parts]
    return [replace(parts[0], extra={**parts[0].extra, **rest}), *parts[1:]]


def take_server_tool_parts(fields: Fields) -> list[Part]:
    """Take the tools that the model's vendor ran, which Cline's sessions record outside of the content."""
    metadata = fields.view("metadata")
    activities = metadata.get(_TOOL_ACTIVITIES) if metadata.__class__ is dict else None
    if activities.__class__ is not list or not all(_is_tool_activity(activity) for activity in activities):
        return []
    fields.keep("metadata", {name: value for name, value in metadata.items() if name != _TOOL_ACTIVITIES})
    if metadata.keys() == {_TOOL_ACTIVITIES}:
        fields.drop("metadata")
    return [
        part
        for activity in activities
        for part in _server_tool_parts(Fields(dict(activity), fields.note, fields.where))
    ]


def _is_tool_activity(value: Any) -> bool:
    return value.__class__ is dict and all(
        value.get(name).__class__ is str for name in ("toolCallId", "toolName")
    )


def _server_tool_parts(fields: Fields) -> list[Part]:
    call_id, name = fields.text("toolCallId"), fields.take("toolName")
    tool_input, output, has_output = fields.take("input"), fields.view("output"), fields.has("output")
    is_error = fields.flag("isError")
    fields.drop("output")
    kind = TOOL_KINDS.get(name)
    call = ToolCall(name=name, call_id=call_id, input=tool_input, kind=kind, extra=fields.rest())
    if not has_output and is_error is None:
        return [call]
    result: Any = output if output.__class__ is str else [] if output is None else [Other(data=output)]
    return [call, ToolResult(call_id=call_id, name=name, output=result, is_error=is_error)]


_TOOL_ACTIVITIES = "modelToolActivities"
_MODALITIES = ("image", "audio", "video", "file")
# Blocks that the extensions add to Anthropic's or write differently: a field and its identifying type.
_NO_OWN_BLOCK: tuple[str, type | None] = ("", None)
_OWN_BLOCKS: dict[str, tuple[str, type | None]] = {
    "reasoning": ("type", str),
    "thoughtSignature": ("thoughtSignature", str),
    "thinking": ("text", str),
    "file": ("content", str),
    "image": ("data", str),
    "tool_result": ("content", list),
    "media": ("media", dict),
}
_CONVERTERS: dict[str, Callable[[Fields], Part | None]] = {
    "reasoning": _reasoning,
    "thoughtSignature": _signature,
    "thinking": _thinking,
    "file": _file,
    "image": _image,
    "tool_result": _session_result,
    "media": _generated_media,
}


def parse_model_text(text: str) -> list[Part]:
    """Split a model's text into parts; its reasoning and calls in XML become parts of their own."""
    parts: list[Part] = []
    for piece in markup.split_markup(text):
        if piece.__class__ is str:
            parts.append(Text(text=piece))
        elif piece.__class__ is markup.Call:
            kind = TOOL_KINDS.get(piece.name)
            extra = {} if piece.xml is None else {"xml": piece.xml}
            parts.append(ToolCall(name=piece.name, input=piece.values, kind=kind, extra=extra))
        elif piece.__class__ is markup.Thought:
            parts.append(Reasoning(text=piece.text, extra={"tag": "thinking"}))
    return parts


def extract_spoken_text(parts: list[Part]) -> list[Part]:
    """Move the text with which a call addresses the user out of its input, into a text before the call."""
    result: list[Part] = []
    for part in parts:
        if part.__class__ is ToolCall and part.name in SPOKEN_PARAMETERS and part.input.__class__ is dict:
            name = SPOKEN_PARAMETERS[part.name]
            text = part.input.get(name)
            if text.__class__ is str and text:
                result.append(Text(text=text, extra={"tool": part.name, "parameter": name}))
                remaining = {key: value for key, value in part.input.items() if key != name}
                part = replace(part, input=remaining)  # noqa: PLW2901 (the call without its text)
        result.append(part)
    return result


def extract_reply(result: ToolResult) -> list[Part]:
    """Move the user's reply out of the result of a call that addressed the user, into a text after it."""
    output: list[Any] = [Text(text=result.output)] if isinstance(result.output, str) else list(result.output)
    for index, part in enumerate(output):
        quoted = markup.find_quoted_reply(part.text) if isinstance(part, Text) else None
        if quoted is not None:
            around, reply, tag = quoted
            output[index : index + 1] = [replace(part, text=around)] if around else []
            is_text = isinstance(result.output, str)
            without_reply = replace(result, output=around if is_text else output)
            return [without_reply, Text(text=reply, extra={"tag": tag})]
    return [result]


def user_text(text: str, block: Any) -> Text:
    """Return the user's text without the tag around it."""
    inner, tag = markup.unwrap_user_text(text)
    extra: dict[str, Any] = {} if tag is None else {"tag": tag}
    if (envelope := markup.unwrap_envelope(text)) is not None:
        inner, extra = envelope
    if block.__class__ is dict and len(block) > 2:  # noqa: PLR2004 (type and text)
        extra |= {name: value for name, value in block.items() if name not in ("type", "text")}
    return Text(text=inner, extra=extra)


def image_from_uri(uri: Any) -> Media | None:
    """Return the image in a data URI, or a reference to it; None if the value is not a string."""
    if uri.__class__ is not str:
        return None
    head, comma, data = uri.partition(",")
    if uri.startswith("data:") and comma and head.endswith(";base64"):
        return Media(kind="image", mime=head[len("data:") : -len(";base64")] or None, data=data)
    return Media(kind="image", ref=uri)
