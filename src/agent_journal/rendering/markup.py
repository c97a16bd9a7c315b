"""Markup of pages. Only this module turns text into markup.

A `str` is text: it is escaped wherever it is inserted, and characters that would hide, reorder or move text
are shown as escapes. `Markup` is not escaped again; only this module creates it. Adding or formatting markup
gives a plain `str`, which is escaped like any other: such a mistake is visible, but harmless.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, Self, TypeAlias

from agent_journal.text import sanitize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# fmt: off
Tag: TypeAlias = Literal[
    "a", "article", "b", "bdi", "blockquote", "button", "code", "dd", "details", "div", "dl", "dt", "h1",
    "h2", "h3", "h4", "h5", "h6", "header", "img", "li", "mark", "nav", "ol", "p", "pre", "section", "small",
    "span", "summary", "table", "td", "th", "time", "ul",
]
Name: TypeAlias = Literal[
    "alt", "aria-label", "class", "data-lang", "datetime", "href", "id", "loading", "open", "rel", "src",
    "start", "title", "type",
]
# fmt: on
Attributes: TypeAlias = dict[Name, str] | str
# A page links to itself, to pages and images that were written with it, and to the web.
_OWN_ADDRESS = re.compile(r"#[\w-]+|(?:\.\./)?(?:[\w-]+/)?[\w-]+\.[a-z0-9]{1,5}(?:#[\w-]+)?", re.ASCII)
# An address of a server: percent-encoded, and not of another server (`//`).
_SERVER_ADDRESS = re.compile(r"/(?:[\w%.~:@-]+/)*[\w%.~:@-]*(?:\?[\w%.~:@&=+-]*)?(?:#[\w-]+)?", re.ASCII)
_WEB_ADDRESS = re.compile(r"(?:https?://|mailto:)[^\s<>\"`\\\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
# Drawings (SVG) can hold scripts.
_IMAGE_DATA = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp|avif);base64,[A-Za-z0-9+/]+={0,2}")
_TEMPLATE_SLOT = re.compile(r"\{\{(\w+)\}\}")
_LINE_ENDS = re.compile(r"\r\n?")


EXTERNAL_REL = "noopener noreferrer"


class Markup(str):
    """A string that is markup already."""

    __slots__ = ()


NOTHING = Markup()
# Text never contains this character on a page: it is shown as an escape.
SLOT = Markup("\0")
"""A slot of a template for a value."""
ANCHOR_SLOT = Markup("#\0")
"""A slot of a template for a link to an anchor on the same page; its value is the name of the anchor."""


class ServerAddress(str):
    """An address of the server that a page comes from. Exports have none: they would name files."""

    __slots__ = ()

    def __new__(cls, value: str) -> Self:
        """Check the address. Raises ValueError if it is not percent-encoded, or leads elsewhere."""
        if _SERVER_ADDRESS.fullmatch(value) is None:
            raise ValueError(value[:80])
        return super().__new__(cls, value)


def text(value: str) -> Markup:
    """Escaped text, with misleading characters shown as escapes."""
    if not (value.isascii() and value.isprintable()):
        value = sanitize.safe(_LINE_ENDS.sub("\n", value) if "\r" in value else value)
    return Markup(
        value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def joined(pieces: Iterable[str]) -> Markup:
    """Concatenated pieces; those that are text are escaped."""
    return Markup("".join([piece if type(piece) is Markup else text(piece) for piece in pieces]))


class Template:
    """Elements with slots that are filled with values."""

    def __init__(self, *elements: Markup) -> None:
        self._format = "".join(elements).replace("%", "%%").replace(SLOT, "%s")

    def __call__(self, *values: str) -> Markup:
        """The elements with their slots filled in order; values that are text are escaped."""
        return Markup(
            self._format % tuple([value if type(value) is Markup else text(value) for value in values])
        )


def element(tag: Tag, attributes: Attributes, *content: str) -> Markup:
    """An element; `attributes` that are a plain string are its class."""
    start = _start_tag(tag, attributes) if isinstance(attributes, str) else _start_tag_with(tag, attributes)
    if len(content) == 1:
        (piece,) = content
        return Markup(f"{start}{piece if type(piece) is Markup else text(piece)}</{tag}>")
    pieces = [piece if type(piece) is Markup else text(piece) for piece in content]
    return Markup("".join((start, *pieces, f"</{tag}>")))


@cache
def _start_tag(tag: Tag, css_class: str) -> str:
    return _start_tag_with(tag, {"class": css_class}) if css_class else f"<{tag}>"


def _start_tag_with(tag: Tag, attributes: dict[Name, str]) -> str:
    """A start tag. Raises ValueError for an address that a page must not link to."""
    tag_text = f"<{tag}"
    for name, value in attributes.items():
        if value is ANCHOR_SLOT or (value is SLOT and name not in {"href", "src"}):
            tag_text += f' {name}="{value}"'
            continue
        if (name == "href" and not is_address(value)) or (name == "src" and not is_image_address(value)):
            raise ValueError(f"{name} of {tag}: {value[:80]!r}")
        tag_text += f' {name}="{text(value)}"'
    return f"{tag_text}>"


def image(address: str, alt: str) -> Markup:
    """An image that is embedded or in a file next to the page, with an alternative text."""
    return Markup(_start_tag_with("img", {"src": address, "alt": alt, "loading": "lazy"}))


def opening(tag: Tag, attributes: Attributes) -> Markup:
    """The start tag of an element whose content is written in chunks."""
    return Markup(
        _start_tag(tag, attributes) if isinstance(attributes, str) else _start_tag_with(tag, attributes)
    )


def closing(tag: Tag) -> Markup:
    """The end tag of such an element."""
    return Markup(f"</{tag}>")


def is_address(value: str) -> bool:
    """Whether a page may link to an address."""
    return _is_own(value) or _WEB_ADDRESS.fullmatch(value) is not None


def is_image_address(value: str) -> bool:
    """Whether a page may show an image from an address: nothing is ever fetched from the web."""
    return _is_own(value) or _IMAGE_DATA.fullmatch(value) is not None


def _is_own(value: str) -> bool:
    return type(value) is ServerAddress or _OWN_ADDRESS.fullmatch(value) is not None


def is_web(value: str) -> bool:
    """Whether it is a web or mail address."""
    return _WEB_ADDRESS.fullmatch(value) is not None


def link(address: str, *content: str) -> Markup:
    """A link to the web. Any address that is not known to be harmless is shown as text instead."""
    if is_web(address):
        return element("a", {"href": address, "rel": EXTERNAL_REL}, *(content or (address,)))
    if not content:
        return text(address)
    return element("span", {"class": "refused"}, *content, " (", address, ")")


def data(name: str, value: object) -> Markup:
    """A value for the script of a page, as ASCII JSON that cannot end its own element."""
    encoded = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        encoded = encoded.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{text(name)}">{encoded}</script>')


@cache
def asset(package: str, name: str) -> str:
    """A file of a package."""
    return resources.files(package).joinpath(name).read_text(encoding="utf-8")


def load_template(package: str, name: str, values: dict[str, str]) -> list[Markup]:
    """A template file with values in place of `{{name}}`, split at each `{{here}}`."""
    first, *rest = _TEMPLATE_SLOT.split(asset(package, name))
    pieces = [first]
    # Each slot is followed by the text after it. A slot within a value has no effect.
    for slot, following in zip(rest[::2], rest[1::2], strict=True):
        if slot == "here":
            pieces.append(following)
        else:
            value = values[slot]
            pieces[-1] += (value if type(value) is Markup else text(value)) + following
    return [Markup(piece) for piece in pieces]


def verbatim(package: str, name: str) -> Markup:
    """A script or style of a package, inserted without escaping."""
    return Markup(asset(package, name))


def replace_text(own: Markup, old: str, new: str) -> Markup:
    """A script or style of a package with a part of it replaced by something that is ours, too."""
    return Markup(own.replace(old, new))


# Tags of a renderer that have attributes or need rewriting. A diff and a link without text match as a whole.
_TAG_TO_REWRITE = re.compile(
    r"<(?!/?(?:p|pre|strong|em|del|code|ul|ol|li|blockquote|thead|tbody|tr|th|td)>|[hb]r />)"
    r'(?:pre lang="(?:diff|patch)"><code>[^<]*</code></pre>|a [^>]*>\s*</a>|[^>]*>?)'
)


def rewrite_tags(page: str, rewrite: Callable[[str], Markup]) -> Markup:
    """A renderer's output in which `rewrite` replaces each tag that has attributes or needs rewriting."""

    def replace_tag(match: re.Match[str]) -> str:
        rewritten = rewrite(match[0])
        return rewritten if type(rewritten) is Markup else text(rewritten)

    return Markup(_TAG_TO_REWRITE.sub(replace_tag, page))
