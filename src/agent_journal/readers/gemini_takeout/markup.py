"""HTML as readable text: Markdown, made in one pass.

An answer is a few kilobytes with a tag every thirty characters, so what is done per tag decides how fast an
export is read. One regular expression cuts tags from text; most tags always mean the same and are looked up
in a table; only lists, links, tables and quotations need to know what is around them. Nothing recurses, and
nothing backtracks: a tag has no `<` in it, so text in which much is opened, nothing closed takes no longer.
"""

from __future__ import annotations

import re
from html import unescape
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_TAG = re.compile(r"(</?[A-Za-z][^<>]*>)")
_NAME = re.compile(r"</?[A-Za-z][A-Za-z0-9]*")
_ATTRIBUTE = re.compile(r"""([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#.-]+)")
# Deeper than this nobody can read it; hostile input nests a million times.
_DEEPEST_QUOTE, _DEEPEST_INDENT = 6, 40
_LONGEST_TAG = 8192

_BLOCK = "\n\n"
_MEANING: dict[str, str] = {
    **dict.fromkeys(("p", "/p", "section", "/section", "article", "/article", "figure", "/figure"), _BLOCK),
    **dict.fromkeys(("div", "/div", "dl", "/dl", "dt", "dd"), "\n"),
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    **{f"/h{level}": _BLOCK for level in range(1, 7)},
    **dict.fromkeys(("strong", "/strong", "b", "/b"), "**"),
    **dict.fromkeys(("em", "/em", "i", "/i"), "*"),
    **dict.fromkeys(("s", "/s", "del", "/del", "strike", "/strike"), "~~"),
    **dict.fromkeys(("code", "/code"), "`"),
    **dict.fromkeys(("span", "/span", "u", "/u", "sup", "/sup", "sub", "/sub", "/li", "/dt", "/dd"), ""),
    **dict.fromkeys(("thead", "/thead", "tbody", "/tbody"), ""),
    "/table": _BLOCK,
    "br": "\n",
    "hr": "\n\n---\n\n",
}
_FIXED = {f"<{name}>": text for name, text in _MEANING.items()}
_FIXED |= {f"<{name}{end}>": _MEANING[name] for name in ("br", "hr") for end in ("/", " /")}
# Where no list is within another, and none is numbered, their marks are always the same too.
_FLAT = _FIXED | {"<ul>": _BLOCK, "</ul>": _BLOCK, "<li>": "\n- "}
# Stretches that are not said, with how each ends.
_UNSEEN = (("<!--", "-->"), ("<style", "</style>"), ("<script", "</script>"))


class Image(NamedTuple):
    """A picture that an answer shows."""

    ref: str
    name: str | None


class Readable(NamedTuple):
    """What a piece of HTML says, and the pictures in it."""

    text: str
    images: list[Image]


class _List(NamedTuple):
    indent: str
    is_ordered: bool


def readable(html: str) -> Readable:
    """The HTML as Markdown."""
    for opening, closing in _UNSEEN:
        if opening in html:
            html = "".join(piece for piece, inside in _cut(html, opening, closing) if not inside)
    if "<li>" in html and "<p>" in html:
        html = html.replace("<li><p>", "<li>").replace("</p></li>", "</li>")
        html = html.replace("<li>\n<p>", "<li>") if "\n" in html else html
    page = _Page()
    if "<pre" not in html:
        page.add(html)
    else:
        for piece, is_code in _cut(html, "<pre", "</pre>"):
            page.add_code(piece) if is_code else page.add(piece)
    return Readable(page.text(), page.images)


def plain(html: str) -> str:
    """The HTML without its marks: line breaks are lines, all else is what was typed."""
    text = _TAG.sub(lambda tag: "\n" if tag[1].lower().startswith("<br") else "", html)
    return unescape(text) if "&" in text else text


def until_next(found: list[re.Match[str]], text: str) -> list[tuple[re.Match[str], str]]:
    """Each match, with the text behind it up to the next one."""
    ends = [*(match.start() for match in found[1:]), len(text)]
    return [(match, text[match.end() : end]) for match, end in zip(found, ends, strict=False)]


def attributes(tag: str) -> dict[str, str]:
    """What a tag says beside its name."""
    found = _ATTRIBUTE.findall(tag[:_LONGEST_TAG])
    return {name.lower(): unescape(one or two or three) for name, one, two, three in found}


def _cut(html: str, opening: str, closing: str) -> Iterator[tuple[str, bool]]:
    """The text in pieces, and of each whether it lies between the words; one that is not closed goes on."""
    start = 0
    while (at := html.find(opening, start)) >= 0:
        yield html[start:at], False
        end = html.find(closing, at)
        start = len(html) if end < 0 else end + len(closing)
        yield html[at:start], True
    yield html[start:], False


class _Page:
    """Markdown as it grows; lists go on from one piece of HTML to the next."""

    def __init__(self) -> None:
        self.images: list[Image] = []
        self._done: list[str] = []
        self._lists: list[_List] = []
        self._counts: list[int] = []
        self._pieces: list[str] = []
        self._begun: dict[str, int] = {}
        self._quotes: list[int] = []
        self._href: str | None = None
        self._columns = 0
        self._rows = 0

    def text(self) -> str:
        """All of it."""
        return "".join(self._done).strip()

    def add(self, html: str) -> None:
        """HTML without blocks of code."""
        self._pieces = pieces = _TAG.split(html)
        self._begun.clear()
        self._quotes.clear()
        if "\n" in html:
            pieces[::2] = [_spaced(text) if text.isspace() else text for text in pieces[::2]]
        known = _FLAT if not self._lists and _has_flat_lists(html) else _FIXED
        marks = list(map(known.get, pieces[1::2]))
        tags, pieces[1::2] = pieces[1::2], marks
        try:
            place = marks.index(None)
            while True:
                self._understand(2 * place + 1, tags[place])
                place = marks.index(None, place + 1)
        except ValueError:  # there is no further one
            pass
        text = "".join(pieces)
        text = _with_single_gaps(text)
        if self._done:
            text = text.lstrip("\n")  # behind a block of code, which ends with an empty line
        self._done.append(unescape(text) if "&" in text else text)

    def add_code(self, html: str) -> None:
        """A block of code: its text is as it is, tags in it only colour it."""
        pieces = _TAG.split(html)
        language = _LANGUAGE.search("".join(pieces[1:4:2]))
        code = unescape("".join(pieces[::2])).strip("\n")
        fence = "```"
        while fence in code:
            fence += "`"
        before = self._done[-1].rstrip("\n") if self._done else ""
        self._done[-1:] = [before, _BLOCK if before else ""]
        self._done.append(f"{fence}{language[1] if language else ''}\n{code}\n{fence}{_BLOCK}")

    def _understand(self, place: int, tag: str) -> None:
        """Put what a tag means that depends on what is around it, or has more in it than its name."""
        name = tag[1:-1] if tag[1:-1] in _HANDLERS else _NAME.match(tag)[0][1:].lower()  # type: ignore[index]
        handler = _HANDLERS.get(name)
        self._pieces[place] = _MEANING.get(name, "")
        if handler is not None:
            handler(self, place, tag)

    def begin_list(self, place: int, tag: str) -> None:
        """A list, perhaps within an item of another."""
        is_ordered = tag[1:3].lower() == "ol"
        start = attributes(tag).get("start", "") if len(tag) > len("<ol>") else ""
        first = int(start) if start.isdecimal() and len(start) < len("1000000000") else 1
        indent = ""
        if self._lists:
            above = self._lists[-1]
            indent = (above.indent + ("   " if above.is_ordered else "  "))[:_DEEPEST_INDENT]
        self._pieces[place] = "" if self._lists else _BLOCK
        self._lists.append(_List(indent, is_ordered))
        self._counts.append(first)

    def end_list(self, place: int, _: str) -> None:
        """The end of the innermost list."""
        if self._lists:
            self._lists.pop()
            self._counts.pop()
        self._pieces[place] = "" if self._lists else _BLOCK

    def item(self, place: int, _: str) -> None:
        """An item, with its mark."""
        indent, is_ordered = self._lists[-1] if self._lists else _List("", is_ordered=False)
        if is_ordered:
            self._pieces[place] = f"\n{indent}{self._counts[-1]}. "
            self._counts[-1] += 1
        else:
            self._pieces[place] = f"\n{indent}- "

    def _taken(self, name: str, place: int) -> str | None:
        """The text since something began, taken out of its places; None if nothing began."""
        start = self._begun.pop(name, None)
        if start is None:
            return None
        text = "".join(self._pieces[start:place])
        self._pieces[start:place] = [""] * (place - start)
        return text

    def begin_link(self, place: int, tag: str) -> None:
        """Remember where a link begins, and where it leads; links do not nest."""
        self._begun["a"] = place
        self._href = attributes(tag).get("href")

    def end_link(self, place: int, _: str) -> None:
        """A link with its address, unless it shows that itself."""
        text = self._taken("a", place)
        if text is None:
            return
        label, href = text.strip(), self._href
        if not href or unescape(label) == href:
            self._pieces[place] = text
        else:
            self._pieces[place] = f"[{label}]({href})" if label else href

    def image(self, place: int, tag: str) -> None:
        """A picture."""
        about = attributes(tag)
        ref, name = about.get("src"), about.get("alt")
        if ref:
            self.images.append(Image(ref, name or None))
        self._pieces[place] = f"![{name or ''}]({ref})" if ref else name or ""

    def begin_quote(self, place: int, _: str) -> None:
        """Remember where a quotation begins."""
        self._quotes.append(place)

    def end_quote(self, place: int, _: str) -> None:
        """A quotation, each line of it marked."""
        if not self._quotes:
            return
        start = self._quotes.pop()
        self._pieces[place] = _BLOCK
        if len(self._quotes) < _DEEPEST_QUOTE:
            text = "".join(self._pieces[start:place]).strip()
            lines = _with_single_gaps(text).split("\n")
            quoted = "\n".join(f"> {line}".rstrip() for line in lines)
            self._pieces[start : place + 1] = ["\n\n", quoted, "\n\n", *[""] * (place - start - 2)]

    def begin_table(self, place: int, _: str) -> None:
        """A table: its rows are counted anew."""
        self._rows = self._columns = 0
        self._pieces[place] = _BLOCK

    def begin_row(self, place: int, _: str) -> None:
        """A row: its cells are counted anew."""
        self._columns = 0
        self._pieces[place] = "\n|"

    def end_row(self, place: int, _: str) -> None:
        """Behind the first row comes the line that makes a table of it."""
        self._rows += 1
        self._pieces[place] = "\n|" + " --- |" * self._columns if self._rows == 1 else ""

    def begin_cell(self, place: int, _: str) -> None:
        """Remember where a cell begins."""
        self._begun["cell"] = place

    def end_cell(self, place: int, _: str) -> None:
        """A cell, in one line."""
        text = " ".join((self._taken("cell", place) or "").split()).replace("|", "\\|")
        self._columns += 1
        self._pieces[place] = f" {text} |"


def _has_flat_lists(html: str) -> bool:
    """Whether each list ends before the next begins, and none is numbered."""
    return "<ol" not in html and all("</ul>" in behind for behind in html.split("<ul>")[1:])


def _with_single_gaps(text: str) -> str:
    """Never more than one empty line; each round leaves at most two thirds of them."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", _BLOCK)
    return text


def _spaced(text: str) -> str:
    """White space between tags: a line break in it is for whoever reads the source."""
    return "" if "\n" in text else text


_HANDLERS = {
    "ul": _Page.begin_list,
    "ol": _Page.begin_list,
    "/ul": _Page.end_list,
    "/ol": _Page.end_list,
    "li": _Page.item,
    "a": _Page.begin_link,
    "/a": _Page.end_link,
    "img": _Page.image,
    "blockquote": _Page.begin_quote,
    "/blockquote": _Page.end_quote,
    "table": _Page.begin_table,
    "tr": _Page.begin_row,
    "/tr": _Page.end_row,
    "td": _Page.begin_cell,
    "th": _Page.begin_cell,
    "/td": _Page.end_cell,
    "/th": _Page.end_cell,
}
