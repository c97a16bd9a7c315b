"""HTML as Markdown, as answers usually have it: looked up rather than understood.

What a run of tags means, and where on a page it leads, depends only on the lists and the table that it stands
in. So each place on a page remembers its runs; text is looked at by nothing that is not written in C.
"""

from __future__ import annotations

import re
from itertools import count
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias

from agent_journal.readers.gemini_takeout.page import NOWHERE, Around, Image, Page, Step, cell, link, steps
from agent_journal.readers.gemini_takeout.tags import (
    MAYBE_UNSEEN,
    TAG,
    attributes,
    language_in,
    often_unescaped,
    with_single_gaps,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

# Tags with only white space between them. What is no tag is found out later.
_RUN = re.compile(r"(<[^>]*+>(?:\s*+<[^>]*+>)*+)")
_MOST_TAGS = 50
_DEEPEST_LIST = 20
_MOST_PLACES, _MOST_RUNS, _LONGEST_RUN = 1000, 20_000, 100
# What is in a cell, a link or a block of code is known when all is put together; until then one of these is
# on both sides of it, and between a link's address and its label. A picture is taken down then, too.
_CELL, _CODE, _LINK, _PICTURE = "\x02", "\x04", "\x06", "\x08"
_ADDRESS = re.compile("<a [^<>]*>")
# No link or picture comes often.
_ONCE = re.compile("<(?:a|img) ")
_LISTS = {Page.begin_list, Page.end_list, Page.item}
_TABLES = {Page.begin_table, Page.end_table, Page.begin_row, Page.end_row}
_Kind: TypeAlias = Literal["text", "cell", "link", "link in a cell", "code"]
# Where the marks of cells and links lead.
_BEHIND: dict[tuple[_Kind, str], _Kind] = {
    ("text", _CELL): "cell",
    ("cell", _CELL): "text",
    ("text", _LINK): "link",
    ("link", _LINK): "text",
    ("cell", _LINK): "link in a cell",
    ("link in a cell", _LINK): "cell",
}


class Told(NamedTuple):
    """What HTML means: text, in turns with blocks of code, each behind a line that names its language.

    References are as they are.
    """

    pieces: list[str]
    images: list[Image]


class _Place(dict[str, tuple[str, Any]]):
    """A place on a page: what each run of tags means there, and the place behind it."""

    def __init__(self, around: Around | None, kind: _Kind = "text") -> None:
        super().__init__()
        self._around = around
        self._kind: _Kind = kind

    def __missing__(self, run: str) -> tuple[str, _Place]:
        if self._around is None:
            return "", _LOST
        if self._kind == "code":
            found = _led_in_code(run, self._around)
        elif (address := _ADDRESS.search(run)) and run.count("<a") == 1 and "<pre" not in run:
            # What is remembered is the run without the address.
            mark, place = self[run.replace(address[0], "<a>")]
            return mark.replace("<a>", address[0]), place
        else:
            found = _led(run, self._around, self._kind)
        if len(run) <= _LONGEST_RUN and not _ONCE.search(run) and next(_REMEMBERED) < _MOST_RUNS:
            self[run] = found
        return found


# How many runs are remembered in all places.
_REMEMBERED = count()
# Where a tag is met that needs more than a look; from there nothing leads back.
_LOST = _Place(None)
_START = _Place(NOWHERE)
_PLACES: dict[tuple[Around, _Kind], _Place] = {(NOWHERE, "text"): _START}


def markdown(html: str) -> Told | None:
    """What HTML means; None if a look does not tell."""
    if html.rfind("<") > html.rfind(">"):
        # It begins no tag; of many such, each would be followed to the end of all.
        return None
    pieces = _RUN.split(html)
    marks: list[str] = []
    place = _START
    for run in pieces[1::2]:
        mark, place = place[run]
        marks.append(mark)
    if place is not _START:
        return None
    pieces[1::2] = marks
    return _put_together("".join(pieces).strip("\n"), html)


def _put_together(text: str, html: str) -> Told | None:
    """The text, its edges filled and its blocks of code cut out; None if HTML has such edges itself."""
    edges = [edge for edge in (_PICTURE, _LINK, _CELL, _CODE) if edge in text]
    if any(edge in html for edge in edges):
        return None
    images: list[Image] = []
    if _PICTURE in edges:
        text, images = _with_pictures(text)
    if _LINK in edges:
        text = _with_links(text)
    if _CELL in edges:
        text = _with_cells(text)
    text = often_unescaped(text)
    pieces = [*_parted(text)] if _CODE in edges else [text]
    # Marks alone leave no gap, unless a link that says nothing was between them.
    if "\n" in html or _LINK in edges:
        pieces[::2] = map(with_single_gaps, pieces[::2])
    return Told(pieces, images)


def _parted(text: str) -> Iterator[str]:
    """Text and blocks of code, which are in turns."""
    # CPython (3.11 to 3.13) looks for one character as fast as memory allows, but not to split there.
    start = 0
    while (end := text.find(_CODE, start)) >= 0:
        yield text[start:end]
        start = end + 1
    yield text[start:]


def _with_pictures(text: str) -> tuple[str, list[Image]]:
    page = Page()
    pieces = text.split(_PICTURE)
    pieces[1::2] = map(page.image, pieces[1::2])
    return "".join(pieces), page.images


def _with_links(text: str) -> str:
    pieces = text.split(_LINK)
    pieces[1::3] = map(_linked, pieces[1::3], pieces[2::3])
    del pieces[2::3]
    return "".join(pieces)


def _linked(tag: str, label: str) -> str:
    return link(label, attributes(tag).get("href"))


def _with_cells(text: str) -> str:
    pieces = text.split(_CELL)
    pieces[1::2] = map(cell, pieces[1::2])
    return "".join(pieces)


def _led(run: str, around: Around, kind: _Kind) -> tuple[str, _Place]:
    """What a run means in a place, and the place that it leads to."""
    before, pre, code = run.partition("<pre>")
    if not _is_usual(run) or "<pre" in before or "</pre>" in code:
        return "", _LOST
    page = Page(around)
    marks: list[str] = []
    found = steps(before)
    for step in [found] if isinstance(found, str) else found:
        mark = step if isinstance(step, str) else _mark(page, step, kind)
        if mark is None:
            return "", _LOST
        kind = _BEHIND.get((kind, mark[:1]), kind)
        marks.append(mark)
    told = with_single_gaps("".join(marks))
    if not pre:
        return told, _place(page.around, kind)
    pieces = TAG.split(pre + code)
    begun = f"{_CODE}{language_in(pieces[1::2])}\n{''.join(pieces[::2])}"
    # Line breaks around a block of code are taken away in the end: here it takes no copy.
    return told.rstrip("\n") + begun, _place(page.around, "code") if kind == "text" else _LOST


def _is_usual(run: str) -> bool:
    """Whether a run is nothing but tags that can be seen."""
    if MAYBE_UNSEEN.search(run) or run.count("<") > _MOST_TAGS:
        return False
    return not "".join(TAG.split(run)[::2]).strip()


def _led_in_code(run: str, around: Around) -> tuple[str, _Place]:
    """The same in a block of code, up to whose end tags only colour it; the first may name its language."""
    code, end, behind = run.partition("</pre>")
    if MAYBE_UNSEEN.search(code) or language_in([code]):
        return "", _LOST
    text = "".join(TAG.split(code)[::2])
    if not end:
        return text, _place(around, "code")
    mark, place = _led(behind, around, "text")
    return text + _CODE + mark.lstrip("\n"), place


def _mark(page: Page, step: Step, kind: _Kind) -> str | None:
    """What a tag means; None if it needs to know what is said around it."""
    if (step.handler in _LISTS and kind in {"text", "cell"}) or (step.handler in _TABLES and kind == "text"):
        return step.handler(page, step.tag)
    if step.handler is Page.begin_cell and kind == "text":
        return _CELL
    if step.handler is Page.end_cell and kind == "cell":
        page.columns += 1
        return _CELL
    if step.handler is Page.begin_link and kind in {"text", "cell"}:
        return f"{_LINK}{step.tag}{_LINK}"
    if step.handler is Page.end_link and kind in {"link", "link in a cell"}:
        return _LINK
    if step.handler is Page.image:
        return f"{_PICTURE}{step.tag}{_PICTURE}"
    return None


def _place(around: Around, kind: _Kind) -> _Place:
    key = around, kind
    if key not in _PLACES:
        if len(_PLACES) >= _MOST_PLACES or len(around.lists) > _DEEPEST_LIST:
            return _LOST
        _PLACES[key] = _Place(around, kind)
    return _PLACES[key]
