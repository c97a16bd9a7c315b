"""From a query to an answer: entries are ranked, put together by conversation, and shown."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, cast, get_args

from agent_journal.errors import IndexDamaged
from agent_journal.inputs.closeable import Closing
from agent_journal.journal import index_upkeep
from agent_journal.journal.semantic import ByMeaning
from agent_journal.search.ranking import ranking

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Found, Listed, Placed
    from agent_journal.config import Config
    from agent_journal.search.entry import Entry
    from agent_journal.search.lexical import Index
    from agent_journal.search.marking import Snippet
    from agent_journal.search.query import Filters, Misfit, Query, Term
    from agent_journal.search.ranking import Ranked, Ranker, Ranking
    from agent_journal.search.scanning import Scan
    from agent_journal.search.spelling import Correction

Mode: TypeAlias = Literal["lexical", "semantic", "hybrid"]
MODES: tuple[Mode, ...] = get_args(Mode)

_WINDOW = 200  # entries that are put together by conversation at first
_NEARLY = 1.5  # times as many conversations would be enough; then twice as many entries have them
_MOST = 12_800  # and at most for a page
_MOST_TITLES = 10_000  # that a word of a query stands for
_NO_CONVERSATION = (-1,)
_EACH = 600  # and at most for each conversation that is wanted, where those are many


class Page(NamedTuple):
    """Which hits are wanted, and how many messages around each."""

    limit: int = 20
    offset: int = 0
    context: int = 0
    whole: bool = False
    """Whether all that each hit says is wanted, also what was thought, attached, and what tools did."""


class Other(NamedTuple):
    """One more hit of a conversation, or of a subagent that works for it."""

    conversation: str
    message: str
    role: str
    at: str | None
    score: float
    key: int
    """Of the conversation, in this journal."""


class Hit(NamedTuple):
    """The best of what was found in a conversation (none for a memory)."""

    entry: Found
    conversation: Listed | None
    score: float
    before: list[Found]
    behind: list[Found]
    snippet: Snippet
    field: str
    """Where it is from: `text`, `title`, `thinking`, `tool` (what it was given), `output`, `attached`."""
    others: list[Other]
    """What else was found in the conversation, best first."""
    copies: list[str]
    """Ids of other conversations that have the same message."""


class Answer(NamedTuple):
    """What a search found, and how far that can be relied upon."""

    hits: list[Hit]
    is_whole: bool
    """Whether everything that the rows have was looked at, or all since `since`."""
    has_more: bool = False
    """Whether there is something behind the last hit."""
    corrections: list[Correction] = []
    """Words that hardly anything has, and what they were taken for."""
    problem: str = ""
    """Why the index could not be used, if so: the rows were looked through instead."""
    behind: int = 0
    """How many of the newest entries the index lacks."""
    is_empty: bool = False
    """Whether there is nothing that could be found."""
    meaning: str = ""
    """Why search by meaning is not all that it could be; empty if it is, or is not asked for."""
    since: int | None = None
    """If words are nearly everywhere: since when what was said counts, in seconds since 1970; else None."""
    by_meaning: bool = False
    """Whether words were sought that no hit has: what was found is only alike in meaning."""
    unknown: list[tuple[str, str]] = []
    """If nothing was found: what filters ask for that is not there, as `("source", "claud")`."""
    misfits: tuple[Misfit, ...] = ()
    """What is called like a filter and was looked for as it stands, because no filter takes such a value."""


class Searching(Closing):
    """Searches in one journal; what they need is opened once."""

    def __init__(self, kept: Archive, config: Config) -> None:
        self._archive = kept
        self._config = config
        self._index: Index | None = None
        self._meaning = ByMeaning(kept, config)

    def answer(self, query: Query, mode: Mode, page: Page) -> Answer:
        """What a query finds, best first."""
        if not self._archive.store.last_key():
            return Answer([], is_whole=True, is_empty=True)
        if query.filters.conversations:
            query = query._replace(filters=self._within(query.filters))
        try:
            found = self._by_index(query, mode, page)
        except IndexDamaged as error:
            self._forget_index()
            found = self._by_rows(query, error.reason, page)
        return found._replace(misfits=query.misfits)

    def close(self) -> None:
        """Let go of the files."""
        if self._index is not None:
            self._index.close()

    def _within(self, filters: Filters) -> Filters:
        """Filters that know what conversations hold: also what subagents said, and copies from others."""
        store = self._archive.store
        within = dict.fromkeys(filters.conversations)
        following = [*within]
        for conversation in following:  # it grows
            agents = [each.key for each in store.children(conversation) if each.relation == "subagent"]
            following += [key for key in agents if key not in within]
            within.update(dict.fromkeys(agents))
        return filters._replace(conversations=tuple(within), held=tuple(store.copied_into(within)))

    def _by_index(self, query: Query, mode: Mode, page: Page) -> Answer:
        query, corrections = (query, []) if query.strict else self._words().corrected(query)
        behind = self._behind()
        scan = self._scan(self._words().upto) if behind > 0 else None
        query = self._among_titled(query, _with_newest(self._words(), scan))
        if not query.wanted or query.filters.fields:  # who only filters means nothing; --in is about words
            mode = "lexical"
        found = self._found(query, _with_newest(self._ranker(mode), scan), page)
        notice = self._meaning.notice if mode != "lexical" else ""
        return found._replace(corrections=corrections, behind=max(behind, 0), meaning=notice)

    def _behind(self) -> int:
        """How many keys the index does not know yet."""
        last = self._archive.store.last_key()
        if self._words().upto < last:
            self._words().refresh()
        return last - self._words().upto

    def _by_rows(self, query: Query, problem: str, page: Page) -> Answer:
        scan = self._scan(0)
        return self._found(self._among_titled(query, scan), scan, page)._replace(problem=problem)

    def _among_titled(self, query: Query, titles: Ranker) -> Query:
        """The query with titles as filters of conversations, unless a title is all that is asked for.

        A title is an entry of its own: no message has words in it.
        """
        titled, unwanted = query.titled, tuple(each for each in query.unwanted if each.field == "title")
        others = tuple(group for group in query.wanted if group not in titled)
        if titled and query.enough is None and (others or _only_messages_have(query.filters)):
            within = self._called(titled, titles)
            query = query._replace(wanted=others, filters=_narrowed(query.filters, within))
        if unwanted:
            left = tuple(each for each in query.unwanted if each not in unwanted)
            excluded = query.excluded + self._called((unwanted,), titles)._replace(held=())
            query = query._replace(unwanted=left, excluded=excluded)
        return query

    def _called(self, titled: tuple[tuple[Term, ...], ...], titles: Ranker) -> Filters:
        """What finds all in conversations with such titles."""
        from agent_journal.search.query import Filters, Query  # noqa: PLC0415 (seldom)

        found = titles.rank(Query(titled, strict=True), _MOST_TITLES).entries
        places = self._archive.store.placed([each.key for each in found]).values()
        keys = dict.fromkeys(each.conversation for each in places)
        return self._within(Filters(conversations=tuple(keys) or _NO_CONVERSATION))

    def _ranker(self, mode: Mode) -> Ranker:
        """Who knows what matches best."""
        words = self._words()
        if mode == "lexical":
            return words
        return self._meaning.ranker(words, with_words=mode == "hybrid")

    def _scan(self, beyond: int) -> Scan:
        from agent_journal.search.entry import without  # noqa: PLC0415 (seldom)
        from agent_journal.search.scanning import Scan  # noqa: PLC0415

        store, left_out = self._archive.store, self._config.index.left_out
        # Rows and index have the same fields for it.
        newest = cast("Callable[[int], Iterable[Entry]]", store.indexed_newest)
        return Scan(lambda: without(newest(beyond), left_out), store.values)

    def _words(self) -> Index:
        if self._index is None:
            self._index = index_upkeep.index_of(self._archive, self._config)
        return self._index

    def _forget_index(self) -> None:
        """Let go of an index that is of no use; another may be in its place the next time."""
        index, self._index = self._index, None
        if index is not None:
            with suppress(IndexDamaged):
                index.close()

    def _found(self, query: Query, ranker: Ranker, page: Page) -> Answer:
        """The hits of a page, and whether more follow."""
        store = self._archive.store
        end = page.offset + page.limit
        groups, ranking, is_all = self._groups(query, ranker, end + 1)
        wanted = groups[page.offset : end]
        entries = self._marked([group.best.key for group in wanted], query, whole=page.whole)
        copies = store.copies(entries)
        holders = {each.entry.conversation for each in entries.values()}
        listed = store.listed(holders.union(*copies.values()))
        hits = []
        for group in wanted:
            marked = entries.get(group.best.key)
            if marked is None:  # gone since it was ranked
                continue
            entry, field, snippet = marked
            also = [listed[key].id for key in copies.get(entry.key, ()) if key in listed]
            ids = list(dict.fromkeys([*group.copies, *also]))
            before, behind = store.around(entry, page.context)
            conversation, score = listed.get(entry.conversation), group.best.score
            hits.append(Hit(entry, conversation, score, before, behind, snippet, field, group.others, ids))
        by_meaning = ranking.by_meaning and bool(hits)
        has_more = len(groups) > end or not is_all
        unknown = [] if groups else self._unknown(query.filters)
        return Answer(
            hits, ranking.is_whole, has_more, since=ranking.since, by_meaning=by_meaning, unknown=unknown
        )

    def _unknown(self, filters: Filters) -> list[tuple[str, str]]:
        """What filters ask for by names that nothing has, with what should be called so.

        Which models there are is told only by all messages, which takes too long.
        """
        from agent_journal.search.query import meant, names_in  # noqa: PLC0415 (if nothing was found)

        store, asked = self._archive.store, names_in(filters)
        return [
            (kind.removesuffix("s"), name)
            for kind in ("source", "project", "branch", "tools")
            for name in asked.get(kind, ())
            if not meant(kind, [name], store.values(kind))
        ]

    def _marked(self, keys: list[int], query: Query, *, whole: bool) -> dict[int, _Marked]:
        """Entries with their telling pieces; what was said mostly has them, and the rest is left unread."""
        store, marking = self._archive.store, _Marking(query)
        if whole or not marking.is_said_first:
            return marking.all_of(store.found(keys))
        marked = marking.all_of(store.said(keys))
        lacking = [key for key, each in marked.items() if each.snippet.groups < marking.count]
        return marked | marking.all_of(store.found(lacking))

    def _groups(self, query: Query, ranker: Ranker, needed: int) -> tuple[list[_Group], Ranking, bool]:
        """What was found, by conversation, best first, so many at least if there are; whether it is all."""
        window, most = window_of(query), max(_MOST, _EACH * needed)
        while True:
            found = ranker.rank(query, window)
            ranked = self._standing(found.entries, query.filters)
            groups = _grouped(ranked, self._archive.store.placed([each.key for each in ranked]))
            is_all = len(found.entries) < window
            if is_all or len(groups) >= needed or window >= most:
                return groups, found, is_all
            window *= 2 if _NEARLY * len(groups) >= needed else 4

    def _standing(self, ranked: list[Ranked], filters: Filters) -> list[Ranked]:
        """Entries where they are wanted: a message that forks share is indexed with the first of them."""
        if not filters.conversations and not filters.shown:
            return ranked
        keys = [each.key for each in ranked]
        wanted = self._archive.store.standing(keys, filters.conversations, shown=filters.shown)
        return [each._replace(key=wanted[each.key]) for each in ranked if each.key in wanted]


def _only_messages_have(filters: Filters) -> bool:
    """Whether something is asked for that no title has."""
    return bool(filters.roles or filters.models or filters.tools or filters.has_error)


def _narrowed(filters: Filters, within: Filters) -> Filters:
    """Filters that leave only what is in some conversations, too."""
    if not filters.conversations:
        return filters + within
    both = tuple(key for key in filters.conversations if key in within.conversations)
    held = tuple(key for key in filters.held if key in within.held)
    return filters._replace(conversations=both or _NO_CONVERSATION, held=held)


def window_of(query: Query) -> int:
    """How many entries are ranked at first for a query; fewer if all have what was asked for as it stands."""
    return _WINDOW // 4 if query.is_exact else _WINDOW


def _with_newest(ranker: Ranker, scan: Scan | None) -> Ranker:
    return ranker if scan is None else _WithNewest(ranker, scan)


class _WithNewest:
    """What the index has, and what it lacks of the newest entries."""

    def __init__(self, ranker: Ranker, scan: Scan) -> None:
        self._ranker = ranker
        self._scan = scan

    def rank(self, query: Query, limit: int) -> Ranking:
        """Both, best first: the best of the newest entries is as good as the best of the others."""
        rankings = self._ranker.rank(query, limit), self._scan.rank(query, limit)
        known, new = (each.entries for each in rankings)
        if known and new:
            by = known[0].score / (new[0].score or 1.0)
            new = [each._replace(score=each.score * by) for each in new]
        keys = {each.key for each in new}
        both = [*new, *(each for each in known if each.key not in keys)]
        return ranking(sorted(both, key=lambda each: -each.score)[:limit], *rankings)


class _Group:
    """What was found in one conversation."""

    def __init__(self, best: Ranked) -> None:
        self.best = best
        self.others: list[Other] = []
        self.copies: list[str] = []


def _grouped(ranked: Iterable[Ranked], places: dict[int, Placed]) -> list[_Group]:
    """Entries by conversation, best first. A copy of what stands in a better one is told there."""
    groups: dict[int, _Group] = {}
    holders: dict[Any, int] = {}  # which family has something first
    for each in ranked:
        place = places.get(each.key)
        if place is None:
            continue
        holder = place.family
        if place.sameness is not None:
            holder = holders.setdefault(place.sameness, place.family)
        if holder != place.family:
            groups[holder].copies.append(place.id)
        elif place.family in groups:
            other = Other(place.id, place.message, place.role, place.at, each.score, place.conversation)
            groups[place.family].others.append(other)
        else:
            groups[place.family] = _Group(each)
    return list(groups.values())


class _Marked(NamedTuple):
    """An entry with its telling piece, and where that is from."""

    entry: Found
    field: str
    snippet: Snippet


class _Marking:
    """Finds the telling piece of entries."""

    def __init__(self, query: Query) -> None:
        from agent_journal.search.marking import Marker  # noqa: PLC0415 (only if something was found)
        from agent_journal.search.query import index_fields  # noqa: PLC0415
        from agent_journal.search.ranking import WEIGHTS  # noqa: PLC0415

        asked = index_fields(query.filters.fields)
        self._order = [*asked, *(field for field in WEIGHTS if field not in asked)]
        self._marker = Marker(query)

    @property
    def count(self) -> int:
        """How many things are sought."""
        return self._marker.count

    @property
    def is_said_first(self) -> bool:
        """Whether words are sought, and nothing else of a message counts more than what was said."""
        return self.count > 0 and self._order[0] == "text"

    def all_of(self, entries: dict[int, Found]) -> dict[int, _Marked]:
        """Entries with the pieces that have most of what is sought."""
        return {key: self._of(entry) for key, entry in entries.items()}

    def _of(self, entry: Found) -> _Marked:
        texts = entry.texts or (("text", entry.text),)
        in_order = sorted(texts, key=lambda each: self._order.index(each[0]))
        return _Marked(entry, *self._marker.snippet(in_order))
