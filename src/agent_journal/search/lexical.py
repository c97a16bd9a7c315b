"""The word index: which entries of the archive contain which words. It is derived from rows, and disposable.

It is a Tantivy index in its own folder, without text, only words and their positions. One extra document, the
mark, states up to which key the index is complete; a commit changes entries and mark together.
"""

from __future__ import annotations

import json
import os
import threading
import time
from contextlib import contextmanager, suppress
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple, Self, cast

from agent_journal.errors import CannotWrite, IndexDamaged, IndexInUse
from agent_journal.files import make_folder
from agent_journal.inputs.closeable import Closing
from agent_journal.search import faults, reach
from agent_journal.search.entry import build_schema, document_fields
from agent_journal.search.folder import (
    LAYOUT_VERSION,
    IndexInfo,
    discard,
    read_info,
    write_info,
    write_marker,
)
from agent_journal.search.fusion import combine, follow
from agent_journal.search.ranking import FILTER_ONLY_SCORE, Ranked, Ranking
from agent_journal.search.vocabulary import Vocabulary

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence
    from pathlib import Path
    from tempfile import TemporaryDirectory

    import tantivy

    from agent_journal.search.entry import Entry
    from agent_journal.search.facets import Facets
    from agent_journal.search.matching import Matcher, MatchPlan
    from agent_journal.search.passages import ScoredMessage
    from agent_journal.search.query import Query
    from agent_journal.search.questions import Question
    from agent_journal.search.spelling import Correction

# Tantivy queues up to 10,000 documents for its thread, whatever their size.
_MAX_QUEUED_DOCUMENTS = 10_000
_MAX_QUEUED_CHARS = 48_000_000
# Entries are added in batches: Tantivy's thread falls asleep while the next document is made, and waking it
# takes longer than indexing a small one.
_BATCH_ENTRIES, _MAX_BATCH_CHARS = 64, 1_000_000
_MIN_SENTENCE_WORDS = 4  # or pairs of characters; in a shorter query every word matters
_MIN_LOOSE_WORDS = 2  # of which some may be missing
_MIN_HITS = 5  # with fewer, words of a sentence are dropped; those of other queries only if nothing matches
_MAX_LOOSE_HITS = 50  # with only some of the words
_MIN_LOOSE_SCORE_SHARE = 0.2  # of the best one's score
_RECENCY_BOOST = 0.01  # share of the score that the newest entry gains: it only decides between near ties
_RECENCY_HALF_LIFE_S = 60 * 86_400
_MAX_RECENCY_SORTED_HITS = 200  # that are reordered by age together
_MAX_FRONT_HITS = 50  # that people look at; literal queries rank no more at first
_MIN_FETCHED_HITS = 200  # fetching these takes no longer than fetching one
_MAX_TIED_HITS = 10_000  # fetched to find the newest of hits with equal scores
_MIN_TMP_AGE_S = 60  # a thread of the previous writer may still be at work
_MIN_BUDGET_BYTES = 15_000_000
_SUFFIXES = ("fast", "fieldnorm", "idx", "pos", "store", "term")


class _Commit(NamedTuple):
    """What the index has as of one commit; it never changes, so many threads may use it."""

    state: tuple[int, int, int]
    searcher: tantivy.Searcher
    vocabulary: Vocabulary


class _Hit(NamedTuple):
    """A matching entry with the time of its message."""

    key: int
    score: float
    at: int


class _Scores(NamedTuple):
    """The scores of messages for a query and additional keys, as of a state of the index."""

    request: tuple[Query, tuple[int, ...]]
    state: tuple[int, int, int]
    scores: list[ScoredMessage]

    def is_of(self, request: tuple[Query, tuple[int, ...]], state: tuple[int, int, int]) -> bool:
        """Whether these are the scores for a request."""
        return self.state == state and self.request == request


