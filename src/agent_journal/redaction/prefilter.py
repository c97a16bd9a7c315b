"""Dismissing a text at once: one pass of a regular expression that takes time in proportion to the text.

Python's own engine tries every rule at every place, at 10 to 20 MB/s for these rules. That of the JSON
Schema validator, which is a dependency anyway, reads each byte once, at 500 MB/s and more; it says whether
something is there, not where. So it dismisses messages, then strings, then stretches of strings, and Python
looks at what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Stretches overlap, so that what lies across a border is seen whole in one of them: no trigger is longer.
_STRETCH, _OVERLAP = 128, 192
# Behind and before its trigger a secret goes on to the next blank or quote; none goes on for longer.
_NEAR, _FAR = 64, 8192
_ENDS = (" ", "\n", '"')


def dismisser(patterns: Iterable[str]) -> Callable[[str], bool]:
    """A function that says of a text whether none of the patterns is in it."""
    import jsonschema_rs  # noqa: PLC0415 (slow to import)

    union = "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns))
    options = jsonschema_rs.RegexOptions(size_limit=1 << 28, dfa_size_limit=1 << 27)
    validator = jsonschema_rs.validator_for({"not": {"pattern": union}}, pattern_options=options)
    return validator.is_valid


def suspicious(text: str, is_clean: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """The stretches of a text that may hold something, with what is around them, in order and apart."""
    if is_clean(text):
        return
    start, end = 0, -1
    for begin in range(0, len(text), _STRETCH):
        behind = begin + _STRETCH + _OVERLAP
        if is_clean(text[begin:behind]):
            continue
        first, last = _word_before(text, begin - _NEAR), _word_behind(text, behind + _NEAR)
        if first > end:
            if end >= 0:
                yield start, end
            start = first
        end = last
    if end >= 0:
        yield start, end


def _word_before(text: str, place: int) -> int:
    if place <= 0:
        return 0
    first = max(0, place - _FAR)
    return max(first, *(text.rfind(end, first, place) + 1 for end in _ENDS))


def _word_behind(text: str, place: int) -> int:
    last = min(len(text), place + _FAR)
    return min((found for end in _ENDS if (found := text.find(end, place, last)) >= 0), default=last)
