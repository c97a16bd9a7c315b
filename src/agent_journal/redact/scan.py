"""All rules at work on one text: where secrets are in it, and of which kind."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal.redact import prefilter
from agent_journal.redact.named import NAMED
from agent_journal.redact.personal import PERSONAL
from agent_journal.redact.placed import PLACED
from agent_journal.redact.spans import Span, merged
from agent_journal.redact.tokens import TOKENS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from agent_journal.redact.rules import Rule


class Scanner:
    """A set of rules, compiled."""

    def __init__(self, groups: Sequence[Sequence[Rule]]) -> None:
        # A group is one expression; where two groups find the same, the first has the say.
        self._groups = [(_union(rules), rules) for rules in groups]
        self.is_clean: Callable[[str], bool] = prefilter.dismisser(
            rule.trigger for rules in groups for rule in rules
        )

    def spans(self, text: str) -> list[Span]:
        """Every secret in the text, in order; those that touch each other by several rules are one."""
        found: list[Span] = []
        for start, end in prefilter.suspicious(text, self.is_clean):
            for union, rules in self._groups:
                found.extend(_matches(union, rules, text, start, end))
        return merged(found)


@cache
def scanner(*, personal: bool) -> Scanner:
    """The scanner for secrets, or for secrets and personal data."""
    groups: list[Sequence[Rule]] = [TOKENS, PLACED, NAMED]
    return Scanner([*groups, PERSONAL] if personal else groups)


def _union(rules: Iterable[Rule]) -> re.Pattern[str]:
    return re.compile(
        "|".join(
            f"{rule.before}(?P<r{place}>{rule.pattern}){rule.after}" for place, rule in enumerate(rules)
        )
    )


def _matches(
    union: re.Pattern[str], rules: Sequence[Rule], text: str, start: int, end: int
) -> Iterator[Span]:
    """What a group of rules finds from one place on; one that reaches the end is followed beyond it."""
    while start < end:
        match = union.search(text, start, end)
        if match is None:
            return
        if match.end() == end < len(text):
            match = union.match(text, match.start()) or match
        group = match.lastgroup or ""
        rule = rules[int(group[1:])]
        secret = match[group]
        if rule.check(match, secret):
            kind = rule.kind if rule.kind_in is None else rule.kind_in(match)
            yield Span(match.start(group), match.end(group), kind)
            start = match.end(group)
        else:
            # What was taken for a name and its value may hold another name.
            start = match.start(group) if match.start(group) > match.start() else match.end()
