"""Types shared by all rankers: keys of entries with scores, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.search.query import index_fields

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent_journal.search.query import Query

# Message text counts more than titles, reasoning, tool input, attached files and tool output.
WEIGHTS = {"text": 1.0, "title": 0.8, "thinking": 0.6, "tool": 0.45, "attached": 0.45, "output": 0.35}

FILTER_ONLY_SCORE = 1.0  # the score if there are only filters: the newest comes first


def search_fields(fields: Collection[str]) -> list[str]:
    """Return the index fields to search: the given ones, or all."""
    return index_fields(fields) if fields else list(WEIGHTS)


class Ranked(NamedTuple):
    """A matching entry. Scores of different rankers cannot be compared."""

    key: int
    score: float


class Ranking(NamedTuple):
    """Matching entries, best first, and which entries were searched."""

    entries: list[Ranked]
    since: int | None = None
    """If more match than can be ranked: the time since which entries were ranked, in seconds since 1970."""
    is_complete: bool = True
    """Whether there was time to search all entries."""
    is_semantic_only: bool = False
    """Whether no entry has the words: all are only semantically similar."""


def merge_rankings(entries: list[Ranked], *sources: Ranking) -> Ranking:
    """Return entries merged from several rankings, with the combined properties of these."""
    since = max((source.since for source in sources if source.since is not None), default=None)
    semantic_only = [source.is_semantic_only for source in sources if source.entries]
    return Ranking(
        entries,
        since,
        all(source.is_complete for source in sources),
        bool(semantic_only) and all(semantic_only),
    )


class Ranker(Protocol):
    """A ranker: lexical, semantic or hybrid."""

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; filters and negated words of the query apply.

        Semantic rankers search for `query.semantic_text`. `Index.allowed_keys` and `Index.filter_keys` return
        the entries that pass the filters.
        """
