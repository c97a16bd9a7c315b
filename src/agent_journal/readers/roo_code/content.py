"""Content: blocks of Anthropic's form, the few that the extensions add to it, and texts with markup."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Code, Media, Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.model.content_blocks import unwrap
from agent_journal.readers.dialects import anthropic_blocks as blocks
from agent_journal.readers.roo_code import markup
from agent_journal.readers.roo_code.names import TOOL_KINDS, WORDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part
    from agent_journal.notes import Notes


def blocks_of(content: Any) -> list[Any]:
    """Content as a list, also out of an object that holds it; a text that is not empty is one block."""
    if content.__class__ is dict:
        content, _ = unwrap(content)
    if content.__class__ is list:
        return content
    return [] if content is None or content == "" else [content]


def type_of(block: Any) -> Any:
    """What kind of block it is."""
    return block.get("type") if block.__class__ is dict else None


def text_of(block: Any) -> str | None:
    """The text of a text block, or of content that is a text; None of any other."""
    if block.__class__ is str:
        return block
    if block.__class__ is dict and block.get("type") == "text":
        text = block.get("text")
        return text if text.__class__ is str else None
    return None


def native(content: Any, parts: list[Part]) -> Any:
    """The content itself, unless the parts tell it exactly: of a text, or of one block that is no text."""
    if len(parts) != 1:
        return content
    part = parts[0]
    if content.__class__ is str:
        return None if part == Text(text=content) else content
    is_plain_call = part.__class__ is ToolCall and part.call_id is not None
    is_plain_result = part.__class__ is ToolResult and part.output.__class__ is str
    is_plain = (is_plain_call or is_plain_result) and not part.extra  # type: ignore[union-attr] # both have it
    return None if is_plain and len(content) == 1 else content


def plain(raw: list[Any]) -> list[Part]:
    """The parts that blocks are, if all of them are plain; else none. None of the extensions' own is."""
    parts: list[Part] = []
    for block in raw:
        part = blocks.plain(block.get("type"), block, TOOL_KINDS) if block.__class__ is dict else None
        if part is None:
            return []
        parts.append(part)
    return parts


def part_of(block: Any, note: Notes, where: int | str) -> Part:
    """The part that a block is, of Anthropic's form or of the extensions'."""
    kind: Any = block.get("type") if block.__class__ is dict else None
    if kind is not None and (plain := blocks.plain(kind, block, TOOL_KINDS)) is not None:
        return plain
    name, form = _FURTHER.get(kind, _NOTHING) if kind.__class__ is str else _NOTHING
    if form is not None and block.get(name).__class__ is form:
        part = _MAKERS[kind](Fields(dict(block), note, where))
        if part is not None:
            return part
    return blocks.parts_and_native([block], note, where, TOOL_KINDS)[0][0]


def _reasoning(fields: Fields) -> Part:
    """Reasoning of models of other vendors than Anthropic."""
    fields.drop("type")
    return replace(reasoning(fields), extra=fields.rest())


def reasoning(fields: Fields) -> Reasoning:
    """A text, or what OpenAI gives in its place: a summary and an encrypted form."""
    told = None
    summary = fields.look("summary")
    if summary.__class__ is list and all(_summary_text(item) is not None for item in summary):
        fields.drop("summary")
        told = "\n\n".join(_summary_text(item) or "" for item in summary) or None
    return Reasoning(text=fields.text("text"), summary=told, encrypted=fields.text("encrypted_content"))


def _summary_text(item: Any) -> str | None:
    text = item.get("text") if item.__class__ is dict and set(item) <= {"type", "text"} else item
    return text if text.__class__ is str else None


def detail(fields: Fields) -> Reasoning:
    """One of OpenRouter's `reasoning_details`."""
    return Reasoning(
        text=fields.text("text"),
        summary=fields.text("summary"),
        signature=fields.text("signature"),
        encrypted=fields.text("data"),
        extra=fields.rest(),
    )


def _signature(fields: Fields) -> Part:
    """What Gemini signs its thoughts with."""
    fields.drop("type")
    return Reasoning(signature=fields.text("thoughtSignature"), extra=fields.rest())


