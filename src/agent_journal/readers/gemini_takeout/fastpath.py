"""Fast path: the most common records, decoded straight into their fields.

A record with any other field, or a field of another type, takes the slow path instead. So nothing can be lost
here, and both paths have the same result.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_journal.decoding.fields import Fields
from agent_journal.decoding.json_stream import Shape
from agent_journal.model import Bag, Event, Media, Message, Part, Text, ids, timestamps
from agent_journal.readers.gemini_takeout import titles
from agent_journal.readers.gemini_takeout.attachments import ExportFiles, attachments
from agent_journal.readers.gemini_takeout.detect import SOURCE, is_brand, is_message_detail
from agent_journal.readers.gemini_takeout.markup import to_markdown
from agent_journal.readers.gemini_takeout.records import Entry, image_media, is_truncated, with_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.notes import Notes


class Answer(Struct, forbid_unknown_fields=True, gc=False):
    """An answer."""

    html: str


class CommonRecord(Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """The common fields, named and ordered as in logs: a prompt, its files and its answer."""

    header: str
    title: str
    titleUrl: str | UnsetType = UNSET  # noqa: N815 (the name in the log)
    subtitles: list[dict[str, Any]] | UnsetType = UNSET
    time: str
    imageFile: str | UnsetType = UNSET  # noqa: N815
    products: list[str]
    details: list[dict[str, Any]] | UnsetType = UNSET
    activityControls: list[str] | UnsetType = UNSET  # noqa: N815
    safeHtmlItem: list[Answer] | UnsetType = UNSET  # noqa: N815
    attachedFiles: list[str] | UnsetType = UNSET  # noqa: N815


SHAPE = Shape(CommonRecord)
_OTHER_FIELDS = tuple(
    name for name in CommonRecord.__struct_fields__ if name not in {"title", "time", "safeHtmlItem"}
)
# The approximate size of a record's small fields.
_OVERHEAD_BYTES = 300


def as_record(record: CommonRecord) -> dict[str, Any]:
    """Convert the record to the object in the log."""
    written = {name: value for name, value in msgspec.structs.asdict(record).items() if value is not UNSET}
    if record.safeHtmlItem is not UNSET:
        written["safeHtmlItem"] = [{"html": answer.html} for answer in record.safeHtmlItem]
    return written


def approximate_size(record: CommonRecord) -> int:
    """Estimate the size of a record as JSON."""
    answers = record.safeHtmlItem or ()
    return _OVERHEAD_BYTES + len(record.title) + sum([len(answer.html) for answer in answers])


def entries(record: CommonRecord, files: ExportFiles, note: Notes, location: str) -> Sequence[Entry] | None:
    """Convert a record to messages or an event; None if it needs the slow path."""
    language, answers, details = _language(record.header), record.safeHtmlItem, record.details
    if (
        language is None
        or not timestamps.is_timestamp(record.time)
        or (details and any(map(is_message_detail, details)))
    ):
        return None
    if not answers:
        return _activity(record, language)
    html = answers[0].html
    verb, prompt = titles.split_title(record.title, language, has_answer=True)
    has_files = record.subtitles or record.attachedFiles or record.imageFile
    if len(answers) > 1 or not html or prompt is None or not (prompt or has_files):
        return None
    text, images = to_markdown(html)
    if is_truncated(html, text):
        return None
    parts: list[Part] = [Text(text=prompt)]
    images_shown: list[Media] = []
    rest = _rest(record)
    if images or has_files:
        fields = Fields(rest, note, location)
        images_shown = [image_media(image, fields, files) for image in images]
        attached_files = attachments(fields, files, {image.ref for image in images_shown})
        parts, verb = with_files(verb, prompt, attached_files)
    if verb:
        rest["title"] = verb
    prompt_id, answer_id = ids.made_each((SOURCE, record.time, record.title), ("user", 0), ("assistant", 1))
    return (
        Message(
            id=prompt_id,
            made_id=True,
            role="user",
            at=record.time,
            parts=parts,
            extra=rest,
        ),
        Message(
            id=answer_id,
            made_id=True,
            role="assistant",
            at=record.time,
            parts=[Text(text=text), *images_shown],
            native=[{"html": html}],
        ),
    )


def _activity(record: CommonRecord, language: titles.Language) -> tuple[Event] | None:
    """Convert an activity without messages; None if it is a prompt without an answer, or a canvas."""
    if titles.split_title(record.title, language, has_answer=False).prompt is not None:
        return None
    if titles.canvas(record.title) is not None:
        return None
    data = as_record(record)
    del data["time"]
    event_id = ids.made(SOURCE, record.time, record.title)
    return (Event(id=event_id, made_id=True, name="activity", at=record.time, data=data),)


def _rest(record: CommonRecord) -> Bag:
    """Collect a record's fields besides prompt, answer and time, including the files it names."""
    rest: Bag = {}
    for name in _OTHER_FIELDS:
        value = getattr(record, name)
        if value is not UNSET:
            rest[name] = value
    return rest


@lru_cache(maxsize=64)
def _language(header: str) -> titles.Language | None:
    """Get the language of a product's records; None if it is another product."""
    return titles.language_of(header) if is_brand(header) else None
