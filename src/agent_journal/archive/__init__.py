"""The archive: raw bytes first, then rows. What was once imported is never lost."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.archive import machine
from agent_journal.archive.lock import Lock
from agent_journal.archive.sqlite import open_store
from agent_journal.archive.vault import Vault
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import AgentJournalError, NoSuchConversation, OlderArchive, UnusableArchive
from agent_journal.inputs.closeable import Closing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent_journal.archive.sqlite import SqliteStore
    from agent_journal.archive.store import Listed

DATABASE, VAULT, LOCK = "journal.db", "vault", "lock"


class Archive(Closing):
    """A journal's rows and its vault."""

    def __init__(self, home: Path, store: SqliteStore, lock: Lock | None) -> None:
        self.home = home
        self.store = store
        self.vault = Vault(home / VAULT, store)
        self._lock = lock

    def one(self, name: str) -> Listed:
        """The conversation that a person means by an id or the beginning of one.

        Ids of subagents may begin with that of the conversation they work for, which is meant then. One that
        was copied from a list may end with the sign that it was cut.
        """
        asked = encodable(name)
        found = _without_subagents(self.store.find(asked) or self.store.find(asked.rstrip("…")))
        if len(found) != 1:
            raise NoSuchConversation(name, [f"{each.source}:{each.id}" for each in found[:5]])
        return found[0]

    def close(self) -> None:
        """Let go of the files and of the lock."""
        self.vault.close()
        self.store.close()
        if self._lock is not None:
            self._lock.release()


def _without_subagents(found: list[Listed]) -> list[Listed]:
    """Conversations without those that work for another of them."""
    known = {(each.source, each.id) for each in found}
    return [
        each for each in found if each.relation != "subagent" or (each.source, each.parent_id) not in known
    ]


def exists(home: Path) -> bool:
    """Whether there is a journal, or what is left of one."""
    return (home / DATABASE).exists() or any((home / VAULT).glob("*.pack"))


def _insist_on_rows(home: Path) -> None:
    """Only the rows know what the vault's bytes are: where they are gone, none are begun anew in silence."""
    if not (home / DATABASE).exists() and exists(home):
        reason = (
            f"it is gone, and {VAULT} beside it is not; 'aj backup' copies can be put in its place, "
            "or move the vault away to begin anew"
        )
        raise UnusableArchive(str(home / DATABASE), reason)


def open_to_read(home: Path, bringing_up: Callable[[], None] | None = None) -> Archive:
    """The archive of a journal, which others may be writing to.

    If an older version wrote it, its tables become those of this one first, which may take long and is told.
    """
    if not exists(home):
        raise UnusableArchive(str(home), "there is none yet; 'aj sync' makes it, 'aj demo' shows one")
    try:
        opened = open_as_it_is(home)
    except OlderArchive as older:
        if bringing_up is not None:
            bringing_up()
        try:
            open_to_write(home, wait=0).close()
        except AgentJournalError as error:
            raise older from error
        return open_as_it_is(home)
    if not opened.store.has_unresolved_duplicates():
        return opened
    # A migration was interrupted before its last step. Without that step the journal can be read as well.
    opened.close()
    with suppress(AgentJournalError):
        open_to_write(home, wait=0).close()
    return open_as_it_is(home)


def open_as_it_is(home: Path) -> Archive:
    """The same, but one of an older version is refused."""
    _insist_on_rows(home)
    return Archive(home, open_store(home / DATABASE, for_writing=False), None)


def open_to_write(
    home: Path,
    wait: float = 30.0,
    waiting: Callable[[str], None] | None = None,
    *,
    make: bool = True,
    adopt: bool = False,
) -> Archive:
    """The archive of a journal, made if there is none. Nobody else may write until it is closed.

    One that another machine uses too is refused, unless it is adopted.
    """
    if not make and not exists(home):
        raise UnusableArchive(str(home), "it was there a moment ago and is gone")
    _insist_on_rows(home)
    lock = Lock(home / LOCK)
    lock.acquire(wait, waiting)
    try:
        archive = Archive(home, open_store(home / DATABASE, for_writing=True), lock)
    except BaseException:
        lock.release()
        raise
    try:
        if adopt:
            machine.adopt(archive.store)
        else:
            machine.sign(home, archive.store)
        if archive.store.has_unresolved_duplicates():
            with archive.store.transaction():
                archive.store.resolve_duplicates()
    except BaseException:
        archive.close()
        raise
    return archive
