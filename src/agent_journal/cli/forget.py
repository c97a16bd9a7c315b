"""`aj forget`: permanently delete conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import open_journal, report_finished_forget, report_replaced, settings
from agent_journal.cli._run import FAILED
from agent_journal.terminal import confirm, progress, say, show
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.journal import ForgetPlan, Journal, Listed

_MAX_NAMED_CONVERSATIONS = 5


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Delete the whole journal, including memories.")
@click.option(
    "--with-duplicates",
    is_flag=True,
    help="Also delete duplicates under other ids, after listing them and asking, even with --yes.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
def command(*, names: tuple[str, ...], everything: bool, with_duplicates: bool, yes: bool) -> int:
    """Permanently delete conversations from the journal. Later syncs do not import them again.

    Their subagents' conversations are deleted too. Duplicates under other ids stay, and so do messages that
    forks repeat. The tools' own files are not touched. If it is interrupted, run it again to finish.
    """
    if bool(names) == everything:
        raise click.UsageError("Name the conversations to delete, or use --all.")
    with open_journal(settings()) as journal:
        already_deleted = _finish_earlier(journal, names)
        if already_deleted == set(names) and names:
            return 0
        pending = [name for name in names if name not in already_deleted]
        plan = journal.plan_forget(pending, everything=everything)._replace(names=names)
        extra = plan.duplicates if with_duplicates else []
        if not _is_confirmed(plan.conversations, extra, plan.memories, yes=yes):
            say("aj: Nothing was deleted." + ("" if extra else " Use --yes to delete without asking."))
            return FAILED
        with progress(unit="entries of a new index") as line:
            forgotten = journal.forget(plan, with_duplicates=with_duplicates, on_progress=line.update)
    show(
        f"Deleted {_amount(forgotten.conversations, forgotten.memories)}, "
        f"and {size(forgotten.erased.freed)} from the vault."
    )
    report_replaced(forgotten.erased)
    _report_remaining(plan, is_with_duplicates=with_duplicates)
    return 0


def _finish_earlier(journal: Journal, names: Iterable[str]) -> set[str]:
    """Finish an interrupted `forget`; returns which of the names it deleted."""
    finished = journal.finish_forget(names)
    if finished is None:
        return set()
    if finished.erased:
        report_finished_forget(finished.erased)
    return finished.names


def _is_confirmed(named: list[Listed], extra: list[Listed], memories: int, *, yes: bool) -> bool:
    """Whether the user agrees to delete what is listed; for duplicates, they are always asked."""
    if yes and not extra:
        return True
    for each in named:
        show(f"  {_describe(each)}")
    for each in extra:
        show(f"  {_describe(each)}  (duplicate)")
    return confirm(f"Permanently delete {_amount(len(named) + len(extra), memories)}?")


def _describe(each: Listed) -> str:
    facts = (each.title or "", each.project or "", each.started_at or "")
    return "  ".join([f"{each.source}:{each.id}", *filter(None, facts)])


def _amount(conversations: int, memories: int) -> str:
    amount = count(conversations, "conversation")
    return amount + (f" and {count(memories, 'memory', 'memories')}" if memories else "")


def _report_remaining(plan: ForgetPlan, *, is_with_duplicates: bool) -> None:
    """Print which other conversations still have the same content."""
    duplicates = [] if is_with_duplicates else plan.duplicates
    if duplicates:
        remaining = count(
            len(duplicates), "duplicate with the same text stays", "duplicates with the same text stay"
        )
        say(f"aj: {remaining} in the journal:")
        for each in duplicates:
            say(f"aj:   {_describe(each)}")
        ids = " ".join(f"{each.source}:{each.id}" for each in duplicates)
        say(f"aj: 'aj forget {ids}' deletes {'it' if len(duplicates) == 1 else 'them'} too.")
    if plan.sharing:
        names = ", ".join(f"{each.source}:{each.id}" for each in plan.sharing[:_MAX_NAMED_CONVERSATIONS])
        more = len(plan.sharing) - _MAX_NAMED_CONVERSATIONS
        names += f" and {more:,} more" if more > 0 else ""
        say(f"aj: Messages that are also in other conversations stay there: {names}")
