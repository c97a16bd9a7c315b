"""Converts the content of a message to parts, by its type.

Fields that no part has stay in the message's `extra`. The types are those seen in exports from 2023 to
July 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Citation, Code, Media, Other, Part, Reasoning, Text
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind, Notes
from agent_journal.readers.chatgpt.assets import Assets, asset_id, media, media_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import MediaKind

JsonObject = dict[str, Any]
THOUGHTS = ("thoughts", "reasoning_recap")


class ContentContext(Struct, frozen=True):
    """What is needed to read the content of one message."""

    note: Notes
    location: str
    assets: Assets
    metadata: JsonObject
    pointed_ids: set[str]
    """Ids of the files that the content points to."""

    def fields(self, record: JsonObject) -> Fields:
        """Wrap a copy of an object in the content."""
        return Fields(dict(record), self.note, self.location)

    def attachment(self, pointer: Any) -> JsonObject | None:
        """Find the attachment of the message that a pointer names."""
        if pointer.__class__ is not str:
            return None
        file_id = asset_id(pointer)
        self.pointed_ids.add(file_id)
        attachments = objects(self.metadata.get("attachments"))
        return next((file for file in attachments if file_id in (file.get("id"), file.get("file_id"))), None)


def parts(content: Any, context: ContentContext) -> tuple[list[Part], JsonObject]:
    """Convert content to parts; also return its remaining fields."""
    if content.__class__ is dict:
        return _object_parts(content, context)
    if content.__class__ is list:
        return _mixed_parts(content, context), {}
    if content is None or content == "":
        return [], {}
    if content.__class__ is str:
        return [Text(text=content)], {}
    context.note(Kind.WRONG_TYPE, context.location, f"content is {type(content).__name__}")
    return [Other(data=content)], {}


def call_input(content: Any) -> tuple[Any, JsonObject]:
    """Get the input of a tool call: text if possible, else the content; also return the remaining fields."""
    if content.__class__ is not dict:
        return content, {}
    match content:
        case {"content_type": "code", "text": str() as text}:
            return text, _without(content, "text")
        case {"content_type": "text", "parts": [str() as text]}:
            return text, _without(content, "parts")
        case {"content_type": "text" | "multimodal_text", "parts": list() as mixed}:
            return mixed, _without(content, "parts")
    return content, {}


def _without(content: JsonObject, taken: str) -> JsonObject:
    rest = {name: value for name, value in content.items() if name != taken}
    return {} if rest == {"content_type": "text"} else rest


def _object_parts(content: JsonObject, context: ContentContext) -> tuple[list[Part], JsonObject]:
    fields = context.fields(content)
    converted = _typed_parts(content.get("content_type"), fields, context)
    if converted is None and "content_type" not in content:
        inner, remaining = unwrap(content)
        if inner is not content:
            return parts(inner, context)[0], remaining
    if converted is None:
        context.note(
            Kind.UNKNOWN_TYPE, context.location, f"content {str(content.get('content_type'))[:40]!r}"
        )
        return [_verbatim(content)], {}
    rest = fields.rest()
    return converted, {} if rest == {"content_type": "text"} else rest


def _typed_parts(kind: Any, fields: Fields, context: ContentContext) -> list[Part] | None:  # noqa: PLR0911 (one line per type)
    match kind:
        case "text" | "multimodal_text":
            return _mixed_parts(fields.items("parts"), context) or _text_parts(fields, "text")
        case None if fields.has("parts") or fields.has("text"):
            return _mixed_parts(fields.items("parts"), context) or _text_parts(fields, "text")
        case "code" | "tether_browsing_code":
            return _code_parts(fields)
        case "execution_output":
            return [
                *_text_parts(fields, "text"),
                *_media_parts("image", _image_urls(context.metadata), context),
            ]
        case "system_error":
            return _text_parts(fields, "text")
        case "computer_output":
            return _media_parts("image", [fields.bag("screenshot")], context)
        case "citable_code_output":
            return _citable_parts(fields)
        case "tether_browsing_display":
            return [*_text_parts(fields, "result"), *_mixed_parts(fields.items("assets"), context)]
        case "tether_quote" | "sonic_webpage":
            return [*_source_parts(fields)]
        case "thoughts" | "reasoning_recap":
            return [*_reasoning_parts(kind, fields, context)]
        case "user_editable_context":
            return _text_parts(fields, "user_profile", "user_instructions")
        case "model_editable_context":
            return _text_parts(fields, "model_set_context")
    return None


def _text_parts(fields: Fields, *names: str) -> list[Part]:
    return [Text(text=text) for name in names if (text := fields.text(name))]


def _mixed_parts(raw: Iterable[Any] | None, context: ContentContext) -> list[Part]:
    """Convert strings and objects; empty strings and nulls are dropped."""
    converted: list[Part] = []
    for part in raw or ():
        if part.__class__ is str:
            if part:
                converted.append(Text(text=part))
        elif part.__class__ is dict:
            converted.extend(_part(part, context))
        elif part is not None:
            converted.append(Other(data=part))
    return converted


def _part(part: JsonObject, context: ContentContext) -> list[Part]:
    match part.get("content_type"):
        case "real_time_user_audio_video_asset_pointer":
            return _video_chat_parts(part, context)
        case "image_asset_pointer":
            return _media_parts("image", [part], context)
        case "audio_asset_pointer":
            return _media_parts("audio", [part], context)
        case str() as kind if kind.endswith("asset_pointer"):
            return _media_parts("video" if "video" in kind else "file", [part], context)
        case None if part.get("type") == "text" and part.get("text").__class__ is str:
            fields = context.fields(part)
            fields.drop("type")
            return [Text(text=fields.take("text"), extra=fields.rest())]
        case "audio_transcription" | "text":
            fields = context.fields(part)
            source = fields.text("text")
            return [Text(text=source, extra=fields.rest()) if source else _verbatim(part)]
        case "tether_quote" | "sonic_webpage":
            fields = context.fields(part)
            sources = _source_parts(fields)
            return [replace(source, extra=fields.rest()) for source in sources] or [_verbatim(part)]
    context.note(Kind.UNKNOWN_TYPE, context.location, f"part {str(part.get('content_type'))[:40]!r}")
    return [_verbatim(part)]


def _verbatim(record: JsonObject) -> Other:
    return Other(data=record, name=nonempty_str(record.get("content_type")))


def _media_parts(kind: MediaKind, raw: Iterable[Any], context: ContentContext) -> list[Part]:
    """Convert asset pointers, which are objects or bare strings, to media."""
    converted: list[Part] = []
    for pointer in raw:
        record = {"asset_pointer": pointer} if pointer.__class__ is str else pointer
        if record.__class__ is dict:
            attachment = context.attachment(record.get("asset_pointer"))
            converted.append(media(kind, context.fields(record), context.assets, attachment))
        elif record is not None:
            converted.append(Other(data=record))
    return converted


def _video_chat_parts(part: JsonObject, context: ContentContext) -> list[Part]:
    """Convert audio, frames and video of a voice chat; the first part keeps the remaining fields."""
    fields = context.fields(part)
    converted = [
        *_media_parts("audio", [fields.take("audio_asset_pointer")], context),
        *_media_parts("image", fields.items("frames_asset_pointers") or (), context),
        *_media_parts("video", [fields.take("video_container_asset_pointer")], context),
    ]
    match converted:
        case [Media() as first, *_]:
            first.extra["part"] = fields.rest()
            return converted
    return [_verbatim(part)]


def _code_parts(fields: Fields) -> list[Part]:
    code = fields.text("text")
    if not code:
        return []
    # The browser tool of 2023 had "unknown" as its language.
    language = None if fields.view("language") == "unknown" else fields.text("language")
    return [Code(code=code, language=language)]


def _image_urls(metadata: JsonObject) -> Iterator[str]:
    """Yield pointers to the images that executed code drew; they also stay in the metadata."""
    result = metadata.get("aggregate_result")
    for message in objects(result.get("messages") if result.__class__ is dict else None):
        if url := nonempty_str(message.get("image_url")):
            yield url


def _citable_parts(fields: Fields) -> list[Part]:
    text = fields.text("output_str")
    metadata = fields.view("metadata")
    if not text:
        return []
    if metadata.__class__ is not dict:
        return [Text(text=text)]
    citation = Citation(
        title=nonempty_str(metadata.get("display_title")), url=nonempty_str(metadata.get("display_url"))
    )
    return [Text(text=text, citations=[citation] if citation.title or citation.url else [])]


def _source_parts(fields: Fields) -> list[Text]:
    """Convert a retrieved page: its text, else its snippet, title or URL."""
    title, url, snippet = (fields.text(name) or None for name in ("title", "url", "snippet"))
    text = fields.text("text") or snippet or title or url
    if text is None:
        return []
    has_citation = bool(title or url) or snippet not in (None, text)
    citations = [Citation(title=title, url=url, text=snippet)] if has_citation else []
    return [Text(text=text, citations=citations)]


def _reasoning_parts(kind: str, fields: Fields, context: ContentContext) -> Iterator[Part]:
    """Convert thoughts, each with its summary; a recap ("Thought for 12s") is only a summary."""
    for thought in [
        *(fields.items("thoughts") or ()),
        *(fields.items("parts") or ()),
        fields.take("content"),
    ]:
        if thought.__class__ is dict:
            inner = context.fields(thought)
            text, summary = inner.text("content") or None, inner.text("summary") or None
            rest = inner.rest()
            if text or summary or any(rest.values()):
                yield Reasoning(text=text, summary=summary, extra=rest)
        elif thought.__class__ is str and thought:
            yield Reasoning(text=thought) if kind == "thoughts" else Reasoning(summary=thought)
        elif thought:
            yield Other(data=thought)


def unreferenced_attachments(context: ContentContext) -> Iterator[Part]:
    """Convert the attachments of a message that its content does not point to."""
    for file in objects(context.metadata.get("attachments")):
        reference = nonempty_str(file.get("id")) or nonempty_str(file.get("file_id"))
        if reference is None or asset_id(reference) not in context.pointed_ids:
            yield media_of(reference, context.assets.info(reference, file))
