"""Rank messages by a question: by its words in the message, next to it, and in its conversation.

A message alone is too small: its topic is often only in the ones before it. So a word also counts, for less,
if it is in a neighbor, and all messages of a conversation gain by the words that the whole conversation has.
Stop words do not count. Inflections count like the word itself.

Two searches are enough: one for candidates, by the rarer words, and one for all words in the conversations of
the best candidates, whose score is a bit mask of the words that a message has.
"""

from __future__ import annotations

from collections import defaultdict
from math import log
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

MAX_WORDS = 11  # that are scored, the rarest; a score is exact up to 24 bits, and there are two per word
MAX_CONVERSATIONS = 20
"""The best candidates, whose messages are all scored."""
MAX_MESSAGES = 250
"""Messages of these that are scored."""
_MAX_LENGTH_RATIO = 20.0  # of a message's length to the typical one


class Weights(NamedTuple):
    """The weights that were tuned."""

    before: float = 0.8
    after: float = 0.8
    second: float = 0.6
    answer: float = 0.25
    bm25: float = 0.02
    missing: float = 1.0
    tool: float = 0.5
    conversation: float = 0.8
    date: float = 0.7
    saturation: float = 1.2
    length: float = 0.75
    text_length: float = 0.2
    typical_chars: float = 400.0
    message_saturation: float = 1.2
    """k1 of BM25, as `saturation` is for conversations."""


WEIGHTS = Weights()


class Message(NamedTuple):
    """A message that has some of the words."""

    key: int
    conversation: int
    at: int
    chars: int
    text: int = 0
    """A bit for each word that its text, title or reasoning has."""
    other: int = 0
    """A bit for each word that its tool input or output or an attached file has."""
    is_answer: bool = False
    """Whether a model wrote it."""
    is_dated: bool = False
    """Whether it is of a date that the question names."""


class ScoredMessage(NamedTuple):
    """A message with its own score and that of its conversation; 1 is about a perfect match of each."""

    key: int
    conversation: int
    at: int
    own: float
    whole: float
    has_words: bool


class Evidence(NamedTuple):
    """What is known about the words of a question, the conversations and the messages."""

    idfs: Sequence[float]
    """The weights of the words, in the order of their bits."""
    missing: float
    """The weight of all words that nothing has."""
    sizes: Mapping[int, int]
    """The numbers of messages of conversations."""
    bm25: Mapping[int, float]
    """The scores of single messages as shares of the best."""


def score_messages(
    messages: Iterable[Message], evidence: Evidence, weights: Weights | None = None
) -> list[ScoredMessage]:
    """Return the messages with their scores, in no order."""
    by_conversation: dict[int, list[Message]] = defaultdict(list)
    for message in messages:
        by_conversation[message.conversation].append(message)
    weights = weights or WEIGHTS
    total = sum(evidence.idfs) + weights.missing * evidence.missing or 1.0
    scorer = _MaskScorer(evidence.idfs, weights)
    counts = {key: _count_words(each, len(evidence.idfs)) for key, each in by_conversation.items()}
    wholes = _score_conversations(counts, evidence.sizes, weights)
    scored: list[ScoredMessage] = []
    for conversation, members in by_conversation.items():
        dated = weights.date if any(each.is_dated for each in members) else 0.0
        whole = weights.conversation * wholes[conversation] / total + dated
        for each, own in zip(members, scorer.own_scores(members), strict=True):
            score = own / total + weights.bm25 * evidence.bm25.get(each.key, 0.0)
            scored.append(
                ScoredMessage(each.key, conversation, each.at, score, whole, bool(each.text | each.other))
            )
    return scored


class _MaskScorer:
    """Scores messages of one conversation, in their order."""

    def __init__(self, idfs: Sequence[float], weights: Weights) -> None:
        self._idfs = idfs
        self._weights = weights
        self._sums: dict[int, float] = {0: 0.0}

    def _sum(self, mask: int) -> float:
        """Return the sum of the weights of some words."""
        value = self._sums.get(mask)
        if value is None:
            value = self._sums[mask] = sum(idf for bit, idf in enumerate(self._idfs) if mask >> bit & 1)
        return value

    def own_scores(self, members: Sequence[Message]) -> list[float]:
        """Return the score of each message, by its own words and those of its neighbors."""
        masks = {each.key: each.text | each.other for each in members}
        mask_of = masks.get
        return [
            self._score(
                each,
                masks[each.key],
                mask_of(each.key - 1, 0),
                mask_of(each.key + 1, 0),
                mask_of(each.key - 2, 0) | mask_of(each.key + 2, 0),
            )
            for each in members
        ]

    def _score(self, message: Message, own: int, before: int, after: int, far: int) -> float:
        """Return the score of a message with the words in itself and in its neighbors."""
        weights = self._weights
        score = self._sum(message.text) + weights.tool * self._sum(message.other & ~message.text)
        score += weights.before * self._sum(before & ~own)
        score += weights.after * self._sum(after & ~(before | own))
        score += weights.second * self._sum(far & ~(before | after | own))
        ratio = min(message.chars / weights.typical_chars, _MAX_LENGTH_RATIO)
        norm = 1 + weights.message_saturation * (1 + weights.text_length * (ratio - 1))
        return score * (1 + weights.answer * message.is_answer) * (1 + weights.message_saturation) / norm


def _count_words(members: Sequence[Message], words: int) -> list[int]:
    """Return how many messages have each word."""
    counts = [0] * words
    for mask in (each.text | each.other for each in members):
        rest = mask
        while rest:
            low = rest & -rest
            counts[low.bit_length() - 1] += 1
            rest ^= low
    return counts


def _score_conversations(
    counts: Mapping[int, Sequence[int]], sizes: Mapping[int, int], weights: Weights
) -> dict[int, float]:
    """Return BM25 of conversations as texts, in which a message with a word counts as one occurrence.

    A word counts by how few of these conversations have it.
    """
    total = len(counts)
    mean_size = sum(sizes.get(key, 1) for key in counts) / max(1, total)
    holders = [sum(count > 0 for count in column) for column in zip(*counts.values(), strict=True)]
    idfs = [log(1 + (total - each + 0.5) / (each + 0.5)) for each in holders]
    scores = {}
    for key, row in counts.items():
        norm = weights.saturation * (1 - weights.length + weights.length * sizes.get(key, 1) / mean_size)
        scores[key] = sum(
            idf * count * (weights.saturation + 1) / (count + norm)
            for idf, count in zip(idfs, row, strict=True)
            if count
        )
    return scores
