"""`aj repair`: repair damage in the journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import report_waiting, writable_journal
from agent_journal.cli._run import PARTLY
from agent_journal.terminal import progress, say, show, show_json
from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.humanize import size

if TYPE_CHECKING:
    from agent_journal.journal import Lost, Repaired, RepairOutcome

_MAX_LISTED_NAMES = 5


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--from", "backup", metavar="BACKUP", help="Also restore damaged parts from this backup.")
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Give up what is nowhere else: the vault gets what the rows have of it, and the rows their text.",
)
@click.option(
    "--json", "as_json", is_flag=True, help="Print one JSON object per repair or loss, then the total."
)
def command(*, backup: str | None, accept_loss: bool, as_json: bool) -> int:
    """Repair damage in the journal, and report what was repaired, from where, and what is lost.

    The whole vault is read and hashed. Damaged parts are restored from the tools' files that are still on
    disk, then from a backup; rows are rebuilt from the vault. Only bytes with the right hash are accepted.
    Exit code 3 if something is lost.
    """
    if backup is not None and not Path(backup).is_dir():
        raise click.BadParameter(f"{backup} is not a folder", param_hint="--from")
    with writable_journal() as journal, progress(unit="") as line:
        outcome = journal.repair(
            None if backup is None else Path(backup),
            gives_up=accept_loss,
            on_message=lambda text: line.update(0, text=text),
            on_wait=report_waiting,
        )
    if as_json:
        _show_json(outcome)
    else:
        _show(outcome)
    return PARTLY if outcome.lost else 0


def _show(outcome: RepairOutcome) -> None:
    for repair in outcome.repaired:
        show(("good", "repaired "), f"{repair.what}: {_describe_repair(repair)}")
    for loss in outcome.lost:
        show(
            ("bad", "given up " if loss.is_given_up else "lost     "), f"{loss.what}: {_describe_loss(loss)}"
        )
    if not outcome.repaired and not outcome.lost:
        show("No damage found.")
    else:
        lost = f"{len(outcome.lost):,}" if outcome.lost else "nothing"
        show(f"{len(outcome.repaired):,} repaired, {lost} lost.")
    if any(not loss.is_given_up for loss in outcome.lost):
        say(
            "aj: 'aj repair --from BACKUP' also looks in a backup; 'aj repair --accept-loss' gives up "
            "what is lost."
        )


def _describe_repair(repair: Repaired) -> str:
    how = with_command_name(repair.how)
    return f"{how} ({size(repair.bytes)})" if repair.bytes else how


def _describe_loss(loss: Lost) -> str:
    text = f"{loss.how} ({size(loss.bytes)})" if loss.bytes else loss.how
    names = [name for name in loss.conversations if name != loss.what]
    if names:
        listed = ", ".join(names[:_MAX_LISTED_NAMES])
        more = f" and {len(names) - _MAX_LISTED_NAMES:,} more" if len(names) > _MAX_LISTED_NAMES else ""
        text += f", the original bytes of {listed}{more}; the rows still have the content"
    return text


def _show_json(outcome: RepairOutcome) -> None:
    for repair in outcome.repaired:
        show_json(repair.to_dict())
    for loss in outcome.lost:
        show_json(loss.to_dict())
    show_json(outcome.to_dict())
