"""Translate a query into Tantivy's queries.

The user's text never reaches Tantivy's query parser: it is split into words as texts are.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

import tantivy
from tantivy import Occur

from agent_journal.search.forms import forms_of
from agent_journal.search.languages import detect_language, stop_words
from agent_journal.search.query import FACT_FIELD, Term, fact, index_fields, match_values, names_by_kind
from agent_journal.search.ranking import WEIGHTS, search_fields

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

    from agent_journal.search.forms import Form
    from agent_journal.search.query import Filters, Query
    from agent_journal.search.vocabulary import Inflection, Vocabulary


_MAX_EXPANSIONS = 200  # words per field that a prefix expands to
_MAX_PHRASE_EXPANSIONS = 2_000  # for the last word of a phrase; of more, only `_MAX_EXPANSIONS` are used
_MAX_SCORED_EXPANSIONS = 8  # the most frequent ones are scored by their number in a text
_MAX_PREFIX_LOOKUPS = 24  # one per field; further prefixes are treated as whole words
# Adjacent words of a query: how many pairs are scored, how many words may be between them in a text, their
# weight compared with the words themselves, and how many entries the rarer and the other word may have.
_MAX_NEAR_PAIRS, _MAX_GAP_WORDS, _NEAR_WEIGHT = 6, 3, 0.4
_MAX_RARER_ENTRIES, _MAX_OTHER_ENTRIES = 4_000, 100_000


# Tantivy's parameters of BM25.
_BM25_K1, _BM25_B = 1.2, 0.75
# The typical length of a text, in mean lengths: a few texts are very long, above all tool output.
_TYPICAL_LENGTHS = {
    "text": 0.5,
    "title": 0.5,
    "thinking": 0.25,
    "tool": 0.25,
    "output": 0.25,
    "attached": 0.25,
}
_UNIFORM_FIELDS = ("title",)  # no text of which is much shorter than the typical one
_MAX_SPARSITY_FACTOR = 8  # all entries per entry with a field; in sparser fields, lengths mean little
_CONSTANT_SHARE = 0.4  # of the score in sparse fields, independent of the length
_MAX_SINGLE_VALUES = 128  # that are matched one by one, which is faster than building a set
_MAX_SCORED_ENTRIES = 100_000  # of a word; next to a rarer one, a more common word is not scored
_MIN_RESTRICTED_ENTRIES = 20_000  # skipping some of fewer takes longer than visiting all
_INFLECTION_WEIGHT = 0.8  # compared with the word as it was typed
# The cost of matching a phrase or one of many words, compared with a single word.
_PHRASE_COST, _PREFIX_COST = 3, 3


class Word(NamedTuple):
    """A word of a question, or a name or phrase in it."""

    text: str
    """As it was typed."""
    forms: tuple[Form, ...]
    fields: tuple[str, ...]
    """The index fields to search."""
    inflections: tuple[Inflection, ...] = ()
    """Other words with the same stem, each with its field and the number of entries."""
    entries: int = 0
    """About how many entries have it."""
    idf: float = 0.0
    is_name: bool = False
    """Whether a hit's conversation must have it: a name or a number."""


class MatchPlan(NamedTuple):
    """A Tantivy query, and how many entries it visits."""

    query: tantivy.Query
    scanned_entries: int
    is_scored: bool = True
    """Whether some entries match better than others: not if there are only filters."""


