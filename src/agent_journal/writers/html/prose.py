"""Markdown as people meant it: no raw HTML, no address that does something, no picture from the web.

Nothing that was said is lost over its form: what the renderer would leave out is shown as it was written.
"""

from __future__ import annotations

import html
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from agent_journal.text import sanitize
from agent_journal.writers.html import markup
from agent_journal.writers.html.diffs import diff
from agent_journal.writers.html.markup import AWAY, Markup, closing, element, opening, text

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.writers.html.markup import Tag

_WORD = re.compile(r"[^\W_]+")
_BOX = re.compile(r"\[[xX]\]")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_DIFF = re.compile(r'<pre lang="(?:diff|patch)"><code>([^<]*)</code></pre>')
_LINE_ENDS = re.compile(r"\r\n?")
# For each mail address on a line the renderer calls itself once more; 20,000 of them end the process.
_MOST_MAILS = 500


def prose(said: str) -> Markup:
    """What was said, as a block."""
    safe = sanitize.safe(_LINE_ENDS.sub("\n", said) if "\r" in said else said)
    # To look for addresses takes a third of the time, and most texts have none.
    has_addresses = "@" in safe or "://" in safe or "www." in safe
    made = _renderer(has_addresses=has_addresses and not _is_list_of_mails(safe))(safe)
    if ("]:" in safe or "|" in safe) and not _has_all_words(safe, made):
        return element("div", "prose as-written", safe)
    if "&" in safe:
        made = sanitize.safe(made)  # a character can be written as its number
    return element("div", "prose", markup.rendered(made, _Tags().rewritten))


def _is_list_of_mails(said: str) -> bool:
    """Whether there are more mail addresses on one of its lines than the renderer makes links of."""
    if said.count("@") <= _MOST_MAILS:
        return False
    return any(line.count("@") > _MOST_MAILS for line in said.split("\n"))


@cache
def _renderer(*, has_addresses: bool) -> Callable[[str], str]:
    import comrak  # noqa: PLC0415 (not every page needs it)

    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    extensions.autolink = has_addresses
    # Raw HTML is escaped. "Unsafe" keeps every address, so that those which lead nowhere can still be read.
    rendering.escape = rendering.unsafe_ = True
    rendering.github_pre_lang = rendering.full_info_string = True
    if hasattr(rendering, "compact_html"):  # the last one for Windows has line breaks between blocks
        rendering.compact_html = True
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


@lru_cache
def _block(tag: str) -> Markup:
    """The beginning of a block of code in a language."""
    found = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
    return opening("pre", {"data-lang": f"{found.get('lang', '')} {found.get('data-meta', '')}".strip()})


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
        if tag.startswith("<pre "):
            changed = _DIFF.fullmatch(tag)
            return diff(html.unescape(changed[1])) if changed else _block(tag)
        found = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
        if tag.startswith("<a "):
            link = self._link(found.get("href", ""), found.get("title", ""))
            is_all = tag.endswith("</a>")
            return markup.joined([link, found.get("href", ""), self._end_of_link()]) if is_all else link
        if tag.startswith("<img "):
            return _image(found.get("src", ""), found.get("alt", ""), found.get("title", ""))
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
