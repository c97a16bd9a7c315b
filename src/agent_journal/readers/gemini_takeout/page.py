"""HTML as Markdown, tag by tag: any HTML, as it grows."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from agent_journal.readers.gemini_takeout.tags import (
    BLOCK,
    RUN,
    TAG,
    Remembered,
    attributes,
    escaped,
    name_of,
    spaced,
    tight,
    unescaped,
    with_single_gaps,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    _Handler: TypeAlias = Callable[["Page", str], str]

# Deeper than this nobody can read it; hostile input nests a million times.
_DEEPEST_QUOTE, _DEEPEST_INDENT = 6, 40

_MEANING: dict[str, str] = {
    **dict.fromkeys(("p", "/p", "section", "/section", "article", "/article", "figure", "/figure"), BLOCK),
    **dict.fromkeys(("div", "/div", "dl", "/dl", "dt", "dd"), "\n"),
    **{f"h{level}": f"\n\n{'#' * level} " for level in range(1, 7)},
    **{f"/h{level}": BLOCK for level in range(1, 7)},
    **dict.fromkeys(("strong", "/strong", "b", "/b"), "**"),
    **dict.fromkeys(("em", "/em", "i", "/i"), "*"),
    **dict.fromkeys(("s", "/s", "del", "/del", "strike", "/strike"), "~~"),
    **dict.fromkeys(("code", "/code"), "`"),
    **dict.fromkeys(("span", "/span", "u", "/u", "sup", "/sup", "sub", "/sub", "/li", "/dt", "/dd"), ""),
    **dict.fromkeys(("thead", "/thead", "tbody", "/tbody"), ""),
    "br": "\n",
    "hr": "\n\n---\n\n",
}


class Image(NamedTuple):
    """A picture that an answer shows."""

    ref: str
    name: str | None


class _List(NamedTuple):
    indent: str
    is_ordered: bool


class Around(NamedTuple):
    """What decides what tags of lists and tables mean: the open lists, the next number of each, the row."""

    lists: tuple[_List, ...] = ()
    numbers: tuple[int, ...] = ()
    has_head: bool = False
    columns: int = 0


NOWHERE = Around()
_BARE = _List("", is_ordered=False)


class Page:
    """Markdown as it grows; lists go on from one piece of HTML to the next."""

    def __init__(self, around: Around = NOWHERE) -> None:
        self.images: list[Image] = []
        self._lists = [*around.lists]
        self._numbers = [*around.numbers]
        self._has_head = around.has_head
        self.columns = around.columns
        self._out: list[str] = []
        self._begun: dict[str, int] = {}
        self._quotes: list[int] = []
        self._href: str | None = None

    @property
    def around(self) -> Around:
        """Where the page is now."""
        return Around((*self._lists,), (*self._numbers,), self._has_head, self.columns)

    def markdown(self, html: str) -> str:
        """What HTML without blocks of code means, its references as they are."""
        first, *further = RUN.split(html)
        self._out = out = [spaced(first)]
        self._begun.clear()
        self._quotes.clear()
        for run, text in zip(further[::2], further[1::2], strict=True):
            found = _STEPS[run]
            if found.__class__ is str:
                out.append(found)
                out.append(spaced(text))
            elif run == "<":
                out.append(spaced(self._tag(text)))
            else:
                for step in found:
                    # A step may take away what is before it.
                    out.append(step if step.__class__ is str else step.handler(self, step.tag))  # noqa: PERF401
                out.append(spaced(text))
        return with_single_gaps("".join(out))

    def _tag(self, text: str) -> str:
        """Put what a tag means that a text begins with behind its `<`; what is left of the text."""
        body, end, behind = text.partition(">")
        tag = f"<{body}>"
        name = name_of(tag) if end else ""
        if not name:
            self._out.append("<")
            return text
        handler = _HANDLERS.get(name)
        self._out.append(handler(self, tag) if handler else _MEANING.get(name, ""))
        return behind

    def begin_list(self, tag: str) -> str:
        """A list, perhaps within an item of another."""
        is_ordered = tag[1:3].lower() == "ol"
        start = attributes(tag).get("start", "") if len(tag) > len("<ol>") else ""
        first = int(start) if start.isdecimal() and len(start) < len("1000000000") else 1
        indent, gap = "", BLOCK
        if self._lists:
            above = self._lists[-1]
            indent, gap = (above.indent + ("   " if above.is_ordered else "  "))[:_DEEPEST_INDENT], ""
        self._lists.append(_List(indent, is_ordered))
        self._numbers.append(first)
        return gap

    def end_list(self, _: str) -> str:
        """The end of the innermost list."""
        if self._lists:
            self._lists.pop()
            self._numbers.pop()
        return "" if self._lists else BLOCK

    def item(self, _: str) -> str:
        """An item, with its mark."""
        indent, is_ordered = self._lists[-1] if self._lists else _BARE
        if not is_ordered:
            return f"\n{indent}- "
        self._numbers[-1] += 1
        return f"\n{indent}{self._numbers[-1] - 1}. "

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
        """All that was said since a link began, as a link."""
        text = self._taken(self._begun.get("a"))
        return "" if text is None else link(text, self._href)

    def image(self, tag: str) -> str:
        """A picture."""
        about = attributes(tag)
        ref, name = about.get("src"), about.get("alt") or ""
        if not ref:
            return escaped(name)
        self.images.append(Image(ref, name or None))
        return f"![{escaped(name)}]({escaped(ref)})"

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
            return BLOCK
        lines = with_single_gaps((self._taken(start) or "").strip()).split("\n")
        quoted = "\n".join(f"> {line}".rstrip() for line in lines)
        return f"{BLOCK}{quoted}{BLOCK}"

    def begin_table(self, _: str) -> str:
        """A table: its rows are counted anew."""
        self._has_head, self.columns = False, 0
        return BLOCK

    def end_table(self, _: str) -> str:
        """The end of a table: rows without one around them are no part of it."""
        self._has_head, self.columns = False, 0
        return BLOCK

    def begin_row(self, _: str) -> str:
        """A row: its cells are counted anew."""
        self.columns = 0
        return "\n|"

    def end_row(self, _: str) -> str:
        """Behind the first row comes the line that makes a table of it."""
        has_head, self._has_head = self._has_head, True
        return "" if has_head or not self.columns else "\n|" + " --- |" * self.columns

    def begin_cell(self, _: str) -> str:
        """Remember where a cell begins."""
        self._begun["cell"] = len(self._out)
        return ""

    def end_cell(self, _: str) -> str:
        """A cell, in one line."""
        self.columns += 1
        return cell(self._taken(self._begun.get("cell")) or "")


def link(text: str, href: str | None) -> str:
    """A link with its address, unless it shows that itself."""
    label = text.strip()
    if not href or unescaped(label) == href:
        return text
    return f"[{label}]({escaped(href)})" if label else escaped(href)


def cell(text: str) -> str:
    """A cell of a table, in one line."""
    told = " ".join(text.split()).replace("|", "\\|")
    return f" {told} |"


_HANDLERS: dict[str, _Handler] = {
    "ul": Page.begin_list,
    "ol": Page.begin_list,
    "/ul": Page.end_list,
    "/ol": Page.end_list,
    "li": Page.item,
    "a": Page.begin_link,
    "/a": Page.end_link,
    "img": Page.image,
    "blockquote": Page.begin_quote,
    "/blockquote": Page.end_quote,
    "table": Page.begin_table,
    "/table": Page.end_table,
    "tr": Page.begin_row,
    "/tr": Page.end_row,
    "td": Page.begin_cell,
    "th": Page.begin_cell,
    "/td": Page.end_cell,
    "/th": Page.end_cell,
}


class Step(NamedTuple):
    """A tag whose meaning depends on what is around it."""

    handler: _Handler
    tag: str


def steps(run: str) -> str | list[str | Step]:
    """What a run means; if that depends on what is around it, the texts and tags that it is made of."""
    first, *further = TAG.split(tight(run))
    found: list[str | Step] = []
    fixed = spaced(first) if run != "<" else ""
    for tag, text in zip(further[::2], further[1::2], strict=True):
        name = name_of(tag)
        if handler := _HANDLERS.get(name):
            found += [fixed, Step(handler, tag)]
            fixed = spaced(text)
        else:
            fixed += _MEANING.get(name, "") + spaced(text)
    if not found and run != "<":
        return with_single_gaps(fixed)
    return [step for step in (*found, fixed) if step]


_STEPS = Remembered(steps)
