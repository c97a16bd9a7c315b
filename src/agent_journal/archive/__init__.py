"""The archive: raw bytes first, then rows. Nothing that was imported is ever lost."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

from agent_journal.archive import machine
from agent_journal.archive.lock import Lock
from agent_journal.archive.sqlite import open_store
from agent_journal.archive.sqlite.connection import RESTORE_ADVICE
from agent_journal.archive.vault import Vault
from agent_journal.decoding.text_encoding import encodable
from agent_journal.errors import (
    AgentJournalError,
    NoArchive,
    NoSuchConversation,
    OlderArchive,
    UnusableArchive,
)
from agent_journal.inputs.closeable import Closing

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from agent_journal.archive.sqlite import SqliteStore
    from agent_journal.archive.store import Listed

HOW_TO_START = "'aj sync' creates it, 'aj demo' creates a sample"
"""What to do if there is no journal yet."""
DATABASE, VAULT, LOCK = "journal.db", "vault", "lock"


class Archive(Closing):
    """The rows and the vault of a journal."""

    def __init__(self, home: Path, store: SqliteStore, lock: Lock | None) -> None:
        self.home = home
        self.store = store
        self.vault = Vault(home / VAULT, store)
        self._lock = lock

    def find_conversation(self, name: str) -> Listed:
        """Return the conversation with this id, or the only one whose id begins with it.

        Ids of subagents may begin with the id of the conversation that started them; then that one is
        returned. An id that was copied from a list may end with an ellipsis.
        """
        name_as_text = encodable(name)
        matches = _without_subagents(
            self.store.find(name_as_text) or self.store.find(name_as_text.rstrip("…"))
        )
        if len(matches) != 1:
            raise NoSuchConversation(name, [f"{each.source}:{each.id}" for each in matches[:5]])
        return matches[0]

    def close(self) -> None:
        """Close the files and release the lock."""
        self.vault.close()
        self.store.close()
        if self._lock is not None:
            self._lock.release()


def _without_subagents(conversations: list[Listed]) -> list[Listed]:
    """Leave out subagents whose conversation is also in the list."""
    known = {(each.source, each.id) for each in conversations}
    return [
        each
        for each in conversations
        if each.relation != "subagent" or (each.source, each.parent_id) not in known
    ]


def exists(home: Path) -> bool:
    """Whether the folder holds a journal, or what is left of one."""
    return (home / DATABASE).exists() or any((home / VAULT).glob("*.pack"))


def _require_rows(home: Path) -> None:
    """Refuse to create an empty database next to a vault: only the lost rows know what its bytes are."""
    if not (home / DATABASE).exists() and exists(home):
        reason = (
            f"it is missing, but {VAULT} next to it is not; {RESTORE_ADVICE}, "
            "or move the vault elsewhere to start again"
        )
        raise UnusableArchive(str(home / DATABASE), reason)


def open_to_read(home: Path, on_migrate: Callable[[], None] | None = None) -> Archive:
    """Open a journal's archive for reading, while other processes may write to it.

    If an older version wrote it, its tables are migrated first, which may take long: `on_migrate` is called
    before.
    """
    if not exists(home):
        raise NoArchive(str(home), f"there is none yet; {HOW_TO_START}")
    try:
        opened = open_without_migrating(home)
    except OlderArchive as older:
        if on_migrate is not None:
            on_migrate()
        try:
            open_to_write(home, wait=0).close()
        except AgentJournalError as error:
            raise older from error
        return open_without_migrating(home)
    if not opened.store.has_unresolved_duplicates():
        return opened
    # A migration was interrupted before its last step. Without that step the journal can be read as well.
    opened.close()
    with suppress(AgentJournalError):
        open_to_write(home, wait=0).close()
    return open_without_migrating(home)


def open_without_migrating(home: Path) -> Archive:
    """Open an archive for reading; one of an older version is refused."""
    _require_rows(home)
    return Archive(home, open_store(home / DATABASE, for_writing=False), None)


def open_to_write(
    home: Path,
    wait: float = 30.0,
    on_wait: Callable[[str], None] | None = None,
    *,
    create: bool = True,
    adopt: bool = False,
) -> Archive:
    """Open a journal's archive for writing, and lock it until it is closed. It is created if there is none.

    An archive that another machine uses too is refused, unless it is adopted.
    """
    if not create and not exists(home):
        raise UnusableArchive(str(home), "it was deleted just now")
    _require_rows(home)
    lock = Lock(home / LOCK)
    lock.acquire(wait, on_wait)
    try:
        archive = Archive(home, open_store(home / DATABASE, for_writing=True), lock)
    except BaseException:
        lock.release()
        raise
    try:
        if adopt:
            machine.adopt(archive.store)
        else:
            machine.claim(home, archive.store)
        if archive.store.has_unresolved_duplicates():
            with archive.store.transaction():
                archive.store.resolve_duplicates()
    except BaseException:
        archive.close()
        raise
    return archive
