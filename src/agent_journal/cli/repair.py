"""`aj repair`: heal what is damaged in the journal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from agent_journal import archive, journal
from agent_journal.cli._journal import reading, settings, waiting
from agent_journal.cli._run import PARTLY
from agent_journal.terminal import progress, say, show, show_json
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from agent_journal.archive.repairing import Healed, Lost, Outcome

_MOST_NAMED = 5


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--from", "backup", metavar="BACKUP", help="Also take what is damaged from this backup.")
@click.option(
    "--accept-loss",
    is_flag=True,
    help="Go on without what is nowhere else: the vault keeps what the rows have of it, and the rows what is "
    "left of them.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object for each thing, then the total.")
def command(*, backup: str | None, accept_loss: bool, as_json: bool) -> int:
    """Heal what is damaged in the journal, and say what was healed, from where, and what is lost.

    All kept bytes are read and hashed. What is damaged is taken from the sources that are still on disk, then
    from a backup; rows are made again from the vault. Only bytes with the right hash are taken. Exit code 3
    if something is lost.
    """
    config = settings()
    if backup is not None and not Path(backup).is_dir():
        raise click.BadParameter(f"{backup} is no folder", param_hint="--from")
    if not archive.exists(config.home):
        reading()  # which says so; none is made
    with progress(unit="") as line:
        outcome = journal.repair(
            config,
            None if backup is None else Path(backup),
            gives_up=accept_loss,
            told=lambda text: line.update(0, text=text),
            waiting=waiting,
        )
    if as_json:
        _tell_as_json(outcome)
    else:
        _tell(outcome)
    return PARTLY if outcome.lost else 0


def _tell(outcome: Outcome) -> None:
    for healed in outcome.healed:
        show(("good", "healed "), f"{healed.what}: {_healed(healed)}")
    for lost in outcome.lost:
        show(("bad", "gone   " if lost.is_given_up else "lost   "), f"{lost.what}: {_lost(lost)}")
    if not outcome.healed and not outcome.lost:
        show("nothing is damaged")
    elif not outcome.lost:
        show(f"{count(len(outcome.healed), 'thing')} healed, nothing is lost")
    else:
        show(f"{count(len(outcome.healed), 'thing')} healed, {len(outcome.lost):,} lost")
    if any(not lost.is_given_up for lost in outcome.lost):
        say(
            "aj: 'aj repair --from BACKUP' looks in a backup; 'aj repair --accept-loss' goes on without what "
            "is lost"
        )


def _healed(healed: Healed) -> str:
    return f"{healed.how} ({size(healed.bytes)})" if healed.bytes else healed.how


def _lost(lost: Lost) -> str:
    told = f"{lost.how} ({size(lost.bytes)})" if lost.bytes else lost.how
    names = [name for name in lost.conversations if name != lost.what]
    if names:
        more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
        told += f", with what the source itself said in {', '.join(names[:_MOST_NAMED])}{more}"
        told += "; the rows still have these"
    return told


def _tell_as_json(outcome: Outcome) -> None:
    for healed in outcome.healed:
        show_json({"healed": healed.what, "how": healed.how, "bytes": healed.bytes})
    for lost in outcome.lost:
        told = {"how": lost.how, "bytes": lost.bytes, "conversations": lost.conversations}
        show_json({"lost": lost.what, **told, "given_up": lost.is_given_up})
    show_json({"ok": not outcome.lost, "healed": len(outcome.healed), "lost": len(outcome.lost)})
