"""Clear texts without secrets in one pass of a regular expression, in linear time.

Python's engine tries every rule at every position, at 10 to 20 MB/s for these rules. The engine of the JSON
Schema validator, which is a dependency anyway, reads each byte once, at 500 MB/s and more; it returns whether
there is a match, not where. So it clears messages, then strings, then ranges of strings, and Python searches
what is left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

# Windows overlap by more than the longest trigger, so that each trigger is whole in one of them.
_WINDOW_CHARS, _OVERLAP_CHARS = 128, 192
# A secret extends from its trigger to the next space or quote on both sides, and no further than this.
_CONTEXT_CHARS, _MAX_WORD_CHARS = 64, 8192
_WORD_ENDS = (" ", "\n", '"')


def compile_prefilter(patterns: Iterable[str]) -> Callable[[str], bool]:
    """Return a function that returns whether none of the patterns matches in a text."""
    import jsonschema_rs  # noqa: PLC0415 (slow to import)

    union = "|".join(f"(?:{pattern})" for pattern in dict.fromkeys(patterns))
    options = jsonschema_rs.RegexOptions(size_limit=1 << 28, dfa_size_limit=1 << 27)
    validator = jsonschema_rs.validator_for({"not": {"pattern": union}}, pattern_options=options)
    return validator.is_valid


def suspicious_ranges(text: str, is_clean: Callable[[str], bool]) -> Iterator[tuple[int, int]]:
    """Yield the disjoint ranges of a text that may hold a match, with their context, in order."""
    if is_clean(text):
        return
    start, end = 0, -1
    for begin in range(0, len(text), _WINDOW_CHARS):
        window_end = begin + _WINDOW_CHARS + _OVERLAP_CHARS
        if is_clean(text[begin:window_end]):
            continue
        first, last = (
            _start_of_word(text, begin - _CONTEXT_CHARS),
            _end_of_word(text, window_end + _CONTEXT_CHARS),
        )
        if first > end:
            if end >= 0:
                yield start, end
            start = first
        end = last
    if end >= 0:
        yield start, end


def _start_of_word(text: str, position: int) -> int:
    if position <= 0:
        return 0
    first = max(0, position - _MAX_WORD_CHARS)
    return max(first, *(text.rfind(end, first, position) + 1 for end in _WORD_ENDS))


def _end_of_word(text: str, position: int) -> int:
    last = min(len(text), position + _MAX_WORD_CHARS)
    return min(
        (end_position for end in _WORD_ENDS if (end_position := text.find(end, position, last)) >= 0),
        default=last,
    )
