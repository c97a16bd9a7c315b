"""HTML as readable text: Markdown, made in one pass.

An answer is a few kilobytes with a tag every thirty characters, so what is done per tag decides how fast an
export is read. Tags stand together in runs (`</p></li><li><p><strong>`) of which an export has a few hundred
different ones. One regular expression cuts them from text, and what a run means is looked up in a table.
Only tags of numbered or nested lists, links, tables and quotations, which need to know what is around them,
are looked at one by one. Nothing recurses, and text in which much is opened, nothing closed takes no longer.
"""

from __future__ import annotations

import re
from functools import lru_cache
from html import unescape
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    _Handler: TypeAlias = Callable[["_Page", str], str]

_TAG = re.compile(r"(</?[A-Za-z][^<>]*>)")
# Tags without attributes, with only white space between them; or, alone, a `<` that begins no such tag.
_RUN = re.compile(r"(<(?:[a-z0-9/]*(?:>\s*<[a-z0-9/]*){0,50}>)?)")
_NAME = re.compile(r"</?[A-Za-z][A-Za-z0-9]*")
_ATTRIBUTE = re.compile(r"""([a-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.IGNORECASE)
_LANGUAGE = re.compile(r"(?:language|lang)-([\w+#.-]+)")
# Deeper than this nobody can read it; hostile input nests a million times.
_DEEPEST_QUOTE, _DEEPEST_INDENT = 6, 40
_LONGEST_TAG = 8192
_LONGEST_REFERENCE = 32
_MOST_RUNS = 10_000

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
_UNSEEN_WORDS = tuple(opening[1:] for opening, _ in _UNSEEN)
_CODE = ("<pre", "</pre>")


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


_BARE = _List("", is_ordered=False)


def readable(html: str) -> Readable:
    """The HTML as Markdown."""
    if _CODE[0] not in html:
        pieces = _RUN.split(html)
        text = _looked_up(pieces)
        if text is not None:
            return Readable(_unescaped(text).strip(), [])
        if not _has_unseen(pieces):
            page = _Page()
            page.add(pieces)
            return Readable(page.text(), page.images)
    for opening, closing in _UNSEEN:
        if opening in html:
            html = "".join(piece for piece, is_unseen in _cut(html, opening, closing) if not is_unseen)
    page = _Page()
    for piece, is_code in _cut(html, *_CODE):
        page.add_code(piece) if is_code else page.add(_RUN.split(piece))
    return Readable(page.text(), page.images)


def _has_unseen(pieces: list[str]) -> bool:
    """Whether something that is not said may begin in texts and runs of tags."""
    runs = pieces[1::2]
    if any(map(_UNSEEN_RUNS.__getitem__, runs)):
        return True
    return "<" in runs and any(text.startswith(_UNSEEN_WORDS) for text in pieces[2::2])


def _begins_unseen(run: str) -> bool:
    return any(opening in run for opening, _ in _UNSEEN)


def plain(html: str) -> str:
    """The HTML without its marks: line breaks are lines, all else is what was typed."""
    return _unescaped(_TAG.sub(lambda tag: "\n" if tag[1].lower().startswith("<br") else "", html))


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
        self._out: list[str] = []
        self._begun: dict[str, int] = {}
        self._quotes: list[int] = []
        self._href: str | None = None
        self._columns = 0
        self._rows = 0

    def text(self) -> str:
        """All of it."""
        return "".join(self._done).strip()

    def add(self, pieces: list[str]) -> None:
        """HTML without blocks of code, cut into texts and runs of tags."""
        text = None if self._lists else _looked_up(pieces)
        if text is None:
            text = self._understood(pieces)
        if self._done:
            text = text.lstrip("\n")  # behind a block of code, which ends with an empty line
        self._done.append(_unescaped(text))

    def _understood(self, pieces: list[str]) -> str:
        """What HTML means in which some tags depend on what is around them."""
        self._out = out = [_spaced(pieces[0])]
        self._begun.clear()
        self._quotes.clear()
        for run, text in zip(pieces[1::2], pieces[2::2], strict=True):
            steps = _STEPS[run]
            if steps.__class__ is str:
                out.append(steps)
                out.append(_spaced(text))
            elif run == "<":
                out.append(_spaced(self._tag(text)))
            else:
                self._run(steps)
                out.append(_spaced(text))
        return _with_single_gaps("".join(out))

    def _run(self, steps: _Steps) -> None:
        """Put what each tag of a run means."""
        out = self._out
        if steps.are_marks:
            marks = [step if step.__class__ is str else step.handler(self, step.tag) for step in steps.all]
            out.append(_with_single_gaps("".join(marks)))
            return
        for step in steps.all:
            out.append(step if step.__class__ is str else step.handler(self, step.tag))

    def _tag(self, text: str) -> str:
        """Put what a tag means that a text begins with behind its `<`; what is left of the text."""
        body, end, behind = text.partition(">")
        tag = f"<{body}>"
        name = _name(tag) if end else ""
        if not name:
            self._out.append("<")
            return text
        handler = _HANDLERS.get(name)
        self._out.append(handler(self, tag) if handler else _MEANING.get(name, ""))
        return behind

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

    def begin_list(self, tag: str) -> str:
        """A list, perhaps within an item of another."""
        is_ordered = tag[1:3].lower() == "ol"
        start = attributes(tag).get("start", "") if len(tag) > len("<ol>") else ""
        first = int(start) if start.isdecimal() and len(start) < len("1000000000") else 1
        indent, gap = "", _BLOCK
        if self._lists:
            above = self._lists[-1]
            indent, gap = (above.indent + ("   " if above.is_ordered else "  "))[:_DEEPEST_INDENT], ""
        self._lists.append(_List(indent, is_ordered))
        self._counts.append(first)
        return gap

    def end_list(self, _: str) -> str:
        """The end of the innermost list."""
        if self._lists:
            self._lists.pop()
            self._counts.pop()
        return "" if self._lists else _BLOCK

    def item(self, _: str) -> str:
        """An item, with its mark."""
        indent, is_ordered = self._lists[-1] if self._lists else _BARE
        if not is_ordered:
            return f"\n{indent}- "
        self._counts[-1] += 1
        return f"\n{indent}{self._counts[-1] - 1}. "

    def _taken(self, start: int | None) -> str | None:
        """The text from there on, which is no longer there; None if nothing began."""
        if start is None:
            return None
        text = "".join(self._out[start:])
        del self._out[start:]
        # What began within it and did not end is at an end.
        self._begun = {name: place for name, place in self._begun.items() if place < start}
        while self._quotes and self._quotes[-1] >= start:
            self._quotes.pop()
        return text

    def begin_link(self, tag: str) -> str:
        """Remember where a link begins, and where it leads; links do not nest."""
        self._begun["a"] = len(self._out)
        self._href = attributes(tag).get("href")
        return ""

    def end_link(self, _: str) -> str:
        """A link with its address, unless it shows that itself."""
        text = self._taken(self._begun.get("a"))
        if text is None:
            return ""
        label, href = text.strip(), self._href
        if not href or unescape(label) == href:
            return text
        return f"[{label}]({_escaped(href)})" if label else _escaped(href)

    def image(self, tag: str) -> str:
        """A picture."""
        about = attributes(tag)
        ref, name = about.get("src"), about.get("alt") or ""
        if not ref:
            return _escaped(name)
        self.images.append(Image(ref, name or None))
        return f"![{_escaped(name)}]({_escaped(ref)})"

    def begin_quote(self, _: str) -> str:
        """Remember where a quotation begins."""
        self._quotes.append(len(self._out))
        return ""

    def end_quote(self, _: str) -> str:
        """A quotation, each line of it marked."""
        if not self._quotes:
            return ""
        start = self._quotes.pop()
        if len(self._quotes) >= _DEEPEST_QUOTE:
            return _BLOCK
        lines = _with_single_gaps((self._taken(start) or "").strip()).split("\n")
        quoted = "\n".join(f"> {line}".rstrip() for line in lines)
        return f"{_BLOCK}{quoted}{_BLOCK}"

    def begin_table(self, _: str) -> str:
        """A table: its rows are counted anew."""
        self._rows = self._columns = 0
        return _BLOCK

    def begin_row(self, _: str) -> str:
        """A row: its cells are counted anew."""
        self._columns = 0
        return "\n|"

    def end_row(self, _: str) -> str:
        """Behind the first row comes the line that makes a table of it."""
        self._rows += 1
        return "\n|" + " --- |" * self._columns if self._rows == 1 else ""

    def begin_cell(self, _: str) -> str:
        """Remember where a cell begins."""
        self._begun["cell"] = len(self._out)
        return ""

    def end_cell(self, _: str) -> str:
        """A cell, in one line."""
        text = " ".join((self._taken(self._begun.get("cell")) or "").split()).replace("|", "\\|")
        self._columns += 1
        return f" {text} |"


_HANDLERS: dict[str, _Handler] = {
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
_LISTS = ("ul", "/ul", "ol", "/ol", "li")


class _Step(NamedTuple):
    """A tag whose meaning depends on what is around it."""

    handler: _Handler
    tag: str


class _Steps(NamedTuple):
    """What the tags of a run mean one after the other; `are_marks` if none takes text that is before it."""

    all: list[Any]  # texts and steps
    are_marks: bool


def _looked_up(pieces: list[str]) -> str | None:
    """What texts and runs of tags mean in turn if each run always means the same; None if one does not."""
    runs = pieces[1::2]
    marks = [*map(_FLAT_MARKS.__getitem__, runs)]
    if None in marks:
        return None
    lists = "".join(map(_FLAT_LISTS.__getitem__, runs))
    if "((" in lists or lists.endswith("("):
        return None
    found: list[Any] = pieces[:]
    found[1::2] = marks
    # White space around it all is nobody's; taking it from the long text would copy that.
    found[:2] = ["".join(found[:2]).lstrip()]
    found[-2:] = ["".join(found[-2:]).rstrip()]
    return _with_single_gaps("".join(found))


class _Remembered(dict[str, Any]):
    """What each run of tags means, found out once."""

    def __init__(self, meaning_of: Callable[[str], Any]) -> None:
        super().__init__()
        self._meaning_of = meaning_of

    def __missing__(self, run: str) -> Any:
        meaning = self._meaning_of(run)
        if len(self) < _MOST_RUNS:
            self[run] = meaning
        return meaning


def _flat_marks(run: str) -> str | None:
    """What a run means where lists are flat and not numbered; None if more than that matters."""
    found: list[Any] = _TAG.split(_tight(run))
    found[::2] = map(_spaced, found[::2])
    found[1::2] = marks = [*map(_FLAT.get, found[1::2])]
    return None if run == "<" or None in marks else _with_single_gaps("".join(found))


def _flat_lists(run: str) -> str:
    """Which lists begin and end in a run: `)(` ends one and begins another."""
    return "".join("(" if tag == "<ul>" else ")" for tag in re.findall("</?ul>", run))


def _steps(run: str) -> str | _Steps:
    """What a run means, or how to find out."""
    first, *further = _TAG.split(_tight(run))
    steps: list[Any] = []
    fixed = _spaced(first) if run != "<" else ""
    are_marks = True
    for tag, text in zip(further[::2], further[1::2], strict=True):
        name = _name(tag)
        if handler := _HANDLERS.get(name):
            steps += [fixed, _Step(handler, tag)]
            fixed = _spaced(text)
            are_marks = are_marks and name in _LISTS
        else:
            fixed += _MEANING.get(name, "") + _spaced(text)
    if not steps and run != "<":
        return _with_single_gaps(fixed)
    return _Steps([step for step in (*steps, fixed) if step], are_marks)


_FLAT_MARKS = _Remembered(_flat_marks)
_FLAT_LISTS = _Remembered(_flat_lists)
_STEPS = _Remembered(_steps)
_UNSEEN_RUNS = _Remembered(_begins_unseen)


def _name(tag: str) -> str:
    """What a tag is called, behind `/` if it ends something."""
    found = _NAME.match(tag)
    return found[0][1:].lower() if found else ""


def _tight(html: str) -> str:
    """The HTML without the paragraphs that begin and end an item: they would part it from its mark."""
    html = html.replace("<li><p>", "<li>").replace("</p></li>", "</li>")
    return html.replace("<li>\n<p>", "<li>") if "\n" in html else html


def _escaped(value: str) -> str:
    """A value from an attribute as text of HTML, which all is until the end."""
    return value.replace("&", "&amp;")


def _unescaped(text: str) -> str:
    """What `html.unescape` gives: a reference ends before the next begins, and few ones are used often."""
    if "&" not in text:
        return text
    first, *others = text.split("&")
    pieces = [first]
    for other in others:
        name, end, behind = other.partition(";")
        if end and len(name) <= _LONGEST_REFERENCE:
            pieces += (_character(name), behind)
        else:
            pieces.append(unescape(f"&{other}"))
    return "".join(pieces)


@lru_cache(maxsize=1024)
def _character(name: str) -> str:
    return unescape(f"&{name};")


def _with_single_gaps(text: str) -> str:
    """Never more than one empty line; each round leaves at most two thirds of them."""
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", _BLOCK)
    return text


def _spaced(text: str) -> str:
    """Text between tags: a line break in white space is for whoever reads the source."""
    return "" if text.isspace() and "\n" in text else text
