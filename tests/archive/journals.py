"""A journal in a scratch folder, and what the tests of the archive do with it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from agent_journal.archive import Archive, open_to_write
from agent_journal.archive.candidates import ImportCandidate, Result
from agent_journal.archive.importing import Importer
from agent_journal.archive.rows import row_of, without_native
from agent_journal.archive.sqlite import SqliteStore
from agent_journal.archive.sqlite.connection import connect
from agent_journal.archive.store import Change, Filter, Listed, SourceRow, Store
from agent_journal.model import Conversation, Event, Memory, Message, Text

NOW = "2026-05-01T12:00:00Z"
ALL = Filter(with_children=True)


class Imported(NamedTuple):
    """What an import told."""

    changes: list[Change]
    results: list[Result]

    @property
    def added(self) -> int:
        return sum(change.added + change.changed for change in self.changes)


@contextmanager
def journal(home: Path) -> Iterator[Archive]:
    with open_to_write(home, wait=0) as archive:
        yield archive


def imported(archive: Archive, *locations: Path | str, reader: str | None = None) -> Imported:
    told = Imported([], [])
    with Importer(archive, NOW, told.changes.append, told.results.append, reader) as importer:
        for location in locations:
            importer.take(ImportCandidate(str(location)))
    return told


def read_again(archive: Archive, rows: Sequence[SourceRow] | None = None) -> Imported:
    told = Imported([], [])
    with Importer(archive, NOW, told.changes.append, told.results.append) as importer:
        for row in list(archive.store.sources()) if rows is None else rows:
            whole = archive.store.source(row.path)
            assert whole is not None
            importer.reimport(whole)
    return told


def put(store: Store, conversation: Conversation, path: str = "/some/file") -> Change:
    """Bring a conversation in as if it came from that file."""
    with store.transaction():
        known = store.source(path)
        source = known.key if known else store.put_source(SourceRow(path=path, read_at=NOW))
        return store.put(conversation, [row_of(entry) for entry in conversation.timeline], source)


def bare(item: Conversation) -> Conversation:
    """The conversation as rows keep it: without the forms that only its source has."""
    timeline: list[Message | Event] = [
        without_native(entry) if isinstance(entry, Message) else entry for entry in item.timeline
    ]
    return replace(item, timeline=timeline)


def everything(store: Store) -> list[Conversation]:
    """Every conversation, by source and id."""
    listed = sorted(store.conversations(ALL), key=lambda each: (each.source, each.id))
    return [store.conversation(each.key) for each in listed]


def the(store: Store, id_: str) -> Listed:
    (found,) = [each for each in store.conversations(ALL) if each.id == id_]
    return found


def state(store: Store) -> tuple[list[Conversation], list[Memory], dict[str, SourceRow]]:
    """All that a second import of the same must not change."""
    sources = {row.path: store.source(row.path) for row in store.sources()}
    return (
        everything(store),
        list(store.memories()),
        {path: _in_order(row) for path, row in sources.items() if row},
    )


def _in_order(row: SourceRow) -> SourceRow:
    """A row with its notes by file: the files of a folder are read from the vault in another order."""
    return replace(row, notes=sorted(row.notes, key=lambda note: note.get("file", "")))


def said(id_: str, text: str, at: str | None = None, role: str = "user", **more: object) -> Message:
    return Message(id=id_, role=role, at=at, parts=[Text(text=text)] if text else [], **more)  # type: ignore[arg-type]


def talk(id_: str, *timeline: Message | Event, source: str = "some-tool", **more: object) -> Conversation:
    return Conversation(id=id_, source=source, shape="list", timeline=list(timeline), **more)  # type: ignore[arg-type]


def minute(number: int, second: int = 0) -> str:
    return f"2026-04-01T10:{number:02}:{second:02}Z"


def texts(conversation: Conversation) -> list[str]:
    return [
        part.text
        for entry in conversation.timeline
        if isinstance(entry, Message)
        for part in entry.parts
        if isinstance(part, Text)
    ]


def store_in_memory() -> SqliteStore:
    """A store that is gone when it is closed."""
    nowhere = Path(":memory:")
    return SqliteStore(connect(nowhere, for_writing=True), nowhere)
