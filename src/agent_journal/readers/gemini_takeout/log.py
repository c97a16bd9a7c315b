"""The activity log as a whole: records, newest first, put together to conversations."""

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
from agent_journal.readers.dialects.members import read_from
from agent_journal.readers.gemini_takeout import cards, fastpath
from agent_journal.readers.gemini_takeout.attachments import Files
from agent_journal.readers.gemini_takeout.detect import LOGS, PAGE, SOURCE, version_of
from agent_journal.readers.gemini_takeout.fastpath import SHAPE, UsualRecord, as_record, size
from agent_journal.readers.gemini_takeout.records import Entry, conversations_of, entries, moment_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes

Record: TypeAlias = dict[str, Any] | UsualRecord

_PAUSE_MS = 30 * 60 * 1000
_DAY_MS = 24 * 60 * 60 * 1000


class Kept(NamedTuple):
    """A record with the moment it is put at, which is a neighbour's where it has none."""

    order: int
    where: str
    at: str | None
    record: Record


def conversations(source: Source, note: Notes) -> Iterator[Conversation]:
    """Those with an id of their own, then those that only a pause tells apart, each kind oldest first."""
    if not source.is_folder:
        yield from _read(source, Files(), note)
        return
    found = [*files_below(source)]
    logs = [file for file in found if "/" not in file.path.removeprefix(f"{source.path}/").lstrip("/")]
    known = {file.path: version for file in logs if (version := version_of(Peek(file))) in LOGS}
    # A page says less than the log in JSON; no export has both.
    is_page_read = PAGE in known.values() and all(version == PAGE for version in known.values())
    files = Files({file.path.removeprefix(f"{source.path}/"): file for file in found})
    for file in found:
        if file.path in known and (known[file.path] != PAGE or is_page_read):
            yield from read_from(source, file, _read(file, files, note.about(file.label)))
            files.used.add(file.path.removeprefix(f"{source.path}/"))
    for file in found:
        if file.path.removeprefix(f"{source.path}/") not in files.used:
            note.add(Kind.IGNORED_FILE, file.label, "", "no record names it")


def _read(file: Source, files: Files, note: Notes) -> Iterator[Conversation]:
    log = _Log(_records(file, note), note)
    if log.is_empty:
        advice = "in Takeout, the conversations are under My Activity, Gemini Apps"
        note(Kind.IGNORED_FILE, "", f"there is no activity in it; {advice}")
    for conversation_id in log.conversation_ids:
        yield _conversation(log.of(conversation_id), conversation_id, files, note)
    if log.strays:
        detail = f"records without one: {log.strays:,}; a pause of more than 30 minutes ends a conversation"
        note(Kind.MISSING_ID, "", detail)
    for session in log.sessions():
        yield _conversation(session, None, files, note)


def _records(file: Source, note: Notes) -> Iterator[tuple[str, Record]]:
    if Peek(file).opening == "<":
        yield from cards.records(file, note)
        return
    for index, record in json_stream.elements(file, note, shape=SHAPE):
        where = f"[{index}]"
        if record.__class__ is UsualRecord or record.__class__ is dict:
            yield where, record
        else:
            note(Kind.UNKNOWN_TYPE, where, f"a record is {type(record).__name__}, expected an object")
            yield where, {"record": record}


