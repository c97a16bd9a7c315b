"""Keep the index in step with the rows: update, rebuild and check it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.errors import CannotWrite, IndexBehind, IndexDamaged
from agent_journal.search import folder as index_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from pathlib import Path
    from types import TracebackType
    from typing import Self

    from agent_journal.archive import Archive
    from agent_journal.archive.index_entry import IndexEntry
    from agent_journal.archive.store import Change
    from agent_journal.config import Config
    from agent_journal.search.lexical import Index


class Indexer:
    """Brings the index up to the rows. It is opened when there is something to add.

    `on_progress` gets the number of entries added and their total.
    """

    def __init__(
        self, archive: Archive, config: Config, on_progress: Callable[[int, int], None] | None = None
    ) -> None:
        self._archive = archive
        self._config = config
        self._on_progress = on_progress
        self._index: Index | None = None
        self._folder = config.storage.index_path
        self._problem: CannotWrite | IndexDamaged | None = index_folder.find_conflict(self._folder)
        self._added_up_to = 0
        """The key up to which the index got all entries."""
        if self._problem is None and index_folder.read_highest_key(self._folder) > archive.store.last_key():
            # A power cut lost rows that the index has; their keys will be used again.
            index_folder.discard(self._folder)

    def apply(self, change: Change) -> None:
        """Apply a change of the rows to the index. Keys arrive in order.

        If the index cannot be written, the import goes on: conversations are lost if they are not archived,
        while the index can be rebuilt at any time.
        """
        if self._problem is not None or not (change.index_entries or change.removed):
            return
        try:
            index = self._open()
            new = _EntriesAfter(self._added_up_to, change.index_entries)
            index.add(self._without_omitted(new))
            self._added_up_to = new.last
        except (CannotWrite, IndexDamaged) as error:
            self._problem = error

    def commit(self) -> None:
        """Bring the index up to the rows and commit. Raises IndexBehind if it cannot be written."""
        if self._problem is not None:
            raise IndexBehind(self._problem)
        store = self._archive.store
        last, removed = store.last_key(), store.removed()
        if self._index is None and not removed and self._is_known_to_be_complete(last):
            return
        try:
            index = self._open()
            index.remove(removed)
            index.commit(last)
        except (CannotWrite, IndexDamaged) as error:
            raise IndexBehind(error) from error
        with store.transaction():
            store.mark_indexed(last, removed)

    def catch_up(self) -> None:
        """Bring the index up to the rows, even if the rows state that it is complete."""
        if self._problem is None:
            self._open()
        self.commit()

    def commit_partial(self) -> None:
        """Commit what the index got before an interruption: its mark states what is missing."""
        if self._index is not None and self._problem is None and self._added_up_to > self._index.upto:
            self._index.commit(self._added_up_to)

    def rebuild(self) -> None:
        """Rebuild the index from the rows. The old one stays in use until the new one is complete."""
        self.close()
        if self._problem is not None:
            raise IndexBehind(self._problem)
        store, target = self._archive.store, self._folder
        index_folder.remove_leftovers(target)
        last, removed = store.last_key(), store.removed()
        self._folder = index_folder.staging_folder(target)
        self._open().commit(last)
        self.close()
        index_folder.install(self._folder, target)
        self._folder = target
        with store.transaction():
            store.mark_indexed(last, removed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Commit; after an interruption commit what was added; after an error leave the index as it is."""
        try:
            if kind is None:
                self.commit()
            elif not issubclass(kind, Exception):
                self.commit_partial()
        finally:
            self.close()

    def close(self) -> None:
        """Close the index."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _is_known_to_be_complete(self, last: int) -> bool:
        """Whether the index is complete, without opening it, which takes longer than all the rest."""
        if not last:
            return True
        has_same_settings = index_folder.has_index_with(self._folder, self._config.index.left_out)
        return has_same_settings and self._archive.store.indexed_up_to() == last

    def _open(self) -> Index:
        """Open the index and add all entries of the rows."""
        if self._index is not None:
            return self._index
        from agent_journal.search.lexical import Index  # noqa: PLC0415 (slow to import)

        folder, journal = self._folder, self._archive.store.journal_id
        budget, left_out = self._config.index.lucene_ram_buffer_mb, self._config.index.left_out
        try:
            index = Index.open(folder, journal=journal, left_out=left_out, budget_mb=budget)
        except IndexDamaged:
            index_folder.discard(folder)
            index = Index.open(folder, journal=journal, left_out=left_out, budget_mb=budget)
        self._index, self._added_up_to = index, index.upto
        last = self._archive.store.last_key()
        index.add(
            self._with_progress(self._without_omitted(self._archive.store.index_entries_since(index.upto)))
        )
        self._added_up_to = last
        return index

    def _with_progress(self, entries: Iterator[IndexEntry]) -> Iterator[IndexEntry]:
        """Yield the entries and report progress."""
        if self._on_progress is None:
            yield from entries
            return
        total = self._archive.store.indexable()
        for number, entry in enumerate(entries, 1):
            yield entry
            self._on_progress(number, total)

    def _without_omitted(self, entries: Iterable[IndexEntry]) -> Iterator[IndexEntry]:
        """Yield entries without omitted fields."""
        from agent_journal.search.entry import drop_texts  # noqa: PLC0415 (imported with the index)

        return drop_texts(entries, self._config.index.left_out)


class _EntriesAfter:
    """The index entries after a key; `last` is the highest key that was met so far."""

    def __init__(self, key: int, entries: Iterable[IndexEntry]) -> None:
        self.last = self._key = key
        self._entries = entries

    def __iter__(self) -> Iterator[IndexEntry]:
        for each in self._entries:
            self.last = max(self.last, each.key)
            if each.key > self._key:
                yield each


def rebuild(archive: Archive, config: Config, on_progress: Callable[[int, int], None] | None = None) -> None:
    """Rebuild the index from the rows; `on_progress` gets the number of entries added and their total."""
    indexer = Indexer(archive, config, on_progress)
    try:
        indexer.rebuild()
    finally:
        indexer.close()


class IndexCheck(NamedTuple):
    """Problems of the index (where and what), and what is only missing until the next sync."""

    problems: list[tuple[str, str]]
    outdated: str = ""


def check_index(archive: Archive, config: Config) -> IndexCheck:
    """Compare the index with the rows."""
    folder = config.storage.index_path
    last = archive.store.last_key()
    if not index_folder.has_index(folder):
        return IndexCheck([], "There is no search index yet; 'aj sync' builds it." if last else "")
    if _is_of_another_version(folder, config.index.left_out):
        return IndexCheck(
            [], "Another version, or other settings, built the search index; 'aj sync' rebuilds it."
        )
    try:
        index = open_index(archive, config)
        problems = index.check()
        count = index.count
    except IndexDamaged as error:
        return IndexCheck([(str(folder), str(error))])
    expected = archive.store.indexable()
    outdated = ""
    if index.upto != last or archive.store.removed():
        outdated = f"The search index has entries up to {index.upto:,} of {last:,}; 'aj sync' updates it."
    elif count != expected:
        problems.append(f"it has {count:,} entries, but the rows have {expected:,}; 'aj reindex' rebuilds it")
    return IndexCheck([(str(folder), what) for what in problems], outdated)


def _is_of_another_version(folder: Path, left_out: tuple[str, ...]) -> bool:
    """Whether an intact index is of another layout, or leaves out other text fields."""
    try:
        index_folder.read_info(folder)
    except IndexDamaged:
        return False
    return not index_folder.has_index_with(folder, left_out)


def read_state(archive: Archive, config: Config) -> dict[str, Any]:
    """Return how many entries the index has, whether these are all, and what is wrong."""
    last = archive.store.last_key()
    try:
        index = open_index(archive, config)
    except IndexDamaged as error:
        return {"entries": 0, "whole": not last, "problem": str(error) if last else ""}
    return {"entries": index.count, "whole": index.upto >= last, "problem": ""}


def count_entries(archive: Archive, config: Config) -> int:
    """Count the entries: a complete index knows their number, while counting rows takes long."""
    with suppress(IndexDamaged):
        index = open_index(archive, config)
        if index.upto >= archive.store.last_key() and not archive.store.removed():
            return index.count
    return archive.store.indexable()


def open_index(archive: Archive, config: Config) -> Index:
    """Open the index of a journal for reading; raises IndexDamaged if there is no usable one."""
    from agent_journal.search.lexical import Index  # noqa: PLC0415 (slow to import)

    folder, journal = config.storage.index_path, archive.store.journal_id
    return Index.open(folder, journal=journal, left_out=config.index.left_out, make=False)
