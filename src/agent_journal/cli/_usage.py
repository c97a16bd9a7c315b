"""Shows a usage report: a table, a chart, and notices about what the numbers mean."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.terminal import out, say
from agent_journal.terminal.chart import Bar, show_bars
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count
from agent_journal.usage import PERIODS, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.usage import Report, TokenTotals

MAX_ROWS = {"day": 31, "conversation": 50}
"""How many rows people are shown by default, where there may be thousands."""
_MAX_BARS = 31
_UNNAMED = {"day": "no date", "week": "no date", "month": "no date", "model": "unknown", "project": "none"}
_HEADINGS = {
    "messages": "requests",
    "input": "input",
    "output": "output",
    "cache_read": "cache read",
    "cache_write": "cache write",
    "cache_write_1h": "1 h cache write",
    "reasoning": "reasoning",
    "total": "total",
}
# Shown to people only if the report has such tokens.
_OPTIONAL_COLUMNS = {"cache_write_1h", "reasoning", "cache_read", "cache_write"}
# Left out where titles need the room.
_DISPENSABLE_COLUMNS = {"messages", "reasoning", "cache_write_1h"}
_MIN_WIDTH_FOR_ALL_COLUMNS = 120
_UNITS = ("", "k", "M", "G", "T")
_UNIT_BASE = 1000


def show(report: Report, rows: list[Row], *, with_chart: bool) -> None:
    """Print a report."""
    sink = out()
    if not rows:
        return
    if with_chart and report.by in PERIODS and sink.width is not None:
        _show_chart(report, rows)
    is_short = sink.width is not None
    names = _number_columns(report, sink.width)
    columns = [
        Column(report.by, gives_way=True, is_whole=report.by != "conversation"),
        *([Column("title", gives_way=True)] if report.by == "conversation" else []),
        *(Column(_HEADINGS[name], right=True) for name in names),
        Column("cost", right=True, style="strong"),
    ]
    cells = [_cells(report.by, row, names, is_short=is_short) for row in rows]
    if is_short:
        cells += _totals(report, names)
    show_table(sink, columns, cells)


def _number_columns(report: Report, width: int | None) -> list[str]:
    """The columns that are shown: all of them to programs; to people, those that are not empty and fit."""
    if width is None:
        return [*_HEADINGS]
    names = [name for name in _HEADINGS if name not in _OPTIONAL_COLUMNS or getattr(report.total, name)]
    is_narrow = report.by == "conversation" and width < _MIN_WIDTH_FOR_ALL_COLUMNS
    return [name for name in names if not (is_narrow and name in _DISPENSABLE_COLUMNS)]


def _totals(report: Report, names: list[str]) -> Iterator[list[str]]:
    for label, sums in (("total", report.total), ("~total", report.estimated)):
        if sums.messages or label == "total":
            title = [""] if report.by == "conversation" else []
            yield [label, *title, *(_short(getattr(sums, name)) for name in names), _dollars(sums)]


def _cells(by: str, row: Row, names: list[str], *, is_short: bool) -> list[str]:
    format_number = _short if is_short else str
    title = [] if row.holder is None else [row.holder.title or ""]
    return [
        row_name(by, row),
        *title,
        *(format_number(getattr(row.sums, name)) for name in names),
        _dollars(row.sums) if is_short else f"{row.sums.cost_usd:.6f}",
    ]


def row_name(by: str, row: Row) -> str:
    """The name of a row; that of an estimate starts with a tilde."""
    name = _UNNAMED.get(by, "unknown") if row.name is None else row.name
    return f"~{name}" if row.is_estimated else name


def _short(number: int) -> str:
    """`1.2M`: a number of at most three digits."""
    amount = float(number)
    for unit in _UNITS:
        if amount < _UNIT_BASE - 0.5 or unit == _UNITS[-1]:
            break
        amount /= _UNIT_BASE
    return f"{amount:.0f}{unit}" if not unit or amount >= 99.95 else f"{amount:.1f}{unit}"  # noqa: PLR2004


def _dollars(sums: TokenTotals) -> str:
    """The cost; a plus means that some tokens have no known price."""
    return f"${sums.cost_usd:,.2f}{'+' if sums.unpriced else ''}"


def _show_chart(report: Report, rows: list[Row]) -> None:
    by_cost = not report.notices.unpriced
    bars: dict[str, Bar] = {}
    for row in rows:
        if row.name is None or row.is_estimated:
            continue
        parts = {
            model or "unknown": sums.cost_usd if by_cost else float(sums.total)
            for model, sums in row.models.items()
        }
        bars[row.name] = Bar(row.name, _dollars(row.sums) if by_cost else _short(row.sums.total), parts)
    sink = out()
    what = "Cost" if by_cost else "Tokens"
    shown = list(bars.values())[-_MAX_BARS:]
    hidden = f", last {len(shown)} of {len(bars)} {report.by}s" if len(shown) < len(bars) else ""
    sink.line(("dim", f"{what} per {report.by}{hidden}"))
    show_bars(sink, shown)
    sink.line()


def report_notices(report: Report, why_empty: str = "") -> None:
    """Print what the numbers mean and leave out; and why there are none, if there are none."""
    notices = report.notices
    if why_empty:
        say(f"aj: {why_empty}")
    if report.total.cost_usd > report.total.cost_stated_usd:
        message = "Cost is what the API would have charged, not what a subscription costs"
        if report.total.cost_stated_usd:
            message += f"; the sources state ${report.total.cost_stated_usd:,.2f} of it"
        say(f"aj: {message}.")
    if notices.unpriced:
        names = ", ".join(
            f"{model or 'unknown'} ({_short(tokens)})" for model, tokens in notices.unpriced.items()
        )
        say(f"aj: No price is known for some tokens: {names}. Set one under [prices] in config.toml.")
    for what, numbers in (
        ("impossible token counts, which are not included", notices.impossible),
        ("an impossible token count, which is not included", notices.refused),
        ("no token counts", notices.without_counts),
        ("only token counts that the source estimates, which --estimate shows", notices.estimated),
    ):
        if numbers:
            requests = count(sum(numbers.values()), "request has", "requests have")
            say(f"aj: {requests} {what} ({_by_source(numbers)}).")
    if notices.uncounted:
        number = count(sum(notices.uncounted.values()), "conversation has", "conversations have")
        by_source = _by_source(notices.uncounted)
        say(f"aj: {number} no token counts at all ({by_source}); --estimate adds estimates.")
    if notices.undated:
        say(f"aj: {count(notices.undated, 'request has', 'requests have')} no time.")
    if notices.misdated:
        requests = count(notices.misdated, "request is", "requests are")
        say(f"aj: {requests} dated before 2020 or after tomorrow.")
    if report.estimated.messages:
        say("aj: Rows with ~ are estimates based on the text; the actual usage is at least that.")
    for source, what in notices.undercounts.items():
        say(f"aj: {source} is known to report too few tokens: {what}")


def _by_source(numbers: dict[str, int]) -> str:
    return ", ".join(f"{source} {number:,}" for source, number in sorted(numbers.items()))
