"""Converts a record of an activity log: a prompt and its answer, or another activity."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.model import Event, Media, Message, Other, Part, Role, Text, ids, timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.gemini_takeout import dates, titles
from agent_journal.readers.gemini_takeout.attachments import ExportFiles, attachments
from agent_journal.readers.gemini_takeout.detect import SOURCE, is_gemini_record, is_message_detail
from agent_journal.readers.gemini_takeout.markup import to_markdown

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields
    from agent_journal.readers.gemini_takeout.page import Image

Entry: TypeAlias = Message | Event
_CONVERSATION = re.compile(
    r"(?:gemini|bard)\.google\.com/(?:u/\d+/)?(?:app|chat|gem/[^/?#\s]+)/(?:c/)?([A-Za-z0-9_-]+)"
)
_ROLES: dict[str, Role] = {"request": "user", "response": "assistant"}
# The keys of text in a request or response that is JSON.
_TEXT_KEYS = frozenset({"text", "content", "value", "prompt", "query", "message"})
_ELLIPSES = ("…", "...")
_BLOCK_TAGS = ("<p", "<h", "<ul", "<ol", "<div", "<table")


class _MessageContent(NamedTuple):
    """The content of one message of a record."""

    role: Role
    parts: list[Part]
    native: Any = None
    extra: dict[str, Any] = {}


def conversation_ids_of(title_url: Any, details: Any) -> list[str]:
    """List the ids of the conversations of a record; a branch belongs to several."""
    if not title_url and not details:
        return []
    urls = [title_url]
    urls += (
        [detail.get("url") for detail in details if detail.__class__ is dict]
        if details.__class__ is list
        else []
    )
    matches = [_CONVERSATION.search(url[:2048]) for url in urls if url.__class__ is str]
    return [*dict.fromkeys(match[1] for match in matches if match)]


def time_of(written: Any) -> str | None:
    """Get the time of a record, from JSON or in the format of a page."""
    at = timestamps.parse_timestamp(written)
    if at is None and written.__class__ is str and (parsed := dates.parse_time(written)):
        return parsed.at
    return at


def entries(fields: Fields, at: str | None, files: ExportFiles) -> Iterator[Entry]:
    """Yield the messages of a record; without any, an event."""
    key = fields.view("time"), fields.view("title")
    _check_time(fields, at)
    messages = _detail_messages(fields) or _interaction_messages(fields) or _prompt_and_answer(fields, files)
    rest = {name: value for name, value in fields.rest().items() if value is not None}
    if not messages:
        yield Event(id=ids.made(SOURCE, *key), made_id=True, name="activity", at=at, data=rest)
        return
    for index, (role, parts, native, extra) in enumerate(messages):
        yield Message(
            id=ids.made(SOURCE, *key, role, index),
            made_id=True,
            role=role,
            at=at,
            parts=parts,
            native=native,
            # A record is one exchange: its other fields go to the first message.
            extra=extra if index else {**rest, **extra},
        )


def _check_time(fields: Fields, at: str | None) -> None:
    """Keep the time in the remaining fields if its format differs, and note what is wrong with it."""
    written = fields.view("time")
    if at == written and at is not None:
        fields.drop("time")
    elif written is None:
        fields.note(Kind.MISSING_TIME, fields.where, "its position among the records is used instead")
    elif at is None:
        fields.note(Kind.BAD_TIME, fields.where, f"time: {str(written)[:60]!r}")
    elif (
        timestamps.parse_timestamp(written) is None
        and (parsed := dates.parse_time(written))
        and parsed.unknown_zone is not None
    ):
        zone = parsed.unknown_zone or "no zone"
        fields.note(Kind.BAD_TIME, fields.where, f"unknown time zone {zone[:20]}, read as UTC")


def _detail_messages(fields: Fields) -> list[_MessageContent]:
    """Read variant A: `details` with names and values. Other details stay in the fields."""
    details = fields.view("details")
    if details.__class__ is not list or not any(map(is_message_detail, details)):
        return []
    messages = [
        _MessageContent(
            _ROLES[detail["name"].lower()],
            [Text(text=detail["value"])],
            extra=_if_any("details", {key: detail[key] for key in detail if key not in ("name", "value")}),
        )
        for detail in details
        if is_message_detail(detail)
    ]
    fields.take("details")
    if others := [detail for detail in details if not is_message_detail(detail)]:
        fields.keep("details", others)
    return messages


def _if_any(name: str, rest: dict[str, Any]) -> dict[str, Any]:
    return {name: rest} if rest else {}


def _interaction_messages(fields: Fields) -> list[_MessageContent]:
    """Read variant B: `userInteractions`, each with a request and a response in JSON."""
    interactions = fields.view("userInteractions")
    if interactions.__class__ is not list:
        return []
    messages: list[_MessageContent] = []
    others: list[Any] = []
    for element in interactions:
        interaction = element.get("userInteraction") if element.__class__ is dict else None
        sides = _sides(interaction) if isinstance(interaction, dict) else []
        if not sides or interaction is None:
            others.append(element)
            continue
        rest = {
            key: value
            for key, value in interaction.items()
            if key not in _ROLES or value.__class__ is not str
        }
        outer = {key: value for key, value in element.items() if key != "userInteraction"}
        messages.append(
            sides[0]._replace(
                extra=_if_any("userInteractions", {**outer, **_if_any("userInteraction", rest)})
            )
        )
        messages += sides[1:]
    if messages:
        fields.take("userInteractions")
        if others:
            fields.keep("userInteractions", others)
    return messages


def _sides(interaction: dict[str, Any]) -> list[_MessageContent]:
    messages: list[_MessageContent] = []
    for name, role in _ROLES.items():
        value = interaction.get(name)
        if value.__class__ is str and value:
            text = _text_in(value)
            messages.append(_MessageContent(role, [Text(text=text)], native=value if text != value else None))
    return messages


def _text_in(value: str) -> str:
    """Get the text of a request or response: the text keys of its JSON, or the whole value."""
    decoded = (
        json_stream.decode(value.encode("utf-8", "replace"), Notes(keep=0), "")
        if value[:1] in '[{"'
        else value
    )
    if decoded is json_stream.BAD:
        return value
    texts: list[str] = []
    pending: list[Any] = [decoded]
    while pending:
        current = pending.pop()
        if current.__class__ is str:
            texts.append(current)
        elif current.__class__ is list:
            pending.extend(reversed(current))
        elif current.__class__ is dict:
            children = [
                child
                for key, child in current.items()
                if key in _TEXT_KEYS or child.__class__ in (list, dict)
            ]
            pending.extend(reversed(children))
    return "\n".join(texts) or value


def _prompt_and_answer(fields: Fields, files: ExportFiles) -> list[_MessageContent]:
    """Read what real exports have: the prompt after a verb in the title, the answer as HTML."""
    answer = _answer(fields, files)
    title = fields.view("title")
    if title.__class__ is not str or not is_gemini_record(fields.rest()):
        return [answer] if answer else []
    language = titles.language_of(_product(fields))
    verb, prompt = titles.split_title(title, language, has_answer=answer is not None)
    if prompt is None:
        if answer is not None:
            fields.keep("safeHtmlItem", answer.native)
        return _canvas_message(fields, title)
    generated = {part.ref for part in answer.parts if isinstance(part, Media)} if answer else ()
    media = attachments(fields, files, generated)
    parts, title = with_files(verb, prompt, media)
    fields.drop("title")
    if title:
        fields.keep("title", title)
    if answer is None:
        fields.note(Kind.CUT_AT_SOURCE, fields.where, "the export has no answer to this prompt")
    question = _MessageContent("user", parts)
    return [question, answer] if answer else [question]


def _canvas_message(fields: Fields, title: str) -> list[_MessageContent]:
    """Read a canvas, which only its own record has: logs have its text in a subtitle, pages in the title."""
    verb, name_and_text = titles.canvas(title) or titles.Title("", None)
    if name_and_text is None:
        return []
    subtitles = fields.view("subtitles")
    lines: list[Any] = subtitles if subtitles.__class__ is list else []
    texts = [line["name"] for line in lines if _is_text(line)]
    name, _, below = name_and_text.partition("\n")
    text = "\n".join(filter(None, (below, *texts)))
    if not text:
        return []
    fields.take("title")
    fields.keep("title", verb)
    if texts:
        fields.take("subtitles")
        if remaining := [line for line in lines if not _is_text(line)]:
            fields.keep("subtitles", remaining)
    return [_MessageContent("assistant", [Media(kind="document", name=name.strip() or None, text=text)])]


def _is_text(line: Any) -> bool:
    """Whether a line is only text: others link a file or a Gem."""
    return line.__class__ is dict and line.keys() == {"name"} and line["name"].__class__ is str


def with_files(verb: str, prompt: str, media: list[Media]) -> tuple[list[Part], str]:
    """Get the parts of a prompt, and the rest of its title."""
    prompt, count = titles.without_count(prompt) if media else (prompt, "")
    parts: list[Part] = [Text(text=prompt)] if prompt else []
    return [*parts, *media], " … ".join(part for part in (verb, count) if part)


def _product(fields: Fields) -> str | None:
    header = fields.view("header")
    if header.__class__ is str:
        return str(header)
    products = fields.view("products")
    first = products[0] if products.__class__ is list and products else None
    return first if first.__class__ is str else None


def _answer(fields: Fields, files: ExportFiles) -> _MessageContent | None:
    """Read the answer as Markdown; the message also stores its HTML."""
    items = fields.view("safeHtmlItem")
    blocks = [items] if items.__class__ in (dict, str) else items
    if blocks.__class__ is not list:
        return None
    parts: list[Part] = []
    images_shown: list[Media] = []
    for item in blocks:
        html = item.get("html", item.get("htmlValue")) if item.__class__ is dict else item
        if html.__class__ is not str or not html:
            parts += [Other(data=item, name="safeHtmlItem")]
            continue
        text, images = to_markdown(html)
        rest = (
            {key: value for key, value in item.items() if value is not html} if item.__class__ is dict else {}
        )
        parts.append(Text(text=text, extra=rest))
        images_shown += [image_media(image, fields, files) for image in images]
        if is_truncated(html, text):
            fields.note(Kind.CUT_AT_SOURCE, fields.where, "the answer is cut off")
    if not any(isinstance(part, Text) for part in parts):
        return None
    fields.take("safeHtmlItem")
    return _MessageContent("assistant", [*parts, *images_shown], native=items)


def image_media(image: Image, fields: Fields, files: ExportFiles) -> Media:
    """Convert an image of an answer: its file is next to the log, unless it has a URL."""
    ref, name = image
    if "://" in ref or ref.startswith("data:"):
        return Media(kind="image", ref=ref, name=name)
    return files.media(ref, name, fields)


def is_truncated(html: str, text: str) -> bool:
    """Whether an answer seems to be cut off: by an ellipsis, or inside an unclosed block."""
    return text.endswith(_ELLIPSES) or (
        html.startswith(_BLOCK_TAGS) and bool(html[html.rfind(">") + 1 :].strip())
    )
