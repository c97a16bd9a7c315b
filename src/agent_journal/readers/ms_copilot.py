"""Microsoft Copilot: the activity history that the privacy dashboard exports, in its four CSV files.

The files have no ids. Rows with the same title that follow each other are a conversation, which a pause of
more than a day ends; prompts to Windows apps are grouped by app and day. Files are read row by
row, and a conversation is in memory until its last row. Only the short prompts are all in memory until they
are grouped: below a gigabyte of them nothing needs to be spilled to disk.
"""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding import csv_tables
from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Message, Text, ids, timestamps, tree
from agent_journal.model.roles import role as role_of
from agent_journal.notes import Kind, Notes
from agent_journal.readers import ReaderInfo

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item

INFO = ReaderInfo(
    name="ms-copilot",
    title="Microsoft Copilot",
    category="chat apps",
    versions=("activity-history", "chat-activity", "windows-prompts"),
    revision=2,
    names={"pam": "copilot", "record": "ms-copilot"},
    # Only the dashboard (account.microsoft.com/privacy) exports the files: they have no default location.
    evidence="activity-history: exports of October 2025 to July 2026 as four open readers describe them; "
    "chat-activity and windows-prompts: columns as documented by Portable AI Memory in February 2026; "
    "no documentation by the vendor; verified November 2026",
)

Entry: TypeAlias = Message | Event


class Layout(NamedTuple):
    """The names of the columns of a file."""

    topic: str
    time: str
    text: str
    author: str | None = None


class Dated(NamedTuple):
    """An entry with its time, or the time of a neighboring entry if it has none."""

    time: datetime
    entry: Entry


class Row(NamedTuple):
    """An entry and its title or app; None if its row is cut off before that column."""

    topic: str | None
    entry: Entry


_LAYOUTS = {
    "activity-history": Layout("Conversation", "Time", "Message", "Author"),
    # Also the layout of prompts in the apps of Microsoft 365, often without any row.
    "chat-activity": Layout("ChatName", "CreatedAt", "MessageContent", "Author"),
    # Prompts in Windows apps, without the answers.
    "windows-prompts": Layout("ClientApp", "Timestamp", "Prompt"),
}
_MAX_PAUSE = timedelta(hours=24)
_NO_TIME = datetime.min.replace(tzinfo=UTC)
_parsed = lru_cache(maxsize=8)(timestamps.parse)


def sniff(peek: Peek) -> str | None:
    """Claim a table that has all columns of one of the files, in any order; browsers rename the files."""
    if not peek.header:
        return None
    columns = {csv_tables.folded(name) for name in peek.header}
    return next((name for name, layout in _LAYOUTS.items() if columns >= _needed(layout)), None)


