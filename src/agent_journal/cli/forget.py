"""`aj forget`: erase conversations for good."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import click

from agent_journal import journal
from agent_journal.archive.forgetting import hashed_name
from agent_journal.archive.store import Filter
from agent_journal.cli._journal import reading, settings
from agent_journal.cli._run import FAILED
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import NoSuchConversation
from agent_journal.terminal import agreed, progress, say, show
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Listed, Store

_MAX_NAMED = 5


class _Chosen(NamedTuple):
    """What is to be erased, and what stays that repeats it."""

    conversations: list[Listed]
    duplicates: list[Listed]
    """Conversations under other ids that lists fold into these, or these into them."""
    sharing: list[Listed]
    """Other conversations that hold some of the same messages, as forks do."""


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("names", nargs=-1, metavar="ID...")
@click.option("--all", "everything", is_flag=True, help="Everything in the journal, memories too.")
@click.option(
    "--with-duplicates",
    is_flag=True,
    help="Also duplicates of them under other ids. Those are listed and asked for, with --yes too.",
)
@click.option("--yes", is_flag=True, help="Do not ask whether to erase what is named.")
def command(*, names: tuple[str, ...], everything: bool, with_duplicates: bool, yes: bool) -> int:
    """Erase conversations from the journal: rows, kept bytes and index. They stay forgotten at the next sync.

    What subagents did for them goes with them. Duplicates of them under other ids, and messages that forks
    repeat, stay. The sources themselves are not touched. If it fails halfway, run it again: it goes on.
    """
    if bool(names) == everything:
        raise click.UsageError("name conversations, or say --all")
    unfinished = _resumed(names)
    if unfinished == set(names) and names:
        return 0
    with reading() as archive:
        memories = archive.store.counts().memories if everything else 0
        chosen = _all(archive) if everything else _named(archive, [n for n in names if n not in unfinished])
    extra = chosen.duplicates if with_duplicates else []
    if not _is_wanted(chosen.conversations, extra, memories, yes=yes):
        say("aj: nothing was erased" + ("" if extra else "; --yes erases without asking"))
        return FAILED
    going = [*chosen.conversations, *extra]
    with progress(unit="entries of a new index") as line:
        number, freed = journal.forget(
            settings(), lambda now: _keys(going, now.store), line.update, memories=everything, names=names
        )
    them = "it" if number + memories == 1 else "them"
    show(f"{_told(number, memories)} erased, {size(freed)} of the vault with {them}")
    _tell_what_stays(chosen, is_with_duplicates=with_duplicates)
    return 0


def _resumed(names: Iterable[str]) -> set[str]:
    """Finish what an earlier `forget` began; those of the names that it had been asked for."""
    with reading() as archive:
        erasing = archive.store.erasing()
    if erasing is None:
        return set()
    journal.finish_forgetting(settings())
    show("An earlier 'aj forget' was not finished; it is now, and nothing of that is left.")
    return {name for name in names if hashed_name(name) in erasing.names}


def _is_wanted(named: list[Listed], extra: list[Listed], memories: int, *, yes: bool) -> bool:
    """Whether a person agrees to what is listed; for duplicates they are always asked."""
    if yes and not extra:
        return True
    for each in named:
        show(f"  {_described(each)}")
    for each in extra:
        show(f"  {_described(each)}  (duplicate)")
    return agreed(f"erase {_told(len(named) + len(extra), memories)} for good?")


def _described(each: Listed) -> str:
    facts = (each.title or "", each.project or "", each.started_at or "")
    return "  ".join([f"{each.source}:{each.id}", *filter(None, facts)])


def _told(conversations: int, memories: int) -> str:
    what = count(conversations, "conversation")
    return what + (f" and {count(memories, 'memory', 'memories')}" if memories else "")


def _tell_what_stays(chosen: _Chosen, *, is_with_duplicates: bool) -> None:
    duplicates = [] if is_with_duplicates else chosen.duplicates
    if duplicates:
        kept = "duplicate stays" if len(duplicates) == 1 else "duplicates stay"
        say(f"aj: {len(duplicates):,} {kept} in the journal, with the same words:")
        for each in duplicates:
            say(f"aj:   {_described(each)}")
        ids = " ".join(f"{each.source}:{each.id}" for each in duplicates)
        say(f"aj: 'aj forget {ids}' erases {'it' if len(duplicates) == 1 else 'them'} as well")
    if chosen.sharing:
        some = ", ".join(f"{each.source}:{each.id}" for each in chosen.sharing[:_MAX_NAMED])
        more = len(chosen.sharing) - _MAX_NAMED
        some += f" and {more:,} more" if more > 0 else ""
        say(f"aj: messages that are in other conversations too stay there: {some}")


def _keys(chosen: list[Listed], store: Store) -> list[int]:
    """The keys that conversations have by now: while a person was asked, others may have got theirs."""
    there = {(each.source, each.id): each.key for each in store.conversations(Filter(with_children=True))}
    return [there[name] for each in chosen if (name := (each.source, each.id)) in there]


def _all(archive: Archive) -> _Chosen:
    return _Chosen(list(archive.store.conversations(Filter(with_children=True))), [], [])


def _named(archive: Archive, names: Iterable[str]) -> _Chosen:
    store = archive.store
    chosen = _with_subagents([_one(archive, name) for name in names], store)
    keys = {each.key for each in chosen}
    duplicates = [each for each in _with_subagents(_duplicates(chosen, store), store) if each.key not in keys]
    apart = keys | {each.key for each in duplicates}
    return _Chosen(chosen, duplicates, [each for each in _sharing(chosen, store) if each.key not in apart])


def _one(archive: Archive, name: str) -> Listed:
    """The conversation that is meant; of one that is forgotten already, that is said."""
    try:
        return archive.one(name)
    except NoSuchConversation as error:
        if archive.store.was_forgotten(encodable(name)):
            raise NoSuchConversation(name, was_forgotten=True) from error
        raise


def _with_subagents(chosen: list[Listed], store: Store) -> list[Listed]:
    """Conversations, and what subagents did for them."""
    found = {each.key: each for each in chosen}
    pending = list(chosen)
    while pending:
        for child in store.children(pending.pop().key):
            if child.relation == "subagent" and child.key not in found:
                found[child.key] = child
                pending.append(child)
    return list(found.values())


def _duplicates(chosen: list[Listed], store: Store) -> list[Listed]:
    """Conversations that repeat some, and those that these repeat."""
    names = {f"{each.source}:{each.id}" for each in chosen}
    shown = names | {each.twin_of for each in chosen if each.twin_of}
    return [
        each
        for each in store.conversations(Filter(with_children=True))
        if (each.twin_of or f"{each.source}:{each.id}") in shown and f"{each.source}:{each.id}" not in names
    ]


def _sharing(chosen: list[Listed], store: Store) -> list[Listed]:
    """Conversations that hold some of the same messages."""
    entries = (key for each in chosen for key, _ in store.entries(each.key))
    others = {other for held in store.copies(entries).values() for other in held}
    return list(store.listed(others).values())
