"""The index beside the rows: brought up to them, made anew, held against them."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from agent_journal.errors import CannotWrite, IndexBehind, IndexDamaged
from agent_journal.search import folder as index_folder

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import TracebackType
    from typing import Self

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Change, Indexed
    from agent_journal.config import Config
    from agent_journal.search.entry import Entry
    from agent_journal.search.lexical import Index


class Indexer:
    """Gives the index what the rows have. It is opened when there is something to give it.

    `told` is given how many entries it has caught up with, and how many there are.
    """

    def __init__(self, kept: Archive, config: Config, told: Callable[[int, int], None] | None = None) -> None:
        self._archive = kept
        self._config = config
        self._told = told
        self._index: Index | None = None
        self._folder = config.storage.index_path
        self._problem: CannotWrite | IndexDamaged | None = index_folder.why_not_ours(self._folder)
        self._given = 0
        """Up to which key the index got everything."""
        if self._problem is None and index_folder.reach(self._folder) > kept.store.last_key():
            # A power cut took rows that the index has; their keys will be given to others.
            index_folder.discard(self._folder)

    def take(self, change: Change) -> None:
        """Let the index follow a change of the rows. Keys come in order.

        If it cannot be written, the rows go on alone: what was said is lost if it is not kept, and the index
        is made of the rows whenever it can be.
        """
        if self._problem is not None or not (change.indexed or change.removed):
            return
        try:
            index = self._opened()
            index.add(self._wanted(each for each in change.indexed if each.key > self._given))
            self._given = max(self._given, *(each.key for each in change.indexed), 0)
        except (CannotWrite, IndexDamaged) as error:
            self._problem = error

    def settle(self) -> None:
        """Bring the index up to the rows, and make it lasting. Raises IndexBehind if it cannot be written."""
        if self._problem is not None:
            raise IndexBehind(self._problem)
        store = self._archive.store
        last, removed = store.last_key(), store.removed()
        if self._index is None and not removed and self._is_known_to_be_whole(last):
            return
        try:
            index = self._opened()
            index.remove(removed)
            index.commit(last)
        except (CannotWrite, IndexDamaged) as error:
            raise IndexBehind(error) from error
        with store.transaction():
            store.index_is_at(last, removed)

    def catch_up(self) -> None:
        """Bring the index up to the rows, whatever was said of how far it is."""
        if self._problem is None:
            self._opened()
        self.settle()

    def keep(self) -> None:
        """Make lasting what the index got until something went wrong: it knows what it lacks."""
        if self._index is not None and self._problem is None and self._given > self._index.upto:
            self._index.commit(self._given)

    def rebuild(self) -> None:
        """Make the index anew from the rows. The old one serves until the new one is whole."""
        self.close()
        if self._problem is not None:
            raise IndexBehind(self._problem)
        store, place = self._archive.store, self._folder
        index_folder.tidy(place)
        last, removed = store.last_key(), store.removed()
        self._folder = index_folder.beside(place)
        self._opened().commit(last)
        self.close()
        index_folder.put_in_place(self._folder, place)
        self._folder = place
        with store.transaction():
            store.index_is_at(last, removed)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        """Whoever interrupts keeps what the index got; after an error it is left behind and knows it."""
        try:
            if kind is None:
                self.settle()
            elif not issubclass(kind, Exception):
                self.keep()
        finally:
            self.close()

    def close(self) -> None:
        """Let go of the index."""
        if self._index is not None:
            self._index.close()
            self._index = None

    def _is_known_to_be_whole(self, last: int) -> bool:
        """Whether the index has everything; told without opening it, which takes longer than all the rest."""
        if not last:
            return True
        is_made_so = index_folder.is_made_so(self._folder, self._config.index.left_out)
        return is_made_so and self._archive.store.index_upto() == last

    def _opened(self) -> Index:
        """The index, with all that the rows have when it is opened."""
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
        self._index, self._given = index, index.upto
        last = self._archive.store.last_key()
        index.add(self._counted(self._wanted(self._archive.store.indexed_since(index.upto))))
        self._given = last
        return index

    def _counted(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """The entries; how many there were is told, if somebody wants to know."""
        if self._told is None:
            yield from entries
            return
        total = self._archive.store.indexable()
        for number, entry in enumerate(entries, 1):
            yield entry
            self._told(number, total)

    def _wanted(self, entries: Iterable[Indexed]) -> Iterator[Entry]:
        """What the index is to know of entries: rows and index have the same fields for it."""
        from agent_journal.search.entry import without  # noqa: PLC0415 (who opens the index imports it)

        return without(cast("Iterable[Entry]", entries), self._config.index.left_out)


def rebuild(kept: Archive, config: Config, told: Callable[[int, int], None] | None = None) -> None:
    """Make the index anew from the rows; `told` is given how many entries it has, and how many there are."""
    indexer = Indexer(kept, config, told)
    try:
        indexer.rebuild()
    finally:
        indexer.close()


class IndexFit(NamedTuple):
    """What is wrong with the index (where, and what), and what it merely lacks until the next sync."""

    problems: list[tuple[str, str]]
    behind: str = ""


def fit(kept: Archive, config: Config) -> IndexFit:
    """How rows and index fit together."""
    folder = config.storage.index_path
    last = kept.store.last_key()
    if not index_folder.is_there(folder):
        return IndexFit([], "there is no index yet; 'aj sync' makes it" if last else "")
    try:
        index = index_of(kept, config)
        problems = index.check()
        count = index.count
    except IndexDamaged as error:
        return IndexFit([(str(folder), str(error))])
    expected = kept.store.indexable()
    behind = ""
    if index.upto != last or kept.store.removed():
        behind = f"the index knows entries up to {index.upto:,} of {last:,}; 'aj sync' brings it up"
    elif count != expected:
        problems.append(f"it has {count:,} entries, the rows have {expected:,}; 'aj reindex' makes it again")
    return IndexFit([(str(folder), what) for what in problems], behind)


def state(kept: Archive, config: Config) -> dict[str, Any]:
    """How many entries the index has, whether that is all, and what is wrong with it."""
    last = kept.store.last_key()
    try:
        index = index_of(kept, config)
    except IndexDamaged as error:
        return {"entries": 0, "whole": not last, "problem": str(error) if last else ""}
    return {"entries": index.count, "whole": index.upto >= last, "problem": ""}


def entries(kept: Archive, config: Config) -> int:
    """How many entries there are; to count rows takes long, and an index that has all of them knows."""
    with suppress(IndexDamaged):
        index = index_of(kept, config)
        if index.upto >= kept.store.last_key() and not kept.store.removed():
            return index.count
    return kept.store.indexable()


def index_of(kept: Archive, config: Config) -> Index:
    """The index of a journal, to be read; raises IndexDamaged if there is none that is of use."""
    from agent_journal.search.lexical import Index  # noqa: PLC0415 (slow to import)

    folder, journal = config.storage.index_path, kept.store.journal_id
    return Index.open(folder, journal=journal, left_out=config.index.left_out, make=False)