class Index(Closing):
    """The index in a folder.

    Many processes and threads may read it. The first process that changes something is its writer until it
    closes the index; only one of its threads may write.
    """

    def __init__(
        self, folder: Path, index: tantivy.Index, info: IndexInfo, *, budget: int, threads: int
    ) -> None:
        self.folder = folder
        self.journal = info.journal
        self._info = info
        self._index = index
        self._schema = index.schema
        self._budget = budget
        self._threads = threads
        self._writer: tantivy.IndexWriter | None = None
        self._linked_copy: TemporaryDirectory[str] | None = None
        self._last_commit: _Commit | None = None
        self._reload_lock = threading.Lock()
        self._latest_scores: _Scores | None = None
        self._latest_question: tuple[Query, tuple[int, int, int], Question] | None = None
        self._queue = _QueueSize()
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
        """Open the index in a folder; create it if there is none, unless `make` is false.

        `journal` is the id of its journal; `""` accepts any. `left_out` are the text fields that are not
        indexed. `budget_mb` is the memory to fill before segments are written, shared by `threads`: more
        threads write more segments, but build the first index faster. Raises IndexDamaged if the existing
        index cannot be used: `discard` it and start again.
        """
        if make and _is_free(folder):
            _create(folder, IndexInfo(LAYOUT_VERSION, journal, left_out=left_out))
        info = read_info(folder)
        if info.layout != LAYOUT_VERSION:
            raise IndexDamaged(str(folder), "another version built it")
        if journal and info.journal != journal:
            raise IndexDamaged(str(folder), "it belongs to another journal")
        if info.left_out != left_out:
            raise IndexDamaged(str(folder), "it was built with other settings for what to search")
        import tantivy  # noqa: PLC0415 (slower than many a whole command)

        with faults.read_errors_as_damage(folder):
            copy = None if os.access(folder, os.W_OK) else _link_copy(folder)
            index = tantivy.Index.open(copy.name if copy else str(folder))
            index.config_reader("manual")
            opened = cls(folder, index, info, budget=budget_mb << 20, threads=threads)
            opened._linked_copy = copy
            return opened

    def refresh(self) -> None:
        """Update `upto`: other processes may have written."""
        self.upto = self._mark() or 0

    @property
    def count(self) -> int:
        """The number of entries as of the last commit."""
        with faults.read_errors_as_damage(self.folder):
            return self._searcher().num_docs - 1

    @property
    def has_leftovers(self) -> bool:
        """Whether words of removed entries are still in the files.

        Searches ignore them, but they can be read from the files; only a rebuild erases them.
        """
        with faults.read_errors_as_damage(self.folder):
            meta = json.loads((self.folder / "meta.json").read_bytes())
            return any(segment["deletes"] for segment in meta["segments"])

    def add(self, entries: Iterable[Entry]) -> None:
        """Add entries, to be found after the next commit. Most of the work happens in another thread."""
        import tantivy  # noqa: PLC0415

        document, schema = tantivy.Document.from_dict, self._schema
        with self._writing() as writer:
            for batch in _in_batches(entries):
                fields = list(map(document_fields, batch))
                for new_document in [document(each, schema) for each in fields]:
                    writer.add_document(new_document)
                for each in fields:
                    self._queue.add(cast("int", each["chars"]))
                if self._queue.max_chars > _MAX_QUEUED_CHARS:
                    self._flush(writer)

    def remove(self, keys: Iterable[int]) -> None:
        """Remove entries as of the next commit; their words may remain in the files (`has_leftovers`)."""
        with self._writing() as writer:
            for key in keys:
                writer.delete_documents_by_term("key", key)

    def commit(self, upto: int) -> None:
        """Make all changes durable and visible; the index is then complete up to a key."""
        with self._writing() as writer:
            write_info(self.folder, self._info._replace(reach=upto))
            _set_mark(writer, self.upto, upto)
            writer.commit()
            self._queue = _QueueSize()
        self.upto = upto
        self._is_changed = False
        self._restrict_permissions()

    def close(self) -> None:
        """Close the index. Uncommitted changes are dropped; running merges of segments are waited for."""
        writer, self._writer = self._writer, None
        if writer is not None:
            with faults.write_errors_as_cannot_write(self.folder):
                if self._is_changed:  # a rollback also ends merges
                    writer.rollback()
                writer.wait_merging_threads()
            self._restrict_permissions()

    def search(self, query: Query, *, limit: int, offset: int = 0) -> Ranking:
        """The entries that match best, best first; the newest first if there are only filters."""
        ranking, newest_first = self._ranked(query, limit, offset)
        if not newest_first or query.min_groups is None:
            return ranking
        # Many of the newest entries have enough words of a pasted text: the common ones. Entries with all
        # words are what was meant, however old they are.
        end = offset + limit
        with_all, _ = self._ranked(query._replace(min_groups=None), end)
        with_enough = self._ranked(query, end)[0] if offset else ranking
        return ranking._replace(entries=_followed_by(with_all.entries, with_enough.entries)[offset:end])

    def _ranked(self, query: Query, limit: int, offset: int = 0) -> tuple[Ranking, bool]:
        """Return the entries that match best, and whether the words are so common that the newest come first.

        A longer page begins with the same entries: older ones follow.
        """
        matcher, vocabulary, end = self._matcher(), self._current_vocabulary(), offset + limit
        plan = matcher.build(query)
        if plan is None or limit <= 0 or offset >= vocabulary.count:
            return Ranking([]), False
        needed = reach.min_hits(end, is_exact=query.is_exact)
        weeks = [] if reach.is_cheap(plan.scanned_entries) else reach.first_weeks(vocabulary.weeks)
        hits: dict[int, _Hit] = {}
        while weeks:
            newest = matcher.for_weeks([week.name for week in weeks]).build(query)
            count, newest_hits = self._hits(newest or plan, end)
            if count >= needed:
                hits |= {hit.key: hit for hit in newest_hits}
            if count >= max(needed, end):
                break
            weeks = reach.more_weeks(weeks, count, needed, vocabulary.weeks)
        newest_first = bool(hits)
        if not weeks:
            hits |= {hit.key: hit for hit in self._hits(plan, end)[1]}
        page = list(hits.values())[offset:end]
        if not plan.is_scored:  # no omitted entry would precede these
            return Ranking(_newer_first(page, 0, _MAX_RECENCY_SORTED_HITS)), newest_first
        since = reach.start_of_weeks(weeks, query.filters.since)
        window = _MAX_FRONT_HITS if query.is_exact else _MAX_RECENCY_SORTED_HITS
        return Ranking(_newer_first(page, _RECENCY_BOOST, window), since), newest_first

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; if hardly any has all words, those with some follow.

        For a sentence, the conversation counts, too, and stop words do not.
        """
        if query.strict or not query.groups or limit <= 0:
            return self.search(query, limit=limit)
        question = self.read_question(query)
        depth = max(limit, _MIN_FETCHED_HITS) if question.is_sentence else limit
        ranking = self.search(query, limit=depth)
        hits = ranking.entries
        if question.is_sentence:
            ranked = combine(hits[:_MIN_FETCHED_HITS], self.score_question(query, question))
            return ranking._replace(entries=follow(ranked, hits)[:limit])
        is_short = question.words_asked < (_MIN_SENTENCE_WORDS if hits else _MIN_LOOSE_WORDS)
        if is_short or len(hits) >= min(limit, _MIN_HITS):
            return ranking
        loose = combine([], self.score_question(query, question))[:_MAX_LOOSE_HITS]
        return ranking._replace(entries=_followed_by(hits, loose)[:limit])

    def read_question(self, query: Query) -> Question:
        """Return which words of a query to score."""
        from agent_journal.search import questions  # noqa: PLC0415 (imports tantivy)

        commit, latest = self._current_commit(), self._latest_question
        if latest is not None and latest[:2] == (query, commit.state):
            return latest[2]
        with faults.read_errors_as_damage(self.folder):
            matcher = self._matcher_of(commit.vocabulary)
            question = questions.read_question(query, commit.vocabulary, matcher)
        self._latest_question = query, commit.state, question
        return question

    def keys_with_words(self, query: Query, keys: Sequence[int]) -> set[int]:
        """Return those of the keys whose entries have at least one of the words of a query."""
        from agent_journal.search.questions import QuestionSearch  # noqa: PLC0415 (imports tantivy)

        commit, question = self._current_commit(), self.read_question(query)
        with faults.read_errors_as_damage(self.folder):
            search = QuestionSearch(commit.searcher, self._matcher_of(commit.vocabulary))
            return search.keys_with_words(query, question, keys)

    def score_question(
        self, query: Query, question: Question, keys: Sequence[int] = ()
    ) -> list[ScoredMessage]:
        """Return the messages that answer a question best, and those with `keys`, with their scores."""
        from agent_journal.search.questions import QuestionSearch  # noqa: PLC0415 (imports tantivy)

        request, commit, latest = (query, tuple(keys)), self._current_commit(), self._latest_scores
        if latest is not None and latest.is_of(request, commit.state):  # for a longer page of the same query
            return latest.scores
        with faults.read_errors_as_damage(self.folder):
            matcher = self._matcher_of(commit.vocabulary)
            scores = QuestionSearch(commit.searcher, matcher).rank(query, question, keys)
        self._latest_scores = _Scores(request, commit.state, scores)
        return scores

    def facets(self, query: Query, keys: Sequence[int] | None = None) -> Facets:
        """Count the entries that match a query, or those of them with `keys`, by their filter values.

        If nothing has all words, those with at least one count.
        """
        from agent_journal.search import facets  # noqa: PLC0415 (rarely needed)

        commit = self._current_commit()
        matcher, has_all_words = self._matcher_of(commit.vocabulary), True
        matching = matcher.matching(query)
        with faults.read_errors_as_damage(self.folder):
            if query.groups and not query.strict and (matching is None or not _count(commit, matching)):
                some_words = matcher.any_word(query, self.read_question(query).known)
                matching, has_all_words = some_words, some_words is None
            if matching is None:
                return facets.Facets()
            if keys is not None:
                matching = matcher.restrict_to_keys(matching, keys)
            counted = facets.count_facets(commit.searcher, matching, commit.vocabulary.weeks)
        return counted._replace(has_all_words=has_all_words)

    def correct(self, query: Query) -> tuple[Query, list[Correction]]:
        """Add replacements for words that hardly any entry has; return the query and the corrections."""
        from agent_journal.search import spelling  # noqa: PLC0415 (rarely needed)

        return spelling.correct_query(query, self._current_vocabulary())

    def allowed_keys(self, query: Query, limit: int) -> list[int] | None:
        """Return every key that passes filters and negated words of a query; None if more than `limit`."""
        filter_query = self._matcher().build_filter(query)
        if filter_query is None:
            return None
        keys = self._keys_of(filter_query, limit + 1)
        return keys if len(keys) <= limit else None

    def matching_keys(self, query: Query, limit: int) -> list[int]:
        """Return the keys of entries that match a query, in no order; of more than `limit`, some."""
        matching = self._matcher().matching(query)
        return [] if matching is None else self._keys_of(matching, limit)

    def filter_keys(self, query: Query, keys: Iterable[int]) -> set[int]:
        """Return the given keys that pass filters and negated words of a query."""
        candidates = list(dict.fromkeys(keys))
        matcher = self._matcher()
        filter_query = matcher.build_filter(query)
        return (
            set(candidates)
            if filter_query is None
            else set(self._keys_of(matcher.restrict_to_keys(filter_query, candidates), len(candidates)))
        )

    def word_counts(self) -> list[tuple[str, int]]:
        """Return the words of message texts with the number of entries of each, most frequent first."""
        with faults.read_errors_as_damage(self.folder):
            return self._searcher().terms_with_prefix("text", "")

    def check(self) -> list[str]:
        """Verify the checksums of all files; return what is wrong."""
        problems = []
        for path in self._files():
            try:
                problems += faults.check_file(path)
            except FileNotFoundError:
                if path in self._files():  # else it was merged meanwhile
                    problems.append(f"{path.name}: it is missing")
        return problems

    def _matcher(self) -> Matcher:
        return self._matcher_of(self._current_vocabulary())

    def _matcher_of(self, vocabulary: Vocabulary) -> Matcher:
        from agent_journal.search.matching import Matcher  # noqa: PLC0415 (imports tantivy)

        return Matcher(self._schema, vocabulary)

    def _current_vocabulary(self) -> Vocabulary:
        """Return the vocabulary as of the last commit."""
        return self._current_commit().vocabulary

    def _hits(self, plan: MatchPlan, limit: int) -> tuple[int, list[_Hit]]:
        """Return how many entries match, and the first: the best, or the newest if there are no scores."""
        with faults.read_errors_as_damage(self.folder):
            searcher = self._searcher()
            count, best = _best(searcher, plan, limit)
            addresses = [address for _, address in best]
            keys = searcher.fast_field_values("key", addresses)
            times = searcher.fast_field_values("at", addresses)
        hits = [
            _Hit(int(key or 0), float(score) if plan.is_scored else FILTER_ONLY_SCORE, int(at or 0))
            for (score, _), key, at in zip(best, keys, times, strict=True)
        ]
        front = min(limit, _MAX_FRONT_HITS)
        if plan.is_scored and len(hits) > front:
            tied_score = hits[front - 1].score
            hits.sort(key=lambda hit: (-hit.score, -hit.at if hit.score == tied_score else 0))
        return count, hits[:limit]

    def _keys_of(self, query: tantivy.Query, limit: int) -> list[int]:
        """Return the keys of at most `limit` matching entries, in no order."""
        with faults.read_errors_as_damage(self.folder):
            searcher = self._searcher()
            hits = searcher.search(query, max(1, min(limit, searcher.num_docs)), count=False).hits
            keys = searcher.fast_field_values("key", [address for _, address in hits])
        return [int(key) for key in keys if key is not None]

    def _files(self) -> list[Path]:
        """Return the files of all segments."""
        with faults.read_errors_as_damage(self.folder):
            segments = json.loads((self.folder / "meta.json").read_bytes())["segments"]
            names = [(segment["segment_id"].replace("-", ""), segment["deletes"]) for segment in segments]
            files = [f"{name}.{suffix}" for name, _ in names for suffix in _SUFFIXES]
            files += [f"{name}.{deletes['opstamp']}.del" for name, deletes in names if deletes]
        return [self.folder / name for name in files]

    def _searcher(self) -> tantivy.Searcher:
        """Return a searcher for the last commit of any process."""
        return self._current_commit().searcher

    def _current_commit(self) -> _Commit:
        """Return the last commit of any process. One thread loads it while the others wait."""
        state = _meta_state(self.folder)
        commit = self._last_commit
        if commit is not None and commit.state == state:
            return commit
        with self._reload_lock:
            commit = self._last_commit
            if commit is None or commit.state != state:
                commit = self._load_commit(state, is_first=commit is None)
                self._last_commit = commit
            return commit

    def _load_commit(self, state: tuple[int, int, int], *, is_first: bool) -> _Commit:
        with faults.read_errors_as_damage(self.folder):
            if not is_first:  # opening the index has loaded the first one
                self._index.reload()
            searcher = self._index.searcher()
            return _Commit(state, searcher, Vocabulary(self.folder, searcher, self._schema))

    def _mark(self) -> int | None:
        import tantivy  # noqa: PLC0415

        with faults.read_errors_as_damage(self.folder):
            searcher = self._searcher()
            hits = searcher.search(tantivy.Query.exists_query("mark"), 1, count=False).hits
            values = searcher.fast_field_values("mark", [address for _, address in hits])
        return int(values[0] or 0) if values else None

    @contextmanager
    def _writing(self) -> Iterator[tantivy.IndexWriter]:
        """Provide the writer; after a failure it is dropped, with its uncommitted changes."""
        if self._writer is None:
            self._writer = self._open_writer()
        self._is_changed = True
        try:
            with faults.write_errors_as_cannot_write(self.folder):
                yield self._writer
        except CannotWrite:
            self._writer = None
            raise

    def _open_writer(self) -> tantivy.IndexWriter:
        try:
            writer = self._index.writer(max(self._budget, self._threads * _MIN_BUDGET_BYTES), self._threads)
        except ValueError as error:
            if "LockBusy" in str(error):
                raise IndexInUse(str(self.folder)) from error
            raise CannotWrite(str(self.folder), str(error)) from error
        mark = self._mark()
        self.upto = mark or 0  # another process may have written since the index was opened
        self._queue = _QueueSize()
        with faults.write_errors_as_cannot_write(self.folder):
            # A killed writer leaves half-written lists, and segments with names that the next one may use.
            for path in self.folder.glob(".tmp*"):
                with suppress(FileNotFoundError):
                    if time.time() - path.stat().st_mtime > _MIN_TMP_AGE_S:
                        path.unlink()
            writer.garbage_collect_files()
            self._remove_beyond_mark(writer)
        return writer

    def _remove_beyond_mark(self, writer: tantivy.IndexWriter) -> None:
        """Remove entries that a killed writer added beyond the mark: they will be added again."""
        import tantivy  # noqa: PLC0415

        beyond = tantivy.Query.range_query(
            self._schema,
            "key",
            tantivy.FieldType.Integer,
            lower_bound=self.upto,
            include_lower=False,
        )
        if self._searcher().search(beyond, 1, count=False).hits:
            writer.delete_documents_by_query(beyond)

    def _flush(self, writer: tantivy.IndexWriter) -> None:
        """Wait until all added entries are indexed, to limit memory. The mark stays where it is."""
        writer.commit()
        self._queue = _QueueSize()

    def _restrict_permissions(self) -> None:
        """Make the files accessible only to their owner: Tantivy creates them with the process's umask."""
        for path in self.folder.iterdir():
            with suppress(FileNotFoundError):
                path.chmod(0o600)


