"""Apply all rules to one text: find where its secrets are, and of which kind."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal.redaction import decoys, prefilter, views
from agent_journal.redaction.assignments import ASSIGNMENTS, PLAIN_PASSWORDS
from agent_journal.redaction.base64_secrets import BASE64_SECRETS
from agent_journal.redaction.contexts import CONTEXTS
from agent_journal.redaction.network import NETWORK
from agent_journal.redaction.personal import PERSONAL
from agent_journal.redaction.rules import EDGE
from agent_journal.redaction.spans import Span, merge
from agent_journal.redaction.tokens import TOKENS
from agent_journal.redaction.wallets import PHRASES
from agent_journal.redaction.wrapped_lines import WrappedLines

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.redaction.rules import Rule


_MAX_RESCANNED_CHARS = 256
_MAX_COLOR_CHARS = 8  # of the escape sequence that ends a color at the end of a line
_TAB_IN_JSON = r"\\t"
# Names may be long: `terraform-aws-modules-eks-cluster-`. Their words are not.
_NAME_BEFORE = re.compile(r"[A-Za-z0-9_-]{24,}\Z")
_MAX_NAME_CHARS, _MAX_WORD_CHARS, _MIN_RANDOM_CHANGES = 64, 20, 3


class RuleGroup:
    """Rules as one regular expression, with a prefilter for all of them."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._rules = rules
        self.union = _union(rules)
        self.is_clean = prefilter.compile_prefilter(rule.trigger for rule in rules)

    def spans(self, text: str) -> Iterator[Span]:
        """Yield the secrets that the rules find in a text."""
        for start, end in prefilter.suspicious_ranges(text, self.is_clean):
            yield from _matches(self.union, self._rules, text, start, end)


class Scanner:
    """Searches with groups of rules; where two groups match, the first decides the kind."""

    def __init__(self, groups: Sequence[Sequence[Rule]]) -> None:
        self.groups = [RuleGroup(rules) for rules in groups]
        self._wrapped_lines = WrappedLines(groups[0], self.groups[0].spans)
        triggers = [rule.trigger for rules in groups for rule in rules]
        self.is_clean: Callable[[str], bool] = prefilter.compile_prefilter(
            [*triggers, self._wrapped_lines.trigger]
        )
        self.is_trivially_clean: Callable[[str], bool] = prefilter.compile_prefilter(
            [
                *triggers,
                self._wrapped_lines.trigger,
                views.INSERTION_TRIGGER,
                views.CODE_TRIGGER,
                views.LIST_TRIGGER,
                views.NESTED_TRIGGER,
                _TAB_IN_JSON,
            ]
        )
        """Whether a text is clean and has nothing that could hide a secret, which is true of most texts."""

    def spans(self, text: str) -> list[Span]:
        """Return every secret in the text, in order; overlapping matches are merged."""
        if self.is_clean(text):
            return []
        spans = [
            *self._wrapped_lines.spans(text),
            *(span for group in self.groups for span in group.spans(text)),
        ]
        return merge(spans) if spans else spans


@cache
def scanner(*, personal: bool) -> Scanner:
    """Return the scanner for secrets, or for secrets and personal data."""
    groups: list[Sequence[Rule]] = [
        TOKENS,
        PHRASES,
        NETWORK,
        CONTEXTS,
        ASSIGNMENTS,
        PLAIN_PASSWORDS,
        BASE64_SECRETS,
    ]
    return Scanner([*groups, PERSONAL] if personal else groups)


def is_within_base64(text: str, position: int) -> bool:
    """Whether the characters before a position, in the same run, are random rather than a name."""
    before = _NAME_BEFORE.search(text, max(0, position - _MAX_NAME_CHARS), position)
    return before is not None and any(
        len(piece) > _MAX_WORD_CHARS or len(decoys.LETTER_DIGIT_CHANGE.findall(piece)) >= _MIN_RANDOM_CHANGES
        for piece in re.split("[_-]", before[0])
    )


def _union(rules: Sequence[Rule]) -> re.Pattern[str]:
    """Combine the rules into one expression, whose group names contain the index of the rule.

    The edge of a word is matched once, not by each rule. For rules that need nothing else before the secret,
    the group only marks its end: the engine rejects alternatives that begin with a letter faster.
    """
    edged = [
        f"{rule.pattern}(?P<r{position}>){rule.after}"
        for position, rule in enumerate(rules)
        if rule.before == EDGE
    ]
    others = [
        f"{rule.before}(?P<r{position}>{rule.pattern}){rule.after}"
        for position, rule in enumerate(rules)
        if rule.before != EDGE
    ]
    return re.compile("|".join([*([f"{EDGE}(?:{'|'.join(edged)})"] if edged else ()), *others]))


def _matches(
    union: re.Pattern[str], rules: Sequence[Rule], text: str, start: int, end: int
) -> Iterator[Span]:
    """Yield the matches of a group of rules in a range; a match that reaches its end may extend beyond it."""
    while start < end:
        match = union.search(text, start, end)
        if match is None:
            return
        if match.end() + _MAX_COLOR_CHARS >= end < len(text):
            match = union.match(text, match.start()) or match
        group = match.lastgroup or ""
        rule = rules[int(group[1:])]
        begin, stop = match.start() if rule.before == EDGE else match.start(group), match.end(group)
        if rule.find_bounds is not None:
            bounds = rule.find_bounds(text, begin, stop)
            if bounds is not None and bounds[0] < bounds[1]:
                yield Span(*bounds, rule.kind)
            start = max(start + 1, bounds[1] if bounds else match.end())
        elif rule.before == EDGE and is_within_base64(text, begin):
            start = stop
        elif rule.check(match, text[begin:stop]):
            yield Span(begin, stop, rule.kind if rule.find_kind is None else rule.find_kind(match))
            start = stop
        else:
            # What looked like a value may itself be a name with a value.
            start = begin if match.start() < begin and stop - begin < _MAX_RESCANNED_CHARS else match.end()
