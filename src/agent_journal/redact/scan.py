"""All rules at work on one text: where secrets are in it, and of which kind."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal.redact import prefilter, splits
from agent_journal.redact.named import NAMED
from agent_journal.redact.personal import PERSONAL
from agent_journal.redact.placed import PLACED
from agent_journal.redact.rules import EDGE
from agent_journal.redact.spans import Span, merged
from agent_journal.redact.tokens import TOKENS
from agent_journal.redact.wrapped import WRAPPED

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redact.rules import Rule


_LONG = 256
_AT_END = 8  # characters, as a colour takes that ends with a line
_TAB_IN_JSON = r"\\t"


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
        triggers = [rule.trigger for rules in groups for rule in rules]
        self.is_clean: Callable[[str], bool] = prefilter.dismisser(triggers)
        self.is_dull: Callable[[str], bool] = prefilter.dismisser([*triggers, splits.TRIGGER, _TAB_IN_JSON])
        """Clean, and nothing is put into its words that could hide something: most texts are."""

    def spans(self, text: str) -> list[Span]:
        """Every secret in the text, in order; those that touch each other by several rules are one."""
        if self.is_clean(text):
            return []
        return merged(span for group in self.groups for span in group.spans(text))


@cache
def scanner(*, personal: bool) -> Scanner:
    """The scanner for secrets, or for secrets and personal data."""
    groups: list[Sequence[Rule]] = [TOKENS, PLACED, NAMED, WRAPPED]
    return Scanner([*groups, PERSONAL] if personal else groups)


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
        if rule.check(match, text[begin:stop]):
            yield Span(begin, stop, rule.kind if rule.kind_in is None else rule.kind_in(match))
            start = stop
        else:
            # What was taken for a value may be a name with a value.
            start = begin if match.start() < begin and stop - begin < _LONG else match.end()