class _Log:
    """All records, by conversation and, where they name none, by day; on disk, as logs may be large."""

    def __init__(self, records: Iterable[tuple[str, Record]], note: Notes) -> None:
        self._kept = Grouped(is_owner=True)
        self._first: dict[str, int] = {}
        self._days: set[int] = set()
        self._note = note
        self._falling = 0
        self.strays = 0
        self.is_empty = True
        last = 0
        for where, record in records:
            self.is_empty = False
            at = moment_of(_seen(record, "time"))
            order = timestamps.epoch_ms(at)
            self._falling += 0 if order is None or order == last else 1 if order < last else -1
            last = last if order is None else order
            self._add(Kept(last, where, at, record))

    @property
    def conversation_ids(self) -> list[str]:
        """By the time of their first record."""
        return sorted(self._first, key=self._first.__getitem__)

    def of(self, conversation_id: str) -> list[Kept]:
        """The records of a conversation, oldest first."""
        return self._in_order(f"={conversation_id}")

    def sessions(self) -> Iterator[list[Kept]]:
        """The other records, cut where nothing was done for long."""
        session: list[Kept] = []
        for day in sorted(self._days):
            for kept in self._in_order(f"~{day}"):
                if session and kept.order - session[-1].order > _PAUSE_MS:
                    yield session
                    session = []
                session.append(kept)
        if session:
            yield session

    def _add(self, kept: Kept) -> None:
        named = conversations_of(_seen(kept.record, "titleUrl"), _seen(kept.record, "details"))
        for conversation_id in named:
            self._first[conversation_id] = min(kept.order, self._first.get(conversation_id, kept.order))
            self._keep(f"={conversation_id}", kept if len(named) == 1 else _copied(kept))
        if not named:
            self.strays += 1
            day = kept.order // _DAY_MS
            self._days.add(day)
            self._keep(f"~{day}", kept)

    def _keep(self, group: str, kept: Kept) -> None:
        if isinstance(kept.record, UsualRecord):
            self._kept.add_whole(group, kept.order, kept, size(kept.record))
        else:
            self._kept.add(group, kept.order, kept)

    def _in_order(self, group: str) -> list[Kept]:
        """A group by time; at one moment, what stands further down is older if the log is newest first."""
        # From a file they come as lists.
        all_kept = [kept if kept.__class__ is Kept else Kept(*kept) for kept in self._kept.of(group)]
        if len({kept.order for kept in all_kept}) == len(all_kept):
            return all_kept
        found: list[Kept] = []
        for _, together in groupby(all_kept, key=lambda kept: kept.order):
            block = self._once([*together])
            found += block[::-1] if self._falling > 0 else block
        return found

    def _once(self, block: list[Kept]) -> list[Kept]:
        """Records of one moment, which are all of a log without times, but none that says the same again."""
        if len(block) == 1:
            return block
        told: dict[str, Kept] = {}
        for kept in block:
            if told.setdefault(ids.made(SOURCE, _written(kept.record)), kept) is not kept:
                self._note(Kind.REPEATED_RECORD, kept.where, "the same activity")
        return [*told.values()]


def _seen(record: Record, name: str) -> Any:
    """A value of a record, which stays in it."""
    return getattr(record, name) if isinstance(record, UsualRecord) else record.get(name)


def _written(record: Record) -> dict[str, Any]:
    return as_record(record) if isinstance(record, UsualRecord) else record


def _copied(kept: Kept) -> Kept:
    """The same for another conversation: what is taken out of a record is gone from it."""
    return kept if isinstance(kept.record, UsualRecord) else kept._replace(record=dict(kept.record))


def _entries(kept: Kept, files: Files, note: Notes) -> Iterable[Entry]:
    """The messages of a record."""
    if isinstance(kept.record, UsualRecord) and (
        told := fastpath.entries(kept.record, files, note, kept.where)
    ):
        return told
    return entries(Fields(_written(kept.record), note, kept.where), kept.at, files)


def _conversation(kept: list[Kept], conversation_id: str | None, files: Files, note: Notes) -> Conversation:
    timeline = tree.distinct(entry for each in kept for entry in _entries(each, files, note))
    dated = [entry.at for entry in timeline if entry.at]
    return Conversation(
        id=conversation_id or ids.made(SOURCE, timeline[0].id),
        made_id=conversation_id is None,
        source=SOURCE,
        title=_title(timeline),
        started_at=dated[0] if dated else None,
        updated_at=dated[-1] if dated else None,
        shape="list",
        timeline=timeline,
    )


def _title(timeline: list[Entry]) -> str | None:
    """The log has no titles: the first prompt stands for one; where nobody asked, the first canvas or act."""
    said = (entry for entry in timeline if isinstance(entry, Message) and entry.role == "user")
    if title := tree.title_from(map(tree.plain_text, said)):
        return title
    parts = (part for entry in timeline if isinstance(entry, Message) for part in entry.parts)
    if title := tree.title_from(part.name for part in parts if isinstance(part, Media) and part.name):
        return title
    done = (entry.data.get("title") for entry in timeline if isinstance(entry, Event))
    return tree.title_from(act for act in done if isinstance(act, str))
