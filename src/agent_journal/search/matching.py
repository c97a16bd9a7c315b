"""A query in the index's own terms.

A person's text never reaches a parser of the index: it is cut into words as texts are.
"""

from __future__ import annotations

from itertools import pairwise
from math import log
from typing import TYPE_CHECKING, NamedTuple

import tantivy
from tantivy import Occur

from agent_journal.search.forms import MOST_WORDS, forms_of
from agent_journal.search.query import FACTS, Term, fact, index_fields, meant, names_in
from agent_journal.search.ranking import WEIGHTS, looked_in

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from agent_journal.search.forms import Form
    from agent_journal.search.query import Filters, Query
    from agent_journal.search.vocabulary import Vocabulary


_EXPANSIONS = 200  # words of a field that one prefix stands for
_IN_A_ROW = 2_000  # words that the last of a row may be; of more, only those that one prefix stands for count
_TOLD_APART = 8  # of them, the most frequent: of these it counts how often they are in a text
_MOST_PREFIXES = 24  # that are looked up, one per field; what goes beyond is taken for whole words
# Words that stand side by side: how many pairs of a query count, how many words may be between, how much it
# counts beside the words themselves, and in how many entries the rarer and the other one may be.
_MOST_NEAR, _APART, _NEARNESS, _RARE_ENOUGH, _FREQUENT = 6, 3, 0.4, 4_000, 100_000


# As the index reckons how much a word counts: by how often it is there, and by how long the text is.
_SATURATION, _BY_LENGTH = 1.2, 0.75
# How long a text mostly is, in mean lengths: a few are very long, above all of what tools print.
_USUAL = {"text": 0.5, "title": 0.5, "thinking": 0.25, "tool": 0.25, "output": 0.25, "attached": 0.25}
_ALL_SHORT = ("title",)  # fields of which no text is much shorter than the usual
_SELDOM = 8  # times as many entries as have a field; where there are more, lengths tell little
_SAME = 0.4  # of what counts then is the same for all texts, however long they are
_ONE_BY_ONE = 128  # values that are sought faster each for itself: to make a set of them takes its time
_EVERYWHERE = 100_000  # entries that have a word; beside a rarer one it tells nothing how often each has it
_MANY = 20_000  # entries to go through; to leave out some of fewer takes longer
# How many times as long as for one word it takes to find words that stand in a row, or one of many.
_ROW, _BEGUN = 3, 3


class Sought(NamedTuple):
    """What finds something, and through how many entries the index goes for it."""

    query: tantivy.Query
    entries: int
    is_scored: bool = True
    """Whether some match better than others: not if only filters are asked for."""


