"""Secrets that something was put into: a highlight, a colour, an invisible character, the end of a line."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache, cached_property
from operator import itemgetter
from typing import TYPE_CHECKING

from agent_journal.redact.prefilter import dismisser
from agent_journal.redact.spans import Span

if TYPE_CHECKING:
    from collections.abc import Callable

# Each also as it is written within JSON. Every alternative begins with one character: so the expression looks
# for those characters first, which is far faster.
_CUT = (
    r"</?[A-Za-z][^<>]{0,200}>"
    r"|\x1b\[[0-9;?]{0,16}[A-Za-z]|\\u001[bB]\[[0-9;?]{0,16}[A-Za-z]"
    "|\u00ad|\u200b|\u200c|\u200d|\u2060|\ufeff"
    r"|\\\\{0,3}(?:\r?\n|\\n)[ \t]*"
    r"|\*\*"
    r"""|\\\\*"[ \t]*\+[ \t]*\\*"|"[ \t]*\+[ \t]*"|'[ \t]*\+[ \t]*'"""
)
# Only what stands within a word can hide one, or around the sign between a name and a value.
TRIGGER = rf"[A-Za-z0-9_=:'\"-](?:{_CUT})+[A-Za-z0-9_=:'\"-]"
_cuts = re.compile(_CUT)


@cache
def is_whole() -> Callable[[str], bool]:
    """A function that says of a text whether nothing is put into its words."""
    return dismisser([TRIGGER])


class Joined:
    """A text without what was put into it, and the way back."""

    def __init__(self, text: str) -> None:
        self._original = text
        self.text = _cuts.sub("", text)

    @cached_property
    def _removed(self) -> list[tuple[int, int]]:
        """Where each cut was in the joined text, and how much was removed up to and with it."""
        removed: list[tuple[int, int]] = []
        gone = 0
        for cut in _cuts.finditer(self._original):
            place = cut.start() - gone
            gone += cut.end() - cut.start()
            removed.append((place, gone))
        return removed

    def in_original(self, span: Span) -> Span | None:
        """The span of the original text; None if nothing was put into it."""
        first = bisect_right(self._removed, span.start, key=itemgetter(0))
        last = bisect_right(self._removed, span.end - 1, key=itemgetter(0))
        if first == last:
            return None
        before = self._removed[first - 1][1] if first else 0
        return Span(span.start + before, span.end + self._removed[last - 1][1], span.kind)


def put_into(text: str) -> str:
    """What was put into a text: it stays when the text is replaced, as a tag may be closed behind it."""
    return "".join(cut[0] for cut in _cuts.finditer(text))
