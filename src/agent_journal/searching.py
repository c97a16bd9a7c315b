"""From a query to an answer: entries are ranked, and shown with what stands around them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from agent_journal.closing import Closing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Found, Listed
    from agent_journal.config import Config
    from agent_journal.search.lexical import Index
    from agent_journal.search.query import Query
    from agent_journal.search.ranking import Ranked, Ranker

Mode: TypeAlias = Literal["lexical", "semantic", "hybrid"]


class Hit(NamedTuple):
    """Something that was found: the entry and the conversation it is in (none for a memory)."""

    entry: Found
    conversation: Listed | None
    score: float
    before: list[Found]
    behind: list[Found]


class Answer(NamedTuple):
    """What a search found, and whether the index knew everything that the rows have."""

    hits: list[Hit]
    is_whole: bool


class Searching(Closing):
    """Searches in one journal; what they need is opened once."""

    def __init__(self, kept: Archive, config: Config) -> None:
        self._archive = kept
        self._config = config
        self._index: Index | None = None

    def answer(self, query: Query, mode: Mode, *, limit: int, offset: int, context: int) -> Answer:
        """What a query finds, best first."""
        ranked = self._ranker(mode).rank(query, offset + limit)[offset:]
        hits = list(self._hits(ranked, context))
        return Answer(hits, is_whole=self._words().upto >= self._archive.store.last_key())

    def close(self) -> None:
        """Let go of the files."""
        if self._index is not None:
            self._index.close()

    def _ranker(self, mode: Mode) -> Ranker:
        """Who knows what matches best. Search by meaning finds its place here."""
        words = self._words()
        if mode == "lexical":
            return words
        return words

    def _words(self) -> Index:
        if self._index is None:
            from agent_journal.search.lexical import Index  # noqa: PLC0415 (slow to import)

            folder, journal = self._config.storage.index_path, self._archive.store.journal_id
            self._index = Index.open(folder, journal=journal, make=False)
        return self._index

    def _hits(self, ranked: list[Ranked], context: int) -> Iterator[Hit]:
        store = self._archive.store
        entries = store.found([each.key for each in ranked])
        for each in ranked:
            entry = entries.get(each.key)
            if entry is not None:
                around = store.around(entry, context)
                yield Hit(entry, store.listed(entry.conversation), each.score, *around)
