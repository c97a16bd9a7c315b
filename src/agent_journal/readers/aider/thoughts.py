"""The thoughts in an answer, in each form that Aider writes.

What is streamed goes into the history as it came (0.86): thoughts between `<thinking-content-HASH>` and its
end, which is `</think>` where the model has a tag of its own. Some models write `<think>` themselves.
Elsewhere, a line of dashes and a heading stand before the thoughts and before the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.model import Reasoning, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARROW, _HEADING, _TAG, _END_TAG = "►", "► **THINKING**", "<think", "</thinking-content-"
# A model's own tag counts only where its answer begins: further on, the answer may speak of it.
_BEGIN = re.compile(
    r"(?:\A|\n)-{4,}\n+(?P<heading>► \*\*THINKING\*\*)\n"
    r"|<(?P<tag>thinking-content-[0-9a-f]{8,64})>"
    r"|\A\s*<(?P<own>think)>"
)
_ANSWER = re.compile(r"\n-{4,}\n+► \*\*ANSWER\*\*(?:\n|\Z)")
_END = re.compile(r"</(?:thinking-content-[0-9a-f]{8,64}|think)>")
_LONE_END = re.compile(r"</thinking-content-[0-9a-f]{8,64}>")


def has_thoughts(text: str) -> bool:
    """Whether an answer may have thoughts in it."""
    # Few texts have the arrow at all, and one character is sooner looked for than words.
    return (_ARROW in text and _HEADING in text) or _TAG in text or _END_TAG in text


def split(text: str) -> Iterator[Text | Reasoning]:
    """The thoughts and the texts of an answer, in its order."""
    start = 0
    first = _BEGIN.search(text)
    lone = _LONE_END.search(text, 0, first.start() if first else len(text))
    if lone is not None:
        # Where the beginning was cut off, all before the end was thought.
        yield from _reasoning(text[: lone.start()])
        start = lone.end()
    while begin := _BEGIN.search(text, start):
        yield from _text(text[start : begin.start()])
        end = (_ANSWER if begin["heading"] else _END).search(text, begin.end())
        yield from _reasoning(text[begin.end() : end.start() if end else len(text)])
        start = end.end() if end else len(text)
    yield from _text(text[start:])


def _reasoning(text: str) -> list[Reasoning]:
    return [Reasoning(text=text.strip("\n"))] if text and not text.isspace() else []


def _text(text: str) -> list[Text]:
    return [Text(text=text.strip("\n"))] if text and not text.isspace() else []
