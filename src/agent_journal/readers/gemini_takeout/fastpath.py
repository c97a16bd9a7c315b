"""The records that logs are full of, prompts with answers and other acts, decoded straight into their fields.

A record that has any other field, or a field of another type, is not a usual one: it is taken apart with care
instead. So nothing can be lost here, and both ways make the same of the same record.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET, Struct, UnsetType

from agent_journal.decoding.fields import Fields
from agent_journal.decoding.json_stream import Shape
from agent_journal.model import Bag, Event, Media, Message, Part, Text, ids, timestamps
from agent_journal.readers.gemini_takeout import words
from agent_journal.readers.gemini_takeout.attachments import Files, attached
from agent_journal.readers.gemini_takeout.detect import SOURCE, is_brand, is_said
from agent_journal.readers.gemini_takeout.markup import readable
from agent_journal.readers.gemini_takeout.records import Entry, is_cut, picture, with_files

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.notes import Notes


class Answer(Struct, forbid_unknown_fields=True, gc=False):
    """An answer."""

    html: str


class UsualRecord(Struct, forbid_unknown_fields=True, gc=False, kw_only=True):
    """What logs have, in the order and by the names that they have: a prompt, its files and its answer."""

    header: str
    title: str
    titleUrl: str | UnsetType = UNSET  # noqa: N815 (as it is written)
    subtitles: list[dict[str, Any]] | UnsetType = UNSET
    time: str
    imageFile: str | UnsetType = UNSET  # noqa: N815
    products: list[str]
    details: list[dict[str, Any]] | UnsetType = UNSET
    activityControls: list[str] | UnsetType = UNSET  # noqa: N815
    safeHtmlItem: list[Answer] | UnsetType = UNSET  # noqa: N815
    attachedFiles: list[str] | UnsetType = UNSET  # noqa: N815


SHAPE = Shape(UsualRecord)
_BESIDE = tuple(
    name for name in UsualRecord.__struct_fields__ if name not in {"title", "time", "safeHtmlItem"}
)
# How long the small fields of a record are.
_OVERHEAD = 300


def as_record(record: UsualRecord) -> dict[str, Any]:
    """The record as it is written."""
    written = {name: value for name, value in msgspec.structs.asdict(record).items() if value is not UNSET}
    if record.safeHtmlItem is not UNSET:
        written["safeHtmlItem"] = [{"html": answer.html} for answer in record.safeHtmlItem]
    return written


def size(record: UsualRecord) -> int:
    """About how long a record is as JSON."""
    answers = record.safeHtmlItem or ()
    return _OVERHEAD + len(record.title) + sum([len(answer.html) for answer in answers])


def entries(record: UsualRecord, files: Files, note: Notes, where: str) -> Sequence[Entry] | None:
    """The messages of a record, or its event; None if anything about it is to be looked at with care."""
    language, answers, details = _language(record.header), record.safeHtmlItem, record.details
    if language is None or not timestamps.is_moment(record.time) or (details and any(map(is_said, details))):
        return None
    if not answers:
        return _activity(record, language)
    html = answers[0].html
    verb, prompt = words.taken_apart(record.title, language, has_answer=True)
    has_files = record.subtitles or record.attachedFiles or record.imageFile
    if len(answers) > 1 or not html or prompt is None or not (prompt or has_files):
        return None
    text, images = readable(html)
    if is_cut(html, text):
        return None
    parts: list[Part] = [Text(text=prompt)]
    pictures: list[Media] = []
    rest = _rest(record)
    if images or has_files:
        fields = Fields(rest, note, where)
        pictures = [picture(image, fields, files) for image in images]
        given = attached(fields, files, {made.ref for made in pictures})
        parts, verb = with_files(verb, prompt, given)
    if verb:
        rest["title"] = verb
    asked, answered = ids.made_each((SOURCE, record.time, record.title), ("user", 0), ("assistant", 1))
    return (
        Message(
            id=asked,
            made_id=True,
            role="user",
            at=record.time,
            parts=parts,
            extra=rest,
        ),
        Message(
            id=answered,
            made_id=True,
            role="assistant",
            at=record.time,
            parts=[Text(text=text), *pictures],
            native=[{"html": html}],
        ),
    )


def _activity(record: UsualRecord, language: words.Language) -> tuple[Event] | None:
    """What was done, if nobody said anything; None if it is a prompt without an answer, or a canvas."""
    if words.taken_apart(record.title, language, has_answer=False).prompt is not None:
        return None
    if words.canvas(record.title) is not None:
        return None
    data = as_record(record)
    del data["time"]
    event_id = ids.made(SOURCE, record.time, record.title)
    return (Event(id=event_id, made_id=True, name="activity", at=record.time, data=data),)


def _rest(record: UsualRecord) -> Bag:
    """What a record says beside its exchange, the files that it names too."""
    rest: Bag = {}
    for name in _BESIDE:
        value = getattr(record, name)
        if value is not UNSET:
            rest[name] = value
    return rest


@lru_cache(maxsize=64)
def _language(header: str) -> words.Language | None:
    """The language that prompts are told in; None if they are another product's."""
    return words.language_of(header) if is_brand(header) else None
