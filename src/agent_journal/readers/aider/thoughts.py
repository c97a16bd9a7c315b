"""Separates reasoning from the text of an answer, in each form that Aider writes.

Streamed answers go into the history unchanged (0.86): reasoning is between `<thinking-content-HASH>` and its
end tag, which is `</think>` if the model has a tag of its own. Some models write `<think>` themselves.
In other answers, a line of dashes and a heading precede the reasoning and the answer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from agent_journal.model import Reasoning, Text

if TYPE_CHECKING:
    from collections.abc import Iterator

_ARROW, _HEADING, _TAG, _END_TAG = "►", "► **THINKING**", "<think", "</thinking-content-"
# A model's own tag counts only at the beginning of an answer: later, the answer may mention the tag.
_BEGIN = re.compile(
    r"(?:\A|\n)-{4,}\n+(?P<heading>► \*\*THINKING\*\*)\n"
    r"|<(?P<tag>thinking-content-[0-9a-f]{8,64})>"
    r"|\A\s*<(?P<own>think)>"
)
_ANSWER = re.compile(r"\n-{4,}\n+► \*\*ANSWER\*\*(?:\n|\Z)")
_END = re.compile(r"</(?:thinking-content-[0-9a-f]{8,64}|think)>")
_LONE_END = re.compile(r"</thinking-content-[0-9a-f]{8,64}>")


def may_have_reasoning(text: str) -> bool:
    """Whether an answer may contain reasoning."""
    # Few texts have the arrow, and a single character is found faster than words.
    return (_ARROW in text and _HEADING in text) or _TAG in text or _END_TAG in text


def split(text: str) -> Iterator[Text | Reasoning]:
    """Yield the reasoning and the texts of an answer in order."""
    start = 0
    first = _BEGIN.search(text)
    lone_end = _LONE_END.search(text, 0, first.start() if first else len(text))
    if lone_end is not None:
        # If the start tag is missing, everything before the end tag is reasoning.
        yield from _reasoning(text[: lone_end.start()])
        start = lone_end.end()
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
