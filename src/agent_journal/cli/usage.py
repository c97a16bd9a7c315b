"""`aj usage`: tokens used, and their cost."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click

from agent_journal.cli import _usage
from agent_journal.cli._filters import (
    conversation_filter,
    conversation_filters,
    explain_no_match,
    is_filtered,
    timestamp_in,
)
from agent_journal.cli._journal import open_journal, settings
from agent_journal.terminal import say, show_json
from agent_journal.usage import GROUPINGS, PERIODS
from agent_journal.usage.periods import parse_zone

if TYPE_CHECKING:
    from agent_journal.usage import By, Report, Row, TokenTotals


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("by", type=click.Choice(GROUPINGS), default="day", metavar="[GROUP]")
@conversation_filters
@click.option("--since", metavar="DATE", help="Only usage from this time on, to the quarter of an hour.")
@click.option("--until", metavar="DATE", help="Only usage before this time.")
@click.option(
    "--timezone", metavar="NAME", help="Time zone of the days, such as UTC. Default: that of this machine."
)
@click.option("--estimate", is_flag=True, help="Add rows that estimate usage that no source states.")
@click.option(
    "--max", "limit", type=click.IntRange(min=0), metavar="N", help="Maximum number of rows; 0: all."
)
@click.option("--chart/--no-chart", default=True, help="Draw a chart of days, weeks or months on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per row, then the total.")
@click.option("--csv", "as_csv", is_flag=True, help="Print comma-separated values for a spreadsheet.")
def command(
    *,
    by: By,
    since: str | None,
    until: str | None,
    timezone: str | None,
    estimate: bool,
    limit: int | None,
    chart: bool,
    as_json: bool,
    as_csv: bool,
    **filters: str | None,
) -> None:
    """Show the tokens used, each counted once, and their cost.

    GROUP is day, week, month, conversation, model, project or source. The cost is what the source states, or
    else what the API would have charged at that time.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv cannot be combined; choose one")
    gc.disable()  # sums have no cycles
    zone = parse_zone(timezone)
    span = {
        name: timestamp_in(zone, at, f"'--{name}'")
        for name, at in (("since", since), ("until", until))
        if at is not None
    }
    with open_journal(settings()) as journal:
        report = journal.usage(by, conversation_filter({**filters, **span}), timezone, estimate=estimate)
        why_empty = ""
        if not report.rows:
            why_empty = explain_no_match(journal, filters) or _no_usage({**filters, **span})
    rows = _most_relevant(
        report, limit if limit is not None or as_json or as_csv else _usage.MAX_ROWS.get(by)
    )
    if as_json:
        _show_json(report, rows)
        return
    if as_csv:
        from agent_journal.cli._usage_csv import show_csv  # noqa: PLC0415 (only where needed)

        show_csv(report, rows)
    else:
        _usage.show(report, rows, with_chart=chart)
        if len(rows) < len(report.rows):
            say(f"aj: Showing {len(rows):,} of {len(report.rows):,} rows; --max 0 shows all.")
    _usage.report_notices(report, why_empty)


def _no_usage(filters: dict[str, str | None]) -> str:
    if is_filtered(filters):
        return "No usage matches these filters."
    return "No conversation in the journal has token counts."


def _most_relevant(report: Report, limit: int | None) -> list[Row]:
    """The last periods, or the largest of anything else."""
    if not limit:
        return report.rows
    return report.rows[-limit:] if report.by in PERIODS else report.rows[:limit]


def _show_json(report: Report, rows: list[Row]) -> None:
    for row in rows:
        show_json(row.to_dict(report.by))
    show_json({**_total(report.total), "notices": report.notices.to_dict()})
    if report.estimated.messages:
        show_json({**_total(report.estimated), "estimated": True})


def _total(sums: TokenTotals) -> dict[str, Any]:
    values = sums.to_dict()
    return {**values, "total": True, "tokens": values["total"]}
