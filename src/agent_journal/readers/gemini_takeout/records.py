"""One record of an activity log: a prompt and its answer, or something else that was done."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.model import Event, Media, Message, Other, Part, Role, Text, ids, timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.gemini_takeout import dates, words
from agent_journal.readers.gemini_takeout.attachments import Files, attached
from agent_journal.readers.gemini_takeout.detect import SOURCE, is_ours, is_said
from agent_journal.readers.gemini_takeout.markup import readable

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields
    from agent_journal.readers.gemini_takeout.page import Image

Entry: TypeAlias = Message | Event
_CONVERSATION = re.compile(
    r"(?:gemini|bard)\.google\.com/(?:u/\d+/)?(?:app|chat|gem/[^/?#\s]+)/(?:c/)?([A-Za-z0-9_-]+)"
)
_ROLES: dict[str, Role] = {"request": "user", "response": "assistant"}
# Where the text is in what a request or response holds as JSON.
_TEXTS = frozenset({"text", "content", "value", "prompt", "query", "message"})
_CUT = ("…", "...")
_BLOCKS = ("<p", "<h", "<ul", "<ol", "<div", "<table")


class _Said(NamedTuple):
    """What somebody said in a record."""

    role: Role
    parts: list[Part]
    native: Any = None
    extra: dict[str, Any] = {}


def conversations_of(title_url: Any, details: Any) -> list[str]:
    """The ids of the conversations that a record is part of; a branch is part of several."""
    if not title_url and not details:
        return []
    listed = [title_url]
    listed += (
        [each.get("url") for each in details if each.__class__ is dict] if details.__class__ is list else []
    )
    found = [_CONVERSATION.search(url[:2048]) for url in listed if url.__class__ is str]
    return [*dict.fromkeys(match[1] for match in found if match)]


def moment_of(written: Any) -> str | None:
    """The time of a record, from JSON or as a page writes it."""
    at = timestamps.moment(written)
    if at is None and written.__class__ is str and (understood := dates.understood(written)):
        return understood.at
    return at


def entries(fields: Fields, at: str | None, files: Files) -> Iterator[Entry]:
    """The messages of a record; if nobody said anything, an event."""
    key = fields.look("time"), fields.look("title")
    _check_time(fields, at)
    said = _documented(fields) or _interactions(fields) or _prompted(fields, files)
    rest = {name: value for name, value in fields.rest().items() if value is not None}
    if not said:
        yield Event(id=ids.made(SOURCE, *key), made_id=True, name="activity", at=at, data=rest)
        return
    for place, (role, parts, native, extra) in enumerate(said):
        yield Message(
            id=ids.made(SOURCE, *key, role, place),
            made_id=True,
            role=role,
            at=at,
            parts=parts,
            native=native,
            # A record is one exchange: what it says beside stands with who began it.
            extra=extra if place else {**rest, **extra},
        )


def _check_time(fields: Fields, at: str | None) -> None:
    """Leave the time among the rest where it is written otherwise, and note what is odd about it."""
    written = fields.look("time")
    if at == written and at is not None:
        fields.drop("time")
    elif written is None:
        fields.note(Kind.MISSING_TIME, fields.where, "the place among the records stands in")
    elif at is None:
        fields.note(Kind.BAD_TIME, fields.where, f"time: {str(written)[:60]!r}")
    elif (
        timestamps.moment(written) is None
        and (read := dates.understood(written))
        and read.unknown_zone is not None
    ):
        zone = read.unknown_zone or "no zone"
        fields.note(Kind.BAD_TIME, fields.where, f"{zone[:20]} is not known and was taken for UTC")


def _documented(fields: Fields) -> list[_Said]:
    """Variant A: `details` with names and values. Details of other kinds stay."""
    details = fields.look("details")
    if details.__class__ is not list or not any(map(is_said, details)):
        return []
    said = [
        _Said(
            _ROLES[each["name"].lower()],
            [Text(text=each["value"])],
            extra=_named("details", {key: each[key] for key in each if key not in ("name", "value")}),
        )
        for each in details
        if is_said(each)
    ]
    fields.take("details")
    if others := [each for each in details if not is_said(each)]:
        fields.keep("details", others)
    return said


def _named(name: str, rest: dict[str, Any]) -> dict[str, Any]:
    return {name: rest} if rest else {}


def _interactions(fields: Fields) -> list[_Said]:
    """Variant B: `userInteractions`, each with a request and a response in JSON."""
    listed = fields.look("userInteractions")
    if listed.__class__ is not list:
        return []
    said: list[_Said] = []
    others: list[Any] = []
    for element in listed:
        inside = element.get("userInteraction") if element.__class__ is dict else None
        found = _sides(inside) if isinstance(inside, dict) else []
        if not found or inside is None:
            others.append(element)
            continue
        rest = {
            key: value for key, value in inside.items() if key not in _ROLES or value.__class__ is not str
        }
        around = {key: value for key, value in element.items() if key != "userInteraction"}
        said.append(
            found[0]._replace(extra=_named("userInteractions", {**around, **_named("userInteraction", rest)}))
        )
        said += found[1:]
    if said:
        fields.take("userInteractions")
        if others:
            fields.keep("userInteractions", others)
    return said


def _sides(inside: dict[str, Any]) -> list[_Said]:
    said: list[_Said] = []
    for name, role in _ROLES.items():
        value = inside.get(name)
        if value.__class__ is str and value:
            text = _text_in(value)
            said.append(_Said(role, [Text(text=text)], native=value if text != value else None))
    return said


def _text_in(value: str) -> str:
    """The text in a request or response: what its JSON calls text, or all of it."""
    decoded = (
        json_stream.decode(value.encode("utf-8", "replace"), Notes(keep=0), "")
        if value[:1] in '[{"'
        else value
    )
    if decoded is json_stream.BAD:
        return value
    found: list[str] = []
    pending: list[Any] = [decoded]
    while pending:
        current = pending.pop()
        if current.__class__ is str:
            found.append(current)
        elif current.__class__ is list:
            pending.extend(reversed(current))
        elif current.__class__ is dict:
            inner = [each for key, each in current.items() if key in _TEXTS or each.__class__ in (list, dict)]
            pending.extend(reversed(inner))
    return "\n".join(found) or value


def _prompted(fields: Fields, files: Files) -> list[_Said]:
    """What exports really have: the prompt as title behind a verb, the answer as HTML."""
    answer = _answer(fields, files)
    title = fields.look("title")
    if title.__class__ is not str or not is_ours(fields.rest()):
        return [answer] if answer else []
    language = words.language_of(_product(fields))
    verb, prompt = words.taken_apart(title, language, has_answer=answer is not None)
    if prompt is None:
        if answer is not None:
            fields.keep("safeHtmlItem", answer.native)
        return _made(fields, title)
    made = {part.ref for part in answer.parts if isinstance(part, Media)} if answer else ()
    media = attached(fields, files, made)
    parts, title = with_files(verb, prompt, media)
    fields.drop("title")
    if title:
        fields.keep("title", title)
    if answer is None:
        fields.note(Kind.CUT_AT_SOURCE, fields.where, "the export has no answer to this prompt")
    asked = _Said("user", parts)
    return [asked, answer] if answer else [asked]


def _made(fields: Fields, title: str) -> list[_Said]:
    """A canvas, which only its own record has: logs have its text in a line below, pages in the title."""
    verb, called = words.canvas(title) or words.Title("", None)
    if called is None:
        return []
    listed = fields.look("subtitles")
    lines: list[Any] = listed if listed.__class__ is list else []
    texts = [line["name"] for line in lines if _is_text(line)]
    name, _, below = called.partition("\n")
    text = "\n".join(filter(None, (below, *texts)))
    if not text:
        return []
    fields.take("title")
    fields.keep("title", verb)
    if texts:
        fields.take("subtitles")
        if left := [line for line in lines if not _is_text(line)]:
            fields.keep("subtitles", left)
    return [_Said("assistant", [Media(kind="document", name=name.strip() or None, text=text)])]


def _is_text(line: Any) -> bool:
    """Whether a line is nothing but words: others lead to a file or a Gem."""
    return line.__class__ is dict and line.keys() == {"name"} and line["name"].__class__ is str


def with_files(verb: str, prompt: str, media: list[Media]) -> tuple[list[Part], str]:
    """The parts of a prompt, and what its title says beside it."""
    prompt, count = words.without_count(prompt) if media else (prompt, "")
    parts: list[Part] = [Text(text=prompt)] if prompt else []
    return [*parts, *media], " … ".join(part for part in (verb, count) if part)


def _product(fields: Fields) -> str | None:
    header = fields.look("header")
    if header.__class__ is str:
        return str(header)
    products = fields.look("products")
    first = products[0] if products.__class__ is list and products else None
    return first if first.__class__ is str else None


def _answer(fields: Fields, files: Files) -> _Said | None:
    """The answer as readable text; its HTML is what the source holds, and stays beside."""
    items = fields.look("safeHtmlItem")
    listed = [items] if items.__class__ in (dict, str) else items
    if listed.__class__ is not list:
        return None
    parts: list[Part] = []
    pictures: list[Media] = []
    for item in listed:
        html = item.get("html", item.get("htmlValue")) if item.__class__ is dict else item
        if html.__class__ is not str or not html:
            parts += [Other(data=item, name="safeHtmlItem")]
            continue
        text, images = readable(html)
        rest = (
            {key: value for key, value in item.items() if value is not html} if item.__class__ is dict else {}
        )
        parts.append(Text(text=text, extra=rest))
        pictures += [picture(image, fields, files) for image in images]
        if is_cut(html, text):
            fields.note(Kind.CUT_AT_SOURCE, fields.where, "the answer ends in the middle")
    if not any(isinstance(part, Text) for part in parts):
        return None
    fields.take("safeHtmlItem")
    return _Said("assistant", [*parts, *pictures], native=items)


def picture(image: Image, fields: Fields, files: Files) -> Media:
    """A picture that an answer shows: it lies beside the log, unless it says where else."""
    ref, name = image
    if "://" in ref or ref.startswith("data:"):
        return Media(kind="image", ref=ref, name=name)
    return files.media(ref, name, fields)


def is_cut(html: str, text: str) -> bool:
    """Whether an answer seems to break off: with dots, or within a block that is not closed."""
    return text.endswith(_CUT) or (html.startswith(_BLOCKS) and bool(html[html.rfind(">") + 1 :].strip()))
