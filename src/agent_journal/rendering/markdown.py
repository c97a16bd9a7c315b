"""Markdown as HTML, without raw HTML, script addresses or images from the web.

No text is lost: if the renderer would leave something out, the text is shown unrendered.
"""

from __future__ import annotations

import html
import re
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from agent_journal.rendering import markup
from agent_journal.rendering.diffs import diff
from agent_journal.rendering.markup import EXTERNAL_REL, Markup, closing, element, opening, text
from agent_journal.text import sanitize

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.rendering.markup import Tag

_WORD = re.compile(r"[^\W_]+")
_BOX = re.compile(r"\[[xX]\]")
_ATTRIBUTE = re.compile(r'([a-z-]+)="([^"]*)"')
_DIFF = re.compile(r'<pre lang="(?:diff|patch)"><code>([^<]*)</code></pre>')
_LINE_ENDS = re.compile(r"\r\n?")
# The renderer recurses once for each mail address on a line; 20,000 of them crash the process.
_MAX_MAILS_PER_LINE = 500


def prose(markdown: str) -> Markup:
    """A Markdown text as a block."""
    safe_text = sanitize.safe(_LINE_ENDS.sub("\n", markdown) if "\r" in markdown else markdown)
    # Looking for addresses takes a third of the time, and most texts have none.
    has_addresses = "@" in safe_text or "://" in safe_text or "www." in safe_text
    html_text = _renderer(has_addresses=has_addresses and not _is_list_of_mails(safe_text))(safe_text)
    if ("]:" in safe_text or "|" in safe_text) and not _has_all_words(safe_text, html_text):
        return element("div", "prose as-written", safe_text)
    if "&" in safe_text:
        html_text = sanitize.safe(html_text)  # a character can be written as its number
    return element("div", "prose", markup.rewrite_tags(html_text, _TagRewriter().rewrite))


def _is_list_of_mails(markdown: str) -> bool:
    """Whether a line has too many mail addresses for the renderer."""
    if markdown.count("@") <= _MAX_MAILS_PER_LINE:
        return False
    return any(line.count("@") > _MAX_MAILS_PER_LINE for line in markdown.split("\n"))


@cache
def _renderer(*, has_addresses: bool) -> Callable[[str], str]:
    import comrak  # noqa: PLC0415 (not every page needs it)

    extensions, rendering = comrak.ExtensionOptions(), comrak.RenderOptions()
    extensions.table = extensions.strikethrough = extensions.tasklist = True
    extensions.autolink = has_addresses
    # Raw HTML is escaped. "Unsafe" keeps every address, so that refused ones can be shown as text.
    rendering.escape = rendering.unsafe_ = True
    rendering.github_pre_lang = rendering.full_info_string = True
    if hasattr(rendering, "compact_html"):  # the last one for Windows has line breaks between blocks
        rendering.compact_html = True
    parsing = comrak.ParseOptions()
    return lambda markdown: str(comrak.render_markdown(markdown, extensions, parsing, rendering))


def _has_all_words(markdown: str, html_text: str) -> bool:
    """Whether the renderer left nothing out. It drops link definitions and surplus table cells."""
    # Addresses in attributes are escaped and percent-encoded; entities have become characters.
    shown = {*_WORD.findall(html_text), *_WORD.findall(html.unescape(html_text))}
    return all(word in shown or word.isdecimal() for word in _WORD.findall(_BOX.sub("", markdown)))


def _fixed_rewrites() -> dict[str, Markup]:
    """Tags that are always rewritten in the same way."""
    rewrites = {
        "<table>": markup.joined([opening("div", "wide"), opening("table", "")]),
        "</table>": markup.joined([closing("table"), closing("div")]),
        '<input type="checkbox" disabled="" />': text("☐"),
        '<input type="checkbox" checked="" disabled="" />': text("☑"),
    }
    for side in ("left", "right", "center"):
        rewrites[f'<th align="{side}">'] = opening("th", side)
        rewrites[f'<td align="{side}">'] = opening("td", side)
    # A message is below the title of its conversation, which is `h1`.
    levels: tuple[Tag, ...] = ("h3", "h4", "h5", "h6", "h6", "h6")
    for level, tag in enumerate(levels, 1):
        rewrites[f"<h{level}>"], rewrites[f"</h{level}>"] = opening(tag, ""), closing(tag)
    return rewrites


_FIXED_REWRITES = _fixed_rewrites()


@lru_cache
def _code_block_tag(tag: str) -> Markup:
    """The start tag of a code block with a language."""
    attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
    return opening(
        "pre", {"data-lang": f"{attributes.get('lang', '')} {attributes.get('data-meta', '')}".strip()}
    )


class _TagRewriter:
    """Rewrites the tags of one text. The address of a refused link is shown after its text."""

    def __init__(self) -> None:
        self._refused_address: str | None = None

    def rewrite(self, tag: str) -> Markup:
        """The tag as a page may contain it; as text if it is unknown."""
        if (fixed := _FIXED_REWRITES.get(tag)) is not None:
            return fixed
        if tag == "</a>":
            return self._close_link()
        if tag.startswith("<pre "):
            diff_block = _DIFF.fullmatch(tag)
            return diff(html.unescape(diff_block[1])) if diff_block else _code_block_tag(tag)
        attributes = {name: html.unescape(value) for name, value in _ATTRIBUTE.findall(tag)}
        if tag.startswith("<a "):
            link = self._open_link(attributes.get("href", ""), attributes.get("title", ""))
            is_empty_link = tag.endswith("</a>")
            return (
                markup.joined([link, attributes.get("href", ""), self._close_link()])
                if is_empty_link
                else link
            )
        if tag.startswith("<img "):
            return _image(attributes.get("src", ""), attributes.get("alt", ""), attributes.get("title", ""))
        if tag.startswith("<ol ") and attributes.get("start", "").isdecimal():
            return opening("ol", {"start": attributes["start"]})
        return text(tag)

    def _open_link(self, address: str, title: str) -> Markup:
        if markup.is_web(address):
            return opening("a", {"href": address, "rel": EXTERNAL_REL, **({"title": title} if title else {})})
        self._refused_address = f"{address} {title}".strip()
        return opening("span", "refused")

    def _close_link(self) -> Markup:
        refused, self._refused_address = self._refused_address, None
        if refused is None:
            return closing("a")
        return markup.joined([" (", refused, ")", closing("span")])


def _image(address: str, alt: str, title: str) -> Markup:
    """An image that is embedded in the text; one of the web becomes a link, as nothing is fetched."""
    description = " ".join(filter(None, (alt, title)))
    if address.startswith("data:") and markup.is_image_address(address):
        return markup.image(address, description or "image")
    return markup.link(address, f"[image{': ' if description else ''}{description}]")