def _thinking(fields: Fields) -> Part | None:
    """Thoughts of which the text has the name that it has in text blocks."""
    if fields.has("thinking"):
        return None
    fields.drop("type")
    return Reasoning(text=fields.text("text"), signature=fields.text("signature"), extra=fields.rest())


def _file(fields: Fields) -> Part:
    """A file that a person named in a prompt, as it was then."""
    fields.drop("type")
    return Code(code=fields.take("content"), file=fields.text("path"), extra=fields.rest())


def _image(fields: Fields) -> Part:
    """A picture in the form of Cline's sessions."""
    fields.drop("type")
    return Media(kind="image", data=fields.take("data"), mime=fields.text("mediaType"), extra=fields.rest())


def _generated(fields: Fields) -> Part | None:
    """What a model drew or spoke, in Cline's sessions: as it is, or where it lies."""
    told = fields.look("media")
    source, kind = told.get("source"), told.get("modality")
    if source.__class__ is not dict or kind not in _MODALITIES:
        return None
    left = {name: value for name, value in source.items() if name != "type"}
    fields.drop("type")
    fields.keep("media", {name: value for name, value in told.items() if name not in ("modality", "source")})
    media, lies = fields.nested("media"), Fields(left, fields.note, fields.where)
    if media is None:
        return None
    part = Media(
        kind=kind,
        mime=media.text("mediaType"),
        name=media.text("name"),
        size=media.whole("sizeBytes"),
        data=lies.text("data"),
        ref=lies.text("url") or lies.text("artifactId"),
    )
    if rest := lies.rest():
        media.keep("source", rest)
    return replace(part, extra=fields.rest())


def _results(fields: Fields) -> Part | None:
    """A result in the form of Cline's sessions: a list of what was asked for and what was found."""
    found = fields.look("content")
    if not found or not all(_is_found(one) for one in found):
        return None
    fields.drop("type", "content")
    is_error = fields.flag("is_error")
    if is_error is None and all(one.get("success") is False for one in found):
        is_error = True
    return ToolResult(
        call_id=fields.text("tool_use_id"),
        output=[part for one in found for part in _found(one, fields)],
        is_error=is_error,
        name=fields.text("name"),
        native=found,
        extra=fields.rest(),
    )


def _is_found(one: Any) -> bool:
    return one.__class__ is dict and "type" not in one and one.get("result").__class__ in (str, list)


def _found(one: dict[str, Any], fields: Fields) -> list[Any]:
    """What was found, and why no more was; what else is said of it stays with the first part."""
    result, error = one["result"], one.get("error")
    pieces = [result] if result.__class__ is str else result
    told: list[Any] = [part_of(piece, fields.note, fields.where) for piece in pieces]
    rest = {name: value for name, value in one.items() if name != "result"}
    if error.__class__ is str and error:
        del rest["error"]
        told = [*(part for part in told if part != Text(text="")), Text(text=error)]
    if not told or isinstance(told[0], Other):
        return [Text(text="", extra=rest), *told]
    return [replace(told[0], extra={**told[0].extra, **rest}), *told[1:]]


def deeds(fields: Fields) -> list[Part]:
    """Tools that the model's vendor ran while it answered, which Cline's sessions tell beside the content."""
    metadata = fields.look("metadata")
    told = metadata.get(_DEEDS) if metadata.__class__ is dict else None
    if told.__class__ is not list or not all(_is_deed(one) for one in told):
        return []
    fields.keep("metadata", {name: value for name, value in metadata.items() if name != _DEEDS})
    if metadata.keys() == {_DEEDS}:
        fields.drop("metadata")
    return [part for one in told for part in _deed(Fields(dict(one), fields.note, fields.where))]


def _is_deed(one: Any) -> bool:
    return one.__class__ is dict and all(
        one.get(name).__class__ is str for name in ("toolCallId", "toolName")
    )


