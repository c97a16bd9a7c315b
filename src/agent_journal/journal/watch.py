"""Keeping up with agents while they write: a line is archived within a second of being whole.

The system tells which files change; what it may miss is found by looking at everything once a minute. Where
it cannot watch so many folders, everything is looked at all the time, as often as costs little.
"""

from __future__ import annotations

import os
import queue
import threading
import time
from typing import TYPE_CHECKING

from agent_journal import discovery
from agent_journal.archive.candidates import stat_of
from agent_journal.archive.syncing import existing_projects, locate_candidates
from agent_journal.errors import ArchiveInUse, UnusableArchive
from agent_journal.journal import facade
from agent_journal.notes import Kind, Notes
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate, Result, Stat
    from agent_journal.config import Config
    from agent_journal.discovery import Roots
    from agent_journal.readers import ReaderInfo

# What comes within so many seconds of the first change is imported with it.
_TOGETHER = 0.15
_LOOK_AT_ALL_EVERY = 60.0
# What is written before the system has begun to watch is found by looking once more.
_SOON = 1.0
# Without the system's help: at most a hundredth of the time is spent looking.
_SHARE = 100
_LEAST_PAUSE = 1.0
# A source that takes long to read, such as a large database, is left alone for so many times as long.
_LARGE, _REST = 4 << 20, 20
# A file that its reader failed at, and that has not changed, is tried again after so many seconds.
_RETRY_FAILED_S = 3600.0
# Whoever listens to the system looks many times a second whether it is over.
_LONGEST_END = 5.0


