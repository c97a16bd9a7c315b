"""Tables: aligned and cut to fit on a terminal; complete and separated by tabs for programs."""

from __future__ import annotations

from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from agent_journal.terminal.measure import broken, cut, padded, width
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.terminal import Piece, Sink, Style

_SEPARATOR = "  "
_MIN_COLUMNS = 8
_MIN_CROWDED_COLUMNS = 3
# A column may take this share of the width to remain unambiguous.
_MAX_UNAMBIGUOUS_SHARE = 1 / 4


class Column(NamedTuple):
    """A column: its heading, its alignment, and what happens to values that are too wide.

    A column that `gives_way` is narrowed before others. One that `is_distinctive` keeps enough of each value
    to distinguish rows, unless that takes too much of the width. A value that `is_whole` is never cut: if it
    is too wide, it gets lines of its own above the rest of its row.
    """

    title: str
    right: bool = False
    gives_way: bool = False
    style: Style | None = None
    is_whole: bool = False
    is_distinctive: bool = False


def show_table(sink: Sink, columns: Sequence[Column], rows: Iterable[Sequence[str]]) -> None:
    """Print rows.

    On a terminal there are headings, and the rows fit its width, as in `gh`. Anywhere else, each row is a
    line of complete values separated by tabs, for `cut`, `sort` and `awk`.
    """
    if sink.width is None:
        for row in rows:
            sink.line("\t".join(map(one_line, row)))
        return
    cells = [[one_line(value) for value in row] for row in rows]
    if not cells:
        return
    widths = _fit_widths(columns, cells, sink.width)
    sink.line(("dim", _joined(columns, [column.title.upper() for column in columns], widths)))
    for row in cells:
        for index, column in enumerate(columns):
            if column.is_whole and width(row[index]) > widths[index]:
                for line in broken(row[index], sink.width):
                    sink.line((column.style, line) if column.style else line)
                row[index] = ""
        sink.line(*_pieces(columns, row, widths))


def _fit_widths(columns: Sequence[Column], cells: list[list[str]], total: int) -> list[int]:
    """The width of each column: that of its widest value, or less if the table is too wide."""
    widths = [
        max(width(column.title), *(width(row[index]) for row in cells))
        for index, column in enumerate(columns)
    ]
    total -= len(_SEPARATOR) * (len(widths) - 1)
    min_widths = {index: _MIN_COLUMNS for index, column in enumerate(columns) if column.gives_way}
    for index, column in enumerate(columns):
        if column.is_distinctive:
            unambiguous = _unambiguous_width(row[index] for row in cells)
            if unambiguous <= int(total * _MAX_UNAMBIGUOUS_SHARE):
                min_widths[index] = max(unambiguous, _MIN_COLUMNS)
    _narrow(widths, min_widths, total)
    _narrow(widths, dict.fromkeys(range(len(columns)), _MIN_CROWDED_COLUMNS), total)
    return widths


def _unambiguous_width(values: Iterable[str]) -> int:
    """The width at which different values look different: common prefix, one character, ellipsis."""
    ordered = sorted(set(values))
    return max((width(_common_prefix(*pair)) + 2 for pair in pairwise(ordered)), default=0)


def _common_prefix(first: str, second: str) -> str:
    same = takewhile(lambda pair: pair[0] == pair[1], zip(first, second, strict=False))
    return "".join(character for character, _ in same)


def _narrow(widths: list[int], min_widths: dict[int, int], total: int) -> None:
    """Narrow the widest of some columns to the next widest, until the table fits or none can give way."""
    while (excess := sum(widths) - total) > 0:
        candidates = [index for index, min_width in min_widths.items() if widths[index] > min_width]
        if not candidates:
            return
        widest = max(candidates, key=widths.__getitem__)
        others = [widths[index] for index in candidates if widths[index] < widths[widest]]
        widths[widest] -= min(excess, max(widths[widest] - max([min_widths[widest], *others]), 1))


def _pieces(columns: Sequence[Column], row: list[str], widths: list[int]) -> list[Piece]:
    last = max((index for index, value in enumerate(row) if value), default=0)
    pieces: list[Piece] = []
    for index, (column, value, column_width) in enumerate(zip(columns, row, widths, strict=True)):
        if index > last:
            break
        text = _cell(column, value, column_width, is_last=index == last)
        pieces += [_SEPARATOR] if index else []
        pieces.append((column.style, text) if column.style else text)
    return pieces


def _joined(columns: Sequence[Column], row: list[str], widths: list[int]) -> str:
    pieces = _pieces([column._replace(style=None) for column in columns], row, widths)
    return "".join(piece for piece in pieces if isinstance(piece, str))


def _cell(column: Column, value: str, column_width: int, *, is_last: bool) -> str:
    text = cut(value, column_width)
    if column.right:
        return " " * (column_width - width(text)) + text
    return text if is_last else padded(text, column_width)