class Matcher:
    """Makes queries for one state of an index: for all entries, or for those of some weeks."""

    def __init__(self, schema: tantivy.Schema, vocabulary: Vocabulary) -> None:
        self._schema = schema
        self._vocabulary = vocabulary
        self._weeks: Sequence[str] = ()
        self._prefixes = _MOST_PREFIXES
        self._is_narrowed = False
        self._lengths: dict[str, float] = {}
        self._beginnings: dict[tuple[str, tuple[str, ...]], list[Sought]] = {}

    def of_weeks(self, weeks: Sequence[str]) -> Matcher:
        """What makes the same queries for entries of some weeks."""
        other = Matcher(self._schema, self._vocabulary)
        other._weeks, other._lengths, other._beginnings = weeks, self._lengths, self._beginnings
        return other

    def sought(self, query: Query) -> Sought | None:
        """What finds the entries that are meant; None if nothing can be."""
        self._is_narrowed = _is_narrowed(query)
        fields = looked_in(query.filters.fields)
        groups = [group for group in query.wanted if any(map(forms_of, group))]
        wanted = [self._anywhere(group, fields) for group in groups]
        unwanted = [each.query for each in self._anywhere(query.unwanted, fields)]
        conditions = self._conditions(query.filters)
        unwanted += self._conditions(query.excluded)
        found = [parts for parts in wanted if parts]
        needed = len(wanted) if query.enough is None else min(max(query.enough, 1), len(wanted))
        if len(found) < needed or not (wanted or query.unwanted or unwanted or conditions):
            return None
        said = _enough(found, needed) if found else self._everything()
        # Among words that need not all be there, those that stand together are mostly the frequent ones.
        near = list(self._near(query, fields)) if len(found) > 1 and query.enough is None else []
        if self._weeks:
            conditions.append(self._having("week", self._weeks))
        if not unwanted and not conditions and not near:
            return said
        clauses = [(Occur.Must, said.query), *((Occur.MustNot, one) for one in unwanted)]
        clauses += [(Occur.Must, tantivy.Query.const_score_query(one, 0)) for one in conditions]
        clauses += [(Occur.Should, one) for one in near]
        return said._replace(query=tantivy.Query.boolean_query(clauses))

    def _everything(self) -> Sought:
        return Sought(tantivy.Query.exists_query("key"), self._vocabulary.count, is_scored=False)

    def allowed(self, query: Query) -> tantivy.Query | None:
        """What finds every entry that filters and unwanted words leave; None if nothing is left out."""
        found = self.sought(query._replace(wanted=(), enough=None))
        return found and found.query

    def with_keys(self, found: tantivy.Query, keys: Sequence[int]) -> tantivy.Query:
        """What finds the same, among entries with some keys."""
        among = self._one_of("key", [_stored(key) for key in keys])
        return tantivy.Query.boolean_query([(Occur.Must, among), (Occur.Must, found)])

    def loosened(self, query: Query) -> Query | None:
        """What asks for any of the single words of a query; None if there is nothing to let go of."""
        if query.strict or query.is_exact:
            return None
        words = [word for group in query.wanted for form in forms_of(group[0])[:1] for word in form.words]
        pieces = tuple((Term(word, quoted=True),) for word in dict.fromkeys(words))[:MOST_WORDS]
        return query._replace(wanted=pieces, enough=1) if len(pieces) > 1 else None

    def _anywhere(self, terms: Iterable[Term], fields: Sequence[str]) -> list[Sought]:
        """What finds one of several terms in one of several fields."""
        return [
            found
            for term in terms
            for form in forms_of(term)
            for found in self._found(form, index_fields([term.field]) if term.field else fields)
        ]

    def _found(self, form: Form, fields: Sequence[str]) -> Iterator[Sought]:
        """What finds a form in each field, weighted.

        The index takes a word for rare, and so for telling, where a field seldom has it. Titles are few, so
        all words are rare in them; here a word is as rare as it is in all fields together.
        """
        if form.prefix and len(form.words) == 1 and self._prefixes > 0:
            self._prefixes -= len(fields)
            asked = form.words[0], tuple(fields)
            if asked not in self._beginnings:  # for a short one it takes long to find them
                self._beginnings[asked] = list(self._beginning(*asked))
            yield from self._beginnings[asked]
            return
        whole = form.words[:-1] if form.prefix and len(form.words) > 1 else form.words
        counted = {field: [self._vocabulary.frequency(field, word) for word in whole] for field in fields}
        told = self._told(map(sum, zip(*counted.values(), strict=True)))
        for field, counts in counted.items():
            if all(counts):
                row = self._row(field, form, min(counts))
                yield row._replace(query=self._weighted(row.query, field, form, told, self._told(counts)))

    def _beginning(self, prefix: str, fields: Sequence[str]) -> Iterator[Sought]:
        """What finds words that begin so. They count alike, so that none comes first for being rare."""
        known = {field: self._vocabulary.beginning(field, prefix, _EXPANSIONS) for field in fields}
        told = self._told([sum(count for begun in known.values() for _, count in begun)])
        for field, begun in known.items():
            for word, count in begun[:_TOLD_APART]:
                found = tantivy.Query.term_query(self._schema, field, word, "freq")
                reckoned = self._told([count])
                weight = WEIGHTS[field] * told
                found = self._evened(found, field, weight / reckoned, weight, is_row=False)
                yield Sought(found, _BEGUN * count)
            if others := begun[_TOLD_APART:]:
                found = self._others_begun(field, prefix, [word for word, _ in others])
                weighted = tantivy.Query.const_score_query(found, WEIGHTS[field] * told)
                yield Sought(weighted, _BEGUN * sum(count for _, count in others))

    def _others_begun(self, field: str, prefix: str, others: list[str]) -> tantivy.Query:
        """What finds the others that begin so: all where little may be left, else the frequent ones."""
        if self._is_narrowed and len(others) == _EXPANSIONS - _TOLD_APART:
            return tantivy.Query.regex_query(self._schema, field, f"{prefix}.*")
        return self._one_of(field, others)

    def _weighted(
        self, found: tantivy.Query, field: str, form: Form, told: float, reckoned: float
    ) -> tantivy.Query:
        """What finds the same, where words tell so much, but the index reckons with so much."""
        told *= WEIGHTS[field]
        if form.prefix:  # whatever has it counts like a text of usual length that has it once
            return tantivy.Query.const_score_query(found, told * _once(field))
        return self._evened(found, field, told / reckoned, told, is_row=len(form.words) > 1)

    def _evened(
        self, found: tantivy.Query, field: str, weight: float, told: float, *, is_row: bool
    ) -> tantivy.Query:
        """What finds the same with a weight, where a text of usual length counts as it should.

        The index takes the mean length of a field over all entries, also those that do not have it: where few
        do, each looks very long, as if its words were there by chance. To count all the more makes up for it,
        but where hardly any do, what is short would count for more than anything that was said: there all
        have nearly the same, and of words in a row, which are mostly there once, just the same.
        """
        if not self._is_seldom(field):
            usual = _USUAL[field]
            evened = _damped(usual * self._longer(field)) / _damped(usual)
            return tantivy.Query.boost_query(found, weight * evened)
        share = 1 if is_row else _SAME
        same = tantivy.Query.const_score_query(found, told * share * _once(field))
        if is_row:
            return same
        reckoned = tantivy.Query.boost_query(found, weight * (1 - share))
        return tantivy.Query.boolean_query([(Occur.Should, same), (Occur.Should, reckoned)])

    def _is_seldom(self, field: str) -> bool:
        """Whether so few entries have a field that the index takes each for very long."""
        return field not in _ALL_SHORT and self._longer(field) > _SELDOM

    def _longer(self, field: str) -> float:
        """How many times as long as the mean of all entries the mean of those is that have a field."""
        known = self._lengths.get(field)
        if known is None:
            known = self._vocabulary.count / max(1, self._vocabulary.entries_of("has", field))
            self._lengths[field] = known
        return known

    def _near(self, query: Query, fields: Sequence[str]) -> Iterator[tantivy.Query]:
        """What finds words that follow each other in the query close to each other.

        The index looks through all entries that have both: that is left out where both are everywhere.
        """
        single = [self._single(group) for group in query.wanted[: _MOST_NEAR + 1]]
        for first, second in pairwise(single):
            for field in fields if first and second else ():
                counts = [self._vocabulary.frequency(field, word) for word in (first, second)]
                if 0 < min(counts) <= _RARE_ENOUGH and max(counts) <= _FREQUENT:
                    row = tantivy.Query.phrase_query(self._schema, field, [first, second], _APART)
                    weight = _NEARNESS * WEIGHTS[field]
                    yield self._evened(row, field, weight, weight * self._told(counts), is_row=True)

    def _single(self, group: Sequence[Term]) -> str:
        """The one word of a group, if it has one."""
        forms = forms_of(group[0]) if len(group) == 1 and not group[0].field else []
        return forms[0].words[0] if forms and len(forms[0].words) == 1 and not forms[0].prefix else ""

    def _told(self, frequencies: Iterable[int]) -> float:
        """How much words tell that are so frequent, as the index reckons it."""
        count = self._vocabulary.count
        return sum(log(1 + max(count - each + 0.5, 0.5) / (each + 0.5)) for each in frequencies)

    def _row(self, field: str, form: Form, entries: int) -> Sought:
        """What finds a form in a field, where so many entries have the rarest of its words."""
        if len(form.words) == 1:
            return Sought(tantivy.Query.term_query(self._schema, field, form.words[0], "freq"), entries)
        row = self._begun_row(field, form.words) if form.prefix else self._whole_row(field, form.words)
        return self._of_weeks(row, _ROW * entries)

    def _whole_row(self, field: str, row: Sequence[str]) -> tantivy.Query:
        return tantivy.Query.phrase_query(self._schema, field, list(row))

    def _begun_row(self, field: str, row: Sequence[str]) -> tantivy.Query:
        """What finds words in a row of which the last may go on; whatever it may be counts alike.

        The index by itself tries no more than the first fifty words by the alphabet.
        """
        if self._prefixes <= 0:
            return tantivy.Query.phrase_prefix_query(self._schema, field, list(row))
        self._prefixes -= 1
        *before, beginning = row
        begun = self._vocabulary.beginning(field, beginning, _IN_A_ROW)
        if len(begun) < _IN_A_ROW:
            found = tantivy.Query.regex_phrase_query(self._schema, field, [*before, f"{beginning}.*"])
        else:
            rows = (self._whole_row(field, [*before, word]) for word, _ in begun[:_EXPANSIONS])
            found = tantivy.Query.boolean_query([(Occur.Should, one) for one in rows])
        return tantivy.Query.const_score_query(found, 1)

    def _of_weeks(self, row: tantivy.Query, entries: int) -> Sought:
        """What finds a row of words. Where it is sought among some weeks, it must not be sought in others.

        The index would go on to the next entry that has it, of whatever week, each time it looks for one.
        """
        if self._weeks and entries > _MANY:
            weeks = tantivy.Query.const_score_query(self._having("week", self._weeks), 0)
            row = tantivy.Query.boolean_query([(Occur.Must, weeks), (Occur.Must, row)])
        return Sought(row, entries)

    def _conditions(self, filters: Filters) -> list[tantivy.Query]:
        conditions = [
            self._having(kind, meant(kind, names, self._vocabulary.values(kind)))
            for kind, names in names_in(filters).items()
        ]
        if filters.has_error:
            conditions.append(self._having("has", ["error"]))
        if filters.conversations:
            conditions.append(self._within(filters.conversations, filters.held))
        if filters.since is not None or filters.until is not None:
            conditions.append(self._between(filters.since, filters.until))
        return conditions

    def _within(self, conversations: Iterable[int], held: Iterable[int]) -> tantivy.Query:
        either = [
            self._one_of("conversation", [_stored(key) for key in conversations]),
            self._one_of("key", [_stored(key) for key in held]),
        ]
        return tantivy.Query.boolean_query([(Occur.Should, one) for one in either])

    def _having(self, kind: str, values: Iterable[str]) -> tantivy.Query:
        return self._one_of(FACTS, [fact(kind, value) for value in values])

    def _one_of(self, field: str, values: Sequence[str | int]) -> tantivy.Query:
        """What finds entries that have one of some values; all count alike."""
        if len(values) > _ONE_BY_ONE:
            return tantivy.Query.term_set_query(self._schema, field, list(values))
        each = [tantivy.Query.term_query(self._schema, field, value, "basic") for value in values]
        return tantivy.Query.const_score_query(
            tantivy.Query.boolean_query([(Occur.Should, one) for one in each]), 1
        )

    def _between(self, since: int | None, until: int | None) -> tantivy.Query:
        return tantivy.Query.range_query(
            self._schema,
            "at",
            tantivy.FieldType.Integer,
            lower_bound=None if since is None else _stored(since),
            upper_bound=None if until is None else _stored(until - 1),
        )


