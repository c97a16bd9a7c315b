"""The index of words: which entries of the archive hold which words. Derived from rows, and disposable.

It is one Tantivy index in a folder of its own, with no text in it, only words and where they stand. Beside
the entries it holds one mark that says up to which key it is complete; a commit changes both or neither.
"""

from __future__ import annotations

import json
import os
import time
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from agent_journal.errors import CannotWrite, IndexDamaged, IndexInUse
from agent_journal.files import make_folder
from agent_journal.inputs.closeable import Closing
from agent_journal.search import faults, reach
from agent_journal.search.entry import fields_of, schema
from agent_journal.search.folder import LAYOUT, About, about, discard, mark, say
from agent_journal.search.ranking import NO_WORDS, Ranked, Ranking
from agent_journal.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import tantivy

    from agent_journal.search.entry import Entry
    from agent_journal.search.matching import Matcher, Sought
    from agent_journal.search.query import Query
    from agent_journal.search.spelling import Correction

# Tantivy takes up to 10,000 documents ahead of its thread, whatever their size.
_AHEAD = 10_000
_AHEAD_CHARACTERS = 48_000_000
# So many are given to it in a row: its thread falls asleep while the next is made, and waking it takes longer
# than to index a small one.
_IN_A_ROW, _ROW_CHARACTERS = 64, 1_000_000
_SENTENCE = 4  # words, or pairs of characters; who says less means each of them
_FEW = 5  # hits; then words of a sentence are let go of, those of others only if nothing has all
_LOOSE = 50  # hits with only some of the words
_WORTH_IT = 0.2  # of the best of them, that others must reach
_FRESH = 0.05  # how much more something counts for being new
_HALF_AS_FRESH = 60 * 86_400  # seconds
_TOGETHER = 200  # hits that are put in order by their age
_FRONT = 50  # hits that people see; of what is asked for as it stands, no more are ranked at first
_AT_ONCE = 200  # hits that the index gives in no more time than one
_ALIKE = 10_000  # hits that are looked at, at most, to find the newest of those that match alike
_HALF_WRITTEN = 60  # seconds; a thread of the writer before this one may still be at work
_LEAST_BUDGET = 15_000_000
_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")


class _Hit(NamedTuple):
    """An entry that was found, and when it was said."""

    key: int
    score: float
    at: int


