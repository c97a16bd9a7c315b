"""Secrets that something was put into: a highlight, a colour, an invisible character, the end of a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache
from itertools import accumulate
from typing import TYPE_CHECKING

from agent_journal.redact.prefilter import dismisser
from agent_journal.redact.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable

# Each also as it is written within JSON.
_CUT = (
    r"</?[A-Za-z][^<>]{0,200}>"
    r"|(?:\x1b|\\u001[bB])\[[0-9;?]{0,16}[A-Za-z]"
    "|[\u00ad\u200b\u200c\u200d\u2060\ufeff]"
    r"|\\{1,4}(?:\r?\n|\\n)[ \t]*"
    r"|\*\*"
    r"""|\\*"[ \t]*\+[ \t]*\\*"|\\*'[ \t]*\+[ \t]*\\*'"""
)
# Only what stands within a word can hide one, or around the sign between a name and a value.
TRIGGER = rf"[A-Za-z0-9_=:'\"-](?:{_CUT})+[A-Za-z0-9_=:'\"-]"
_cuts = re.compile(rf"(?:{_CUT})+")


@cache
def is_whole() -> Callable[[str], bool]:
    """A function that says of a text whether nothing is put into its words."""
    return dismisser([TRIGGER])


class Joined:
    """A text without what was put into it, and the way back."""

    def __init__(self, text: str) -> None:
        cuts = [(cut.start(), cut.end()) for cut in _cuts.finditer(text)]
        self.text = _cuts.sub("", text)
        removed = list(accumulate((end - start for start, end in cuts), initial=0))
        # Where a cut was, in the joined text; how much was removed up to there.
        self._at = [start - gone for (start, _), gone in zip(cuts, removed, strict=False)]
        self._removed = removed

    def in_original(self, span: Span) -> Span | None:
        """The span of the original text; None if nothing was put into it."""
        first = bisect_right(self._at, span.start)
        last = bisect_right(self._at, span.end - 1)
        if first == last:
            return None
        return Span(span.start + self._removed[first], span.end + self._removed[last], span.kind)


def put_into(text: str) -> str:
    """What was put into a text: it stays when the text is replaced, as a tag may be closed behind it."""
    return "".join(cut[0] for cut in _cuts.finditer(text))
