"""Converts any HTML to Markdown, tag by tag."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from agent_journal.readers.gemini_takeout.tags import (
    BLOCK,
    RUN,
    TAG,
    Memo,
    attributes,
    collapse_blank_lines,
    escape,
    name_of,
    unescape_all,
    without_item_paragraphs,
    without_source_gaps,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    _Handler: TypeAlias = Callable[["MarkdownBuilder", str], str]

# Nobody can read deeper levels; hostile input nests a million times.
_MAX_QUOTE_DEPTH, _MAX_INDENT_CHARS = 6, 40

_MARKDOWN_OF_TAG: dict[str, str] = {
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
    """An image that an answer displays."""

    ref: str
    name: str | None


class _List(NamedTuple):
    indent: str
    is_ordered: bool


class Nesting(NamedTuple):
    """The state that list and table tags depend on: the open lists, their next numbers, the table row."""

    lists: tuple[_List, ...] = ()
    numbers: tuple[int, ...] = ()
    has_head: bool = False
    columns: int = 0


TOP_LEVEL = Nesting()
_NO_LIST = _List("", is_ordered=False)


class MarkdownBuilder:
    """Builds Markdown from pieces of HTML; a list may continue in the next piece."""

    def __init__(self, nesting: Nesting = TOP_LEVEL) -> None:
        self.images: list[Image] = []
        self._lists = [*nesting.lists]
        self._numbers = [*nesting.numbers]
        self._has_head = nesting.has_head
        self.columns = nesting.columns
        self._output: list[str] = []
        self._starts: dict[str, int] = {}
        self._quotes: list[int] = []
        self._href: str | None = None

    @property
    def nesting(self) -> Nesting:
        """The current state of lists and tables."""
        return Nesting((*self._lists,), (*self._numbers,), self._has_head, self.columns)

    def markdown(self, html: str) -> str:
        """Convert HTML without code blocks; references stay unresolved."""
        first, *further = RUN.split(html)
        self._output = output = [without_source_gaps(first)]
        self._starts.clear()
        self._quotes.clear()
        for run, text in zip(further[::2], further[1::2], strict=True):
            parsed = _PARSED_RUNS[run]
            if parsed.__class__ is str:
                output.append(parsed)
                output.append(without_source_gaps(text))
            elif run == "<":
                output.append(without_source_gaps(self._tag(text)))
            else:
                for step in parsed:
                    # A step may remove earlier output.
                    output.append(step if step.__class__ is str else step.handler(self, step.tag))  # noqa: PERF401
                output.append(without_source_gaps(text))
        return collapse_blank_lines("".join(output))

    def _tag(self, text: str) -> str:
        """Append the Markdown of the tag that a text begins with (after `<`); return the remaining text."""
        body, end, remaining = text.partition(">")
        tag = f"<{body}>"
        name = name_of(tag) if end else ""
        if not name:
            self._output.append("<")
            return text
        handler = _HANDLERS.get(name)
        self._output.append(handler(self, tag) if handler else _MARKDOWN_OF_TAG.get(name, ""))
        return remaining

    def begin_list(self, tag: str) -> str:
        """Begin a list, perhaps inside an item of another list."""
        is_ordered = tag[1:3].lower() == "ol"
        start = attributes(tag).get("start", "") if len(tag) > len("<ol>") else ""
        first = int(start) if start.isdecimal() and len(start) < len("1000000000") else 1
        indent, gap = "", BLOCK
        if self._lists:
            parent = self._lists[-1]
            indent, gap = (parent.indent + ("   " if parent.is_ordered else "  "))[:_MAX_INDENT_CHARS], ""
        self._lists.append(_List(indent, is_ordered))
        self._numbers.append(first)
        return gap

    def end_list(self, _: str) -> str:
        """End the innermost list."""
        if self._lists:
            self._lists.pop()
            self._numbers.pop()
        return "" if self._lists else BLOCK

    def item(self, _: str) -> str:
        """Begin an item with its bullet or number."""
        indent, is_ordered = self._lists[-1] if self._lists else _NO_LIST
        if not is_ordered:
            return f"\n{indent}- "
        self._numbers[-1] += 1
        return f"\n{indent}{self._numbers[-1] - 1}. "

    def _take_since(self, start: int | None) -> str | None:
        """Remove and return the output from an index on; None if nothing began there."""
        if start is None:
            return None
        text = "".join(self._output[start:])
        del self._output[start:]
        # Whatever began inside and did not end, ends here.
        self._starts = {name: begin for name, begin in self._starts.items() if begin < start}
        while self._quotes and self._quotes[-1] >= start:
            self._quotes.pop()
        return text

    def begin_link(self, tag: str) -> str:
        """Remember where a link begins, and its URL; links do not nest."""
        self._starts["a"] = len(self._output)
        self._href = attributes(tag).get("href")
        return ""

    def end_link(self, _: str) -> str:
        """Turn the output since the beginning of a link into a link."""
        text = self._take_since(self._starts.get("a"))
        return "" if text is None else link(text, self._href)

    def image(self, tag: str) -> str:
        """Add an image."""
        image_attributes = attributes(tag)
        ref, name = image_attributes.get("src"), image_attributes.get("alt") or ""
        if not ref:
            return escape(name)
        self.images.append(Image(ref, name or None))
        return f"![{escape(name)}]({escape(ref)})"

    def begin_quote(self, _: str) -> str:
        """Remember where a quotation begins."""
        self._quotes.append(len(self._output))
        return ""

    def end_quote(self, _: str) -> str:
        """Mark each line of a quotation."""
        if not self._quotes:
            return ""
        start = self._quotes.pop()
        if len(self._quotes) >= _MAX_QUOTE_DEPTH:
            return BLOCK
        lines = collapse_blank_lines((self._take_since(start) or "").strip()).split("\n")
        quoted = "\n".join(f"> {line}".rstrip() for line in lines)
        return f"{BLOCK}{quoted}{BLOCK}"

    def begin_table(self, _: str) -> str:
        """Begin a table."""
        self._has_head, self.columns = False, 0
        return BLOCK

    def end_table(self, _: str) -> str:
        """End a table; rows outside of a table start from zero."""
        self._has_head, self.columns = False, 0
        return BLOCK

    def begin_row(self, _: str) -> str:
        """Begin a row."""
        self.columns = 0
        return "\n|"

    def end_row(self, _: str) -> str:
        """End a row; a separator line follows the first one."""
        has_head, self._has_head = self._has_head, True
        return "" if has_head or not self.columns else "\n|" + " --- |" * self.columns

    def begin_cell(self, _: str) -> str:
        """Remember where a cell begins."""
        self._starts["cell"] = len(self._output)
        return ""

    def end_cell(self, _: str) -> str:
        """Put a cell on one line."""
        self.columns += 1
        return cell(self._take_since(self._starts.get("cell")) or "")


def link(text: str, href: str | None) -> str:
    """Format a link with its URL, unless the URL is also its text."""
    label = text.strip()
    if not href or unescape_all(label) == href:
        return text
    return f"[{label}]({escape(href)})" if label else escape(href)


def cell(text: str) -> str:
    """Format a table cell on one line."""
    content = " ".join(text.split()).replace("|", "\\|")
    return f" {content} |"


_HANDLERS: dict[str, _Handler] = {
    "ul": MarkdownBuilder.begin_list,
    "ol": MarkdownBuilder.begin_list,
    "/ul": MarkdownBuilder.end_list,
    "/ol": MarkdownBuilder.end_list,
    "li": MarkdownBuilder.item,
    "a": MarkdownBuilder.begin_link,
    "/a": MarkdownBuilder.end_link,
    "img": MarkdownBuilder.image,
    "blockquote": MarkdownBuilder.begin_quote,
    "/blockquote": MarkdownBuilder.end_quote,
    "table": MarkdownBuilder.begin_table,
    "/table": MarkdownBuilder.end_table,
    "tr": MarkdownBuilder.begin_row,
    "/tr": MarkdownBuilder.end_row,
    "td": MarkdownBuilder.begin_cell,
    "th": MarkdownBuilder.begin_cell,
    "/td": MarkdownBuilder.end_cell,
    "/th": MarkdownBuilder.end_cell,
}


class Step(NamedTuple):
    """A tag whose Markdown depends on its context."""

    handler: _Handler
    tag: str


def parse_run(run: str) -> str | list[str | Step]:
    """Get the Markdown of a run of tags; if it depends on the context, its texts and tags."""
    first, *further = TAG.split(without_item_paragraphs(run))
    steps: list[str | Step] = []
    fixed = without_source_gaps(first) if run != "<" else ""
    for tag, text in zip(further[::2], further[1::2], strict=True):
        name = name_of(tag)
        if handler := _HANDLERS.get(name):
            steps += [fixed, Step(handler, tag)]
            fixed = without_source_gaps(text)
        else:
            fixed += _MARKDOWN_OF_TAG.get(name, "") + without_source_gaps(text)
    if not steps and run != "<":
        return collapse_blank_lines(fixed)
    return [step for step in (*steps, fixed) if step]


_PARSED_RUNS = Memo(parse_run)