def _deed(fields: Fields) -> list[Part]:
    call_id, name = fields.text("toolCallId"), fields.take("toolName")
    given, output, has_output = fields.take("input"), fields.look("output"), fields.has("output")
    is_error = fields.flag("isError")
    fields.drop("output")
    call = ToolCall(name=name, call_id=call_id, input=given, kind=TOOL_KINDS.get(name), extra=fields.rest())
    if not has_output and is_error is None:
        return [call]
    told: Any = output if output.__class__ is str else [] if output is None else [Other(data=output)]
    return [call, ToolResult(call_id=call_id, name=name, output=told, is_error=is_error)]


_DEEDS = "modelToolActivities"
_MODALITIES = ("image", "audio", "video", "file")
# Blocks that the extensions add to Anthropic's, or write otherwise: the field by whose type they are known.
_NOTHING: tuple[str, type | None] = ("", None)
_FURTHER: dict[str, tuple[str, type | None]] = {
    "reasoning": ("type", str),
    "thoughtSignature": ("thoughtSignature", str),
    "thinking": ("text", str),
    "file": ("content", str),
    "image": ("data", str),
    "tool_result": ("content", list),
    "media": ("media", dict),
}
_MAKERS: dict[str, Callable[[Fields], Part | None]] = {
    "reasoning": _reasoning,
    "thoughtSignature": _signature,
    "thinking": _thinking,
    "file": _file,
    "image": _image,
    "tool_result": _results,
    "media": _generated,
}


def in_text(text: str) -> list[Part]:
    """What a model's text consists of, with its thoughts and calls in XML as the parts they are."""
    found: list[Part] = []
    for piece in markup.pieces(text):
        if piece.__class__ is str:
            found.append(Text(text=piece))
        elif piece.__class__ is markup.Call:
            kind = TOOL_KINDS.get(piece.name)
            extra = {} if piece.xml is None else {"xml": piece.xml}
            found.append(ToolCall(name=piece.name, input=piece.values, kind=kind, extra=extra))
        elif piece.__class__ is markup.Thought:
            found.append(Reasoning(text=piece.text, extra={"tag": "thinking"}))
    return found


def spoken(parts: list[Part]) -> list[Part]:
    """The parts of an answer; what a call of it tells the person is a text before it, no longer its input."""
    found: list[Part] = []
    for part in parts:
        if part.__class__ is ToolCall and part.name in WORDS and part.input.__class__ is dict:
            name = WORDS[part.name]
            told = part.input.get(name)
            if told.__class__ is str and told:
                found.append(Text(text=told, extra={"tool": part.name, "parameter": name}))
                left = {key: value for key, value in part.input.items() if key != name}
                part = replace(part, input=left)  # noqa: PLW2901 (the call without its words)
        found.append(part)
    return found


def answered(result: ToolResult) -> list[Part]:
    """The result of a call that told the person something: what they answered is a text behind it."""
    output: list[Any] = [Text(text=result.output)] if isinstance(result.output, str) else list(result.output)
    for place, part in enumerate(output):
        quoted = markup.quoted(part.text) if isinstance(part, Text) else None
        if quoted is not None:
            around, said, tag = quoted
            output[place : place + 1] = [replace(part, text=around)] if around else []
            is_text = isinstance(result.output, str)
            left = replace(result, output=around if is_text else output)
            return [left, Text(text=said, extra={"tag": tag})]
    return [result]


def words(text: str, block: Any) -> Text:
    """What a person said, without the tag around it."""
    said, tag = markup.unwrapped(text)
    extra: dict[str, Any] = {} if tag is None else {"tag": tag}
    if (envelope := markup.in_envelope(text)) is not None:
        said, extra = envelope
    if block.__class__ is dict and len(block) > 2:  # noqa: PLR2004 (type and text)
        extra |= {name: value for name, value in block.items() if name not in ("type", "text")}
    return Text(text=said, extra=extra)


def data_uri(uri: Any) -> Media | None:
    """A picture that a URI holds, or that it names; None if it is no text."""
    if uri.__class__ is not str:
        return None
    head, comma, data = uri.partition(",")
    if uri.startswith("data:") and comma and head.endswith(";base64"):
        return Media(kind="image", mime=head[len("data:") : -len(";base64")] or None, data=data)
    return Media(kind="image", ref=uri)