class Index(Closing):
    """The index in a folder.

    Many may read it. The first that changes something is its writer, until it is closed.
    """

    def __init__(self, folder: Path, index: tantivy.Index, said: About, *, budget: int, threads: int) -> None:
        self.folder = folder
        self.journal = said.journal
        self._said = said
        self._index = index
        self._budget = budget
        self._threads = threads
        self._writer: tantivy.IndexWriter | None = None
        self._lent: TemporaryDirectory[str] | None = None
        self._state = _meta_state(folder)
        self._vocabulary: Vocabulary | None = None
        self._ahead = _Ahead()
        self._is_changed = False  # since the last commit
        self.upto = self._mark() or 0

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        journal: str = "",
        left_out: tuple[str, ...] = (),
        budget_mb: int = 64,
        threads: int = 1,
        make: bool = True,
    ) -> Self:
        """The index in a folder, made if there is none (unless told otherwise).

        `journal` is the id of the journal that it belongs to; `""` takes any. `left_out` are the texts of
        entries that it is not given. `budget_mb` is the memory that is filled before something is written,
        `threads` how many share it: more make more parts, but a first index in less time. Raises
        IndexDamaged if what is there is of no use: `discard` it and start again.
        """
        if make and _is_free(folder):
            _make(folder, About(LAYOUT, journal, left_out=left_out))
        found = about(folder)
        if found.layout != LAYOUT:
            raise IndexDamaged(str(folder), "another version made it")
        if journal and found.journal != journal:
            raise IndexDamaged(str(folder), "it belongs to another journal")
        if found.left_out != left_out:
            raise IndexDamaged(str(folder), "it was made while other texts were to be searched")
        import tantivy  # noqa: PLC0415 (costs more than many a command)

        with faults.reading(folder):
            lent = None if os.access(folder, os.W_OK) else _lent(folder)
            index = tantivy.Index.open(lent.name if lent else str(folder))
            index.config_reader("manual")
            opened = cls(folder, index, found, budget=budget_mb << 20, threads=threads)
            opened._lent = lent
            return opened

    def refresh(self) -> None:
        """Learn up to which key it is complete by now: others may have written."""
        self.upto = self._mark() or 0

    @property
    def count(self) -> int:
        """How many entries are in it, as of the last commit."""
        with faults.reading(self.folder):
            return self._searcher().num_docs - 1

    @property
    def has_leftovers(self) -> bool:
        """Whether words of removed entries are still in its files.

        No search finds them there, but whoever looks into the files does; only making it again erases them.
        """
        with faults.reading(self.folder):
            meta = json.loads((self.folder / "meta.json").read_bytes())
            return any(segment["deletes"] for segment in meta["segments"])

    def add(self, entries: Iterable[Entry]) -> None:
        """Take entries, to be found after the next commit. Most of the work is done beside the caller."""
        import tantivy  # noqa: PLC0415

        document, schema = tantivy.Document.from_dict, self._index.schema
        with self._writing() as writer:
            for together in _in_rows(entries):
                for made in [document(fields_of(entry), schema) for entry in together]:
                    writer.add_document(made)
                for entry in together:
                    self._ahead.add(_characters(entry))
                if self._ahead.most > _AHEAD_CHARACTERS:
                    self._drain(writer)

    def remove(self, keys: Iterable[int]) -> None:
        """Let entries be found no longer after the next commit; their words may stay (`has_leftovers`)."""
        with self._writing() as writer:
            for key in keys:
                writer.delete_documents_by_term("key", key)

    def commit(self, upto: int) -> None:
        """Make all that was added and removed durable and visible; the index now has all up to a key."""
        with self._writing() as writer:
            say(self.folder, self._said._replace(reach=upto))
            _set_mark(writer, self.upto, upto)
            writer.commit()
            self._ahead = _Ahead()
        self.upto = upto
        self._is_changed = False
        self._tighten()

    def close(self) -> None:
        """Let go of it. What was not committed is dropped; parts that are being joined are waited for."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with faults.changing(self.folder):
                if self._is_changed:  # what is rolled back gives up joining parts, too
                    writer.rollback()
                writer.wait_merging_threads()
            self._tighten()

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        """The entries that match best, best first; the newest first if no words are sought."""
        found, newest_first = self._ranked(query, limit, offset)
        if not newest_first or query.enough is None:
            return found
        # Many of the newest have enough words of a text that was pasted: those that are everywhere. What has
        # all of them is meant, however old it is.
        end = offset + limit
        every, _ = self._ranked(query._replace(enough=None), end)
        some = self._ranked(query, end)[0] if offset else found
        return found._replace(entries=_followed_by(every.entries, some.entries)[offset:end])

    def _ranked(self, query: Query, limit: int, offset: int = 0) -> tuple[Ranking, bool]:
        """The entries that match best; whether words are everywhere, so that the newest of them come first.

        Whoever wants more gets the same first: what is found further back follows.
        """
        matcher, known, end = self._matcher(), self._known(), offset + limit
        sought = matcher.sought(query)
        if sought is None or limit <= 0 or offset >= known.count:
            return Ranking([]), False
        needed = reach.enough(end, is_exact=query.is_exact)
        weeks = [] if reach.is_easy(sought.entries) else reach.first(known.weeks)
        hits: dict[int, _Hit] = {}
        while weeks:
            newest = matcher.of_weeks([week.name for week in weeks]).sought(query)
            count, found = self._hits(newest or sought, end)
            if count >= needed:
                hits |= {hit.key: hit for hit in found}
            if count >= max(needed, end):
                break
            weeks = reach.further(weeks, count, needed, known.weeks)
        newest_first = bool(hits)
        if not weeks:
            hits |= {hit.key: hit for hit in self._hits(sought, end)[1]}
        page = list(hits.values())[offset:end]
        if not sought.is_scored:  # nothing that was left out would stand before these
            return Ranking(_newer_first(page, 0, _TOGETHER)), newest_first
        since = reach.since(weeks, query.filters.since)
        together = _FRONT if query.is_exact else _TOGETHER
        return Ranking(_newer_first(page, _FRESH, together), since), newest_first

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; if hardly any has all words, those with some follow."""
        found = self.search(query, limit=limit)
        hits = found.entries
        looser = self._matcher().loosened(query) if len(hits) < min(limit, _FEW) else None
        if looser is None or (hits and len(looser.wanted) < _SENTENCE):
            return found
        others = self.search(looser, limit=min(limit, _LOOSE))
        told = found if hits else others  # what has only some words follows, or is all that there is
        return told._replace(entries=_followed_by(hits, others.entries))

    def corrected(self, query: Query) -> tuple[Query, list[Correction]]:
        """A query with words that were meant beside those that hardly any entry has, and which these are."""
        from agent_journal.search import spelling  # noqa: PLC0415 (seldom)

        return spelling.corrected(query, self._known())

    def allowed(self, query: Query, most: int) -> list[int] | None:
        """Every key that filters and unwanted words of a query leave; None if more than so many are left."""
        found = self._matcher().allowed(query)
        if found is None:
            return None
        keys = self._keys_of(found, most + 1)
        return keys if len(keys) <= most else None

    def among(self, query: Query, keys: Iterable[int]) -> set[int]:
        """Those of some keys that filters and unwanted words of a query leave."""
        asked = list(dict.fromkeys(keys))
        matcher = self._matcher()
        found = matcher.allowed(query)
        return (
            set(asked) if found is None else set(self._keys_of(matcher.with_keys(found, asked), len(asked)))
        )

    def words(self) -> list[tuple[str, int]]:
        """What people and models said, word by word, with how many entries have it, most frequent first."""
        with faults.reading(self.folder):
            return self._searcher().terms_with_prefix("text", "")

    def check(self) -> list[str]:
        """What is wrong with its files: every checksum is computed again."""
        problems = []
        for path in self._files():
            try:
                problems += faults.problems_of(path)
            except FileNotFoundError:
                if path in self._files():  # else it was joined with others meanwhile
                    problems.append(f"{path.name}: it is missing")
        return problems

    def _matcher(self) -> Matcher:
        from agent_journal.search.matching import Matcher  # noqa: PLC0415 (imports tantivy)

        return Matcher(self._index.schema, self._known())

    def _known(self) -> Vocabulary:
        """What words there are as of the last commit."""
        searcher = self._searcher()
        if self._vocabulary is None:
            self._vocabulary = Vocabulary(self.folder, searcher, self._index.schema)
        return self._vocabulary

    def _hits(self, sought: Sought, limit: int) -> tuple[int, list[_Hit]]:
        """How many entries are found, and the first of them: the best, or the newest if none is better."""
        with faults.reading(self.folder):
            searcher = self._searcher()
            count, best = _best(searcher, sought, limit)
            places = [place for _, place in best]
            keys = searcher.fast_field_values("key", places)
            moments = searcher.fast_field_values("at", places)
        hits = [
            _Hit(int(key or 0), float(score) if sought.is_scored else NO_WORDS, int(at or 0))
            for (score, _), key, at in zip(best, keys, moments, strict=True)
        ]
        front = min(limit, _FRONT)
        if sought.is_scored and len(hits) > front:
            alike = hits[front - 1].score
            hits.sort(key=lambda hit: (-hit.score, -hit.at if hit.score == alike else 0))
        return count, hits[:limit]

    def _keys_of(self, found: tantivy.Query, most: int) -> list[int]:
        """The keys of so many entries that are found, in no order."""
        with faults.reading(self.folder):
            searcher = self._searcher()
            hits = searcher.search(found, max(1, min(most, searcher.num_docs)), count=False).hits
            keys = searcher.fast_field_values("key", [place for _, place in hits])
        return [int(key) for key in keys if key is not None]

    def _files(self) -> list[Path]:
        """The files of all parts."""
        with faults.reading(self.folder):
            segments = json.loads((self.folder / "meta.json").read_bytes())["segments"]
            names = [(segment["segment_id"].replace("-", ""), segment["deletes"]) for segment in segments]
            files = [f"{name}.{suffix}" for name, _ in names for suffix in _SUFFIXES]
            files += [f"{name}.{deletes['opstamp']}.del" for name, deletes in names if deletes]
        return [self.folder / name for name in files]

    def _searcher(self) -> tantivy.Searcher:
        """The state of the last commit, of whoever made it."""
        state = _meta_state(self.folder)
        if state != self._state:
            self._index.reload()
            self._state = state
            self._vocabulary = None
        return self._index.searcher()

    def _mark(self) -> int | None:
        import tantivy  # noqa: PLC0415

        with faults.reading(self.folder):
            searcher = self._searcher()
            hits = searcher.search(tantivy.Query.exists_query("mark"), 1, count=False).hits
            values = searcher.fast_field_values("mark", [place for _, place in hits])
        return int(values[0] or 0) if values else None

    @contextmanager
    def _writing(self) -> Iterator[tantivy.IndexWriter]:
        """The writer; one that failed is let go, and what it did since its last commit is gone."""
        if self._writer is None:
            self._writer = self._open_writer()
        self._is_changed = True
        try:
            with faults.changing(self.folder):
                yield self._writer
        except CannotWrite:
            self._writer = None
            raise

    def _open_writer(self) -> tantivy.IndexWriter:
        try:
            writer = self._index.writer(max(self._budget, self._threads * _LEAST_BUDGET), self._threads)
        except ValueError as error:
            if "LockBusy" in str(error):
                raise IndexInUse(str(self.folder)) from error
            raise CannotWrite(str(self.folder), str(error)) from error
        mark = self._mark()
        self.upto = mark or 0  # another writer may have been here since it was opened
        self._ahead = _Ahead()
        with faults.changing(self.folder):
            # A writer that was killed leaves lists half written, and parts with names that the next may give.
            for path in self.folder.glob(".tmp*"):
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > _HALF_WRITTEN:
                        path.unlink()
            writer.garbage_collect_files()
            self._drop_uncounted(writer)
        return writer

    def _drop_uncounted(self, writer: tantivy.IndexWriter) -> None:
        """Remove entries that a writer put in but did not live to count: they will come again."""
        import tantivy  # noqa: PLC0415

        beyond = tantivy.Query.range_query(
            self._index.schema,
            "key",
            tantivy.FieldType.Integer,
            lower_bound=self.upto,
            include_lower=False,
        )
        if self._searcher().search(beyond, 1, count=False).hits:
            writer.delete_documents_by_query(beyond)

    def _drain(self, writer: tantivy.IndexWriter) -> None:
        """Wait until all that was added is indexed, so that less memory waits. The mark stays behind."""
        writer.commit()
        self._ahead = _Ahead()

    def _tighten(self) -> None:
        """Keep its files to their owner: Tantivy makes them as the process's mask says."""
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                path.chmod(0o600)


