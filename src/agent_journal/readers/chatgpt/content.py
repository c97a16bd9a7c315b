"""The content of a message, by its type, as parts.

Each type's own fields are taken; what is left of the content stays beside the message. Types are as seen in
exports from 2023 to July 2026.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.model import Citation, Code, Media, Other, Part, Reasoning, Text
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind, Notes
from agent_journal.readers.chatgpt.assets import Assets, asset_id, media, media_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import MediaKind

Bag = dict[str, Any]
THOUGHTS = ("thoughts", "reasoning_recap")


class Setting(Struct, frozen=True):
    """What the content of one message is read with."""

    note: Notes
    where: str
    assets: Assets
    metadata: Bag
    pointed: set[str]
    """Ids of the files that the content points to."""

    def fields(self, record: Bag) -> Fields:
        """Fields of a copy of an object in the content."""
        return Fields(dict(record), self.note, self.where)

    def attachment(self, pointer: Any) -> Bag | None:
        """The attachment of the message that a pointer means."""
        if pointer.__class__ is not str:
            return None
        wanted = asset_id(pointer)
        self.pointed.add(wanted)
        attached = objects(self.metadata.get("attachments"))
        return next((file for file in attached if wanted in (file.get("id"), file.get("file_id"))), None)


def parts(content: Any, setting: Setting) -> tuple[list[Part], Bag]:
    """The parts that a content makes, and what is left of it."""
    if content.__class__ is dict:
        return _of_object(content, setting)
    if content.__class__ is list:
        return _mixed(content, setting), {}
    if content is None or content == "":
        return [], {}
    if content.__class__ is str:
        return [Text(text=content)], {}
    setting.note(Kind.WRONG_TYPE, setting.where, f"content is {type(content).__name__}")
    return [Other(data=content)], {}


def call_input(content: Any) -> tuple[Any, Bag]:
    """What a tool was told, and what is left of the content: a text if it is one, else as it is."""
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


def _without(content: Bag, taken: str) -> Bag:
    rest = {name: value for name, value in content.items() if name != taken}
    return {} if rest == {"content_type": "text"} else rest


def _of_object(content: Bag, setting: Setting) -> tuple[list[Part], Bag]:
    fields = setting.fields(content)
    made = _of_type(content.get("content_type"), fields, setting)
    if made is None and "content_type" not in content:
        inner, beside = unwrap(content)
        if inner is not content:
            return parts(inner, setting)[0], beside
    if made is None:
        setting.note(Kind.UNKNOWN_TYPE, setting.where, f"content {str(content.get('content_type'))[:40]!r}")
        return [_verbatim(content)], {}
    rest = fields.rest()
    return made, {} if rest == {"content_type": "text"} else rest


def _of_type(kind: Any, fields: Fields, setting: Setting) -> list[Part] | None:  # noqa: PLR0911 (one line per type)
    match kind:
        case "text" | "multimodal_text":
            return _mixed(fields.items("parts"), setting) or _texts(fields, "text")
        case None if fields.has("parts") or fields.has("text"):
            return _mixed(fields.items("parts"), setting) or _texts(fields, "text")
        case "code" | "tether_browsing_code":
            return _code(fields)
        case "execution_output":
            return [*_texts(fields, "text"), *_pointers("image", _drawn(setting.metadata), setting)]
        case "system_error":
            return _texts(fields, "text")
        case "computer_output":
            return _pointers("image", [fields.bag("screenshot")], setting)
        case "citable_code_output":
            return _citable(fields)
        case "tether_browsing_display":
            return [*_texts(fields, "result"), *_mixed(fields.items("assets"), setting)]
        case "tether_quote" | "sonic_webpage":
            return [*_source(fields)]
        case "thoughts" | "reasoning_recap":
            return [*_thoughts(kind, fields, setting)]
        case "user_editable_context":
            return _texts(fields, "user_profile", "user_instructions")
        case "model_editable_context":
            return _texts(fields, "model_set_context")
    return None


def _texts(fields: Fields, *names: str) -> list[Part]:
    return [Text(text=text) for name in names if (text := fields.text(name))]


def _mixed(raw: Iterable[Any] | None, setting: Setting) -> list[Part]:
    """Strings and objects; empty strings and nulls say nothing."""
    made: list[Part] = []
    for part in raw or ():
        if part.__class__ is str:
            if part:
                made.append(Text(text=part))
        elif part.__class__ is dict:
            made.extend(_part(part, setting))
        elif part is not None:
            made.append(Other(data=part))
    return made


def _part(part: Bag, setting: Setting) -> list[Part]:
    match part.get("content_type"):
        case "real_time_user_audio_video_asset_pointer":
            return _filmed(part, setting)
        case "image_asset_pointer":
            return _pointers("image", [part], setting)
        case "audio_asset_pointer":
            return _pointers("audio", [part], setting)
        case str() as kind if kind.endswith("asset_pointer"):
            return _pointers("video" if "video" in kind else "file", [part], setting)
        case None if part.get("type") == "text" and part.get("text").__class__ is str:
            fields = setting.fields(part)
            fields.drop("type")
            return [Text(text=fields.take("text"), extra=fields.rest())]
        case "audio_transcription" | "text":
            fields = setting.fields(part)
            text = fields.text("text")
            return [Text(text=text, extra=fields.rest()) if text else _verbatim(part)]
        case "tether_quote" | "sonic_webpage":
            fields = setting.fields(part)
            found = _source(fields)
            return [replace(text, extra=fields.rest()) for text in found] or [_verbatim(part)]
    setting.note(Kind.UNKNOWN_TYPE, setting.where, f"part {str(part.get('content_type'))[:40]!r}")
    return [_verbatim(part)]


def _verbatim(record: Bag) -> Other:
    return Other(data=record, name=words(record.get("content_type")))


def _pointers(kind: MediaKind, raw: Iterable[Any], setting: Setting) -> list[Part]:
    """Media of asset pointers, which are objects or bare strings."""
    made: list[Part] = []
    for pointer in raw:
        named = {"asset_pointer": pointer} if pointer.__class__ is str else pointer
        if named.__class__ is dict:
            attachment = setting.attachment(named.get("asset_pointer"))
            made.append(media(kind, setting.fields(named), setting.assets, attachment))
        elif named is not None:
            made.append(Other(data=named))
    return made


def _filmed(part: Bag, setting: Setting) -> list[Part]:
    """Sound, frames and film of a voice chat with a camera; what else it says stays with the first."""
    fields = setting.fields(part)
    made = [
        *_pointers("audio", [fields.take("audio_asset_pointer")], setting),
        *_pointers("image", fields.items("frames_asset_pointers") or (), setting),
        *_pointers("video", [fields.take("video_container_asset_pointer")], setting),
    ]
    match made:
        case [Media() as first, *_]:
            first.extra["part"] = fields.rest()
            return made
    return [_verbatim(part)]


def _code(fields: Fields) -> list[Part]:
    code = fields.text("text")
    if not code:
        return []
    # "unknown" is what the browser tool of 2023 had for a language.
    language = None if fields.look("language") == "unknown" else fields.text("language")
    return [Code(code=code, language=language)]


def _drawn(metadata: Bag) -> Iterator[str]:
    """Pointers to pictures that executed code drew; the metadata stays as it is."""
    result = metadata.get("aggregate_result")
    for message in objects(result.get("messages") if result.__class__ is dict else None):
        if address := words(message.get("image_url")):
            yield address


def _citable(fields: Fields) -> list[Part]:
    text = fields.text("output_str")
    shown = fields.look("metadata")
    if not text:
        return []
    if shown.__class__ is not dict:
        return [Text(text=text)]
    cited = Citation(title=words(shown.get("display_title")), url=words(shown.get("display_url")))
    return [Text(text=text, citations=[cited] if cited.title or cited.url else [])]


def _source(fields: Fields) -> list[Text]:
    """A page that was retrieved: its text, or the most it says about itself."""
    title, address, snippet = (fields.text(name) or None for name in ("title", "url", "snippet"))
    text = fields.text("text") or snippet or title or address
    if text is None:
        return []
    says_more = bool(title or address) or snippet not in (None, text)
    cited = [Citation(title=title, url=address, text=snippet)] if says_more else []
    return [Text(text=text, citations=cited)]


def _thoughts(kind: str, fields: Fields, setting: Setting) -> Iterator[Part]:
    """Thoughts, each with its summary; a recap ("Thought for 12s") is a summary alone."""
    for thought in [
        *(fields.items("thoughts") or ()),
        *(fields.items("parts") or ()),
        fields.take("content"),
    ]:
        if thought.__class__ is dict:
            inner = setting.fields(thought)
            text, summary = inner.text("content") or None, inner.text("summary") or None
            rest = inner.rest()
            if text or summary or any(rest.values()):
                yield Reasoning(text=text, summary=summary, extra=rest)
        elif thought.__class__ is str and thought:
            yield Reasoning(text=thought) if kind == "thoughts" else Reasoning(summary=thought)
        elif thought:
            yield Other(data=thought)


def attached(setting: Setting) -> Iterator[Part]:
    """Files that came with a message and that its content does not point to."""
    for file in objects(setting.metadata.get("attachments")):
        reference = words(file.get("id")) or words(file.get("file_id"))
        if reference is None or asset_id(reference) not in setting.pointed:
            yield media_of(reference, setting.assets.known(reference, file))
