"""`aj forget`: erase conversations for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import journal
from agent_journal.amounts import count, size
from agent_journal.archive.store import Filter
from agent_journal.cli._journal import reading, settings
from agent_journal.cli._run import FAILED
from agent_journal.terminal import agreed, progress, say, show

if TYPE_CHECKING:
    from agent_journal.archive.store import Listed, Store


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything in the journal, memories too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(*, names: tuple[str, ...], everything: bool, yes: bool) -> int:
    """Erase conversations from the journal: rows, kept bytes and index. They stay forgotten at the next sync.

    What subagents did for them, and copies of them under other ids, go with them. The sources themselves are
    not touched.
    """
    if bool(names) == everything:
        raise click.UsageError("name conversations, or say --all")
    with reading() as archive:
        if everything:
            chosen = list(archive.store.conversations(Filter(with_children=True)))
            memories = archive.store.counts().memories
        else:
            memories = 0
            chosen = _with_theirs([archive.one(name) for name in names], archive.store)
    if not yes:
        for each in chosen[:10]:
            show(f"  {each.source}:{each.id}  {each.title or ''}")
        if not agreed(f"erase {_told(len(chosen), memories)} for good?"):
            say("aj: nothing was erased; --yes erases without asking")
            return FAILED
    with progress(unit="entries of a new index") as line:
        number, freed = journal.forget(
            settings(), lambda now: _keys(chosen, now.store), line.update, memories=everything
        )
    them = "it" if number + memories == 1 else "them"
    show(f"{_told(number, memories)} erased, {size(freed)} of the vault with {them}")
    return 0


def _told(conversations: int, memories: int) -> str:
    what = count(conversations, "conversation")
    return what + (f" and {count(memories, 'memory', 'memories')}" if memories else "")


def _keys(chosen: list[Listed], store: Store) -> list[int]:
    """The keys that conversations have by now: while a person was asked, others may have got theirs."""
    there = {(each.source, each.id): each.key for each in store.conversations(Filter(with_children=True))}
    return [there[name] for each in chosen if (name := (each.source, each.id)) in there]


def _with_theirs(chosen: list[Listed], store: Store) -> list[Listed]:
    """Conversations, copies of them that lists fold into them, and what subagents did for any of these."""
    copies: dict[str, list[Listed]] = {}
    for each in store.conversations(Filter(with_children=True)):
        if each.twin_of:
            copies.setdefault(each.twin_of, []).append(each)
    found = {each.key: each for each in chosen}
    pending = list(chosen)
    while pending:
        each = pending.pop()
        subagents = (child for child in store.children(each.key) if child.relation == "subagent")
        for other in (*copies.get(f"{each.source}:{each.id}", ()), *subagents):
            if other.key not in found:
                found[other.key] = other
                pending.append(other)
    return list(found.values())