class Matcher:
    """Builds queries for one commit of an index: for all entries, or for those of some weeks."""

    def __init__(self, schema: tantivy.Schema, vocabulary: Vocabulary) -> None:
        self._schema = schema
        self._vocabulary = vocabulary
        self._weeks: Sequence[str] = ()
        self._lookups_left = _MAX_PREFIX_LOOKUPS
        self._is_narrowed = False
        self._sparsities: dict[str, float] = {}
        self._prefix_plans: dict[tuple[str, tuple[str, ...]], list[MatchPlan]] = {}

    def for_weeks(self, weeks: Sequence[str]) -> Matcher:
        """Return a matcher for entries of some weeks."""
        other = Matcher(self._schema, self._vocabulary)
        other._weeks, other._sparsities, other._prefix_plans = weeks, self._sparsities, self._prefix_plans
        return other

    def build(self, query: Query) -> MatchPlan | None:
        """Build the query; None if nothing can match."""
        self._is_narrowed = _is_narrowed(query)
        fields = search_fields(query.filters.fields)
        groups = [group for group in query.groups if any(map(forms_of, group))]
        plans = [self._in_any_field(group, fields) for group in groups]
        conditions, negated = self._conditions_and_negated(query)
        matching = [alternatives for alternatives in plans if alternatives]
        needed = len(plans) if query.min_groups is None else min(max(query.min_groups, 1), len(plans))
        if len(matching) < needed or not (plans or query.negated or negated or conditions):
            return None
        plan = _match_enough(matching, needed) if matching else self._everything()
        # If not all words must match, adjacent ones are mostly the frequent ones.
        near = list(self._near_pairs(query, fields)) if len(matching) > 1 and query.min_groups is None else []
        if self._weeks:
            conditions.append(self._has_fact("week", self._weeks))
        if not negated and not conditions and not near:
            return plan
        clauses = [(Occur.Must, plan.query), *_clauses(conditions, negated)]
        clauses += [(Occur.Should, one) for one in near]
        return plan._replace(query=tantivy.Query.boolean_query(clauses))

    def restrict(self, query: Query, matching: tantivy.Query, *required: tantivy.Query) -> tantivy.Query:
        """Restrict what matches to the filters and negated words of a query, and to what is required."""
        conditions, negated = self._conditions_and_negated(query)
        clauses = [(Occur.Must, matching), *_clauses([*required, *conditions], negated)]
        return tantivy.Query.boolean_query(clauses) if len(clauses) > 1 else matching

    def _conditions_and_negated(self, query: Query) -> tuple[list[tantivy.Query], list[tantivy.Query]]:
        fields = search_fields(query.filters.fields)
        negated = [each.query for each in self._in_any_field(query.negated, fields)]
        return self._conditions(query.filters), negated + self._conditions(query.excluded)

    def group(self, group: Iterable[Term], query: Query) -> list[MatchPlan]:
        """Build queries for any term of a group of a query, in the fields of the query."""
        return self._in_any_field(group, search_fields(query.filters.fields))

    def word(self, word: Word) -> list[MatchPlan]:
        """Build weighted queries for a word of a question, in each field."""
        plans = [plan for form in word.forms for plan in self._form_plans(form, word.fields)]
        for field, inflection, count in word.inflections:
            query = tantivy.Query.term_query(self._schema, field, inflection, "freq")
            weight = _INFLECTION_WEIGHT * WEIGHTS[field] * word.idf / self._idf_sum([count])
            plans.append(
                MatchPlan(self._normalize_length(query, field, weight, weight, is_phrase=False), count)
            )
        return plans

    def has_word(self, word: Word, fields: Collection[str]) -> list[tantivy.Query]:
        """Build queries for a word of a question in some fields, without weights."""
        queries = [
            self._unscored(field, form) for form in word.forms for field in word.fields if field in fields
        ]
        inflections = [
            tantivy.Query.term_query(self._schema, field, inflection, "basic")
            for field, inflection, _ in word.inflections
            if field in fields
        ]
        return [each for each in queries if each is not None] + inflections

    def _unscored(self, field: str, form: Form) -> tantivy.Query | None:
        if form.prefix and len(form.words) == 1:
            words = [
                word for word, _ in self._vocabulary.words_with_prefix(field, form.words[0], _MAX_EXPANSIONS)
            ]
            return self._one_of(field, words) if words else None
        if not all(self._vocabulary.frequency(field, word) for word in form.words):
            return None
        if len(form.words) == 1:
            return tantivy.Query.term_query(self._schema, field, form.words[0], "basic")
        return self._phrase_with_prefix(field, form.words) if form.prefix else self._phrase(field, form.words)

    def in_conversations(self, keys: Iterable[int]) -> tantivy.Query:
        """Build a query for the entries of conversations."""
        return self._one_of("conversation", [_clamp(key) for key in keys])

    def has_key(self, keys: Iterable[int]) -> tantivy.Query:
        """Build a query for entries with some keys."""
        return self._one_of("key", [_clamp(key) for key in keys])

    def has_role(self, role: str) -> tantivy.Query:
        """Build a query for entries with a role."""
        return self._has_fact("role", [role])

    def idf(self, frequency: int) -> float:
        """Return the inverse document frequency of a word that so many entries have."""
        return self._idf_sum([frequency])

    def matching(self, query: Query) -> tantivy.Query | None:
        """Build a query for all entries that match; None if none can. An empty query matches everything."""
        plan = self.build(query)
        if plan is not None:
            return plan.query
        conditions = query.filters._replace(shown=False), query.excluded
        is_empty = not (query.groups or query.negated or any(map(any, conditions)))
        return self._everything().query if is_empty else None

    def any_word(self, query: Query, words: Iterable[Word]) -> tantivy.Query | None:
        """Build a query for entries that have at least one of some words; None if none has any."""
        queries = [each for word in words for each in self.has_word(word, word.fields)]
        required = [[plan.query for plan in self.group(group, query)] for group in query.exact_groups]
        if not queries or not all(required):
            return None
        either = [
            tantivy.Query.boolean_query([(Occur.Should, one) for one in each])
            for each in (queries, *required)
        ]
        return self.restrict(query, *either)

    def _everything(self) -> MatchPlan:
        return MatchPlan(tantivy.Query.exists_query("key"), self._vocabulary.count, is_scored=False)

    def build_filter(self, query: Query) -> tantivy.Query | None:
        """Build a query for entries that pass filters and negated words; None if all pass."""
        plan = self.build(query._replace(groups=(), min_groups=None))
        return plan and plan.query

    def restrict_to_keys(self, query: tantivy.Query, keys: Sequence[int]) -> tantivy.Query:
        """Restrict a query to entries with some keys."""
        return tantivy.Query.boolean_query([(Occur.Must, self.has_key(keys)), (Occur.Must, query)])

    def _in_any_field(self, terms: Iterable[Term], fields: Sequence[str]) -> list[MatchPlan]:
        """Build queries for any of the terms in any of the fields."""
        return [
            plan
            for term in terms
            for form in forms_of(term)
            for plan in self._form_plans(form, index_fields([term.field]) if term.field else fields)
        ]

    def _form_plans(self, form: Form, fields: Sequence[str]) -> Iterator[MatchPlan]:
        """Yield a weighted query for a form in each field.

        Tantivy considers a word rare, and so significant, if a field rarely has it. Titles are few, so all
        words are rare in them; here, the rarity of a word is that in all fields together.
        """
        if form.prefix and len(form.words) == 1 and self._lookups_left > 0:
            self._lookups_left -= len(fields)
            prefix_key = form.words[0], tuple(fields)
            if prefix_key not in self._prefix_plans:  # slow for a short prefix
                self._prefix_plans[prefix_key] = list(self._prefix_query_plans(*prefix_key))
            yield from self._prefix_plans[prefix_key]
            return
        whole_words = form.words[:-1] if form.prefix and len(form.words) > 1 else form.words
        counts_by_field = {
            field: [self._vocabulary.frequency(field, word) for word in whole_words] for field in fields
        }
        idf = self._idf_sum(map(sum, zip(*counts_by_field.values(), strict=True)))
        for field, counts in counts_by_field.items():
            if all(counts):
                plan = self._plan_in_field(field, form, min(counts))
                yield plan._replace(query=self._weigh(plan.query, field, form, idf, self._idf_sum(counts)))

    def _prefix_query_plans(self, prefix: str, fields: Sequence[str]) -> Iterator[MatchPlan]:
        """Yield queries for words with a prefix. All weigh the same, so that rare ones do not come first."""
        words_by_field = {
            field: self._vocabulary.words_with_prefix(field, prefix, _MAX_EXPANSIONS) for field in fields
        }
        idf = self._idf_sum([sum(count for words in words_by_field.values() for _, count in words)])
        for field, words in words_by_field.items():
            for word, count in words[:_MAX_SCORED_EXPANSIONS]:
                query = tantivy.Query.term_query(self._schema, field, word, "freq")
                own_idf = self._idf_sum([count])
                weight = WEIGHTS[field] * idf
                query = self._normalize_length(query, field, weight / own_idf, weight, is_phrase=False)
                yield MatchPlan(query, _PREFIX_COST * count)
            if others := words[_MAX_SCORED_EXPANSIONS:]:
                query = self._rest_of_prefix(field, prefix, [word for word, _ in others])
                weighted = tantivy.Query.const_score_query(query, WEIGHTS[field] * idf)
                yield MatchPlan(weighted, _PREFIX_COST * sum(count for _, count in others))

    def _rest_of_prefix(self, field: str, prefix: str, others: list[str]) -> tantivy.Query:
        """Match the other words with a prefix: all if few entries may match, else the frequent ones."""
        if self._is_narrowed and len(others) == _MAX_EXPANSIONS - _MAX_SCORED_EXPANSIONS:
            return tantivy.Query.regex_query(self._schema, field, f"{prefix}.*")
        return self._one_of(field, others)

    def _weigh(
        self, query: tantivy.Query, field: str, form: Form, idf: float, own_idf: float
    ) -> tantivy.Query:
        """Weigh a query by `idf`, where Tantivy uses `own_idf`."""
        idf *= WEIGHTS[field]
        if form.prefix:  # any match counts like one in a text of typical length
            return tantivy.Query.const_score_query(query, idf * _typical_score(field))
        return self._normalize_length(query, field, idf / own_idf, idf, is_phrase=len(form.words) > 1)

    def _normalize_length(
        self, query: tantivy.Query, field: str, weight: float, constant: float, *, is_phrase: bool
    ) -> tantivy.Query:
        """Weigh a query so that a text of typical length gets the intended score.

        Tantivy takes the mean length of a field over all entries, also those without it: if few have the
        field, each text looks very long, as if its words were there by chance. A higher weight makes up for
        that. But in very sparse fields short texts would then count for more than any message: there all get
        nearly the same score, and for phrases, which mostly occur once, exactly the same.
        """
        if not self._is_sparse(field):
            typical = _TYPICAL_LENGTHS[field]
            factor = _length_norm(typical * self._sparsity(field)) / _length_norm(typical)
            return tantivy.Query.boost_query(query, weight * factor)
        share = 1 if is_phrase else _CONSTANT_SHARE
        constant_part = tantivy.Query.const_score_query(query, constant * share * _typical_score(field))
        if is_phrase:
            return constant_part
        scored_part = tantivy.Query.boost_query(query, weight * (1 - share))
        return tantivy.Query.boolean_query([(Occur.Should, constant_part), (Occur.Should, scored_part)])

    def _is_sparse(self, field: str) -> bool:
        """Whether so few entries have a field that Tantivy considers each text very long."""
        return field not in _UNIFORM_FIELDS and self._sparsity(field) > _MAX_SPARSITY_FACTOR

    def _sparsity(self, field: str) -> float:
        """Return the number of all entries per entry with a field."""
        sparsity = self._sparsities.get(field)
        if sparsity is None:
            sparsity = self._vocabulary.count / max(1, self._vocabulary.fact_entry_count("has", field))
            self._sparsities[field] = sparsity
        return sparsity

    def _near_pairs(self, query: Query, fields: Sequence[str]) -> Iterator[tantivy.Query]:
        """Yield queries for adjacent words of the query that are close together in a text.

        Tantivy visits all entries that have both words, so pairs of very common words are left out.
        """
        words = [self._single_word(group) for group in query.groups[: _MAX_NEAR_PAIRS + 1]]
        ignored = stop_words(words, detect_language(words))
        for first, second in pairwise("" if word in ignored else word for word in words):
            for field in fields if first and second else ():
                counts = [self._vocabulary.frequency(field, word) for word in (first, second)]
                if 0 < min(counts) <= _MAX_RARER_ENTRIES and max(counts) <= _MAX_OTHER_ENTRIES:
                    phrase = tantivy.Query.phrase_query(self._schema, field, [first, second], _MAX_GAP_WORDS)
                    weight = _NEAR_WEIGHT * WEIGHTS[field]
                    yield self._normalize_length(
                        phrase, field, weight, weight * self._idf_sum(counts), is_phrase=True
                    )

    def _single_word(self, group: Sequence[Term]) -> str:
        """Return the word of a group if it is a single one, else `""`."""
        forms = forms_of(group[0]) if len(group) == 1 and not group[0].field else []
        return forms[0].words[0] if forms and len(forms[0].words) == 1 and not forms[0].prefix else ""

    def _idf_sum(self, frequencies: Iterable[int]) -> float:
        """Return the sum of the inverse document frequencies, as in BM25."""
        count = self._vocabulary.count
        return sum(
            log(1 + max(count - frequency + 0.5, 0.5) / (frequency + 0.5)) for frequency in frequencies
        )

    def _plan_in_field(self, field: str, form: Form, entries: int) -> MatchPlan:
        """Plan a form in a field; `entries` is the number of entries with the rarest of its words."""
        if len(form.words) == 1:
            return MatchPlan(tantivy.Query.term_query(self._schema, field, form.words[0], "freq"), entries)
        phrase = (
            self._phrase_with_prefix(field, form.words) if form.prefix else self._phrase(field, form.words)
        )
        return self._restrict_to_weeks(phrase, _PHRASE_COST * entries)

    def _phrase(self, field: str, words: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.phrase_query(self._schema, field, list(words))

    def _phrase_with_prefix(self, field: str, words: Sequence[str]) -> tantivy.Query:
        """Match a phrase whose last word may continue; all continuations get the same score.

        Tantivy's own query tries only the alphabetically first fifty words.
        """
        if self._lookups_left <= 0:
            return tantivy.Query.phrase_prefix_query(self._schema, field, list(words))
        self._lookups_left -= 1
        *first_words, prefix = words
        expansions = self._vocabulary.words_with_prefix(field, prefix, _MAX_PHRASE_EXPANSIONS)
        if len(expansions) < _MAX_PHRASE_EXPANSIONS:
            query = tantivy.Query.regex_phrase_query(self._schema, field, [*first_words, f"{prefix}.*"])
        else:
            phrases = (self._phrase(field, [*first_words, word]) for word, _ in expansions[:_MAX_EXPANSIONS])
            query = tantivy.Query.boolean_query([(Occur.Should, one) for one in phrases])
        return tantivy.Query.const_score_query(query, 1)

    def _restrict_to_weeks(self, phrase: tantivy.Query, entries: int) -> MatchPlan:
        """Plan a phrase. In a search of some weeks, it must not be searched in other weeks.

        Tantivy would otherwise advance to the next entry with the phrase, whatever its week.
        """
        if self._weeks and entries > _MIN_RESTRICTED_ENTRIES:
            weeks = tantivy.Query.const_score_query(self._has_fact("week", self._weeks), 0)
            phrase = tantivy.Query.boolean_query([(Occur.Must, weeks), (Occur.Must, phrase)])
        return MatchPlan(phrase, entries)

    def _conditions(self, filters: Filters) -> list[tantivy.Query]:
        conditions = [
            self._has_fact(kind, match_values(kind, names, self._vocabulary.values(kind)))
            for kind, names in names_by_kind(filters).items()
        ]
        if filters.has_error:
            conditions.append(self._has_fact("has", ["error"]))
        if filters.conversations:
            conditions.append(self._in_conversations(filters.conversations, filters.held))
        if filters.since is not None or filters.until is not None:
            conditions.append(self.between(filters.since, filters.until))
        return conditions

    def _in_conversations(self, conversations: Iterable[int], held: Iterable[int]) -> tantivy.Query:
        either = [
            self._one_of("conversation", [_clamp(key) for key in conversations]),
            self._one_of("key", [_clamp(key) for key in held]),
        ]
        return tantivy.Query.boolean_query([(Occur.Should, one) for one in either])

    def _has_fact(self, kind: str, values: Iterable[str]) -> tantivy.Query:
        return self._one_of(FACT_FIELD, [fact(kind, value) for value in values])

    def _one_of(self, field: str, values: Sequence[str | int]) -> tantivy.Query:
        """Match entries with one of the values; all get the same score."""
        if len(values) > _MAX_SINGLE_VALUES:
            return tantivy.Query.term_set_query(self._schema, field, list(values))
        queries = [tantivy.Query.term_query(self._schema, field, value, "basic") for value in values]
        return tantivy.Query.const_score_query(
            tantivy.Query.boolean_query([(Occur.Should, one) for one in queries]), 1
        )

    def between(self, since: int | None, until: int | None) -> tantivy.Query:
        """Build a query for entries of a time."""
        return tantivy.Query.range_query(
            self._schema,
            "at",
            tantivy.FieldType.Integer,
            lower_bound=None if since is None else _clamp(since),
            upper_bound=None if until is None else _clamp(until - 1),
        )


def _clauses(
    conditions: Iterable[tantivy.Query], negated: Iterable[tantivy.Query]
) -> Iterator[tuple[Occur, tantivy.Query]]:
    """Yield clauses that do not change scores."""
    yield from ((Occur.MustNot, one) for one in negated)
    yield from ((Occur.Must, tantivy.Query.const_score_query(one, 0)) for one in conditions)


def _is_narrowed(query: Query) -> bool:
    """Whether the query has more than one condition, so that only rare entries may remain."""
    conditions = query.filters._replace(fields=()), query.excluded
    return len(query.groups) != 1 or bool(query.negated) or any(map(any, conditions))


def _length_norm(length: float) -> float:
    """Return BM25's denominator for a word that occurs once in a text of that many mean lengths."""
    return 1 + _BM25_K1 * (1 - _BM25_B + _BM25_B * length)


def _typical_score(field: str) -> float:
    """Return BM25's term score of a word that occurs once in a text of typical length."""
    return (1 + _BM25_K1) / _length_norm(_TYPICAL_LENGTHS[field])


def _clamp(number: int) -> int:
    """Clamp a number to the 64 bits of the index."""
    return max(-(2**63), min(number, 2**63 - 1))


def _match_enough(groups: list[list[MatchPlan]], needed: int) -> MatchPlan:
    """Match enough groups. Tantivy is faster with a flat list of words than with nested lists."""
    counts = [sum(plan.scanned_entries for plan in plans) for plans in groups]
    if len(groups) == 1 or needed <= 1:
        return MatchPlan(_any_of([plan for plans in groups for plan in plans]), sum(counts))
    if needed == len(groups):
        rarest = min(counts)
        plan = zip(map(_any_of, groups), counts, strict=True)
        clauses = [
            tantivy.Query.const_score_query(one, 0) if rarest <= _MAX_SCORED_ENTRIES < count else one
            for one, count in plan
        ]
        query = tantivy.Query.boolean_query([(Occur.Must, one) for one in clauses])
        return MatchPlan(query, rarest * len(counts))
    optional = [(Occur.Should, _any_of(plans)) for plans in groups]
    return MatchPlan(tantivy.Query.boolean_query(optional, needed), sum(counts))


def _any_of(plans: list[MatchPlan]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(Occur.Should, one.query) for one in plans])
