"""HTML as readable text: Markdown.

An answer is a few kilobytes with a tag every thirty characters, so what is done per tag decides how fast an
export is read. Tags stand together in runs (`</p></li><li><p><strong>`) of which an export has a few hundred
different ones: one regular expression cuts them from text, and what a run means is looked up. An answer with
something unusual in it is read again, tag by tag. Nothing recurses, and text in which much is opened, nothing
closed takes no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.readers.gemini_takeout import runs
from agent_journal.readers.gemini_takeout.page import Image, Page
from agent_journal.readers.gemini_takeout.tags import (
    BLOCK,
    TAG,
    language_in,
    often_unescaped,
    others_unescaped,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Stretches that are not said, with how each ends.
_UNSEEN = (("<!--", "-->"), ("<style", "</style>"), ("<script", "</script>"))
_CODE = ("<pre", "</pre>")


class Readable(NamedTuple):
    """What a piece of HTML says, and the pictures in it."""

    text: str
    images: list[Image]


def readable(html: str) -> Readable:
    """The HTML as Markdown."""
    told = runs.markdown(html)
    if told is None:
        return carefully(html)
    pieces, images = told
    if len(pieces) == 1:
        return Readable(others_unescaped(pieces[0]).strip(), images)
    pieces[1::2] = [_fenced(*piece.split("\n", 1)) for piece in pieces[1::2]]
    return Readable(_joined(pieces), images)


def carefully(html: str) -> Readable:
    """The same, tag by tag."""
    for opening, closing in _UNSEEN:
        if opening in html:
            html = "".join([*_cut(html, opening, closing)][::2])
    page = Page()
    pieces = [*_cut(html, *_CODE)]
    pieces[::2] = [often_unescaped(page.markdown(piece)) for piece in pieces[::2]]
    pieces[1::2] = map(_code, pieces[1::2])
    return Readable(_joined(pieces), page.images)


def _joined(pieces: list[str]) -> str:
    """Text with references that are seldom used, and blocks of code, which come in turns."""
    done = [others_unescaped(pieces[0])]
    for code, text in zip(pieces[1::2], pieces[2::2], strict=True):
        before = done.pop().rstrip("\n")
        done += [before, BLOCK if before else "", code, others_unescaped(text.lstrip("\n"))]
    return "".join(done).strip()


def _code(html: str) -> str:
    """A block of code: its text is as it is, tags in it only colour it."""
    pieces = TAG.split(html)
    return _fenced(language_in(pieces[1::2]), often_unescaped("".join(pieces[::2])))


def _fenced(language: str, text: str) -> str:
    code = others_unescaped(text).strip("\n")
    fence = "```"
    while "`" in code and fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}{BLOCK}"


def _cut(html: str, opening: str, closing: str) -> Iterator[str]:
    """What is outside of the words and what lies between them in turns; what is not closed goes on."""
    start = 0
    while (at := html.find(opening, start)) >= 0:
        yield html[start:at]
        end = html.find(closing, at)
        start = len(html) if end < 0 else end + len(closing)
        yield html[at:start]
    yield html[start:]
