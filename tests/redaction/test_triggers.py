"""Triggers read each character once: their structure shows it, without a clock."""

from __future__ import annotations

import re._parser as parser  # type: ignore[import-not-found]
from re._constants import AT, AT_BOUNDARY, AT_NON_BOUNDARY, MAXREPEAT  # type: ignore[import-not-found]
from typing import TYPE_CHECKING, Any

import pytest

from agent_journal.redaction.wallets import PHRASES
from tests.redaction.test_properties import RULES

if TYPE_CHECKING:
    from collections.abc import Iterator

_PHRASE_WORDS = 12


def nodes(tree: Any, repeats: tuple[Any, ...] = ()) -> Iterator[tuple[Any, Any, tuple[Any, ...]]]:
    """Every step of an expression: its code, its arguments, and how often each repeat around it may run."""
    for code, arguments in tree:
        is_repeat = str(code) in {"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"}
        inside = (*repeats, arguments[1]) if is_repeat else repeats
        yield code, arguments, inside
        yield from (node for each in subtrees(arguments) for node in nodes(each, inside))


def subtrees(arguments: Any) -> Iterator[Any]:
    if isinstance(arguments, parser.SubPattern):
        yield arguments
    elif isinstance(arguments, tuple | list):
        for each in arguments:
            yield from subtrees(each)


@pytest.mark.parametrize("trigger", sorted({rule.trigger for rule in RULES}), ids=lambda text: text[:24])
def test_no_trigger_repeats_a_repetition_or_looks_for_the_edge_of_a_word(trigger: str) -> None:
    """An edge of a Unicode word makes the engine leave the automaton that reads each byte once."""
    for code, arguments, repeats in nodes(parser.parse(trigger)):
        assert not (code is AT and arguments in (AT_BOUNDARY, AT_NON_BOUNDARY))
        assert repeats.count(MAXREPEAT) <= 1


def test_the_trigger_of_phrases_looks_at_twelve_words_at_most() -> None:
    tree = parser.parse(PHRASES[0].trigger)

    assert _PHRASE_WORDS >= max(
        most for _, _, repeats in nodes(tree) for most in repeats if most is not MAXREPEAT
    )


def test_the_check_of_triggers_detects_faults() -> None:
    assert any(repeats.count(MAXREPEAT) > 1 for _, _, repeats in nodes(parser.parse("(?:a+b)*")))
    assert any(code is AT for code, _, _ in nodes(parser.parse(r"(?:x|\by)")))
