"""HTML as Markdown, as answers usually have it: looked up rather than understood.

What a run of tags means, and where on a page it leads, depends only on the lists and the table that it stands
in. So each place on a page remembers its runs; text is looked at by nothing that is not written in C.
"""

from __future__ import annotations

import re
from itertools import count
from typing import Any, Literal, TypeAlias

from agent_journal.readers.gemini_takeout.page import NOWHERE, Around, Page, Step, cell, link, steps
from agent_journal.readers.gemini_takeout.tags import (
    MAYBE_UNSEEN,
    TAG,
    attributes,
    language_in,
    spaced,
    with_single_gaps,
)

# Tags with only white space between them; or a `<` that begins none. What is no tag is found out later.
_RUN = re.compile(r"(<[^>]{0,500}+>(?:\s*+<[^>]{0,500}+>){0,50}+|<)")
_MOST_TAGS = 50
_DEEPEST_LIST = 20
_MOST_PLACES, _MOST_RUNS, _LONGEST_RUN = 1000, 20_000, 100
# What is in a cell, a link or a block of code is known when all is put together; until then these stand
# around it, and between a link's address and its label.
_BEGIN_CELL, _END_CELL, _BEGIN_CODE, _END_CODE = "\x02", "\x03", "\x04", "\x05"
_BEGIN_LINK, _ADDRESSED, _END_LINK = "\x06", "\x07", "\x0e"
_CELLS = re.compile(f"{_BEGIN_CELL}([^{_END_CELL}]*+){_END_CELL}")
_CODES = re.compile(f"{_BEGIN_CODE}([^{_END_CODE}]*+){_END_CODE}")
_LINKS = re.compile(f"{_BEGIN_LINK}([^{_ADDRESSED}]*+){_ADDRESSED}([^{_END_LINK}]*+){_END_LINK}")
_ADDRESS = re.compile("<a [^<>]*>")
# No link or picture comes often.
_ONCE = re.compile("<(?:a|img) ")
_LISTS = {Page.begin_list, Page.end_list, Page.item}
_TABLES = {Page.begin_table, Page.end_table, Page.begin_row, Page.end_row}
_Kind: TypeAlias = Literal["text", "cell", "link", "link in a cell", "code"]
# Where the marks of cells and links lead.
_BEHIND: dict[tuple[_Kind, str], _Kind] = {
    ("text", _BEGIN_CELL): "cell",
    ("cell", _END_CELL): "text",
    ("text", _BEGIN_LINK): "link",
    ("link", _END_LINK): "text",
    ("cell", _BEGIN_LINK): "link in a cell",
    ("link in a cell", _END_LINK): "cell",
}


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


def markdown(html: str) -> list[str] | None:
    """What HTML means, its references as they are; None if a look does not tell.

    It is text, and in turns with it blocks of code, each behind a line that names its language.
    """
    pieces = _RUN.split(html)
    marks: list[str] = []
    place = _START
    for run in pieces[1::2]:
        mark, place = place[run]
        marks.append(mark)
    if place is not _START:
        return None
    pieces[1::2] = marks
    pieces[0], pieces[-1] = spaced(pieces[0]), spaced(pieces[-1])
    # What is around all is taken away in the end: here it takes no copy.
    if marks and not pieces[0]:
        pieces[1] = pieces[1].lstrip("\n")
    if marks and not pieces[-1]:
        pieces[-2] = pieces[-2].rstrip("\n")
    return _put_together("".join(pieces), "".join(marks), html)


def _put_together(text: str, marks: str, html: str) -> list[str] | None:
    """The text, its links and cells filled and its blocks of code cut out; None if HTML has such marks."""
    has_links = _BEGIN_LINK in marks
    if has_links:
        if any(map(html.__contains__, (_BEGIN_LINK, _ADDRESSED, _END_LINK))):
            return None
        text = _LINKS.sub(_linked, text)
    if _BEGIN_CELL in marks:
        if _BEGIN_CELL in html or _END_CELL in html:
            return None
        cells = _CELLS.split(text)
        cells[1::2] = map(cell, cells[1::2])
        text = "".join(cells)
    pieces = [text]
    if _BEGIN_CODE in marks:
        if _BEGIN_CODE in html or _END_CODE in html:
            return None
        pieces = _CODES.split(text)
    # Marks alone leave no gap, unless a link that says nothing was between them.
    if "\n" in html or has_links:
        pieces[::2] = map(with_single_gaps, pieces[::2])
    return pieces


def _linked(found: re.Match[str]) -> str:
    tag, label = found.groups()
    return link(label, attributes(tag).get("href"))


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
    begun = f"{_BEGIN_CODE}{language_in(pieces[1::2])}\n{''.join(pieces[::2])}"
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
    if run == "<" or MAYBE_UNSEEN.search(code) or language_in([code]):
        return "", _LOST
    text = "".join(TAG.split(code)[::2])
    if not end:
        return text, _place(around, "code")
    mark, place = _led(behind, around, "text")
    return text + _END_CODE + mark.lstrip("\n"), place


def _mark(page: Page, step: Step, kind: _Kind) -> str | None:
    """What a tag means; None if it needs to know what is said around it."""
    if (step.handler in _LISTS and kind in {"text", "cell"}) or (step.handler in _TABLES and kind == "text"):
        return step.handler(page, step.tag)
    if step.handler is Page.begin_cell and kind == "text":
        return _BEGIN_CELL
    if step.handler is Page.end_cell and kind == "cell":
        page.columns += 1
        return _END_CELL
    if step.handler is Page.begin_link and kind in {"text", "cell"}:
        return f"{_BEGIN_LINK}{step.tag}{_ADDRESSED}"
    if step.handler is Page.end_link and kind in {"link", "link in a cell"}:
        return _END_LINK
    return None


def _place(around: Around, kind: _Kind) -> _Place:
    key = around, kind
    if key not in _PLACES:
        if len(_PLACES) >= _MOST_PLACES or len(around.lists) > _DEEPEST_LIST:
            return _LOST
        _PLACES[key] = _Place(around, kind)
    return _PLACES[key]