class Watcher:
    """Imports changes of every known home until it is stopped."""

    def __init__(
        self,
        config: Config,
        infos: list[ReaderInfo],
        done: Callable[[Result], None],
        say: Callable[[str], None],
    ) -> None:
        self._config = config
        self._infos = infos
        self._done = done
        self._say = say
        self._known: dict[str, ImportCandidate] = {}
        self._projects: list[str] = []
        self._journal_id = ""
        self._changes: queue.Queue[str | OSError] = queue.Queue()
        self._stop = threading.Event()
        self._watched: Roots | None = None
        self._watching: threading.Event | None = None
        self._listening: list[threading.Thread] = []
        self._is_scanning = False
        self._is_fresh = False
        self._rests_until: dict[str, float] = {}
        self._failed: dict[str, tuple[Stat | None, float]] = {}
        """Files that their readers failed at: as they were, and until when they are left alone."""
        self._later: set[str] = set()
        self._began = 0.0

    def run(self) -> None:
        """Watch until `stop` is called or a person interrupts."""
        try:
            self._look_at_all()
            watched = count(len(self._known), "file or folder", "files and folders")
            self._say(f"Watching {watched}; press Ctrl-C to stop.")
            while not self._stop.is_set():
                self._watch_roots()
                self._wait()
        finally:
            self._end_watching()

    def stop(self) -> None:
        """End `run` soon."""
        self._stop.set()
        self._changes.put("")

    def _wait(self) -> None:
        """Import what changes until it is time to look at everything, and do that."""
        until = time.monotonic() + (_SOON if self._is_fresh else _LOOK_AT_ALL_EVERY)
        self._is_fresh = False
        while not self._stop.is_set() and not self._is_scanning:
            left = until - time.monotonic()
            if left <= 0:
                break
            self._import(self._changed_within(left) | self._rested())
        began = time.monotonic()
        if self._stop.is_set():
            return
        self._look_at_all()
        if self._is_scanning:
            self._stop.wait(max(_LEAST_PAUSE, (time.monotonic() - began) * _SHARE))

    def _changed_within(self, seconds: float) -> set[str]:
        """The paths that change together, once one does."""
        paths: set[str] = set()
        deadline = time.monotonic() + seconds
        if self._later:
            deadline = min(deadline, *(self._rests_until[path] for path in self._later))
        while (left := deadline - time.monotonic()) > 0:
            try:
                change = self._changes.get(timeout=left)
            except queue.Empty:
                break
            if isinstance(change, OSError):
                self._fall_back(change)
                break
            if not paths:
                deadline = time.monotonic() + _TOGETHER
            paths.add(change)
        return paths

    def _rested(self) -> set[str]:
        """What changed while it was left alone, and may be read now."""
        now = time.monotonic()
        rested = {path for path in self._later if self._rests_until[path] <= now}
        self._later -= rested
        return rested

    def _may_be_read(self, path: str) -> bool:
        if time.monotonic() >= self._rests_until.get(path, 0.0):
            return True
        self._later.add(path)
        return False

    def _was_read(self, result: Result) -> None:
        now = time.monotonic()
        if result.bytes > _LARGE:
            self._rests_until[result.file] = now + (now - self._began) * _REST
        self._began = now
        self._failed.pop(result.file, None)
        if any(f": {Kind.READER_ERROR.label}: " in note for note in result.notes):
            known = self._known.get(result.file)
            self._failed[result.file] = (known.stat if known else None, now + _RETRY_FAILED_S)
        self._done(result)

    def _is_as_it_failed(self, found: ImportCandidate) -> bool:
        stat, until = self._failed.get(found.path, (None, 0.0))
        return stat is not None and stat == found.stat and time.monotonic() < until

    def _fall_back(self, error: OSError) -> None:
        self._say(f"The system cannot watch more folders ({error}); checking all files regularly instead.")
        self._is_scanning = True
        self._end_watching()

    def _import(self, paths: set[str]) -> None:
        """Import the units that changed; if some path is of no known unit, everything is looked at."""
        if not paths or self._stop.is_set():
            return
        units = {path: self._known.get(path) for path in paths}
        if None in units.values():
            self._look_at_all()
            return
        found = [
            each._replace(stat=stat_of(each.path))
            for each in units.values()
            if each is not None and self._may_be_read(each.path)
        ]
        if found:
            self._sync(lambda _: found, is_all=False)

    def _look_at_all(self) -> None:
        self._known = {}
        self._sync(self._found, is_all=True)
        facade.embed_in_background(self._config)

    def _found(self, kept: Archive) -> Iterator[ImportCandidate]:
        self._projects = existing_projects(kept)
        here = discovery.here()
        for found in locate_candidates(
            self._config, self._infos, os.environ, here, projects=self._projects, note=Notes()
        ):
            self._known[found.path] = found
            if not self._is_as_it_failed(found) and self._may_be_read(found.path):
                yield found

    def _sync(self, found: Callable[[Archive], Iterable[ImportCandidate]], *, is_all: bool) -> None:
        """Import; somebody else may be writing for long, as a first sync does, and is waited for."""
        is_told = False
        while not self._stop.is_set():
            self._began = time.monotonic()
            try:
                facade.sync(
                    self._config,
                    self._same_journal(found),
                    self._was_read,
                    is_all=is_all,
                    make=not self._journal_id,
                )
            except ArchiveInUse as error:
                if not is_told:
                    self._say(f"{error.description}; waiting for it to finish.")
                is_told = True
                continue
            return

    def _same_journal(
        self, found: Callable[[Archive], Iterable[ImportCandidate]]
    ) -> Callable[[Archive], Iterable[ImportCandidate]]:
        """A journal that was removed or replaced meanwhile is not filled anew in silence."""

        def checked(kept: Archive) -> Iterable[ImportCandidate]:
            if self._journal_id and kept.store.journal_id != self._journal_id:
                reason = "it was replaced while aj was watching; start 'aj watch' again to use the new one"
                raise UnusableArchive(str(self._config.home), reason)
            self._journal_id = kept.store.journal_id
            return found(kept)

        return checked

    def _watch_roots(self) -> None:
        """Watch the folders that there are now."""
        here = discovery.here()
        roots = discovery.roots(self._config, self._infos, os.environ, here, projects=self._projects)
        if self._is_scanning or roots == self._watched:
            return
        self._end_watching()
        self._watched = roots
        self._is_fresh = True
        self._watching = threading.Event()
        for folders, is_deep in ((roots.deep, True), (roots.flat, False)):
            if folders:
                arguments = (roots, is_deep, self._watching)
                thread = threading.Thread(target=self._listen, args=arguments, daemon=True)
                thread.start()
                self._listening.append(thread)

    def _listen(self, roots: Roots, is_deep: bool, stop: threading.Event) -> None:  # noqa: FBT001
        from watchfiles import watch  # noqa: PLC0415 (only for watching)

        own = str(self._config.home) + os.sep
        try:
            for changes in watch(
                *(roots.deep if is_deep else roots.flat),
                watch_filter=lambda _, path: (
                    not path.startswith(own) and (is_deep or roots.may_be_wanted(path))
                ),
                debounce=100,
                step=20,
                stop_event=stop,
                recursive=is_deep,
                ignore_permission_denied=True,
                raise_interrupt=False,
            ):
                for _, path in changes:
                    self._changes.put(path)
        except OSError as error:
            self._changes.put(error)

    def _end_watching(self) -> None:
        """Listen no more. A thread in the system's code must not be left to the end of the process."""
        if self._watching is not None:
            self._watching.set()
        for thread in self._listening:
            thread.join(_LONGEST_END)
        self._listening = []
        self._watched = self._watching = None
