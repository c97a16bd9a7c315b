"""Combine scores of different origin: words in messages and conversations, all words as typed, and meaning.

All are calibrated: 1 is a perfect match, so they can be added. An entry gains by the best of its
conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.search.ranking import Ranked

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.search.passages import ScoredMessage


class Weights(NamedTuple):
    """How much each origin counts."""

    all_words: float = 1.0
    """Of an entry that has all words as they were typed."""
    semantic: float = 1.5
    conversation: float = 0.5
    """The share of an entry's score that is that of the best entry of its conversation."""


WEIGHTS = Weights()
SENTENCE_WEIGHTS = Weights(semantic=2.0)
# Hashed vectors find similar spellings, which lexical search does better.
HASH_WEIGHTS = Weights(semantic=0.3)


def combine(
    exact: Sequence[Ranked],
    scored: Iterable[ScoredMessage],
    similar: Sequence[Ranked] = (),
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Return all entries, best first; of equally good ones, the newest.

    `exact` have all words as typed, `similar` are those nearest in meaning. What was not scored comes last.
    """
    best_exact = exact[0].score if exact else 1.0
    bonus = {each.key: weights.all_words * each.score / (best_exact or 1.0) for each in exact}
    similarity = {each.key: weights.semantic * max(each.score, 0.0) for each in similar}
    messages = list(scored)
    best: dict[int, list[float]] = {}
    parts = {}
    for each in messages:
        part = parts[each.key] = (each.own, bonus.get(each.key, 0.0), similarity.get(each.key, 0.0))
        tops = best.setdefault(each.conversation, [0.0, 0.0, 0.0])
        best[each.conversation] = list(map(max, tops, part))
    share = weights.conversation
    totals = [
        (
            each.whole + (1 - share) * sum(parts[each.key]) + share * sum(best[each.conversation]),
            each.at,
            each.key,
        )
        for each in messages
    ]
    totals.sort(key=lambda each: (-each[0], -each[1], each[2]))
    ranked = [Ranked(key, score) for score, _, key in totals]
    return follow(ranked, exact, similar)


def follow(first: Sequence[Ranked], *others: Sequence[Ranked]) -> list[Ranked]:
    """Return the first list, then what each next list adds, with lower scores."""
    known = {each.key for each in first}
    more = [
        key for key in dict.fromkeys(each.key for ranked in others for each in ranked) if key not in known
    ]
    least = first[-1].score if first else 1.0
    return [*first, *(Ranked(key, least / (1 + place)) for place, key in enumerate(more, 1))]
