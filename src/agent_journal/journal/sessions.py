"""What reads a journal, lent to one thread at a time.

A connection to the database, a decompressor and open files of the vault serve one thread at a time. Each call
of the facade borrows them together as a session, and sees the journal as of one moment.
"""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.errors import AgentJournalError, DamagedArchive, UnusableArchive
from agent_journal.inputs.closeable import Closing

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.archive.media import StoredMedia
    from agent_journal.archive.native_content import NativeContentReader
    from agent_journal.archive.salvage import RecoveringReader

_MAX_IDLE_SESSIONS = 8


class Damage(msgspec.Struct, kw_only=True):
    """Damage to a conversation that was met while it was read."""

    description: str
    is_missing: bool
    """Whether something is missing because of it."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class ReadSession(Closing):
    """An archive that is open for reading, and what was read of it last."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._state = 0
        self._native: NativeContentReader | None = None
        self._recovering: RecoveringReader | None = None
        self._media: StoredMedia | None = None

    def refresh(self) -> None:
        """Forget what was read before another process or thread wrote."""
        state = self.archive.store.data_version()
        if state != self._state:
            self._state = state
            self._native = self._recovering = self._media = None
            self.archive.store.substituted.clear()
            self.archive.vault.refresh()

    @property
    def recovering(self) -> RecoveringReader:
        """Reads conversations from the rows, and from the vault what is damaged in them."""
        if self._recovering is None:
            from agent_journal.archive.salvage import RecoveringReader  # noqa: PLC0415 (a search does not need it)

            self._recovering = RecoveringReader(self.archive)
        return self._recovering

    @property
    def native(self) -> NativeContentReader:
        """Reads conversations with the form that they have in their source."""
        if self._native is None:
            from agent_journal.archive.native_content import NativeContentReader  # noqa: PLC0415 (rarely needed)

            self._native = NativeContentReader(self.archive, self.recovering)
        return self._native

    @property
    def media(self) -> StoredMedia:
        """Reads images and files that are stored for conversations."""
        if self._media is None:
            from agent_journal.archive.media import StoredMedia  # noqa: PLC0415 (rarely needed)

            self._media = StoredMedia(self.archive)
        return self._media

    def take_damage(self, key: int, *, exact: bool = False) -> list[Damage]:
        """Return the damage to a conversation that was met since the last call."""
        damage = [
            Damage(description=str(each), is_missing=each.missing > 0)
            for each in self.recovering.take_reports()
        ]
        for error in self.native.damage(key) if exact else ():
            why = f"{error.where}: {error.reason}; its original form was replaced by the content of the rows"
            damage.append(Damage(description=why, is_missing=True))
        return damage

    def close(self) -> None:
        """Close the files."""
        self.archive.close()


class SessionPool(Closing):
    """Lends sessions; the one that was returned last is lent first, because its caches are the fullest."""

    def __init__(self, home: Path, open_archive: Callable[[], Archive]) -> None:
        self._home = home
        self._open_archive = open_archive
        self._idle: list[ReadSession] = []
        self._lock = threading.Lock()
        self._is_closed = False

    @contextmanager
    def lend(self) -> Iterator[ReadSession]:
        """Lend a session, in which the rows stay as they are now, whatever others write."""
        session = self._take()
        is_reusable = False
        try:
            with session.archive.store.read_snapshot():
                session.refresh()
                yield session
            is_reusable = True
        except AgentJournalError as error:
            is_reusable = not isinstance(error, DamagedArchive)
            raise
        finally:
            self._give_back(session, is_reusable=is_reusable)

    def close(self) -> None:
        """Close all sessions; those that are lent are closed when they are returned."""
        with self._lock:
            self._is_closed = True
            idle, self._idle = self._idle, []
        for session in idle:
            session.close()

    def _take(self) -> ReadSession:
        with self._lock:
            if self._is_closed:
                raise UnusableArchive(str(self._home), "this journal is closed; open it again")
            if self._idle:
                return self._idle.pop()
        return ReadSession(self._open_archive())

    def _give_back(self, session: ReadSession, *, is_reusable: bool) -> None:
        with self._lock:
            is_idle = is_reusable and not self._is_closed and len(self._idle) < _MAX_IDLE_SESSIONS
            if is_idle:
                self._idle.append(session)
        if not is_idle:
            session.close()