def _in_batches(entries: Iterable[Entry]) -> Iterator[list[Entry]]:
    """Yield the entries in batches, which are smaller if entries are long."""
    batch: list[Entry] = []
    characters = 0
    for entry in entries:
        batch.append(entry)
        characters += _characters(entry)
        if len(batch) >= _BATCH_ENTRIES or characters > _MAX_BATCH_CHARS:
            yield batch
            batch, characters = [], 0
    if batch:
        yield batch


def _characters(entry: Entry) -> int:
    return sum(map(len, entry[7:13]))


class _QueueSize:
    """An upper bound of the text in Tantivy's queue: the last documents that it may not have taken yet."""

    def __init__(self) -> None:
        self.max_chars = 0
        self._documents = 0
        self._latest = 0  # characters of the documents in the current window
        self._previous: tuple[int, int] = (0, 0)  # characters of the two windows before, oldest first

    def add(self, size: int) -> None:
        """Count one more document."""
        self.max_chars += size
        self._latest += size
        self._documents += 1
        if self._documents == _MAX_QUEUED_DOCUMENTS // 2:
            self.max_chars -= self._previous[0]
            self._previous = (self._previous[1], self._latest)
            self._documents = self._latest = 0


def _best(searcher: tantivy.Searcher, plan: MatchPlan, limit: int) -> tuple[int, list[Any]]:
    """Return how many entries match, and score and address of at least the `limit` best.

    The index prefers the oldest of equal hits. If one score fills all after the front, all are fetched.
    """
    if not plan.is_scored:
        newest = searcher.search(plan.query, min(limit, searcher.num_docs), order_by_field="at")
        return newest.count, newest.hits  # type: ignore[attr-defined] # missing in its type stub
    front, fetched = min(limit, _MAX_FRONT_HITS), max(limit, _MIN_FETCHED_HITS)
    results = searcher.search(plan.query, min(fetched, searcher.num_docs))
    count: int = results.count  # type: ignore[attr-defined]
    if fetched < min(count, _MAX_TIED_HITS) and results.hits[front - 1][0] == results.hits[-1][0]:
        results = searcher.search(plan.query, min(count, _MAX_TIED_HITS))
    is_tied = len(results.hits) > limit and results.hits[front - 1][0] == results.hits[limit][0]
    return count, results.hits if is_tied else results.hits[:limit]


