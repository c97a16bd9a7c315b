"""Converts HTML to readable text: Markdown.

An answer has a few kilobytes with a tag every thirty characters, so the work per tag decides how fast an
export is read. Tags come in runs (`</p></li><li><p><strong>`), of which an export has a few hundred different
ones: one regular expression separates them from text, and the Markdown of a run is looked up. An answer with
uncommon tags is read again, tag by tag. Nothing recurses, and tags that are never closed take no longer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.readers.gemini_takeout import runs
from agent_journal.readers.gemini_takeout.page import Image, MarkdownBuilder
from agent_journal.readers.gemini_takeout.tags import (
    BLOCK,
    TAG,
    language_in,
    unescape_common,
    unescape_rest,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Blocks that are not displayed, with their ends.
_INVISIBLE_BLOCKS = (("<!--", "-->"), ("<style", "</style>"), ("<script", "</script>"))
_CODE_BLOCK = ("<pre", "</pre>")


class ReadableText(NamedTuple):
    """The text of a piece of HTML, and its images."""

    text: str
    images: list[Image]


def to_markdown(html: str) -> ReadableText:
    """Convert HTML to Markdown."""
    converted = runs.markdown(html)
    if converted is None:
        return to_markdown_tag_by_tag(html)
    pieces, images = converted
    if len(pieces) == 1:
        return ReadableText(unescape_rest(pieces[0]).strip(), images)
    pieces[1::2] = [_fenced(*piece.split("\n", 1)) for piece in pieces[1::2]]
    return ReadableText(_join(pieces), images)


def to_markdown_tag_by_tag(html: str) -> ReadableText:
    """Convert HTML to Markdown without looking up runs, which works for any HTML."""
    for opening, closing in _INVISIBLE_BLOCKS:
        if opening in html:
            html = "".join([*_split_blocks(html, opening, closing)][::2])
    builder = MarkdownBuilder()
    pieces = [*_split_blocks(html, *_CODE_BLOCK)]
    pieces[::2] = [unescape_common(builder.markdown(piece)) for piece in pieces[::2]]
    pieces[1::2] = map(_code_block, pieces[1::2])
    return ReadableText(_join(pieces), builder.images)


def _join(pieces: list[str]) -> str:
    """Join alternating texts and code blocks, and resolve the less common references."""
    done = [unescape_rest(pieces[0])]
    for code, text in zip(pieces[1::2], pieces[2::2], strict=True):
        previous = done.pop().rstrip("\n")
        done += [previous, BLOCK if previous else "", code, unescape_rest(text.lstrip("\n"))]
    return "".join(done).strip()


def _code_block(html: str) -> str:
    """Convert a code block: its text is verbatim, and tags in it only add color."""
    pieces = TAG.split(html)
    return _fenced(language_in(pieces[1::2]), unescape_common("".join(pieces[::2])))


def _fenced(language: str, text: str) -> str:
    code = unescape_rest(text).strip("\n")
    fence = "```"
    while "`" in code and fence in code:
        fence += "`"
    return f"{fence}{language}\n{code}\n{fence}{BLOCK}"


def _split_blocks(html: str, opening: str, closing: str) -> Iterator[str]:
    """Split HTML into alternating outside and inside of a block; an unclosed block extends to the end."""
    start = 0
    while (at := html.find(opening, start)) >= 0:
        yield html[start:at]
        end = html.find(closing, at)
        start = len(html) if end < 0 else end + len(closing)
        yield html[at:start]
    yield html[start:]
