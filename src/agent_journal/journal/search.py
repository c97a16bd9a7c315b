"""Answer a query: rank entries, group them by conversation, and add snippets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.errors import IndexDamaged
from agent_journal.journal.answer import Answer, Hit, RelatedHit
from agent_journal.journal.semantic import SemanticSearch
from agent_journal.search.ranking import merge_rankings

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.archive import Archive
    from agent_journal.archive.store import EntryLocation, EntryView
    from agent_journal.config import Config
    from agent_journal.journal.answer import Mode, Page
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.search.facets import Facets
    from agent_journal.search.lexical import Index
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import Filters, Query, Term
    from agent_journal.search.ranking import Ranked, Ranker, Ranking
    from agent_journal.search.scanning import Scan

_INITIAL_WINDOW_COUNT = 200  # of entries that are ranked and grouped at first
_NEARLY_ENOUGH_FACTOR = 1.5  # if that many times the conversations are enough, the window is only doubled
_MAX_WINDOW_ENTRIES = 12_800  # for a page
_MAX_SCANNED_KEYS = 20_000
_MAX_SHOWN_KEYS = 100_000  # that are counted if only what is shown counts
# Kinds of tools that change files, and what commands contain that do.
_CHANGING_TOOLS, _CHANGING_COMMANDS = ("edit", "write"), ("mv", "Begin Patch", "rename from", "diff git")
_MAX_TITLES = 10_000  # that match a title filter
_NO_CONVERSATION = (-1,)
_MAX_ENTRIES_PER_HIT = 600  # for large pages: the maximal window per requested conversation


class FileMessages(NamedTuple):
    """Messages that may change a file."""

    keys: set[int]
    is_complete: bool = True
    """Whether there was time to search all rows that the index lacks."""


class SearchSession:
    """Answers one query; the index and the model are opened once for all of them."""

    def __init__(self, archive: Archive, config: Config, resources: SearchResources) -> None:
        self._archive = archive
        self._config = config
        self._resources = resources
        self._index: Index | None = None
        self._semantic = SemanticSearch(archive, config, resources)

    def answer(self, query: Query, mode: Mode, page: Page) -> Answer:
        """Return the hits of a query, best first."""
        if not self._archive.store.last_key():
            return Answer([], is_whole=True, is_empty=True)
        query = query._replace(
            filters=self._resolve_products(query.filters), excluded=self._resolve_products(query.excluded)
        )
        if query.filters.conversations:
            query = query._replace(filters=self._with_subagents(query.filters))
        return self._answer(query, mode, page)._replace(misfits=query.rejected_filters)

    def _answer(self, query: Query, mode: Mode, page: Page) -> Answer:
        """Search the index; without a usable one, search the rows."""
        try:
            return self._search_index(query, mode, page)
        except IndexDamaged:
            self._discard_index()
        try:  # another process may have replaced the index just now
            return self._search_index(query, mode, page)
        except IndexDamaged as error:
            self._discard_index()
            return self._search_rows(query, error.reason, page)

    def facets(self, query: Query) -> Facets:
        """Count the messages that match a query; raises IndexDamaged if the index cannot be used."""
        if query.filters.conversations:
            query = query._replace(filters=self._with_subagents(query.filters))
        index = self._lexical_index()
        query = query if query.strict else index.correct(query)[0]
        query = self._apply_title_terms(query, index)
        if not query.filters.shown:
            return index.facets(query)
        keys = index.matching_keys(query, _MAX_SHOWN_KEYS)
        shown = self._archive.store.resolve_copies(keys, query.filters.conversations, only_shown=True)
        return index.facets(query, list(shown))

    def messages_naming(self, file_name: str) -> FileMessages:
        """Return the messages that may edit or move a file with this name, whatever its folder.

        Rows that the index lacks are searched without it.
        """
        from agent_journal.search.query import Filters, Query, Term  # noqa: PLC0415

        names_it = (Term(file_name, quoted=True, field="call"),)
        may_change = tuple(Term(phrase, quoted=True, field="call") for phrase in _CHANGING_COMMANDS)
        edits = Query((names_it,), filters=Filters(tools=_CHANGING_TOOLS), strict=True)
        others = Query((names_it, may_change), strict=True)
        keys = set[int]()
        beyond = 0
        try:
            self._count_missing()
            index = self._lexical_index()
            for query in (edits, others):
                keys.update(index.matching_keys(query, index.count))
            beyond = index.upto
        except IndexDamaged:
            self._discard_index()
        if self._archive.store.last_key() <= beyond:
            return FileMessages(keys)
        scan = self._scan(beyond)
        rankings = [scan.rank(query, _MAX_SCANNED_KEYS) for query in (edits, others)]
        keys.update(each.key for ranking in rankings for each in ranking.entries)
        return FileMessages(keys, all(ranking.is_complete for ranking in rankings))

    def _resolve_products(self, filters: Filters) -> Filters:
        """Replace sources by their conversations if one of the names is only that of a product."""
        from agent_journal.archive.store import Filter  # noqa: PLC0415 (only queries with sources need it)
        from agent_journal.search.query import match_values  # noqa: PLC0415

        if not filters.sources:
            return filters
        store = self._archive.store
        sources = store.values("source")
        if all(match_values("source", [name], sources) for name in filters.sources):
            return filters
        chosen = (Filter(source=name, with_children=True) for name in filters.sources)
        keys = {listed.key for each in chosen for listed in store.conversations(each)}
        if not keys:
            return filters
        keys &= set(filters.conversations or keys)
        return filters._replace(sources=(), conversations=tuple(keys) or _NO_CONVERSATION)

    def _with_subagents(self, filters: Filters) -> Filters:
        """Extend filters of conversations to their subagents and to messages copied from others."""
        store = self._archive.store
        within = dict.fromkeys(filters.conversations)
        newest = set(within)
        while newest:
            newest = store.subagents(newest) - within.keys()
            within.update(dict.fromkeys(sorted(newest)))
        return filters._replace(conversations=tuple(within), held=tuple(store.originals_copied_into(within)))

    def _search_index(self, query: Query, mode: Mode, page: Page) -> Answer:
        query, corrections = (query, []) if query.strict else self._lexical_index().correct(query)
        missing = self._count_missing()
        scan = self._scan(self._lexical_index().upto) if missing > 0 else None
        absent = self._missing_words(query, scan)
        query = self._apply_title_terms(query, _with_newest(self._lexical_index(), scan))
        if not query.groups or query.filters.fields:  # who only filters means nothing; --in is about words
            mode = "lexical"
        question = self._lexical_index().read_question(query)
        shown = query._replace(groups=question.groups) if question.is_sentence else None
        answer = self._answer_page(query, _with_newest(self._ranker(mode), scan), page, shown)
        answer = answer._replace(corrections=corrections, unindexed_count=max(missing, 0), missing=absent)
        if mode == "lexical":
            return answer
        return answer._replace(
            hits=self._mark_semantic_hits(query, answer.hits),
            semantic_problem=self._semantic.notice,
            unembedded_count=self._semantic.unembedded_count,
        )

    def _missing_words(self, query: Query, scan: Scan | None) -> tuple[str, ...]:
        """Return which words of a query nothing has: no entry of the index, and none that it lacks."""
        from agent_journal.search.questions import describe_group  # noqa: PLC0415 (imports tantivy)

        absent = self._lexical_index().read_question(query).absent
        if scan is not None:
            words = type(query)
            rankings = [(group, scan.rank(words((group,), strict=True), 1)) for group in absent]
            absent = tuple(group for group, each in rankings if each.is_complete and not each.entries)
        return tuple(map(describe_group, absent))

    def _mark_semantic_hits(self, query: Query, hits: list[Hit]) -> list[Hit]:
        """Mark the hits that have none of the words; what the index lacks was found by its words."""
        index = self._lexical_index()
        keys = [hit.entry.key for hit in hits if hit.entry.key <= index.upto]
        similar = set(keys) - index.keys_with_words(query, keys)
        return [hit._replace(is_semantic_only=hit.entry.key in similar) for hit in hits]

    def _count_missing(self) -> int:
        """Return how many keys are missing in the index."""
        last = self._archive.store.last_key()
        if self._lexical_index().upto < last:
            self._lexical_index().refresh()
        return last - self._lexical_index().upto

    def _search_rows(self, query: Query, problem: str, page: Page) -> Answer:
        scan = self._scan(0)
        return self._answer_page(self._apply_title_terms(query, scan), scan, page)._replace(problem=problem)

    def _apply_title_terms(self, query: Query, titles: Ranker) -> Query:
        """Turn title terms into filters of conversations, unless the query has only title terms.

        A title is an entry of its own: messages do not contain its words.
        """
        titled, unwanted = query.title_groups, tuple(each for each in query.negated if each.field == "title")
        others = tuple(group for group in query.groups if group not in titled)
        if titled and query.min_groups is None and (others or _needs_messages(query.filters)):
            within = self._filter_titled(titled, titles)
            query = query._replace(groups=others, filters=_intersect(query.filters, within))
        if unwanted:
            left = tuple(each for each in query.negated if each not in unwanted)
            excluded = query.excluded + self._filter_titled((unwanted,), titles)._replace(held=())
            query = query._replace(negated=left, excluded=excluded)
        return query

    def _filter_titled(self, titled: tuple[tuple[Term, ...], ...], titles: Ranker) -> Filters:
        """Return a filter for conversations with matching titles."""
        from agent_journal.search.query import Filters, Query  # noqa: PLC0415 (rarely needed)

        ranked = titles.rank(Query(titled, strict=True), _MAX_TITLES).entries
        places = self._archive.store.entry_locations([each.key for each in ranked]).values()
        keys = dict.fromkeys(each.conversation for each in places)
        return self._with_subagents(Filters(conversations=tuple(keys) or _NO_CONVERSATION))

    def _ranker(self, mode: Mode) -> Ranker:
        """Return the ranker of a mode."""
        words = self._lexical_index()
        if mode == "lexical":
            return words
        return self._semantic.ranker(words, with_words=mode == "hybrid")

    def _scan(self, beyond: int) -> Scan:
        from agent_journal.search.entry import drop_texts  # noqa: PLC0415 (rarely needed)
        from agent_journal.search.scanning import Scan  # noqa: PLC0415

        store, left_out = self._archive.store, self._config.index.left_out
        return Scan(lambda: drop_texts(store.newest_index_entries(beyond), left_out), store.values)

    def _lexical_index(self) -> Index:
        if self._index is None:
            self._index = self._resources.index(self._archive)
        return self._index

    def _discard_index(self) -> None:
        self._resources.discard_index(self._index)
        self._index = None

    def _answer_page(self, query: Query, ranker: Ranker, page: Page, sentence: Query | None = None) -> Answer:
        """Return the hits of a page, and whether more follow; `sentence` is the query without stop words."""
        store = self._archive.store
        end = page.offset + page.limit
        groups, ranking, is_all = self._groups(query, ranker, end + 1)
        page_groups = groups[page.offset : end]
        maker = _SnippetMaker(sentence or query)
        entries = self._with_snippets(
            [group.best.key for group in page_groups],
            maker,
            whole=page.whole,
            needs_all=sentence is None,
        )
        first_others = (group.others[: page.related_snippets] for group in page_groups)
        related = self._with_snippets(
            [other.entry_key for others in first_others for other in others],
            maker,
            whole=False,
            needs_all=sentence is None,
        )
        copies = store.copies(entries)
        holders = {each.entry.conversation for each in entries.values()}
        listed = store.listed(holders.union(*copies.values()))
        hits = []
        for group in page_groups:
            entry_snippet = entries.get(group.best.key)
            if entry_snippet is None:  # deleted since it was ranked
                continue
            entry, field, snippet = entry_snippet
            other_ids = [listed[key].id for key in copies.get(entry.key, ()) if key in listed]
            ids = list(dict.fromkeys([*group.copies, *other_ids]))
            before, after = store.surrounding_entries(entry, page.context)
            conversation, score = listed.get(entry.conversation), group.best.score
            others = [_add_snippet(other, related.get(other.entry_key)) for other in group.others]
            hits.append(Hit(entry, conversation, score, before, after, snippet, field, others, ids))
        by_meaning = ranking.is_semantic_only and bool(hits)
        has_more = len(groups) > end or not is_all
        unknown = [] if groups else self._unknown(query.filters)
        return Answer(
            hits,
            ranking.is_complete,
            has_more,
            since=ranking.since,
            is_semantic_only=by_meaning,
            unknown=unknown,
        )

    def _unknown(self, filters: Filters) -> list[tuple[str, str]]:
        """Return filter values that nothing has, with their kinds.

        Models are not checked: only the messages state them, and reading all of them takes too long.
        """
        from agent_journal.search.query import match_values, names_by_kind  # noqa: PLC0415 (only if there are no hits)

        store, asked = self._archive.store, names_by_kind(filters)
        return [
            (kind.removesuffix("s"), name)
            for kind in ("source", "project", "branch", "tools")
            for name in asked.get(kind, ())
            if not match_values(kind, [name], store.values(kind))
            if kind != "source" or not store.has_product(name)
        ]

    def _with_snippets(
        self, keys: list[int], maker: _SnippetMaker, *, whole: bool, needs_all: bool
    ) -> dict[int, _EntrySnippet]:
        """Return entries with snippets, reading other texts only if the message text lacks some words.

        Hits rarely have all words of a sentence, so some are enough for that.
        """
        store, needed = self._archive.store, maker.count if needs_all else min(maker.count, 1)
        if whole or not maker.prefers_message_text:
            return maker.all_of(store.entry_views(keys))
        snippets = maker.all_of(store.message_texts(keys))
        lacking = [key for key, each in snippets.items() if each.snippet.groups < needed]
        return snippets | maker.all_of(store.entry_views(lacking))

    def _groups(self, query: Query, ranker: Ranker, needed: int) -> tuple[list[_Group], Ranking, bool]:
        """Return groups by conversation, best first, at least `needed` if possible; and if these are all."""
        window, max_window = initial_window(query), max(_MAX_WINDOW_ENTRIES, _MAX_ENTRIES_PER_HIT * needed)
        while True:
            ranking = ranker.rank(query, window)
            ranked = self._resolve_copies(ranking.entries, query.filters)
            groups = _group_by_conversation(
                ranked, self._archive.store.entry_locations([each.key for each in ranked])
            )
            is_all = len(ranking.entries) < window
            if is_all or len(groups) >= needed or window >= max_window:
                return groups, ranking, is_all
            window *= 2 if _NEARLY_ENOUGH_FACTOR * len(groups) >= needed else 4

    def _resolve_copies(self, ranked: list[Ranked], filters: Filters) -> list[Ranked]:
        """Map entries to the requested conversations: forks share a message, indexed with the first one."""
        if not filters.conversations and not filters.shown:
            return ranked
        keys = [each.key for each in ranked]
        key_of = self._archive.store.resolve_copies(keys, filters.conversations, only_shown=filters.shown)
        return [each._replace(key=key_of[each.key]) for each in ranked if each.key in key_of]


def _needs_messages(filters: Filters) -> bool:
    """Whether filters require what titles do not have."""
    return bool(filters.roles or filters.models or filters.tools or filters.has_error)


def _intersect(filters: Filters, within: Filters) -> Filters:
    """Restrict filters to some conversations."""
    if not filters.conversations:
        return filters + within
    both = tuple(key for key in filters.conversations if key in within.conversations)
    held = tuple(key for key in filters.held if key in within.held)
    return filters._replace(conversations=both or _NO_CONVERSATION, held=held)


def initial_window(query: Query) -> int:
    """Return how many entries to rank at first; fewer for literal queries, where all hits are good."""
    return _INITIAL_WINDOW_COUNT // 4 if query.is_exact else _INITIAL_WINDOW_COUNT


def _with_newest(ranker: Ranker, scan: Scan | None) -> Ranker:
    return ranker if scan is None else _WithNewest(ranker, scan)


class _WithNewest:
    """Ranks the entries of the index and the newest ones that it lacks."""

    def __init__(self, ranker: Ranker, scan: Scan) -> None:
        self._ranker = ranker
        self._scan = scan

    def rank(self, query: Query, limit: int) -> Ranking:
        """Both, best first: the best of the newest entries is scored like the best of the others."""
        rankings = self._ranker.rank(query, limit), self._scan.rank(query, limit)
        known, new = (each.entries for each in rankings)
        if known and new:
            factor = known[0].score / (new[0].score or 1.0)
            new = [each._replace(score=each.score * factor) for each in new]
        keys = {each.key for each in new}
        both = [*new, *(each for each in known if each.key not in keys)]
        return merge_rankings(sorted(both, key=lambda each: -each.score)[:limit], *rankings)


class _Group:
    """The hits in one conversation."""

    def __init__(self, best: Ranked) -> None:
        self.best = best
        self.others: list[RelatedHit] = []
        self.copies: list[str] = []


def _group_by_conversation(ranked: Iterable[Ranked], places: dict[int, EntryLocation]) -> list[_Group]:
    """Group entries by conversation, best first. A copy is listed with the better hit."""
    groups: dict[int, _Group] = {}
    holders: dict[Any, int] = {}  # the family with the best copy of a message
    for each in ranked:
        place = places.get(each.key)
        if place is None:
            continue
        holder = place.family
        if place.duplicate_key is not None:
            holder = holders.setdefault(place.duplicate_key, place.family)
        if holder != place.family:
            groups[holder].copies.append(place.id)
        elif place.family in groups:
            other = RelatedHit(
                place.id, place.message, place.role, place.at, each.score, place.conversation, each.key
            )
            groups[place.family].others.append(other)
        else:
            groups[place.family] = _Group(each)
    return list(groups.values())


class _EntrySnippet(NamedTuple):
    """An entry with its snippet, and the field of that."""

    entry: EntryView
    field: str
    snippet: Snippet


def _add_snippet(other: RelatedHit, entry: _EntrySnippet | None) -> RelatedHit:
    return other if entry is None else other._replace(snippet=entry.snippet, field=entry.field)


class _SnippetMaker:
    """Makes snippets of entries."""

    def __init__(self, query: Query) -> None:
        from agent_journal.search.marking import Highlighter  # noqa: PLC0415 (only if there are hits)
        from agent_journal.search.query import index_fields  # noqa: PLC0415
        from agent_journal.search.ranking import WEIGHTS  # noqa: PLC0415

        requested = index_fields(query.filters.fields)
        self._order = [*requested, *(field for field in WEIGHTS if field not in requested)]
        self._highlighter = Highlighter(query)

    @property
    def count(self) -> int:
        """The number of groups in the query."""
        return self._highlighter.count

    @property
    def prefers_message_text(self) -> bool:
        """Whether there are words, and no field is preferred to the message text."""
        return self.count > 0 and self._order[0] == "text"

    def all_of(self, entries: dict[int, EntryView]) -> dict[int, _EntrySnippet]:
        """Return the entries with the snippets that match most groups."""
        return {key: self._of(entry) for key, entry in entries.items()}

    def _of(self, entry: EntryView) -> _EntrySnippet:
        texts = entry.texts or (("text", entry.text),)
        in_order = sorted(texts, key=lambda each: self._order.index(each[0]))
        return _EntrySnippet(entry, *self._highlighter.snippet(in_order))