def _newer_first(hits: list[_Hit], boost: float, window: int) -> list[Ranked]:
    """Reorder hits by score plus recency boost, `window` hits at a time.

    So a longer page begins with the same hits.
    """
    ranked: list[Ranked] = []
    max_score = inf
    for start in range(0, len(hits), window):
        aged = sorted(_with_recency(hits[start : start + window], boost), reverse=True)
        ranked += [Ranked(key, min(score, max_score)) for score, _, key in aged]
        max_score = ranked[-1].score
    return ranked


def _with_recency(hits: list[_Hit], boost: float) -> Iterator[tuple[float, int, int]]:
    """Yield boosted score, time and key of each hit; the newest one gets the whole boost."""
    newest = max(hit.at for hit in hits)
    for key, score, at in hits:
        gain = boost * 0.5 ** ((newest - at) / _RECENCY_HALF_LIFE_S) if at else 0
        yield score * (1 + gain), at, key


def _followed_by(first: list[Ranked], loose: list[Ranked]) -> list[Ranked]:
    """Return hits, followed by those of the others that score well enough."""
    keys = {hit.key for hit in first}
    more = [hit for hit in loose if hit.key not in keys]
    return first + _below(more, first[-1].score if first else None)


def _below(hits: list[Ranked], score: float | None) -> list[Ranked]:
    """Return the hits that score well enough, scaled so that their best gets at most `score`."""
    best = max((hit.score for hit in hits), default=0.0)
    factor = 1.0 if score is None or best < score else score / best
    return [
        hit._replace(score=hit.score * factor) for hit in hits if hit.score >= _MIN_LOOSE_SCORE_SHARE * best
    ]


