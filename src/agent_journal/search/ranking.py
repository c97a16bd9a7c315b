"""What ways of searching have in common: each gives keys of entries with scores, best first."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from agent_journal.search.query import index_fields

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent_journal.search.query import Query

# What people said counts more than what is called so, what was thought, what a tool was given, what stands in
# a file beside it, and what a tool printed.
WEIGHTS = {"text": 1.0, "title": 0.8, "thinking": 0.6, "tool": 0.45, "attached": 0.45, "output": 0.35}

NO_WORDS = 1.0  # the score of what was sought by filters alone: the newest comes first


def looked_in(fields: Collection[str]) -> list[str]:
    """Where words are looked for, as the index calls it: where people say, or anywhere."""
    return index_fields(fields) if fields else list(WEIGHTS)


class Ranked(NamedTuple):
    """An entry that was found. Scores of different ways of searching cannot be compared."""

    key: int
    score: float


class Ranking(NamedTuple):
    """What was found, best first, and among what."""

    entries: list[Ranked]
    since: int | None = None
    """If more match than can be ranked: since when those were said that were, in seconds since 1970."""
    is_whole: bool = True
    """Whether there was time to look at all others."""
    by_meaning: bool = False
    """Whether words were sought that nothing of it has: it is only alike."""


def ranking(entries: list[Ranked], *of: Ranking) -> Ranking:
    """Entries that were put together of several rankings, with what holds for these."""
    since = max((each.since for each in of if each.since is not None), default=None)
    by_meaning = [each.by_meaning for each in of if each.entries]
    return Ranking(entries, since, all(each.is_whole for each in of), bool(by_meaning) and all(by_meaning))


class Ranker(Protocol):
    """A way of searching: by words, by meaning, or by both."""

    def rank(self, query: Query, limit: int) -> Ranking:
        """The entries that match best, best first; filters and unwanted words of the query hold.

        What is sought is `query.meaning` for those who look for no words. `Index.allowed` and `Index.among`
        tell which entries the filters leave.
        """