def _in_rows(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """The entries, some at a time; of long ones fewer, as all of them are held."""
    row: list[Entry] = []
    characters = 0
    for entry in entries:
        row.append(entry)
        characters += _characters(entry)
        if len(row) >= _IN_A_ROW or characters > _ROW_CHARACTERS:
            yield row
            row, characters = [], 0
    if row:
        yield row


def _characters(entry: Entry) -> int:
    return sum(map(len, entry[7:13]))


class _Ahead:
    """How much may be waiting for the index at most: the last documents that it may not have taken yet."""

    def __init__(self) -> None:
        self.most = 0  # characters in them
        self._documents = 0
        self._latest = 0  # characters, of the last few of them; those before, and those before these
        self._before: tuple[int, int] = (0, 0)

    def add(self, size: int) -> None:
        """One more was given to it."""
        self.most += size
        self._latest += size
        self._documents += 1
        if self._documents == _AHEAD // 2:
            self.most -= self._before[0]
            self._before = (self._before[1], self._latest)
            self._documents = self._latest = 0


def _best(searcher: tantivy.Searcher, sought: Sought, limit: int) -> tuple[int, list[Any]]:
    """How many entries are found, and those that match best, so many or more: score and place of each.

    Of what matches alike the index gives the oldest. If it fills all behind the front, all of it is there.
    """
    if not sought.is_scored:
        newest = searcher.search(sought.query, min(limit, searcher.num_docs), order_by_field="at")
        return newest.count, newest.hits  # type: ignore[attr-defined] # its stub does not know it
    front, wanted = min(limit, _FRONT), max(limit, _AT_ONCE)
    found = searcher.search(sought.query, min(wanted, searcher.num_docs))
    count: int = found.count  # type: ignore[attr-defined]
    if wanted < min(count, _ALIKE) and found.hits[front - 1][0] == found.hits[-1][0]:
        found = searcher.search(sought.query, min(count, _ALIKE))
    is_alike = len(found.hits) > limit and found.hits[front - 1][0] == found.hits[limit][0]
    return count, found.hits if is_alike else found.hits[:limit]


def _newer_first(hits: list[_Hit], fresh: float, together: int) -> list[Ranked]:
    """The hits in their order, but of those that match alike the newer first, by how much being new counts.

    So many are put in order at a time: whoever wants more of them gets the same first.
    """
    ranked: list[Ranked] = []
    most = inf
    for start in range(0, len(hits), together):
        aged = sorted(_aged(hits[start : start + together], fresh), reverse=True)
        ranked += [Ranked(key, min(score, most)) for score, _, key in aged]
        most = ranked[-1].score
    return ranked


def _aged(hits: list[_Hit], fresh: float) -> Iterator[tuple[float, int, int]]:
    """Hits with what they count for being new, when they were said, and their keys; the newest one is new."""
    newest = max(hit.at for hit in hits)
    for key, score, at in hits:
        new = fresh * 0.5 ** ((newest - at) / _HALF_AS_FRESH) if at else 0
        yield score * (1 + new), at, key


def _followed_by(first: list[Ranked], others: list[Ranked]) -> list[Ranked]:
    """Hits, and below them others that are worth it."""
    known = {hit.key for hit in first}
    more = [hit for hit in others if hit.key not in known]
    return first + _below(more, first[-1].score if first else None)


def _below(hits: list[Ranked], score: float | None) -> list[Ranked]:
    """Hits that are worth it, as far below a score as their best is above the others."""
    best = max((hit.score for hit in hits), default=0.0)
    less = 1.0 if score is None or best < score else score / best
    return [hit._replace(score=hit.score * less) for hit in hits if hit.score >= _WORTH_IT * best]


def _lent(folder: Path) -> TemporaryDirectory[str]:
    """A folder with links to the files of an index that may not be written: who reads it locks it, too."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 (seldom)

    lent = TemporaryDirectory(prefix="aj-index-")
    for path in folder.iterdir():
        if path.suffix != ".lock":
            os.symlink(path.absolute(), os.path.join(lent.name, path.name))  # noqa: PTH118, PTH211
    return lent


def _is_free(folder: Path) -> bool:
    """Whether an index can be made there: there is no such folder, or nothing in it."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def _make(folder: Path, said: About) -> None:
    """A new, empty index, which takes its name when it is whole."""
    import tantivy  # noqa: PLC0415

    part = folder.with_name(f"{folder.name}.part")
    discard(part)
    make_folder(str(folder.parent))
    make_folder(str(part))
    mark(part)
    with faults.changing(folder):
        index = tantivy.Index(schema(), str(part))
        writer = index.writer(_LEAST_BUDGET, 1)
        _set_mark(writer, None, 0)
        writer.commit()
        writer.wait_merging_threads()
        say(part, said)
        for path in part.iterdir():
            path.chmod(0o600)
        part.rename(folder)


def _set_mark(writer: tantivy.IndexWriter, old: int | None, new: int) -> None:
    import tantivy  # noqa: PLC0415

    if old is not None:
        writer.delete_documents_by_term("mark", old)
    mark = tantivy.Document()
    mark.add_integer("mark", new)
    writer.add_document(mark)


def _meta_state(folder: Path) -> tuple[int, int, int]:
    """What changes with every commit of whichever process."""
    try:
        found = (folder / "meta.json").stat()
    except OSError as error:
        raise IndexDamaged(str(folder), "its list of parts is missing") from error
    return found.st_mtime_ns, found.st_ino, found.st_size
