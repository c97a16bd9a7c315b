"""Search for a question: its words without stop words, with inflections, in messages and around them."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, Any, NamedTuple

import tantivy
from tantivy import Occur

from agent_journal.search import passages
from agent_journal.search.calendar_dates import find_dates
from agent_journal.search.forms import Form, forms_of, is_indispensable
from agent_journal.search.languages import ENGLISH, detect_language, stop_words
from agent_journal.search.matching import Word
from agent_journal.search.passages import (
    MAX_CONVERSATIONS,
    MAX_MESSAGES,
    MAX_WORDS,
    Evidence,
    Message,
    ScoredMessage,
)
from agent_journal.search.query import Query, Term, index_fields
from agent_journal.search.ranking import search_fields
from agent_journal.search.words import is_paired

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.search.calendar_dates import CalendarDate
    from agent_journal.search.matching import Matcher
    from agent_journal.search.vocabulary import Vocabulary

_MIN_CONTENT_WORDS = 2  # of a sentence
_PUNCTUATION = ".,;:!?()'`\""  # around a word
_MAX_CANDIDATES = 100
_MAX_DATED_CANDIDATES = 50
_MAX_VISITED_ENTRIES = 100_000  # to find candidates; more frequent words only add to scores
_MIN_CANDIDATE_WORDS = 2  # that are used, however frequent
_TEXT_FIELDS = ("text", "title", "thinking")
_COLUMNS = ("key", "conversation", "at", "chars")
_OTHER_FIELDS = ("tool", "output", "attached")


class Question(NamedTuple):
    """What a query asks for."""

    known: tuple[Word, ...]
    """The words that some entries have, the rarest first."""
    missing: tuple[str, ...]
    """The words that no entry has, as typed; of a name, its parts."""
    absent: tuple[tuple[Term, ...], ...]
    """What no entry has, as groups of alternatives; a name is one term."""
    groups: tuple[tuple[Term, ...], ...]
    """The groups of the query that are neither stop words nor dates."""
    dates: tuple[CalendarDate, ...]
    words_asked: int
    """The number of words and dates, without stop words."""
    is_sentence: bool
    """Whether it has stop words, unlike a list of keywords."""

    @property
    def words(self) -> tuple[Word, ...]:
        """The words to score: the rarest."""
        return self.known[:MAX_WORDS]


def read_question(query: Query, vocabulary: Vocabulary, matcher: Matcher) -> Question:
    """Return the words of a query to score, without stop words and dates."""
    text, offsets = _joined(query)
    mentions = find_dates(text)
    lowered = [group[0].text.lower().strip(_PUNCTUATION) for group in query.groups]
    spoken = [part for word in lowered for part in word.replace("’", "'").split("'")]
    language = detect_language(spoken)
    ignored = stop_words(spoken, language)
    fields = search_fields(query.filters.fields)
    words: list[Word] = []
    absent: list[tuple[Term, ...]] = []
    groups: list[tuple[Term, ...]] = []
    has_stop_words = False
    for group, word, start in zip(query.groups, lowered, offsets, strict=True):
        is_plain = len(group) == 1 and not (group[0].quoted or group[0].field or group[0].prefix)
        if is_plain and any(each.start <= start < each.end for each in mentions):
            continue
        if is_plain and _is_stop_word(group[0].text, word, ignored):
            has_stop_words = True
            continue
        own_words = _words(group, fields, language or ENGLISH, vocabulary, matcher)
        words += own_words
        groups.append(group)
        absent += _absent(group, own_words)
    known = sorted((each for each in words if each.entries), key=lambda each: each.entries)
    missing = tuple(dict.fromkeys(each.text for each in words if not each.entries))
    dates = tuple(each.date for each in mentions)
    count = len(words) + len(dates)
    is_sentence = has_stop_words and count >= _MIN_CONTENT_WORDS
    unique = tuple(dict.fromkeys(absent))
    return Question(tuple(known), missing, unique, tuple(groups), dates, count, is_sentence)


def _absent(group: tuple[Term, ...], words: Sequence[Word]) -> list[tuple[Term, ...]]:
    """Return what no entry has of a group that is searched as some words."""
    lacking: list[tuple[Term, ...]] = [(Term(each.text),) for each in words if not each.entries]
    if words and len(lacking) == len(words):
        return [group]
    is_split = len(words) > 1 and not any(is_paired(letter) for each in words for letter in each.text)
    if not is_split:
        return []
    return [group] if is_indispensable(group[0]) else lacking


def describe_group(group: Sequence[Term]) -> str:
    """Return alternatives as they were typed, without quotes and punctuation."""
    texts = (
        term.text if term.quoted else f"{term.text.strip(_PUNCTUATION) or term.text}{'*' * term.prefix}"
        for term in group
    )
    fields = (f"{term.field}:" if term.field else "" for term in group)
    return " OR ".join(map(str.__add__, fields, texts))


def _joined(query: Query) -> tuple[str, list[int]]:
    """Return the first terms of all groups as one text, and where each begins."""
    texts = [group[0].text for group in query.groups]
    return " ".join(texts), [0, *accumulate(len(each) + 1 for each in texts)][: len(texts)]


def _is_stop_word(typed: str, word: str, ignored: Iterable[str]) -> bool:
    """Whether a word carries no meaning; abbreviations such as IT or US do."""
    is_abbreviation = len(word) > 1 and typed.isupper()
    return not is_abbreviation and all(part in ignored for part in word.replace("’", "'").split("'") if part)


def _words(
    group: Sequence[Term], fields: Sequence[str], language: str, vocabulary: Vocabulary, matcher: Matcher
) -> list[Word]:
    """Return what to look for of a group: usually one word."""
    term = group[0]
    forms = [form for each in group for form in forms_of(each)]
    if not forms:
        return []
    own_fields = tuple(index_fields([term.field]) if term.field else fields)
    if len(group) == 1 and not term.quoted and any(map(is_paired, forms[0].words[0])):
        pieces = [Form([piece], prefix=forms[0].prefix and len(piece) == 1) for piece in forms[0].words]
        return [_counted(Word(piece.words[0], (piece,), own_fields), vocabulary, matcher) for piece in pieces]
    word = Word(term.text, tuple(forms), own_fields, is_name=any(map(is_indispensable, group)))
    if len(forms[0].words) == 1 and forms[0].words[0].isalpha() and not (term.quoted or term.prefix):
        inflections = vocabulary.inflections(forms[0].words[0], language)
        word = word._replace(inflections=tuple(each for each in inflections if each.field in own_fields))
    word = _counted(word, vocabulary, matcher)
    if word.entries or len(forms[0].words) == 1 or term.quoted:
        return [word]
    parts = (Word(part, (Form([part], prefix=False),), own_fields) for part in forms[0].words)
    return [_counted(part, vocabulary, matcher) for part in parts]


def _counted(word: Word, vocabulary: Vocabulary, matcher: Matcher) -> Word:
    """Return a word with the number of its entries."""
    entries = sum(each.entries for each in word.inflections) + sum(
        vocabulary.phrase_entry_count_in(word.fields, form.words, prefix=form.prefix) for form in word.forms
    )
    return word._replace(entries=entries, idf=matcher.idf(min(entries, vocabulary.count)))


class QuestionSearch:
    """Searches one commit of an index for a question."""

    def __init__(self, searcher: tantivy.Searcher, matcher: Matcher) -> None:
        self._searcher = searcher
        self._matcher = matcher

    def rank(self, query: Query, question: Question, keys: Sequence[int] = ()) -> list[ScoredMessage]:
        """Return the messages of the best conversations with their scores, in no order.

        `keys` are entries that are scored, too, with their conversations.
        """
        exact = [self._matcher.group(group, query) for group in query.exact_groups]
        if not all(exact):
            return []
        required = [_any_of([plan.query for plan in plans]) for plans in exact]
        conversations: dict[int, None] = {}
        best: dict[int, float] = {}
        others = [
            Message(key, each, at, chars) for key, each, at, chars in self._columns(self._with_keys(keys))
        ]
        if question.words:
            conversations, best = self._candidates(query, question, required)
        conversations |= dict.fromkeys(each.conversation for each in others)
        messages = {each.key: each for each in others}
        if question.words and conversations:
            messages |= {
                each.key: each for each in self._messages(query, question, list(conversations), required)
            }
        sizes = {key: self._searcher.doc_freq("conversation", key) for key in conversations}
        candidates = list(messages.values())
        if question.dates:
            candidates = [self._dated(each, question) for each in candidates]
        idfs = [each.idf for each in reversed(question.words)]
        missing = len(question.missing) * self._matcher.idf(0)
        return passages.score_messages(candidates, Evidence(idfs, missing, sizes, best))

    def keys_with_words(self, query: Query, question: Question, keys: Sequence[int]) -> set[int]:
        """Return those of the keys whose entries have a word of a question, or of a query of stop words."""
        queries = [each for word in question.known for each in self._matcher.has_word(word, word.fields)]
        if not queries and not question.missing:
            queries = [plan.query for group in query.groups for plan in self._matcher.group(group, query)]
        if not queries or not keys:
            return set()
        matching = self._matcher.restrict_to_keys(_any_of(queries), keys)
        return set(self._values("key", self._hits(matching, len(keys))))

    def _dated(self, message: Message, question: Question) -> Message:
        is_dated = any(date.matches(message.at) for date in question.dates)
        return message._replace(is_dated=True) if is_dated else message

    def _candidates(
        self, query: Query, question: Question, required: Sequence[tantivy.Query]
    ) -> tuple[dict[int, None], dict[int, float]]:
        """Return the conversations with the best messages, and the scores of these as shares of the best."""
        rare = _any_of([plan.query for word in _rare(question.words) for plan in self._matcher.word(word)])
        names = [
            _any_of(self._matcher.has_word(each, each.fields)) for each in question.words if each.is_name
        ]
        hits = self._hits(self._matcher.restrict(query, rare, *required, *names), _MAX_CANDIDATES)
        if not hits and names:
            hits = self._hits(self._matcher.restrict(query, rare, *required), _MAX_CANDIDATES)
        conversations, keys = (self._values(name, hits) for name in ("conversation", "key"))
        scores: dict[int, float] = {}
        counts: dict[int, int] = {}
        for (score, _), key in zip(hits, conversations, strict=True):
            counts[key] = counts.get(key, 0) + 1
            scores[key] = scores.get(key, 0.0) + score / counts[key]
        best = sorted(scores, key=lambda key: -scores[key])[:MAX_CONVERSATIONS]
        shares = {key: score / hits[0][0] for key, (score, _) in zip(keys, hits, strict=True)}
        return dict.fromkeys([*best, *self._dated_candidates(query, question, rare, required)]), shares

    def _dated_candidates(
        self, query: Query, question: Question, rare: tantivy.Query, required: Sequence[tantivy.Query]
    ) -> list[int]:
        """Return conversations of the dates in the question."""
        conversations: dict[int, None] = {}
        for bounds in filter(None, (date.bounds() for date in question.dates)):
            restricted = self._matcher.restrict(query, rare, *required, self._matcher.between(*bounds))
            hits = self._hits(restricted, _MAX_DATED_CANDIDATES)
            conversations |= dict.fromkeys(self._values("conversation", hits))
        return list(conversations)[:MAX_CONVERSATIONS]

    def _messages(
        self,
        query: Query,
        question: Question,
        conversations: Sequence[int],
        required: Sequence[tantivy.Query],
    ) -> list[Message]:
        """Return the messages of conversations that have words of the question.

        The rarest word has the highest bit: if there are too many messages, those with rare words remain.
        """
        masks, count = [], len(question.words)
        for bit, word in enumerate(reversed(question.words)):
            for place, fields in ((count + bit, _TEXT_FIELDS), (bit, _OTHER_FIELDS)):
                queries = self._matcher.has_word(word, fields)
                if queries:
                    masks.append(_scored(_any_of(queries), 2 << place))
        within = self._matcher.in_conversations(conversations)
        has_words = self._matcher.restrict(query, _any_of(masks), within, *required)
        is_answer = _scored(self._matcher.has_role("assistant"), 1)
        hits = self._hits(
            tantivy.Query.boolean_query([(Occur.Must, has_words), (Occur.Should, is_answer)]), MAX_MESSAGES
        )
        bits = (1 << count) - 1
        return [
            Message(*columns, int(score) >> (count + 1), int(score) >> 1 & bits, bool(int(score) & 1))
            for (score, _), columns in zip(hits, self._columns(hits), strict=True)
        ]

    def _values(self, name: str, hits: Sequence[Any]) -> list[int]:
        values = self._searcher.fast_field_values(name, [address for _, address in hits])
        return [int(value or 0) for value in values]

    def _with_keys(self, keys: Sequence[int]) -> list[Any]:
        return self._hits(self._matcher.has_key(keys), len(keys)) if keys else []

    def _hits(self, query: tantivy.Query, limit: int) -> list[Any]:
        """Return scores and addresses of the best entries."""
        return self._searcher.search(query, limit, count=False).hits

    def _columns(self, hits: Sequence[Any]) -> Iterator[tuple[int, int, int, int]]:
        """Yield key, conversation, time and length of entries."""
        addresses = [address for _, address in hits]
        columns = (self._searcher.fast_field_values(name, addresses) for name in _COLUMNS)
        return (
            (key or 0, each or 0, at or 0, chars or 0) for key, each, at, chars in zip(*columns, strict=True)
        )


def _scored(query: tantivy.Query, score: int) -> tantivy.Query:
    return tantivy.Query.const_score_query(query, float(score))


def _any_of(queries: Sequence[tantivy.Query]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(Occur.Should, each) for each in queries])


def _rare(words: Sequence[Word]) -> list[Word]:
    """Return the rarest words: as many as can be visited in a millisecond or two."""
    visited = list(accumulate(each.entries for each in words))
    return [
        word
        for place, word in enumerate(words)
        if place < _MIN_CANDIDATE_WORDS or visited[place] <= _MAX_VISITED_ENTRIES
    ]
