"""HTML as readable text: Markdown.

An answer is a few kilobytes with a tag every thirty characters, so what is done per tag decides how fast an
export is read. Tags stand together in runs (`</p></li><li><p><strong>`) of which an export has a few hundred
different ones: one regular expression cuts them from text, and what a run means is looked up. An answer with
something unusual in it is read again, tag by tag. Nothing recurses, and text in which much is opened, nothing
closed takes no longer.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from agent_journal.readers.gemini_takeout import runs
from agent_journal.readers.gemini_takeout.page import Image, Page
from agent_journal.readers.gemini_takeout.tags import BLOCK, MAYBE_UNSEEN, TAG, unescaped

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Meaning: TypeAlias = Callable[[str], str | None]

_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#.-]+)")
# Stretches that are not said, with how each ends.
_UNSEEN = (("<!--", "-->"), ("<style", "</style>"), ("<script", "</script>"))
_CODE = ("<pre", "</pre>")


class Readable(NamedTuple):
    """What a piece of HTML says, and the pictures in it."""

    text: str
    images: list[Image]


def readable(html: str) -> Readable:
    """The HTML as Markdown."""
    text = _rendered(html, runs.markdown, _usual_code)
    return carefully(html) if text is None else Readable(text, [])


def carefully(html: str) -> Readable:
    """The same, tag by tag."""
    for opening, closing in _UNSEEN:
        if opening in html:
            html = "".join(piece for piece, is_unseen in _cut(html, opening, closing) if not is_unseen)
    page = Page()
    return Readable(_rendered(html, page.markdown, _code) or "", page.images)


def _rendered(html: str, markdown_of: _Meaning, code_of: _Meaning) -> str | None:
    """The HTML as Markdown, blocks of code and what is between them; None if a piece has no meaning."""
    done: list[str] = []
    for piece, is_code in _cut(html, *_CODE):
        text = code_of(piece) if is_code else markdown_of(piece)
        if text is None:
            return None
        if is_code:
            before = done[-1].rstrip("\n")
            done[-1:] = [before, BLOCK if before else "", text]
        else:
            done.append(unescaped(text.lstrip("\n") if done else text))
    return "".join(done).strip()


def _usual_code(html: str) -> str | None:
    """A block of code; None if something in it may not be seen."""
    return None if MAYBE_UNSEEN.search(html) else _code(html)


def _code(html: str) -> str:
    """A block of code: its text is as it is, tags in it only colour it."""
    pieces = TAG.split(html)
    language = _LANGUAGE.search("".join(pieces[1:4:2]))
    code = unescaped("".join(pieces[::2])).strip("\n")
    fence = "```"
    while fence in code:
        fence += "`"
    return f"{fence}{language[1] if language else ''}\n{code}\n{fence}{BLOCK}"


def _cut(html: str, opening: str, closing: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and of each whether it lies between the words; one that is not closed goes on."""
    start = 0
    while (at := html.find(opening, start)) >= 0:
        yield html[start:at], False
        end = html.find(closing, at)
        start = len(html) if end < 0 else end + len(closing)
        yield html[at:start], True
    yield html[start:], False