def _count(commit: _Commit, query: tantivy.Query) -> int:
    count: int = commit.searcher.search(query, 1).count  # type: ignore[attr-defined]
    return count


def _link_copy(folder: Path) -> TemporaryDirectory[str]:
    """Link the files of a read-only index into a temporary folder: even reading needs lock files."""
    from tempfile import TemporaryDirectory  # noqa: PLC0415 (rarely needed)

    copy = TemporaryDirectory(prefix="aj-index-")
    for path in folder.iterdir():
        if path.suffix != ".lock":
            os.symlink(path.absolute(), os.path.join(copy.name, path.name))  # noqa: PTH118, PTH211
    return copy


def _is_free(folder: Path) -> bool:
    """Whether an index can be created: the folder is missing or empty."""
    return not folder.exists() or (folder.is_dir() and not any(folder.iterdir()))


def _create(folder: Path, info: IndexInfo) -> None:
    """Create an empty index, which gets its final name when it is complete."""
    import tantivy  # noqa: PLC0415

    part = folder.with_name(f"{folder.name}.part")
    discard(part)
    make_folder(str(folder.parent))
    make_folder(str(part))
    write_marker(part)
    with faults.write_errors_as_cannot_write(folder):
        index = tantivy.Index(build_schema(), str(part))
        writer = index.writer(_MIN_BUDGET_BYTES, 1)
        _set_mark(writer, None, 0)
        writer.commit()
        writer.wait_merging_threads()
        write_info(part, info)
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
    """Return a value that changes with every commit of any process."""
    try:
        status = (folder / "meta.json").stat()
    except OSError as error:
        raise IndexDamaged(str(folder), "its list of segments is missing") from error
    return status.st_mtime_ns, status.st_ino, status.st_size