def _is_narrowed(query: Query) -> bool:
    """Whether more is asked for than one thing, so that what is rare may be all that is left."""
    asked = query.filters._replace(fields=()), query.excluded
    return len(query.wanted) != 1 or bool(query.unwanted) or any(map(any, asked))


def _damped(length: float) -> float:
    """By what the index divides how much a word tells in a text of so many mean lengths that has it once."""
    return 1 + _SATURATION * (1 - _BY_LENGTH + _BY_LENGTH * length)


def _once(field: str) -> float:
    """How often a word counts, as the index reckons it, that a text of usual length has once."""
    return (1 + _SATURATION) / _damped(_USUAL[field])


def _stored(number: int) -> int:
    """A number as the index can hold one."""
    return max(-(2**63), min(number, 2**63 - 1))


def _enough(found: list[list[Sought]], needed: int) -> Sought:
    """What finds enough of several things. The index is faster at a list of words than at a list of lists."""
    counts = [sum(each.entries for each in parts) for parts in found]
    if len(found) == 1 or needed <= 1:
        return Sought(_either([each for parts in found for each in parts]), sum(counts))
    if needed == len(found):
        rarest = min(counts)
        each = zip(map(_either, found), counts, strict=True)
        all_of_them = [
            tantivy.Query.const_score_query(one, 0) if rarest <= _EVERYWHERE < count else one
            for one, count in each
        ]
        every = tantivy.Query.boolean_query([(Occur.Must, one) for one in all_of_them])
        return Sought(every, rarest * len(counts))
    some = [(Occur.Should, _either(parts)) for parts in found]
    return Sought(tantivy.Query.boolean_query(some, needed), sum(counts))


def _either(found: list[Sought]) -> tantivy.Query:
    return tantivy.Query.boolean_query([(Occur.Should, one.query) for one in found])
