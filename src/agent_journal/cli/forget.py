"""`aj forget`: permanently delete conversations."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from agent_journal import journal
from agent_journal.archive.forgetting import hashed_name
from agent_journal.archive.store import Filter
from agent_journal.cli._journal import open_archive, report_finished_forget, report_replaced, settings
from agent_journal.cli._run import FAILED
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import NoSuchConversation
from agent_journal.terminal import confirm, progress, say, show
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Listed, Store

_MAX_NAMED_CONVERSATIONS = 5


class _Chosen(NamedTuple):
    """The conversations to delete, and others that repeat their content."""

    conversations: list[Listed]
    duplicates: list[Listed]
    """Conversations under other ids that lists fold into these, or these into them."""
    sharing: list[Listed]
    """Other conversations that contain some of the same messages, as forks do."""


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
    already_deleted = _finish_earlier(names)
    if already_deleted == set(names) and names:
        return 0
    with open_archive() as archive:
        memories = archive.store.counts().memories if everything else 0
        pending = [name for name in names if name not in already_deleted]
        chosen = _choose_all(archive) if everything else _choose(archive, pending)
    extra = chosen.duplicates if with_duplicates else []
    if not _is_confirmed(chosen.conversations, extra, memories, yes=yes):
        say("aj: Nothing was deleted." + ("" if extra else " Use --yes to delete without asking."))
        return FAILED
    doomed = [*chosen.conversations, *extra]
    with progress(unit="entries of a new index") as line:
        number, erased = journal.forget(
            settings(), lambda now: _keys(doomed, now.store), line.update, memories=everything, names=names
        )
    show(f"Deleted {_amount(number, memories)}, and {size(erased.freed)} from the vault.")
    report_replaced(erased)
    _report_remaining(chosen, is_with_duplicates=with_duplicates)
    return 0


def _finish_earlier(names: Iterable[str]) -> set[str]:
    """Finish an interrupted `forget`; returns which of the names it deleted."""
    with open_archive() as archive:
        erasing = archive.store.pending_erasure()
    if erasing is None:
        return set()
    if finished := journal.finish_forgetting(settings()):
        report_finished_forget(finished)
    return {name for name in names if hashed_name(name) in erasing.names}


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


def _report_remaining(chosen: _Chosen, *, is_with_duplicates: bool) -> None:
    """Print which other conversations still have the same content."""
    duplicates = [] if is_with_duplicates else chosen.duplicates
    if duplicates:
        remaining = count(
            len(duplicates), "duplicate with the same text stays", "duplicates with the same text stay"
        )
        say(f"aj: {remaining} in the journal:")
        for each in duplicates:
            say(f"aj:   {_describe(each)}")
        ids = " ".join(f"{each.source}:{each.id}" for each in duplicates)
        say(f"aj: 'aj forget {ids}' deletes {'it' if len(duplicates) == 1 else 'them'} too.")
    if chosen.sharing:
        names = ", ".join(f"{each.source}:{each.id}" for each in chosen.sharing[:_MAX_NAMED_CONVERSATIONS])
        more = len(chosen.sharing) - _MAX_NAMED_CONVERSATIONS
        names += f" and {more:,} more" if more > 0 else ""
        say(f"aj: Messages that are also in other conversations stay there: {names}")


def _keys(chosen: list[Listed], store: Store) -> list[int]:
    """The current keys of conversations, which may have changed while the user was asked."""
    keys = {(each.source, each.id): each.key for each in store.conversations(Filter(with_children=True))}
    return [keys[name] for each in chosen if (name := (each.source, each.id)) in keys]


def _choose_all(archive: Archive) -> _Chosen:
    return _Chosen(list(archive.store.conversations(Filter(with_children=True))), [], [])


def _choose(archive: Archive, names: Iterable[str]) -> _Chosen:
    store = archive.store
    chosen = _with_subagents([_one(archive, name) for name in names], store)
    keys = {each.key for each in chosen}
    duplicates = [each for each in _with_subagents(_duplicates(chosen, store), store) if each.key not in keys]
    known = keys | {each.key for each in duplicates}
    return _Chosen(chosen, duplicates, [each for each in _sharing(chosen, store) if each.key not in known])


def _one(archive: Archive, name: str) -> Listed:
    """The conversation with this name; if it was forgotten before, the error says so."""
    try:
        return archive.find_conversation(name)
    except NoSuchConversation as error:
        if archive.store.was_forgotten(encodable(name)):
            raise NoSuchConversation(name, was_forgotten=True) from error
        raise


def _with_subagents(chosen: list[Listed], store: Store) -> list[Listed]:
    """The conversations, and those of their subagents."""
    by_key = {each.key: each for each in chosen}
    pending = list(chosen)
    while pending:
        for child in store.children(pending.pop().key):
            if child.relation == "subagent" and child.key not in by_key:
                by_key[child.key] = child
                pending.append(child)
    return list(by_key.values())


def _duplicates(chosen: list[Listed], store: Store) -> list[Listed]:
    """The duplicates of these conversations, and the conversations that these are duplicates of."""
    names = {f"{each.source}:{each.id}" for each in chosen}
    shown = names | {each.twin_of for each in chosen if each.twin_of}
    return [
        each
        for each in store.conversations(Filter(with_children=True))
        if (each.twin_of or f"{each.source}:{each.id}") in shown and f"{each.source}:{each.id}" not in names
    ]


def _sharing(chosen: list[Listed], store: Store) -> list[Listed]:
    """Conversations that contain some of the same messages."""
    entries = (key for each in chosen for key, _ in store.entries(each.key))
    others = {other for copies in store.copies(entries).values() for other in copies}
    return list(store.listed(others).values())
