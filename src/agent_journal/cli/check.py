"""`aj check`: verify the journal and report damage."""

from __future__ import annotations

import click

from agent_journal.cli._journal import open_journal, report_finished_forget, settings
from agent_journal.cli._run import FAILED
from agent_journal.terminal import say, show, show_json
from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.humanize import count, size


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--deep", is_flag=True, help="Read and hash the whole vault, not only a part of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per problem, then the verdict.")
def command(*, deep: bool, as_json: bool) -> int:
    """Check rows, vault, search index and embeddings. Exit code 1 if there are problems.

    Each run reads a part of the vault; together, they cover all of it within a month.
    """
    with open_journal(settings()) as journal:
        report = journal.check(deep=deep)
    if report.finished is not None:
        report_finished_forget(report.finished)
    vault, problems = report.vault_check, report.problems
    for problem in problems:
        if as_json:
            show_json(problem.to_dict())
        else:
            show(("bad", f"{problem.where}: "), with_command_name(problem.problem))
    if as_json:
        show_json(report.to_dict())
    else:
        if vault.read_bytes < vault.total_bytes:
            read, total = size(vault.read_bytes), size(vault.total_bytes)
            show(f"Read {read} of the {total} in the vault; {_coverage(report.vault_read_at)}.")
        if report.outdated:
            show(with_command_name(report.outdated))
        if not report.is_erased and not report.unfinished:
            show("Another aj is erasing forgotten conversations.")
        counts = report.counts
        verdict = f"{count(len(problems), 'problem')} found." if problems else "No problems found."
        checked_items = f"{count(counts.conversations, 'conversation')}, {count(counts.messages, 'message')}"
        show(f"{checked_items}: {verdict}")
    if vault.is_cut_short:
        say("aj: There was no time to read every part of the vault that is due; use 'aj check --deep'.")
    if vault.save_error:
        say(f"aj: Cannot record which parts of the vault were read: {vault.save_error}")
    if vault.damage:
        say(
            "aj: Run 'aj repair' to restore damaged parts of the vault from wherever their bytes still exist."
        )
    return FAILED if problems else 0


def _coverage(read_at: str | None) -> str:
    """Since when all of the vault has been read."""
    if read_at is None:
        return "later checks read the rest"
    return f"all of it was read since {read_at[:10]}"
