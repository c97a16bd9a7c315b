"""All rules at work on one text: where secrets are in it, and of which kind."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal.redaction import decoys, prefilter, views
from agent_journal.redaction.base64_secrets import WRAPPED
from agent_journal.redaction.by_name import NAMED, PLAIN
from agent_journal.redaction.by_position import PLACED
from agent_journal.redaction.linewraps import LineWraps
from agent_journal.redaction.network import NETWORK
from agent_journal.redaction.personal import PERSONAL
from agent_journal.redaction.rules import EDGE
from agent_journal.redaction.spans import Span, merged
from agent_journal.redaction.tokens import TOKENS
from agent_journal.redaction.wallets import PHRASES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redaction.rules import Rule


_LONG = 256
_AT_END = 8  # characters, as a colour takes that ends with a line
_TAB_IN_JSON = r"\\t"
# Names may be long: `terraform-aws-modules-eks-cluster-`. Their words are not.
_BEFORE = re.compile(r"[A-Za-z0-9_-]{24,}\Z")
_NAME_CHARS, _WORD_CHARS, _MANY_CHANGES = 64, 20, 3


class Group:
    """Rules as one expression, with what dismisses a text for all of them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.union = _union(rules)
        self.is_clean = prefilter.dismisser(rule.trigger for rule in rules)

    def spans(self, text: str) -> Iterator[Span]:
        """What the rules find in a text."""
        for start, end in prefilter.suspicious(text, self.is_clean):
            yield from _matches(self.union, self._rules, text, start, end)


class Scanner:
    """Groups of rules; where two of them find the same, the first has the say."""

    def __init__(self, groups: Sequence[Sequence[Rule]]) -> None:
        self.groups = [Group(rules) for rules in groups]
        self._wraps = LineWraps(groups[0], self.groups[0].spans)
        triggers = [rule.trigger for rules in groups for rule in rules]
        self.is_clean: Callable[[str], bool] = prefilter.dismisser([*triggers, self._wraps.trigger])
        self.is_dull: Callable[[str], bool] = prefilter.dismisser(
            [
                *triggers,
                self._wraps.trigger,
                views.CUT_TRIGGER,
                views.CODE_TRIGGER,
                views.LIST_TRIGGER,
                views.NESTED_TRIGGER,
                _TAB_IN_JSON,
            ]
        )
        """Clean, and nothing is put into its words that could hide something: most texts are."""

    def spans(self, text: str) -> list[Span]:
        """Every secret in the text, in order; those that touch each other by several rules are one."""
        if self.is_clean(text):
            return []
        found = [*self._wraps.spans(text), *(span for group in self.groups for span in group.spans(text))]
        return merged(found) if found else found


@cache
def scanner(*, personal: bool) -> Scanner:
    """The scanner for secrets, or for secrets and personal data."""
    groups: list[Sequence[Rule]] = [TOKENS, PHRASES, NETWORK, PLACED, NAMED, PLAIN, WRAPPED]
    return Scanner([*groups, PERSONAL] if personal else groups)


def is_within_base64(text: str, place: int) -> bool:
    """Whether what stands before a place, in the same run of characters, is random rather than a name."""
    before = _BEFORE.search(text, max(0, place - _NAME_CHARS), place)
    return before is not None and any(
        len(piece) > _WORD_CHARS or len(decoys.MIXED.findall(piece)) >= _MANY_CHANGES
        for piece in re.split("[_-]", before[0])
    )


def _union(rules: Sequence[Rule]) -> re.Pattern[str]:
    """The rules as one expression, in which a group that is named by its place tells the rule.

    The edge of a word is looked for once, not by each rule that wants one. Where nothing else stands before
    the secret, the group is only its end: an alternative that begins with a letter is dismissed faster.
    """
    edged = [
        f"{rule.pattern}(?P<r{place}>){rule.after}" for place, rule in enumerate(rules) if rule.before == EDGE
    ]
    others = [
        f"{rule.before}(?P<r{place}>{rule.pattern}){rule.after}"
        for place, rule in enumerate(rules)
        if rule.before != EDGE
    ]
    return re.compile("|".join([*([f"{EDGE}(?:{'|'.join(edged)})"] if edged else ()), *others]))


def _matches(
    union: re.Pattern[str], rules: Sequence[Rule], text: str, start: int, end: int
) -> Iterator[Span]:
    """What a group of rules finds from one place on; one that reaches the end is followed beyond it."""
    while start < end:
        match = union.search(text, start, end)
        if match is None:
            return
        if match.end() + _AT_END >= end < len(text):
            match = union.match(text, match.start()) or match
        group = match.lastgroup or ""
        rule = rules[int(group[1:])]
        begin, stop = match.start() if rule.before == EDGE else match.start(group), match.end(group)
        if rule.extent is not None:
            bounds = rule.extent(text, begin, stop)
            if bounds is not None and bounds[0] < bounds[1]:
                yield Span(*bounds, rule.kind)
            start = max(start + 1, bounds[1] if bounds else match.end())
        elif rule.before == EDGE and is_within_base64(text, begin):
            start = stop
        elif rule.check(match, text[begin:stop]):
            yield Span(begin, stop, rule.kind if rule.kind_in is None else rule.kind_in(match))
            start = stop
        else:
            # What was taken for a value may be a name with a value.
            start = begin if match.start() < begin and stop - begin < _LONG else match.end()
