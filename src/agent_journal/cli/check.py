"""`aj check`: whether everything in the journal is what was put there."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agent_journal import journal
from agent_journal.archive import checking, vault_checks
from agent_journal.cli._journal import reading, settings
from agent_journal.cli._run import FAILED
from agent_journal.errors import AgentJournalError, ArchiveInUse
from agent_journal.journal import embeddings, index_upkeep
from agent_journal.terminal import say, show, show_json
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from agent_journal.config import Config


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--deep", is_flag=True, help="Read and hash every kept byte, not only a part of the vault.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object per problem, then the verdict.")
def command(*, deep: bool, as_json: bool) -> int:
    """Check rows, vault, index and vectors against each other. Exit code 1 if something is wrong.

    Each check reads a part of the vault, so that checks read all of it within a month.
    """
    config = settings()
    unfinished = _finish_forgetting(config)
    with reading() as archive, archive.store.one_moment():
        counts = archive.store.counts()
        index = index_upkeep.fit(archive, config)
        vault = vault_checks.look(archive, checking.needed_blobs(archive), time.time(), deep=deep)
        read_at = checking.vault_read_at(archive)
        found = [
            *checking.problems(archive, deep=deep, vault=vault),
            *(checking.Problem(*each) for each in (*index.problems, *embeddings.fit(archive, config))),
        ]
        is_erased = archive.store.erasing() is None
    if unfinished and not is_erased:
        found.append(checking.Problem(str(config.home), unfinished))
    for problem in found:
        if as_json:
            show_json({"problem": problem.problem, "where": problem.where})
        else:
            show(("bad", f"{problem.where}: "), problem.problem)
    checked = {
        "conversations": counts.conversations,
        "messages": counts.messages,
        "files": counts.sources,
        "bytes": counts.bytes,
        "deep": deep,
        "vault": {"read": vault.read, "bytes": vault.total, "read_at": read_at, "damaged": len(vault.damage)},
    }
    if as_json:
        show_json({"ok": not found, "checked": checked, "behind": index.behind, "is_erased": is_erased})
    else:
        if vault.read < vault.total:
            show(f"{size(vault.read)} of the vault's {size(vault.total)} were read; {_when(read_at)}")
        if index.behind:
            show(index.behind)
        if not is_erased and not unfinished:
            show("another aj is erasing something that was forgotten")
        verdict = count(len(found), "problem") if found else "everything is as it was put there"
        held = f"{count(counts.conversations, 'conversation')}, {count(counts.messages, 'message')}"
        show(f"{held}: {verdict}")
    if vault.is_cut_short:
        say("aj: more of the vault is due to be read than there was time for; 'aj check --deep' reads it all")
    if vault.trouble:
        say(f"aj: it is not remembered what was read: {vault.trouble}")
    if vault.damage:
        say("aj: 'aj repair' heals what is damaged, as far as the bytes are still somewhere")
    return FAILED if found else 0


def _finish_forgetting(config: Config) -> str:
    """Finish what an earlier `aj forget` could not; why it still cannot be finished, or nothing."""
    reading().close()  # there must be one
    try:
        if journal.finish_forgetting(config):
            say("aj: an earlier 'aj forget' was not finished; it is now")
    except ArchiveInUse:
        return ""
    except AgentJournalError as error:
        return str(error)
    return ""


def _when(read_at: str | None) -> str:
    """When all of the vault had been read."""
    if read_at is None:
        return "later checks read the others"
    return f"all of it was read since {read_at[:10]}"
