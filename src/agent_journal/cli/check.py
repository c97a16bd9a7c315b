"""`aj check`: verify the journal and report damage."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agent_journal import journal
from agent_journal.archive import checking, vault_checks
from agent_journal.cli._journal import open_archive, report_finished_forget, settings
from agent_journal.cli._run import FAILED
from agent_journal.errors import AgentJournalError, ArchiveInUse
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.terminal import say, show, show_json
from agent_journal.terminal.command_name import with_command_name
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from agent_journal.config import Config


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--deep", is_flag=True, help="Read and hash the whole vault, not only a part of it.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per problem, then the verdict.")
def command(*, deep: bool, as_json: bool) -> int:
    """Check rows, vault, search index and embeddings. Exit code 1 if there are problems.

    Each run reads a part of the vault; together, they cover all of it within a month.
    """
    config = settings()
    unfinished = _finish_forgetting(config)
    with open_archive() as archive, archive.store.read_snapshot():
        counts = archive.store.counts()
        index = index_upkeep.check_index(archive, config)
        vault = vault_checks.check(archive, checking.needed_blobs(archive), time.time(), deep=deep)
        read_at = checking.vault_read_at(archive)
        problems = [
            *checking.problems(archive, deep=deep, vault=vault),
            *(
                checking.Problem(*each)
                for each in (*index.problems, *embeddings.find_problems(archive, config))
            ),
        ]
        is_erased = archive.store.pending_erasure() is None
    if unfinished and not is_erased:
        problems.append(checking.Problem(str(config.home), unfinished))
    for problem in problems:
        if as_json:
            show_json({"problem": problem.problem, "where": problem.where})
        else:
            show(("bad", f"{problem.where}: "), with_command_name(problem.problem))
    checked = {
        "conversations": counts.conversations,
        "messages": counts.messages,
        "files": counts.sources,
        "bytes": counts.bytes,
        "deep": deep,
        "vault": {
            "read": vault.read_bytes,
            "bytes": vault.total_bytes,
            "read_at": read_at,
            "damaged": len(vault.damage),
        },
    }
    if as_json:
        show_json({"ok": not problems, "checked": checked, "behind": index.outdated, "is_erased": is_erased})
    else:
        if vault.read_bytes < vault.total_bytes:
            read, total = size(vault.read_bytes), size(vault.total_bytes)
            show(f"Read {read} of the {total} in the vault; {_coverage(read_at)}.")
        if index.outdated:
            show(with_command_name(index.outdated))
        if not is_erased and not unfinished:
            show("Another aj is erasing forgotten conversations.")
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


def _finish_forgetting(config: Config) -> str:
    """Finish an interrupted `aj forget`; returns why it still cannot be finished, or an empty text."""
    open_archive().close()  # raises if there is no journal
    try:
        if finished := journal.finish_forgetting(config):
            report_finished_forget(finished)
    except ArchiveInUse:
        return ""
    except AgentJournalError as error:
        return str(error)
    return ""


def _coverage(read_at: str | None) -> str:
    """Since when all of the vault has been read."""
    if read_at is None:
        return "later checks read the rest"
    return f"all of it was read since {read_at[:10]}"
