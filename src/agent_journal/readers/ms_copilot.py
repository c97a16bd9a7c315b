"""Microsoft Copilot: the activity history that the privacy dashboard exports, in its four CSV files.

The files have no ids. Rows with the same title that follow each other are a conversation, which a pause of
more than a day ends; prompts to the apps of Windows are put together by app and day. Files are read row by
row, and a conversation is held until its last row. Only the prompts, which are short, are all held until they
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
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item

INFO = ReaderInfo(
    name="ms-copilot",
    title="Microsoft Copilot",
    versions=("activity-history", "chat-activity", "windows-prompts"),
    revision=2,
    names={"pam": "copilot", "record": "ms-copilot"},
    # Only the dashboard (account.microsoft.com/privacy) gives the files: they have no home on any system.
    evidence="activity-history: exports of October 2025 to July 2026 as four open readers describe them; "
    "chat-activity and windows-prompts: columns as documented by Portable AI Memory in February 2026; "
    "no documentation by the vendor; verified November 2026",
)

Entry: TypeAlias = Message | Event


class Layout(NamedTuple):
    """What a file calls the columns it has."""

    topic: str
    time: str
    text: str
    author: str | None = None


class Dated(NamedTuple):
    """An entry with the moment it is put at, which is a neighbour's where it has none."""

    moment: datetime
    entry: Entry


class Row(NamedTuple):
    """An entry and the title, or app, it stands under; None if its row is cut before that."""

    topic: str | None
    entry: Entry


_LAYOUTS = {
    "activity-history": Layout("Conversation", "Time", "Message", "Author"),
    # Also the layout of what Copilot was told in the apps of Microsoft 365, often without a row.
    "chat-activity": Layout("ChatName", "CreatedAt", "MessageContent", "Author"),
    # What people asked in apps of Windows, without the answers.
    "windows-prompts": Layout("ClientApp", "Timestamp", "Prompt"),
}
_PAUSE = timedelta(hours=24)
_NO_MOMENT = datetime.min.replace(tzinfo=UTC)
_parsed = lru_cache(maxsize=8)(timestamps.parse)


def sniff(peek: Peek) -> str | None:
    """Claim a table that has all columns of one of the files, in any order; browsers rename the files."""
    if not peek.header:
        return None
    columns = {csv_tables.folded(name) for name in peek.header}
    return next((name for name, layout in _LAYOUTS.items() if columns >= _needed(layout)), None)


def _needed(layout: Layout) -> set[str]:
    return {csv_tables.folded(name) for name in layout if name is not None}


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield each conversation ordered by time, and the conversations as they follow in the file."""
    layout = _LAYOUTS[version]
    rows = _rows(source, layout, note)
    found = _by_run(rows) if layout.author else _by_app_and_day(rows)
    is_empty = True
    told: Counter[str] = Counter()
    for conversation in found:
        is_empty = False
        yield _told_apart(conversation, told)
    if is_empty:
        note(Kind.IGNORED_FILE, "", "there is no row in it")


def _rows(source: Source, layout: Layout, note: Notes) -> Iterator[Row]:
    names = [name for name in layout if name is not None]
    day_first: bool | None = None
    for line, row in csv_tables.rows(source, note, names):
        fields = Fields(row, note, line)
        if day_first is None and timestamps.is_of_locale(fields.look(layout.time) or ""):
            written = (row.get(layout.time, "") for _, row in csv_tables.rows(source, Notes(keep=0), names))
            day_first = timestamps.is_day_first(written)
        topic = fields.text(layout.topic)
        yield Row(topic, _entry(fields, layout, topic, day_first=bool(day_first)))


def _entry(fields: Fields, layout: Layout, topic: str | None, *, day_first: bool) -> Entry:
    """A row as a message; as an event if it does not say who speaks or what."""
    written = fields.look(layout.time)
    author = "user" if layout.author is None else fields.look(layout.author)
    text = fields.look(layout.text)
    entry_id = ids.uuid5(f"{INFO.name}\0{topic}\0{written}\0{author}\0{text}")
    at = _moment(fields, layout.time, day_first=day_first)
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
        # Whoever is neither a person nor has another known role is the assistant, by whatever name.
        role=role or "assistant",
        at=at,
        parts=[Text(text=text)] if text else [],
        extra={name: value for name, value in fields.rest().items() if value},
    )


def _moment(fields: Fields, name: str, *, day_first: bool) -> str | None:
    """The time of a row. As it was written, often without a zone, it stays beside if that differs."""
    written = fields.look(name)
    if not written or not written.strip():
        fields.drop(name)
        fields.note(Kind.MISSING_TIME, fields.where, f"{name}; the place among the rows stands in")
        return None
    at = _understood(written, day_first)
    if at is None:
        fields.note(Kind.BAD_TIME, fields.where, f"{name}: {written[:60]!r}")
    elif at == written:
        fields.drop(name)
    return at


# A prompt and its answer have the same time.
@lru_cache(maxsize=8)
def _understood(written: str, day_first: bool) -> str | None:  # noqa: FBT001 (a key of the cache)
    return timestamps.moment(written) or timestamps.from_locale(written, day_first=day_first)


def _by_run(rows: Iterable[Row]) -> Iterator[Conversation]:
    """Rows with the same title that follow each other; a row that is cut before its title belongs to them."""
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
    """What was said under one title, cut where nobody spoke for more than a day; pieces as in the file."""
    pieces: list[list[Entry]] = []
    last: datetime | None = None
    for moment, entry in _in_order(run):
        if last is None or moment - last > _PAUSE:
            pieces.append([])
        pieces[-1].append(entry)
        last = moment
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


def _told_apart(conversation: Conversation, told: Counter[str]) -> Conversation:
    """The conversation, with an id of its own if another in the file begins with the same row."""
    again = told[conversation.id]
    told[conversation.id] += 1
    return replace(conversation, id=ids.made(conversation.id, again)) if again else conversation


def _in_order(run: list[Entry]) -> list[Dated]:
    """Oldest first, though files are newest first; at one moment the prompt stands before its answer."""
    known = [_parsed(entry.at) for entry in run]
    if _is_newest_first(run, [moment for moment in known if moment is not None]):
        run, known = run[::-1], known[::-1]
    last = next((moment for moment in known if moment is not None), _NO_MOMENT)
    dated: list[Dated] = []
    for moment, entry in zip(known, run, strict=True):
        last = moment or last
        dated.append(Dated(last, entry))
    dated.sort(key=lambda one: one.moment)
    blocks = (list(block) for _, block in groupby(dated, key=lambda one: one.moment))
    return [one for block in blocks for one in (block[::-1] if _answers_first(block) else block)]


def _is_newest_first(run: list[Entry], moments: list[datetime]) -> bool:
    falling = sum(later < earlier for earlier, later in pairwise(moments))
    rising = sum(later > earlier for earlier, later in pairwise(moments))
    if falling == rising:
        return _answers_first([Dated(_NO_MOMENT, entry) for entry in run])
    return falling > rising


def _answers_first(block: list[Dated]) -> bool:
    """Whether an answer stands first and a prompt last: both have the time of the prompt."""
    first, last = block[0].entry, block[-1].entry
    is_answer = isinstance(first, Message) and first.role == "assistant"
    return is_answer and isinstance(last, Message) and last.role == "user"
