"""Choose what to forget, and what else repeats it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.archive.store import Filter, Listed
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import NoSuchConversation

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.archive import Archive
    from agent_journal.archive.store import Store
    from agent_journal.journal.erasing import Erased


class ForgetPlan(NamedTuple):
    """The conversations to forget, and others that repeat their content."""

    conversations: list[Listed]
    duplicates: list[Listed]
    """Conversations under other ids that lists fold into these, or these into them."""
    sharing: list[Listed]
    """Other conversations that contain some of the same messages, as forks do."""
    memories: int = 0
    """The number of memories to forget."""
    names: tuple[str, ...] = ()
    """The names that the user gave."""
    everything: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "conversations": [each.to_dict() for each in self.conversations],
            "duplicates": [each.to_dict() for each in self.duplicates],
            "sharing": [each.to_dict() for each in self.sharing],
            "memories": self.memories,
            "names": [*self.names],
            "everything": self.everything,
        }


class Forgotten(NamedTuple):
    """What was forgotten."""

    conversations: int
    memories: int
    erased: Erased

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {**self._asdict(), "erased": self.erased.to_dict()}


class FinishedForget(NamedTuple):
    """An earlier `forget` that is finished now."""

    names: set[str]
    """Which of the given names were forgotten."""
    erased: Erased | None
    """What was erased; None if another process finished it."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {"names": sorted(self.names), "erased": self.erased and self.erased.to_dict()}


def plan_all(archive: Archive) -> ForgetPlan:
    """Choose every conversation and memory."""
    conversations = [*archive.store.conversations(Filter(with_children=True))]
    return ForgetPlan(conversations, [], [], archive.store.counts().memories, everything=True)


def plan(archive: Archive, names: Iterable[str]) -> ForgetPlan:
    """Choose conversations by their names, with their subagents."""
    store, names = archive.store, tuple(names)
    chosen = _with_subagents([_one(archive, name) for name in names], store)
    keys = {each.key for each in chosen}
    duplicates = [each for each in _with_subagents(_duplicates(chosen, store), store) if each.key not in keys]
    known = keys | {each.key for each in duplicates}
    sharing = [each for each in _sharing(chosen, store) if each.key not in known]
    return ForgetPlan(chosen, duplicates, sharing, names=names)


def current_keys(conversations: Iterable[Listed], store: Store) -> list[int]:
    """Return the keys of conversations now, which may have changed since they were chosen."""
    keys = {(each.source, each.id): each.key for each in store.conversations(Filter(with_children=True))}
    return [keys[name] for each in conversations if (name := (each.source, each.id)) in keys]


def _one(archive: Archive, name: str) -> Listed:
    """Return the conversation with this name; if it was forgotten before, the error says so."""
    try:
        return archive.find_conversation(name)
    except NoSuchConversation as error:
        if archive.store.was_forgotten(encodable(name)):
            raise NoSuchConversation(name, was_forgotten=True) from error
        raise


def _with_subagents(chosen: list[Listed], store: Store) -> list[Listed]:
    """Return the conversations, and those of their subagents."""
    by_key = {each.key: each for each in chosen}
    pending = list(chosen)
    while pending:
        for child in store.children(pending.pop().key):
            if child.relation == "subagent" and child.key not in by_key:
                by_key[child.key] = child
                pending.append(child)
    return list(by_key.values())


def _duplicates(chosen: list[Listed], store: Store) -> list[Listed]:
    """Return the duplicates of these conversations, and the conversations that these are duplicates of."""
    names = {f"{each.source}:{each.id}" for each in chosen}
    shown = names | {each.twin_of for each in chosen if each.twin_of}
    return [
        each
        for each in store.conversations(Filter(with_children=True))
        if (each.twin_of or f"{each.source}:{each.id}") in shown and f"{each.source}:{each.id}" not in names
    ]


def _sharing(chosen: list[Listed], store: Store) -> list[Listed]:
    """Return conversations that contain some of the same messages."""
    entries = (key for each in chosen for key, _ in store.entries(each.key))
    others = {other for copies in store.copies(entries).values() for other in copies}
    return list(store.listed(others).values())
