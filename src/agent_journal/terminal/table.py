"""Rows in columns: aligned and cut on a terminal; whole, with tabs between, for programs."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.terminal.measure import broken, cut, padded, width
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.terminal import Piece, Sink, Style

_BETWEEN = "  "
_NARROWEST = 8
_AT_LEAST = 3
_MUCH = 4  # one column of so many


class Column(NamedTuple):
    """A column: its heading, whether its values are numbers, whether it gives way when there is no room.

    What tells rows apart is cut only as far as it still does, unless that takes much of the room.
    What is never cut, though there is no room for it, stands on lines of its own, above the rest of its row.
    """

    title: str
    right: bool = False
    gives_way: bool = False
    style: Style | None = None
    is_whole: bool = False
    tells_apart: bool = False


def show_table(sink: Sink, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows.

    On a terminal they have headings and fit its width, as in `gh`; anywhere else each row is a line with tabs
    between its values and nothing is cut, so that `cut`, `sort` and `awk` can go on with it.
    """
    if sink.width is None:
        for row in rows:
            sink.line("\t".join(map(one_line, row)))
        return
    cells = [[one_line(value) for value in row] for row in rows]
    if not cells:
        return
    widths = _fitting(columns, cells, sink.width)
    sink.line(("dim", _joined(columns, [column.title.upper() for column in columns], widths)))
    for row in cells:
        for place, column in enumerate(columns):
            if column.is_whole and width(row[place]) > widths[place]:
                for line in broken(row[place], sink.width):
                    sink.line((column.style, line) if column.style else line)
                row[place] = ""
        sink.line(*_pieces(columns, row, widths))


def _fitting(columns: Sequence[Column], cells: list[list[str]], room: int) -> list[int]:
    """How wide each column is: as its widest value, less where it gives way to let all have room."""
    widths = [
        max(width(column.title), *(width(row[place]) for row in cells))
        for place, column in enumerate(columns)
    ]
    room -= len(_BETWEEN) * (len(widths) - 1)
    giving = {place: _NARROWEST for place, column in enumerate(columns) if column.gives_way}
    for place, column in enumerate(columns):
        if column.tells_apart and (least := _telling(row[place] for row in cells)) <= room // _MUCH:
            giving[place] = max(least, _NARROWEST)
    _narrow(widths, giving, room)
    _narrow(widths, dict.fromkeys(range(len(columns)), _AT_LEAST), room)
    return widths


def _telling(values: Iterable[str]) -> int:
    """How wide different values must be to look different: where two part, and the sign that they are cut."""
    ordered = sorted(set(values))
    return max((width(_alike(*pair)) + 2 for pair in pairwise(ordered)), default=0)


def _alike(one: str, other: str) -> str:
    """What two texts begin with."""
    same = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return "".join(letter for letter, _ in same)


def _narrow(widths: list[int], narrowest: dict[int, int], room: int) -> None:
    """Take from the widest of some columns, down to the next widest, until all have room or none can give."""
    while (excess := sum(widths) - room) > 0:
        which = [place for place, least in narrowest.items() if widths[place] > least]
        if not which:
            return
        widest = max(which, key=widths.__getitem__)
        others = [widths[place] for place in which if widths[place] < widths[widest]]
        widths[widest] -= min(excess, max(widths[widest] - max([narrowest[widest], *others]), 1))


def _pieces(columns: Sequence[Column], row: list[str], widths: list[int]) -> list[Piece]:
    last = max((place for place, value in enumerate(row) if value), default=0)
    pieces: list[Piece] = []
    for place, (column, value, room) in enumerate(zip(columns, row, widths, strict=True)):
        if place > last:
            break
        text = _cell(column, value, room, is_last=place == last)
        pieces += [_BETWEEN] if place else []
        pieces.append((column.style, text) if column.style else text)
    return pieces


def _joined(columns: Sequence[Column], row: list[str], widths: list[int]) -> str:
    pieces = _pieces([column._replace(style=None) for column in columns], row, widths)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _cell(column: Column, value: str, room: int, *, is_last: bool) -> str:
    text = cut(value, room)
    if column.right:
        return " " * (room - width(text)) + text
    return text if is_last else padded(text, room)
