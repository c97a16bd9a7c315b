"""The one sink of pages: text becomes markup here and nowhere else.

A `str` is text: wherever it is put, it is escaped, and what would hide, reorder or move text is shown as an
escape. `Markup` is what is not escaped again; only this module makes any. Adding or formatting markup gives
a plain `str`, which is escaped like any other: a mistake shows, and does nothing.
"""

from __future__ import annotations

import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, TypeAlias

from agent_journal.text import sanitize

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

# fmt: off
Tag: TypeAlias = Literal[
    "a", "article", "bdi", "blockquote", "code", "dd", "details", "div", "dl", "dt", "h1", "h2", "h3", "h4",
    "h5", "h6", "header", "img", "li", "nav", "ol", "p", "pre", "section", "small", "span", "summary",
    "table", "td", "th", "time", "ul",
]
Name: TypeAlias = Literal[
    "alt", "aria-label", "class", "data-lang", "datetime", "href", "id", "loading", "open", "rel", "src",
    "start", "title",
]
# fmt: on
Attributes: TypeAlias = dict[Name, str] | str
# A page links to itself, to pages and pictures that were written with it, and to the web.
_OURS = re.compile(r"#[\w-]+|(?:\.\./)?(?:[\w-]+/)?[\w-]+\.[a-z0-9]{1,5}(?:#[\w-]+)?", re.ASCII)
_WEB = re.compile(r"(?:https?://|mailto:)[^\s<>\"`\\\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
# Drawings (SVG) can hold scripts.
_PICTURE = re.compile(r"data:image/(?:png|jpeg|gif|webp|bmp|avif);base64,[A-Za-z0-9+/]+={0,2}")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_LINE_ENDS = re.compile(r"\r\n?")


AWAY = "noopener noreferrer"


class Markup(str):
    """Text that is markup already."""

    __slots__ = ()


NOTHING = Markup()
# No text has this character on a page: it is shown as an escape.
PLACE = Markup("\0")
"""Where a pattern has a value."""
PLACE_ON_PAGE = Markup("#\0")
"""Where a pattern has the address of something on the same page, of which the name is the value."""


def text(value: str) -> Markup:
    """A value of a source, to be read as it is."""
    if not (value.isascii() and value.isprintable()):
        value = sanitize.safe(_LINE_ENDS.sub("\n", value) if "\r" in value else value)
    return Markup(
        value.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace('"', "&quot;")
    )


def joined(pieces: Iterable[str]) -> Markup:
    """Pieces one after the other; those that are text are escaped."""
    return Markup("".join([piece if type(piece) is Markup else text(piece) for piece in pieces]))


class Pattern:
    """Elements that are the same each time but for the values that are put at their places."""

    def __init__(self, *elements: Markup) -> None:
        self._form = "".join(elements).replace("%", "%%").replace(PLACE, "%s")

    def __call__(self, *values: str) -> Markup:
        """The elements with values at their places, in order; those that are text are escaped."""
        return Markup(self._form % tuple([each if type(each) is Markup else text(each) for each in values]))


def element(tag: Tag, attributes: Attributes, *content: str) -> Markup:
    """An element of a page; attributes that are text are its class."""
    opened = _opened(tag, attributes) if isinstance(attributes, str) else _with(tag, attributes)
    if len(content) == 1:
        (piece,) = content
        return Markup(f"{opened}{piece if type(piece) is Markup else text(piece)}</{tag}>")
    pieces = [piece if type(piece) is Markup else text(piece) for piece in content]
    return Markup("".join((opened, *pieces, f"</{tag}>")))


@cache
def _opened(tag: Tag, kind: str) -> str:
    return _with(tag, {"class": kind}) if kind else f"<{tag}>"


def _with(tag: Tag, attributes: dict[Name, str]) -> str:
    """The beginning of an element. An address that leads elsewhere than a page may lead is refused."""
    opened = f"<{tag}"
    for name, value in attributes.items():
        if value is PLACE_ON_PAGE or (value is PLACE and name not in {"href", "src"}):
            opened += f' {name}="{value}"'
            continue
        if (name == "href" and not is_address(value)) or (name == "src" and not is_picture(value)):
            raise ValueError(f"{name} of {tag}: {value[:80]!r}")
        opened += f' {name}="{text(value)}"'
    return f"{opened}>"


def image(address: str, words: str) -> Markup:
    """A picture that is inside the page or lies beside it; words are for who does not see it."""
    return Markup(_with("img", {"src": address, "alt": words, "loading": "lazy"}))


def opening(tag: Tag, attributes: Attributes) -> Markup:
    """The beginning of an element that is written while it is made."""
    return Markup(_opened(tag, attributes) if isinstance(attributes, str) else _with(tag, attributes))


def closing(tag: Tag) -> Markup:
    """The end of such an element."""
    return Markup(f"</{tag}>")


def is_address(value: str) -> bool:
    """Whether a link may lead there."""
    return _OURS.fullmatch(value) is not None or _WEB.fullmatch(value) is not None


def is_picture(value: str) -> bool:
    """Whether an image may be shown from there: nothing is ever fetched from the web."""
    return _OURS.fullmatch(value) is not None or _PICTURE.fullmatch(value) is not None


def is_web(value: str) -> bool:
    """Whether it is an address of the web, or of mail."""
    return _WEB.fullmatch(value) is not None


def link(address: str, *content: str) -> Markup:
    """A link to the web; what is none, or none that is known to be harmless, is told and leads nowhere."""
    if is_web(address):
        return element("a", {"href": address, "rel": AWAY}, *(content or (address,)))
    if not content:
        return text(address)
    return element("span", {"class": "nowhere"}, *content, " (", address, ")")


def data(name: str, value: object) -> Markup:
    """A value for the script of a page. It is ASCII, and nothing in it can end the element it stands in."""
    told = json.dumps(value, separators=(",", ":"))
    for character in "<>&":
        told = told.replace(character, f"\\u{ord(character):04x}")
    return Markup(f'<script type="application/json" id="{text(name)}">{told}</script>')


@cache
def asset(name: str) -> str:
    """A file of this package."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def template(name: str, values: dict[str, str]) -> list[Markup]:
    """A file of this package with values in place of `{{name}}`, cut where it says `{{here}}`."""
    made, *rest = _PLACE.split(asset(name))
    pieces = [made]
    # Behind each place stands what follows it. A value is put in once: nothing in it is a place.
    for place, following in zip(rest[::2], rest[1::2], strict=True):
        if place == "here":
            pieces.append(following)
        else:
            value = values[place]
            pieces[-1] += (value if type(value) is Markup else text(value)) + following
    return [Markup(piece) for piece in pieces]


def verbatim(name: str) -> Markup:
    """A script or style of this package, which stands in a page as it is."""
    return Markup(asset(name))


# What stands for itself in the output of a renderer; every other tag is looked at. What is shown in a form of
# its own is taken as a whole: a diff, and a link that nobody could see.
_NOT_PLAIN = re.compile(
    r"<(?!/?(?:p|pre|strong|em|del|code|ul|ol|li|blockquote|thead|tbody|tr|th|td)>|[hb]r />)"
    r'(?:pre lang="(?:diff|patch)"><code>[^<]*</code></pre>|a [^>]*>\s*</a>|[^>]*>?)'
)


def rendered(page: str, rewritten: Callable[[str], Markup]) -> Markup:
    """What a renderer made; each tag that has attributes or a meaning is what `rewritten` makes of it."""

    def checked(match: re.Match[str]) -> str:
        made = rewritten(match[0])
        return made if type(made) is Markup else text(made)

    return Markup(_NOT_PLAIN.sub(checked, page))
