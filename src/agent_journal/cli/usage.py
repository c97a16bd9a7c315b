"""`aj usage`: what was used, and what it cost."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING, Any

import click

from agent_journal.cli import _usage
from agent_journal.cli._filters import is_narrowed, moment_in, of_conversations, wanted, why_none
from agent_journal.cli._journal import reading, settings
from agent_journal.terminal import say, show_json
from agent_journal.usage import PERIODS, WAYS
from agent_journal.usage.periods import this_slot, zone_of
from agent_journal.usage.reporting import report

if TYPE_CHECKING:
    from agent_journal.usage import By, Report, Row, Sums


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("by", type=click.Choice(WAYS), default="day", metavar="[WAY]")
@of_conversations
@click.option("--since", metavar="DATE", help="Only what was used from then on, to the quarter of an hour.")
@click.option("--until", metavar="DATE", help="Only what was used before then.")
@click.option(
    "--timezone", metavar="NAME", help="Whose days they are: UTC, Europe/Berlin; else this machine's."
)
@click.option(
    "--estimate", is_flag=True, help="Also what no source states, estimated, in lines of their own."
)
@click.option("--max", "limit", type=click.IntRange(min=0), metavar="N", help="So many lines; 0 shows all.")
@click.option("--chart/--no-chart", default=True, help="Bars for days, weeks and months, on a terminal.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per line, then the total.")
@click.option("--csv", "as_csv", is_flag=True, help="Values with commas between them, for spreadsheets.")
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
    **asked: str | None,
) -> None:
    """Tell how many tokens were used, each once, and what they cost.

    WAY is day, week, month, conversation, model, project or source. The cost is what sources state, and for
    all else what the API would have cost at that time.
    """
    if as_json and as_csv:
        raise click.UsageError("--json and --csv are two forms; choose one")
    gc.disable()  # sums have no cycles
    zone = zone_of(timezone)
    span = {
        name: moment_in(zone, at, f"'--{name}'")
        for name, at in (("since", since), ("until", until))
        if at is not None
    }
    config = settings()
    with reading() as archive:
        told = report(
            archive.store,
            config,
            by,
            wanted({**asked, **span}),
            zone=zone,
            now=this_slot(),
            estimate=estimate,
        )
        nothing = "" if told.rows else why_none(archive.store, asked) or _no_usage({**asked, **span})
    rows = _first(told, limit if limit is not None or as_json or as_csv else _usage.LINES.get(by))
    if as_json:
        _show_json(told, rows)
        return
    if as_csv:
        from agent_journal.cli._usage_csv import show_csv  # noqa: PLC0415 (only where needed)

        show_csv(told, rows)
    else:
        _usage.show(told, rows, with_chart=chart)
        if len(rows) < len(told.rows):
            say(f"aj: {len(rows):,} of {len(told.rows):,} lines; --max 0 shows all")
    _usage.tell(told, nothing)


def _no_usage(asked: dict[str, str | None]) -> str:
    return "nothing that was used is like that" if is_narrowed(asked) else "no source tells what was used"


def _first(told: Report, limit: int | None) -> list[Row]:
    """Those that matter most: the last days, the largest of all else."""
    if not limit:
        return told.rows
    return told.rows[-limit:] if told.by in PERIODS else told.rows[:limit]


def _show_json(told: Report, rows: list[Row]) -> None:
    for row in rows:
        show_json(_usage.as_data(told.by, row))
    show_json({**_total(told.total), "notices": told.notices})
    if told.estimated.messages:
        show_json({**_total(told.estimated), "estimated": True})


def _total(sums: Sums) -> dict[str, Any]:
    return {**_usage.numbers(sums), "total": True, "tokens": sums.total}
