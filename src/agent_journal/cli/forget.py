"""`aj forget`: erase conversations for good."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from agent_journal import journal
from agent_journal.amounts import count, size
from agent_journal.archive.store import Filter
from agent_journal.cli._journal import reading, settings
from agent_journal.terminal import agreed, progress, show

if TYPE_CHECKING:
    from agent_journal.archive.store import Listed


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything in the journal, memories too.")
@click.option("--yes", is_flag=True, help="Do not ask.")
def command(*, names: tuple[str, ...], everything: bool, yes: bool) -> None:
    """Erase conversations from the journal: rows, kept bytes and index. They stay forgotten at the next sync.

    The sources themselves are not touched.
    """
    if bool(names) == everything:
        raise click.UsageError("name conversations, or say --all")
    with reading() as archive:
        if everything:
            chosen = list(archive.store.conversations(Filter(with_children=True)))
            memories = archive.store.counts().memories
        else:
            memories = 0
            chosen = _with_children([archive.one(name) for name in names], archive.store.children)
    what = count(len(chosen), "conversation")
    what += f" and {count(memories, 'memory', 'memories')}" if memories else ""
    if not yes:
        for each in chosen[:10]:
            show(f"  {each.source}:{each.id}  {each.title or ''}")
        if not agreed(f"erase {what} for good?"):
            raise click.Abort
    with progress(unit="entries of a new index") as line:
        keys = [each.key for each in chosen]
        _, freed = journal.forget(settings(), lambda _: keys, line.update, memories=everything)
    them = "it" if len(chosen) + memories == 1 else "them"
    show(f"{what} erased, {size(freed)} of the vault with {them}")


def _with_children(chosen: list[Listed], children: object) -> list[Listed]:
    """Conversations and those that subagents had for them."""
    found = {each.key: each for each in chosen}
    pending = list(chosen)
    while pending:
        for child in children(pending.pop().key):  # type: ignore[operator]
            if child.relation == "subagent" and child.key not in found:
                found[child.key] = child
                pending.append(child)
    return list(found.values())
