"""Markdown as people meant it: no raw HTML, no address that does something, no picture from the web.

Nothing that was said is lost over its form: what the renderer would leave out is shown as it was written.
"""

from __future__ import annotations

import html
import re
from functools import cache
from typing import TYPE_CHECKING

from agent_journal import visible
from agent_journal.writers.html import markup
from agent_journal.writers.html.diffs import diff
from agent_journal.writers.html.markup import AWAY, Markup, closing, element, opening, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.writers.html.markup import Tag

_WORD = re.compile(r"[^\W_]+")
_BOX = re.compile(r"\[[xX]\]")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_WITHOUT_WORDS = re.compile(r'(<a href="([^"]*)"[^>]*>)\s*(?=</a>)')
_DIFF = re.compile(r'<pre lang="(?:diff|patch)"><code>([^<]*)</code></pre>')
_LINE_ENDS = re.compile(r"\r\n?")


def prose(said: str) -> Markup:
    """What was said, as a block."""
    safe = visible.safe(_LINE_ENDS.sub("\n", said) if "\r" in said else said)
    made = _render()(safe)
    if ("]:" in safe or "|" in safe) and not _has_all_words(safe, made):
        return element("div", "prose as-written", safe)
    if "&" in safe:
        made = visible.safe(made)  # a character can be written as its number
    if "></a>" in made or "> </a>" in made:
        made = _WITHOUT_WORDS.sub(r"\1\2", made)
    tags = _Tags()
    pieces = _DIFF.split(made) if '<pre lang="' in made else [made]
    # Between diffs stands what is none.
    blocks = [
        diff(html.unescape(piece)) if place % 2 else markup.rendered(piece, tags.rewritten)
        for place, piece in enumerate(pieces)
    ]
    return element("div", "prose", *blocks)


@cache
def _render() -> Callable[[str], str]:
    import comrak  # noqa: PLC0415 (not every page needs it)

    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = extensions.autolink = True
    # Raw HTML is escaped. "Unsafe" keeps every address, so that those which lead nowhere can still be read.
    rendering.escape = rendering.unsafe_ = True
    rendering.compact_html = rendering.github_pre_lang = rendering.full_info_string = True
    parsing = comrak.ParseOptions()
    return lambda said: str(comrak.render_markdown(said, extensions, parsing, rendering))


def _has_all_words(said: str, made: str) -> bool:
    """Whether nothing was left out, as definitions of links are, and cells beyond the columns of a table."""
    # An address in an attribute is escaped and encoded; what was a character's name is that character.
    shown = {*_WORD.findall(made), *_WORD.findall(html.unescape(made))}
    return all(word in shown or word.isdecimal() for word in _WORD.findall(_BOX.sub("", said)))


def _usual() -> dict[str, Markup]:
    """Tags that are always rewritten in the same way."""
    made = {
        "<pre>": opening("pre", ""),
        "</pre>": closing("pre"),
        "<table>": markup.joined([opening("div", "wide"), opening("table", "")]),
        "</table>": markup.joined([closing("table"), closing("div")]),
        '<input type="checkbox" disabled="" />': text("☐"),
        '<input type="checkbox" checked="" disabled="" />': text("☑"),
    }
    for side in ("left", "right", "center"):
        made[f'<th align="{side}">'] = opening("th", side)
        made[f'<td align="{side}">'] = opening("td", side)
    # A message stands below the title of its conversation.
    levels: tuple[Tag, ...] = ("h3", "h4", "h5", "h6", "h6", "h6")
    for level, tag in enumerate(levels, 1):
        made[f"<h{level}>"], made[f"</h{level}>"] = opening(tag, ""), closing(tag)
    return made


_USUAL = _usual()


class _Tags:
    """The tags of one text that are not plain. A link that leads nowhere is told where it ends."""

    def __init__(self) -> None:
        self._refused: str | None = None

    def rewritten(self, tag: str) -> Markup:
        """The tag as a page may have it; in doubt as text."""
        if (usual := _USUAL.get(tag)) is not None:
            return usual
        if tag == "</a>":
            return self._end_of_link()
        found = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
        if tag.startswith("<a "):
            return self._link(found.get("href", ""), found.get("title", ""))
        if tag.startswith("<img "):
            return _image(found.get("src", ""), found.get("alt", ""), found.get("title", ""))
        if tag.startswith("<pre "):
            language = f"{found.get('lang', '')} {found.get('data-meta', '')}".strip()
            return opening("pre", {"data-lang": language})
        if tag.startswith("<ol ") and found.get("start", "").isdecimal():
            return opening("ol", {"start": found["start"]})
        return text(tag)

    def _link(self, address: str, title: str) -> Markup:
        if markup.is_web(address):
            return opening("a", {"href": address, "rel": AWAY, **({"title": title} if title else {})})
        self._refused = f"{address} {title}".strip()
        return opening("span", "nowhere")

    def _end_of_link(self) -> Markup:
        refused, self._refused = self._refused, None
        if refused is None:
            return closing("a")
        return markup.joined([" (", refused, ")", closing("span")])


def _image(address: str, alt: str, title: str) -> Markup:
    """A picture that is inside the text; one of the web is a link, as nothing is fetched."""
    told = " ".join(filter(None, (alt, title)))
    if address.startswith("data:") and markup.is_picture(address):
        return markup.image(address, told or "image")
    return markup.link(address, f"[image{': ' if told else ''}{told}]")
