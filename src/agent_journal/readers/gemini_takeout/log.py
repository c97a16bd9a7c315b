"""Reads an activity log: groups its records, newest first, into conversations."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.spill import Grouped
from agent_journal.detection.peek import Peek
from agent_journal.inputs.input import files_below
from agent_journal.model import Conversation, Event, Media, Message, ids, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.members import with_member_origin
from agent_journal.readers.gemini_takeout import cards, fastpath
from agent_journal.readers.gemini_takeout.attachments import ExportFiles
from agent_journal.readers.gemini_takeout.detect import LOGS, PAGE, SOURCE, version_of
from agent_journal.readers.gemini_takeout.fastpath import SHAPE, CommonRecord, approximate_size, as_record
from agent_journal.readers.gemini_takeout.records import Entry, conversation_ids_of, entries, time_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

Record: TypeAlias = dict[str, Any] | CommonRecord

_PAUSE_MS = 30 * 60 * 1000
_DAY_MS = 24 * 60 * 60 * 1000


class TimedRecord(NamedTuple):
    """A record with the time at which it is sorted: its own, or that of the record before it."""

    order: int
    location: str
    at: str | None
    record: Record


def conversations(source: Input, note: Notes) -> Iterator[Conversation]:
    """Yield conversations with an id, then those that only pauses separate, each kind oldest first."""
    if not source.is_folder:
        yield from _read(source, ExportFiles(), note)
        return
    all_files = [*files_below(source)]
    logs = [file for file in all_files if "/" not in file.path.removeprefix(f"{source.path}/").lstrip("/")]
    known = {file.path: version for file in logs if (version := version_of(Peek(file))) in LOGS}
    # A page has less than the log in JSON; no export has both.
    is_page_read = PAGE in known.values() and all(version == PAGE for version in known.values())
    files = ExportFiles({file.path.removeprefix(f"{source.path}/"): file for file in all_files})
    for file in all_files:
        if file.path in known and (known[file.path] != PAGE or is_page_read):
            yield from with_member_origin(source, file, _read(file, files, note.about(file.label)))
            files.used.add(file.path.removeprefix(f"{source.path}/"))
    for file in all_files:
        if file.path.removeprefix(f"{source.path}/") not in files.used:
            note.add(Kind.IGNORED_FILE, file.label, "", "no record names it")


def _read(file: Input, files: ExportFiles, note: Notes) -> Iterator[Conversation]:
    log = _ActivityLog(_records(file, note), note)
    if log.is_empty:
        advice = "in Takeout, the conversations are under My Activity, Gemini Apps"
        note(Kind.IGNORED_FILE, "", f"it has no activity; {advice}")
    for conversation_id in log.conversation_ids:
        yield _conversation(log.records_of(conversation_id), conversation_id, files, note)
    if log.stray_count:
        count = f"records without a conversation id: {log.stray_count:,}"
        note(Kind.MISSING_ID, "", f"{count}; a pause of more than 30 minutes ends a conversation")
    for session in log.sessions():
        yield _conversation(session, None, files, note)


def _records(file: Input, note: Notes) -> Iterator[tuple[str, Record]]:
    if Peek(file).opening == "<":
        yield from cards.records(file, note)
        return
    for index, record in json_stream.elements(file, note, shape=SHAPE):
        location = f"[{index}]"
        if record.__class__ is CommonRecord or record.__class__ is dict:
            yield location, record
        else:
            note(Kind.UNKNOWN_TYPE, location, f"a record is {type(record).__name__}, expected an object")
            yield location, {"record": record}


class _ActivityLog:
    """All records by conversation or, without one, by day; on disk, because logs may be large."""

    def __init__(self, records: Iterable[tuple[str, Record]], note: Notes) -> None:
        self._groups = Grouped(is_owner=True)
        self._first_order: dict[str, int] = {}
        self._days: set[int] = set()
        self._note = note
        self._descending_steps = 0
        self.stray_count = 0
        self.is_empty = True
        last = 0
        for location, record in records:
            self.is_empty = False
            at = time_of(_value(record, "time"))
            order = timestamps.epoch_ms(at)
            self._descending_steps += 0 if order is None or order == last else 1 if order < last else -1
            last = last if order is None else order
            self._add(TimedRecord(last, location, at, record))

    @property
    def conversation_ids(self) -> list[str]:
        """The ids of all conversations by the time of their first record."""
        return sorted(self._first_order, key=self._first_order.__getitem__)

    def records_of(self, conversation_id: str) -> list[TimedRecord]:
        """Get the records of a conversation, oldest first."""
        return self._in_order(f"={conversation_id}")

    def sessions(self) -> Iterator[list[TimedRecord]]:
        """Split the other records where there is a long pause."""
        session: list[TimedRecord] = []
        for day in sorted(self._days):
            for timed in self._in_order(f"~{day}"):
                if session and timed.order - session[-1].order > _PAUSE_MS:
                    yield session
                    session = []
                session.append(timed)
        if session:
            yield session

    def _add(self, timed: TimedRecord) -> None:
        conversation_ids = conversation_ids_of(
            _value(timed.record, "titleUrl"), _value(timed.record, "details")
        )
        for conversation_id in conversation_ids:
            self._first_order[conversation_id] = min(
                timed.order, self._first_order.get(conversation_id, timed.order)
            )
            self._store(f"={conversation_id}", timed if len(conversation_ids) == 1 else _copy(timed))
        if not conversation_ids:
            self.stray_count += 1
            day = timed.order // _DAY_MS
            self._days.add(day)
            self._store(f"~{day}", timed)

    def _store(self, group: str, timed: TimedRecord) -> None:
        if isinstance(timed.record, CommonRecord):
            self._groups.add_whole(group, timed.order, timed, approximate_size(timed.record))
        else:
            self._groups.add(group, timed.order, timed)

    def _in_order(self, group: str) -> list[TimedRecord]:
        """Sort a group by time; if the log is newest first, the later of simultaneous records is older."""
        # From a file, the records come as lists.
        records = [
            timed if timed.__class__ is TimedRecord else TimedRecord(*timed)
            for timed in self._groups.of(group)
        ]
        if len({timed.order for timed in records}) == len(records):
            return records
        ordered: list[TimedRecord] = []
        for _, same_time in groupby(records, key=lambda timed: timed.order):
            block = self._without_repeats([*same_time])
            ordered += block[::-1] if self._descending_steps > 0 else block
        return ordered

    def _without_repeats(self, block: list[TimedRecord]) -> list[TimedRecord]:
        """Drop repetitions among records of the same time; in a log without times, these are all records."""
        if len(block) == 1:
            return block
        by_content: dict[str, TimedRecord] = {}
        for timed in block:
            if by_content.setdefault(ids.made(SOURCE, _as_dict(timed.record)), timed) is not timed:
                self._note(Kind.REPEATED_RECORD, timed.location, "the same activity")
        return [*by_content.values()]


def _value(record: Record, name: str) -> Any:
    """Get a value of a record without taking it."""
    return getattr(record, name) if isinstance(record, CommonRecord) else record.get(name)


def _as_dict(record: Record) -> dict[str, Any]:
    return as_record(record) if isinstance(record, CommonRecord) else record


def _copy(timed: TimedRecord) -> TimedRecord:
    """Copy a record for another conversation, because reading takes values out of it."""
    return timed if isinstance(timed.record, CommonRecord) else timed._replace(record=dict(timed.record))


def _entries(timed: TimedRecord, files: ExportFiles, note: Notes) -> Iterable[Entry]:
    """Convert a record to messages."""
    record, location = timed.record, timed.location
    if isinstance(record, CommonRecord) and (messages := fastpath.entries(record, files, note, location)):
        return messages
    return entries(Fields(_as_dict(record), note, location), timed.at, files)


def _conversation(
    records: list[TimedRecord], conversation_id: str | None, files: ExportFiles, note: Notes
) -> Conversation:
    timeline = tree.distinct(entry for timed in records for entry in _entries(timed, files, note))
    times_seen = [entry.at for entry in timeline if entry.at]
    return Conversation(
        id=conversation_id or ids.made(SOURCE, timeline[0].id),
        made_id=conversation_id is None,
        source=SOURCE,
        title=_title(timeline),
        started_at=times_seen[0] if times_seen else None,
        updated_at=times_seen[-1] if times_seen else None,
        shape="list",
        timeline=timeline,
    )


def _title(timeline: list[Entry]) -> str | None:
    """Make a title, which logs do not have: of the first prompt, else the first canvas or activity."""
    prompts = (entry for entry in timeline if isinstance(entry, Message) and entry.role == "user")
    if title := tree.title_from(map(tree.plain_text, prompts)):
        return title
    parts = (part for entry in timeline if isinstance(entry, Message) for part in entry.parts)
    if title := tree.title_from(part.name for part in parts if isinstance(part, Media) and part.name):
        return title
    activities = (entry.data.get("title") for entry in timeline if isinstance(entry, Event))
    return tree.title_from(title for title in activities if isinstance(title, str))
