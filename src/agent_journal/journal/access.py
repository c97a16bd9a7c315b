"""What all verbs of a journal need: its settings, sessions to read with, and what searches share."""

from __future__ import annotations

import threading
from functools import partial
from typing import TYPE_CHECKING

from agent_journal import archive
from agent_journal.inputs import compressed
from agent_journal.inputs.closeable import Closing
from agent_journal.journal.sessions import SessionPool

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractContextManager

    from agent_journal.config import Config
    from agent_journal.journal.paging import BranchCache
    from agent_journal.journal.search_resources import SearchResources
    from agent_journal.journal.sessions import ReadSession
    from agent_journal.journal.shown import ShownCache


class JournalAccess(Closing):
    """The settings of a journal, and what its calls borrow."""

    def __init__(
        self, config: Config, on_migrate: Callable[[], None] | None = None, *, must_exist: bool = True
    ) -> None:
        """Open a journal, or with `must_exist=False` one that the first `sync` or `import_` may create.

        `on_migrate` is called before the tables of a journal of an older version are upgraded.
        """
        self.config = config
        self._config = config
        self._on_migrate = on_migrate
        self._sessions = SessionPool(config.home, partial(archive.open_to_read, config.home, on_migrate))
        self._lock = threading.Lock()
        self._search_resources: SearchResources | None = None
        self._branch_cache: BranchCache | None = None
        self._shown_cache: ShownCache | None = None
        if must_exist:
            self.require()

    @property
    def exists(self) -> bool:
        """Whether there is a journal, or what is left of one."""
        return archive.exists(self._config.home)

    def require(self) -> None:
        """Raise UnusableArchive if there is no usable journal."""
        with self._reading():
            pass

    def close(self) -> None:
        """Close the files. Calls in other threads finish; later ones are refused."""
        self._sessions.close()
        with self._lock:
            resources, self._search_resources = self._search_resources, None
        if resources is not None:
            resources.close()

    def _reading(self) -> AbstractContextManager[ReadSession]:
        return self._sessions.lend()

    def _limits(self) -> AbstractContextManager[None]:
        return compressed.allowing(self._config.storage.max_inflated_mb or None)

    def _branches(self) -> BranchCache:
        with self._lock:
            if self._branch_cache is None:
                from agent_journal.journal.paging import BranchCache  # noqa: PLC0415 (a search does not need it)

                self._branch_cache = BranchCache()
            return self._branch_cache

    def _shown_conversations(self) -> ShownCache:
        with self._lock:
            if self._shown_cache is None:
                from agent_journal.journal.shown import ShownCache  # noqa: PLC0415 (a search does not need it)

                self._shown_cache = ShownCache()
            return self._shown_cache

    def _resources(self) -> SearchResources:
        with self._lock:
            if self._search_resources is None:
                from agent_journal.journal.search_resources import SearchResources  # noqa: PLC0415 (only to search)

                self._search_resources = SearchResources(self._config)
            return self._search_resources
