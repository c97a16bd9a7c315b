"""How `aj usage` shows a report: numbers, a table, bars, and what must be said beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import asdict

from agent_journal.terminal import out, say
from agent_journal.terminal.chart import Bar, show_bars
from agent_journal.terminal.table import Column, show_table
from agent_journal.text.humanize import count
from agent_journal.usage import PERIODS, Row

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.usage import Report, Sums

LINES = {"day": 31, "conversation": 50}
"""How many lines people are shown if nobody says, where there may be thousands."""
_BARS = 31
_NAMELESS = {"day": "no date", "week": "no date", "month": "no date", "model": "unknown", "project": "none"}
_COLUMNS = (
    ("messages", "answers"),
    ("input", "input"),
    ("output", "output"),
    ("cache_read", "read"),
    ("cache_write", "write"),
    ("cache_write_1h", "1h"),
    ("reasoning", "think"),
    ("total", "total"),
)
# These are shown only where there is something in them.
_SELDOM = {"cache_write_1h", "reasoning", "cache_read", "cache_write"}
# These give way to titles.
_LESS = {"messages", "reasoning", "cache_write_1h"}
_NARROW = 110
_UNITS = ("", "k", "M", "G", "T")
_KILO = 1000


def as_data(by: str, row: Row) -> dict[str, Any]:
    """A line as data."""
    told: dict[str, Any] = {by: row.name}
    holder = row.holder
    if holder is not None:
        told |= {"source": holder.source, "title": holder.title, "project": holder.project}
    told |= numbers(row.sums)
    told["models"] = sorted(model for model in row.models if model is not None)
    if row.is_estimated:
        told["estimated"] = True
    return told


def numbers(sums: Sums) -> dict[str, Any]:
    """Sums as data, dollars to the millionth."""
    told = asdict(sums)
    for name in ("cost_usd", "cost_stated_usd"):
        told[name] = round(told[name], 6)
    return told


def show(told: Report, rows: list[Row], *, with_chart: bool) -> None:
    """Print a report."""
    sink = out()
    if not rows:
        return
    if with_chart and told.by in PERIODS and sink.width is not None:
        _show_chart(told, rows)
    is_short = sink.width is not None
    shown = _columns(told, sink.width)
    titles = dict(_COLUMNS)
    columns = [
        Column(told.by, gives_way=True, is_whole=told.by != "conversation"),
        *([Column("title", gives_way=True)] if told.by == "conversation" else []),
        *(Column(titles[name], right=True) for name in shown),
        Column("API cost", right=True, style="strong"),
    ]
    lines = [_line(told.by, row, shown, is_short=is_short) for row in rows]
    if is_short:
        lines += _totals(told, shown)
    show_table(sink, columns, lines)


def _columns(told: Report, room: int | None) -> list[str]:
    """Which numbers are shown: all of them for programs, for people those that tell something."""
    names = [name for name, _ in _COLUMNS]
    if room is None:
        return names
    names = [name for name in names if name not in _SELDOM or getattr(told.total, name)]
    has_titles = told.by == "conversation" and room < _NARROW
    return [name for name in names if not (has_titles and name in _LESS)]


def _totals(told: Report, shown: list[str]) -> Iterator[list[str]]:
    for name, sums in (("total", told.total), ("~total", told.estimated)):
        if sums.messages or name == "total":
            title = [""] if told.by == "conversation" else []
            yield [name, *title, *(_short(getattr(sums, each)) for each in shown), _dollars(sums)]


def _line(by: str, row: Row, shown: list[str], *, is_short: bool) -> list[str]:
    written = _short if is_short else str
    title = [] if row.holder is None else [row.holder.title or ""]
    return [
        name_of(by, row),
        *title,
        *(written(getattr(row.sums, name)) for name in shown),
        _dollars(row.sums) if is_short else f"{row.sums.cost_usd:.6f}",
    ]


def name_of(by: str, row: Row) -> str:
    """What a line is called; a wave is before what is estimated."""
    name = _NAMELESS.get(by, "unknown") if row.name is None else row.name
    return f"~{name}" if row.is_estimated else name


def _short(number: int) -> str:
    """`1.2M`: three digits tell enough."""
    amount = float(number)
    for unit in _UNITS:
        if amount < _KILO - 0.5 or unit == _UNITS[-1]:
            break
        amount /= _KILO
    return f"{amount:.0f}{unit}" if not unit or amount >= 99.95 else f"{amount:.1f}{unit}"  # noqa: PLR2004


def _dollars(sums: Sums) -> str:
    """What it cost; a plus tells that some of it has no price."""
    return f"${sums.cost_usd:,.2f}{'+' if sums.unpriced else ''}"


def _show_chart(told: Report, rows: list[Row]) -> None:
    by_cost = not told.notices.unpriced
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
    what = "API cost" if by_cost else "tokens"
    last = list(bars.values())[-_BARS:]
    sink.line(("dim", f"{what} per {told.by}{_of(len(last), len(bars), told.by)}"))
    show_bars(sink, last)
    sink.line()


def _of(shown: int, all_: int, by: str) -> str:
    return f", the last {shown} of {all_} {by}s" if shown < all_ else ""


def tell(told: Report, nothing: str = "") -> None:
    """Say what the numbers leave out and what they mean; or `nothing`, if there are none."""
    notices = told.notices
    if nothing:
        say(f"aj: {nothing}")
    if told.total.cost_usd > told.total.cost_stated_usd:
        said = "API cost is what the API would have cost, not what a subscription costs"
        if told.total.cost_stated_usd:
            said += f"; ${told.total.cost_stated_usd:,.2f} of it is stated by the sources"
        say(f"aj: {said}")
    if notices.unpriced:
        names = ", ".join(
            f"{model or 'unknown'} ({_short(tokens)})" for model, tokens in notices.unpriced.items()
        )
        say(f"aj: no price is known of these tokens: {names}; [prices] in config.toml settles one")
    for what, found in (
        ("counts that cannot be true, which are not summed", notices.impossible),
        ("a count that cannot be true, which is left out of the sums", notices.refused),
        ("no counts", notices.without_counts),
        ("counts that the source only estimates, which --estimate shows", notices.estimated),
    ):
        if found:
            say(f"aj: {count(sum(found.values()), 'answer')} with {what} ({_by_source(found)})")
    if notices.uncounted:
        number = count(sum(notices.uncounted.values()), "conversation")
        by_source = _by_source(notices.uncounted)
        said = f"{number} without any counts, not in these numbers ({by_source})"
        say(f"aj: {said}; --estimate gives an estimate")
    if notices.undated:
        say(f"aj: {count(notices.undated, 'answer')} without a time")
    if notices.misdated:
        say(f"aj: {count(notices.misdated, 'answer')} dated before 2020 or after tomorrow")
    if told.estimated.messages:
        say("aj: lines with ~ are estimates of what was said, the least that can have been used")
    for source, what in notices.undercounts.items():
        say(f"aj: {source} is known to count too little: {what}")


def _by_source(found: dict[str, int]) -> str:
    return ", ".join(f"{source} {number:,}" for source, number in sorted(found.items()))