def _needed(layout: Layout) -> set[str]:
    return {csv_tables.folded(name) for name in layout if name is not None}


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversations in the order of the file, each ordered by time."""
    layout = _LAYOUTS[version]
    rows = _rows(source, layout, note)
    conversations = _by_run(rows) if layout.author else _by_app_and_day(rows)
    is_empty = True
    counts: Counter[str] = Counter()
    for conversation in conversations:
        is_empty = False
        yield _with_unique_id(conversation, counts)
    if is_empty:
        note(Kind.IGNORED_FILE, "", "the file has no rows")


def _rows(source: Input, layout: Layout, note: Notes) -> Iterator[Row]:
    names = [name for name in layout if name is not None]
    day_first: bool | None = None
    for line, row in csv_tables.rows(source, note, names):
        fields = Fields(row, note, line)
        if day_first is None and timestamps.is_of_locale(fields.view(layout.time) or ""):
            written = (row.get(layout.time, "") for _, row in csv_tables.rows(source, Notes(keep=0), names))
            day_first = timestamps.is_day_first(written)
        topic = fields.text(layout.topic)
        yield Row(topic, _entry(fields, layout, topic, day_first=bool(day_first)))


def _entry(fields: Fields, layout: Layout, topic: str | None, *, day_first: bool) -> Entry:
    """Convert a row to a message, or to an event if it has no author or no text."""
    written = fields.view(layout.time)
    author = "user" if layout.author is None else fields.view(layout.author)
    text = fields.view(layout.text)
    entry_id = ids.uuid5(f"{INFO.name}\0{topic}\0{written}\0{author}\0{text}")
    at = _time(fields, layout.time, day_first=day_first)
    if not author or text is None:
        missing = layout.text if text is None else layout.author
        fields.note(Kind.UNKNOWN_TYPE, fields.where, f"a row without {missing}")
        return Event(id=entry_id, made_id=True, name="row", at=at, data=fields.rest())
    role = role_of(author)
    fields.drop(layout.text)
    if role is not None and layout.author is not None:
        fields.drop(layout.author)
    return Message(
        id=entry_id,
        made_id=True,
        # An author without a known role is the assistant, under any name.
        role=role or "assistant",
        at=at,
        parts=[Text(text=text)] if text else [],
        extra={name: value for name, value in fields.rest().items() if value},
    )


def _time(fields: Fields, name: str, *, day_first: bool) -> str | None:
    """Return the time of a row; the original text, often without a zone, stays if it differs."""
    written = fields.view(name)
    if not written or not written.strip():
        fields.drop(name)
        fields.note(Kind.MISSING_TIME, fields.where, f"{name}; the order of the rows is used instead")
        return None
    at = _parse_time(written, day_first)
    if at is None:
        fields.note(Kind.BAD_TIME, fields.where, f"{name}: {written[:60]!r}")
    elif at == written:
        fields.drop(name)
    return at


# A prompt and its answer have the same time.
@lru_cache(maxsize=8)
def _parse_time(written: str, day_first: bool) -> str | None:  # noqa: FBT001 (a key of the cache)
    return timestamps.parse_timestamp(written) or timestamps.from_locale(written, day_first=day_first)


def _by_run(rows: Iterable[Row]) -> Iterator[Conversation]:
    """Group consecutive rows with the same title; a row cut off before its title belongs to its neighbors."""
    topic: str | None = None
    run: list[Entry] = []
    for row in rows:
        if run and row.topic is not None and topic is not None and row.topic != topic:
            yield from _conversations(run, topic)
            topic, run = None, []
        topic = row.topic if topic is None else topic
        run.append(row.entry)
    if run:
        yield from _conversations(run, topic)


def _conversations(run: list[Entry], title: str | None) -> Iterator[Conversation]:
    """Split the entries of one title at pauses of more than a day, in the order of the file."""
    pieces: list[list[Entry]] = []
    last: datetime | None = None
    for time, entry in _in_order(run):
        if last is None or time - last > _MAX_PAUSE:
            pieces.append([])
        pieces[-1].append(entry)
        last = time
    if len(pieces) > 1 and any(entry is run[0] for entry in pieces[-1]):
        pieces.reverse()
    return (_conversation(piece, title) for piece in pieces)


def _by_app_and_day(rows: Iterable[Row]) -> Iterator[Conversation]:
    groups: dict[tuple[str | None, str | None], list[Entry]] = {}
    day: str | None = None
    for app, entry in rows:
        day = entry.at[:10] if entry.at else day
        groups.setdefault((app, day), []).append(entry)
    for (app, _), entries in groups.items():
        conversation = _conversation([entry for _, entry in _in_order(entries)], None)
        yield replace(conversation, extra={"ClientApp": app}) if app else conversation


def _conversation(entries: list[Entry], title: str | None) -> Conversation:
    known = [entry.at for entry in entries if entry.at]
    return Conversation(
        id=ids.made(INFO.name, entries[0].id),
        made_id=True,
        source=INFO.name,
        title=title or None,
        started_at=known[0] if known else None,
        updated_at=known[-1] if known else None,
        shape="list",
        timeline=tree.distinct(entries),
    )


def _with_unique_id(conversation: Conversation, counts: Counter[str]) -> Conversation:
    """Return the conversation, with another id if an earlier one in the file begins with the same row."""
    number = counts[conversation.id]
    counts[conversation.id] += 1
    return replace(conversation, id=ids.made(conversation.id, number)) if number else conversation


def _in_order(run: list[Entry]) -> list[Dated]:
    """Sort entries oldest first (files are newest first), and prompts before answers of the same time."""
    known = [_parsed(entry.at) for entry in run]
    if _is_newest_first(run, [time for time in known if time is not None]):
        run, known = run[::-1], known[::-1]
    last = next((time for time in known if time is not None), _NO_TIME)
    dated: list[Dated] = []
    for time, entry in zip(known, run, strict=True):
        last = time or last
        dated.append(Dated(last, entry))
    dated.sort(key=lambda one: one.time)
    blocks = (list(block) for _, block in groupby(dated, key=lambda one: one.time))
    return [one for block in blocks for one in (block[::-1] if _answers_first(block) else block)]


def _is_newest_first(run: list[Entry], times: list[datetime]) -> bool:
    falling = sum(later < earlier for earlier, later in pairwise(times))
    rising = sum(later > earlier for earlier, later in pairwise(times))
    if falling == rising:
        return _answers_first([Dated(_NO_TIME, entry) for entry in run])
    return falling > rising


def _answers_first(block: list[Dated]) -> bool:
    """Return whether a block begins with an answer and ends with a prompt: both have the prompt's time."""
    first, last = block[0].entry, block[-1].entry
    is_answer = isinstance(first, Message) and first.role == "assistant"
    return is_answer and isinstance(last, Message) and last.role == "user"
