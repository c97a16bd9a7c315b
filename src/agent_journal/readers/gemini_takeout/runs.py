"""HTML as Markdown, as answers usually have it: looked up rather than understood.

What a run of tags means, and where on a page it leads, depends only on the lists and the table that it stands
in. So each place on a page remembers its runs; text is looked at by nothing that is not written in C.
"""

from __future__ import annotations

import re
from typing import Any

from agent_journal.readers.gemini_takeout.page import NOWHERE, STEPS, Around, Page, Step, cell, link
from agent_journal.readers.gemini_takeout.tags import MAYBE_UNSEEN, RUN, attributes, spaced, with_single_gaps

_DEEPEST_LIST = 20
_MOST_PLACES, _MOST_RUNS, _LONGEST_RUN = 1000, 100, 100
# What is in a cell is known when all is put together; until then these stand around it.
_BEGIN_CELL, _END_CELL = "\x02", "\x03"
_CELL = re.compile(f"{_BEGIN_CELL}([^{_END_CELL}]*){_END_CELL}")
_LINK = re.compile(r"a\s[^>]*>")
_LISTS = {Page.begin_list, Page.end_list, Page.item}
_TABLES = {Page.begin_table, Page.end_table, Page.begin_row, Page.end_row}


class _Place(dict[str, tuple[str, Any]]):
    """A place on a page: what each run of tags means there, and the place behind it."""

    def __init__(self, around: Around | None, *, is_cell: bool = False) -> None:
        super().__init__()
        self._around = around
        self._is_cell = is_cell

    def __missing__(self, run: str) -> tuple[str, _Place]:
        found = "", _LOST
        if self._around is not None:
            found = _led(run, self._around, is_cell=self._is_cell)
            if len(self) < _MOST_RUNS:
                self[run] = found
        return found


# Where a tag is met that needs more than a look; from there nothing leads back.
_LOST = _Place(None)
_START = _Place(NOWHERE)
_PLACES = {(NOWHERE, False): _START}


def markdown(html: str) -> str | None:
    """What HTML without blocks of code means, its references as they are; None if a look does not tell."""
    pieces = RUN.split(html)
    if "<" in pieces[1::2] and not _are_linked(pieces):
        return None
    marks: list[str] = []
    place = _START
    for run in pieces[1::2]:
        mark, place = place[run]
        marks.append(mark)
    if place is not _START:
        return None
    pieces[1::2] = marks
    pieces[0], pieces[-1] = spaced(pieces[0]), spaced(pieces[-1])
    text = "".join(pieces)
    if _BEGIN_CELL in text:
        if _BEGIN_CELL in html or _END_CELL in html:
            return None
        text = _CELL.sub(lambda found: cell(found[1]), text)
    return with_single_gaps(text) if "\n" in html else text


def _are_linked(pieces: list[str]) -> bool:
    """Put links where tags with attributes begin them: whether all do."""
    return all(_is_linked(pieces, at) for at in range(1, len(pieces), 2) if pieces[at] == "<")


def _is_linked(pieces: list[str], at: int) -> bool:
    """Put a link where a `<` begins one whose label is text: whether it does."""
    found = _LINK.match(pieces[at + 1])
    if not found or not pieces[at + 2 : at + 3] or not pieces[at + 2].startswith("</a>"):
        return False
    label, href = pieces[at + 1][found.end() :], attributes(f"<{found[0]}").get("href")
    pieces[at - 1] = spaced(pieces[at - 1])
    pieces[at : at + 3] = ["", link(label, href), pieces[at + 2].removeprefix("</a>")]
    return bool(label.strip())


def _led(run: str, around: Around, *, is_cell: bool) -> tuple[str, _Place]:
    """What a run means in a place, and the place that it leads to."""
    if MAYBE_UNSEEN.search(run) or len(run) > _LONGEST_RUN:
        return "", _LOST
    steps: str | list[str | Step] = STEPS[run]
    page = Page(around)
    marks: list[str] = []
    for step in [steps] if isinstance(steps, str) else steps:
        mark = step if isinstance(step, str) else _mark(page, step, is_cell=is_cell)
        if mark is None:
            return "", _LOST
        is_cell = mark == _BEGIN_CELL or (is_cell and mark != _END_CELL)
        marks.append(mark)
    return with_single_gaps("".join(marks)), _place(page.around, is_cell=is_cell)


def _mark(page: Page, step: Step, *, is_cell: bool) -> str | None:
    """What a tag means; None if it needs to know what is said around it."""
    if step.handler in _LISTS or (step.handler in _TABLES and not is_cell):
        return step.handler(page, step.tag)
    if step.handler is Page.begin_cell and not is_cell:
        return _BEGIN_CELL
    if step.handler is Page.end_cell and is_cell:
        page.columns += 1
        return _END_CELL
    return None


def _place(around: Around, *, is_cell: bool) -> _Place:
    key = around, is_cell
    if key not in _PLACES:
        if len(_PLACES) >= _MOST_PLACES or len(around.lists) > _DEEPEST_LIST:
            return _LOST
        _PLACES[key] = _Place(around, is_cell=is_cell)
    return _PLACES[key]
