"""Watch the sources: a line is archived within a second after an agent has completed it.

The operating system reports which files change. Everything is scanned once a minute as well, because reports
may be missing. Where the system cannot watch so many folders, scans are repeated as often as is cheap.
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
from agent_journal.journal.importing import sync
from agent_journal.journal.upkeep import embed_in_background, embed_newest
from agent_journal.notes import Kind, Notes
from agent_journal.text.humanize import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate, Result, Stat
    from agent_journal.config import Config
    from agent_journal.discovery import Roots
    from agent_journal.readers import ReaderInfo

_BATCH_S = 0.15  # changes within this time after the first are imported together
_SCAN_INTERVAL_S = 60.0
# Embeddings are computed when no change came for this long, so that they delay no import.
_EMBED_AFTER_S = 2.0
# The second scan comes soon: it covers changes before the system began to watch.
_SECOND_SCAN_AFTER_S = 1.0
# Without the system's help, at most a hundredth of the time goes to scans.
_PAUSE_FACTOR = 100
_MIN_PAUSE_S = 1.0
# A large source, such as a database, is not read again for this many times as long as reading it took.
_LARGE_SOURCE_BYTES = 4 << 20
_REST_FACTOR = 20
# When a file is read again that its reader failed at, and that has not changed.
_RETRY_FAILED_S = 3600.0
# The listening threads check many times a second whether to stop.
_MAX_JOIN_S = 5.0


class Watcher:
    """Imports changes in all known locations until it is stopped.

    `on_result` gets each file that was read, `on_message` what a user should know.
    """

    def __init__(
        self,
        config: Config,
        infos: list[ReaderInfo],
        on_result: Callable[[Result], None],
        on_message: Callable[[str], None],
    ) -> None:
        self._config = config
        self._infos = infos
        self._on_result = on_result
        self._on_message = on_message
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
        self._lacks_embeddings = False
        self._rests_until: dict[str, float] = {}
        self._failed: dict[str, tuple[Stat | None, float]] = {}
        """Files that their readers failed at: their state then, and when to read them again."""
        self._postponed: set[str] = set()
        self._started_at = 0.0

    def run(self) -> None:
        """Watch until `stop` is called or the user interrupts."""
        try:
            self._scan_all()
            watched = count(len(self._known), "file or folder", "files and folders")
            self._on_message(f"Watching {watched}; press Ctrl-C to stop.")
            while not self._stop.is_set():
                self._watch_roots()
                self._wait()
        finally:
            self._end_watching()

    def stop(self) -> None:
        """Make `run` return soon."""
        self._stop.set()
        self._changes.put("")

    def _wait(self) -> None:
        """Import changes until it is time for the next scan, and scan."""
        until = time.monotonic() + (_SECOND_SCAN_AFTER_S if self._is_fresh else _SCAN_INTERVAL_S)
        self._is_fresh = False
        while not self._stop.is_set() and not self._is_scanning:
            left = until - time.monotonic()
            if left <= 0:
                break
            changed = self._changed_within(min(left, _EMBED_AFTER_S) if self._lacks_embeddings else left)
            changed |= self._rested()
            if changed:
                self._import(changed)
            elif self._lacks_embeddings:
                self._embed()
        started_at = time.monotonic()
        if self._stop.is_set():
            return
        self._scan_all()
        if self._is_scanning:
            self._stop.wait(max(_MIN_PAUSE_S, (time.monotonic() - started_at) * _PAUSE_FACTOR))

    def _changed_within(self, seconds: float) -> set[str]:
        """Return the paths that change together, once one does."""
        paths: set[str] = set()
        deadline = time.monotonic() + seconds
        if self._postponed:
            deadline = min(deadline, *(self._rests_until[path] for path in self._postponed))
        while (left := deadline - time.monotonic()) > 0:
            try:
                change = self._changes.get(timeout=left)
            except queue.Empty:
                break
            if isinstance(change, OSError):
                self._fall_back(change)
                break
            if not paths:
                deadline = time.monotonic() + _BATCH_S
            paths.add(change)
        return paths

    def _rested(self) -> set[str]:
        """Return the postponed paths that may be read now."""
        now = time.monotonic()
        rested = {path for path in self._postponed if self._rests_until[path] <= now}
        self._postponed -= rested
        return rested

    def _may_be_read(self, path: str) -> bool:
        if time.monotonic() >= self._rests_until.get(path, 0.0):
            return True
        self._postponed.add(path)
        return False

    def _was_read(self, result: Result) -> None:
        now = time.monotonic()
        if result.bytes > _LARGE_SOURCE_BYTES:
            self._rests_until[result.file] = now + (now - self._started_at) * _REST_FACTOR
        self._started_at = now
        self._failed.pop(result.file, None)
        if any(f": {Kind.READER_ERROR.label}: " in note for note in result.notes):
            known = self._known.get(result.file)
            self._failed[result.file] = (known.stat if known else None, now + _RETRY_FAILED_S)
        self._lacks_embeddings |= result.new_messages + result.new_memories > 0
        self._on_result(result)

    def _failed_unchanged(self, candidate: ImportCandidate) -> bool:
        stat, until = self._failed.get(candidate.path, (None, 0.0))
        return stat is not None and stat == candidate.stat and time.monotonic() < until

    def _fall_back(self, error: OSError) -> None:
        self._on_message(
            f"The system cannot watch more folders ({error}); checking all files regularly instead."
        )
        self._is_scanning = True
        self._end_watching()

    def _import(self, paths: set[str]) -> None:
        """Import the units that changed; if a path belongs to no known unit, scan everything."""
        if not paths or self._stop.is_set():
            return
        units = {path: self._known.get(path) for path in paths}
        if None in units.values():
            self._scan_all()
            return
        changed = [
            each._replace(stat=stat_of(each.path))
            for each in units.values()
            if each is not None and self._may_be_read(each.path)
        ]
        if changed:
            self._sync(lambda _: changed, is_all=False)

    def _scan_all(self) -> None:
        self._known = {}
        self._sync(self._candidates, is_all=True)
        self._embed()

    def _embed(self) -> None:
        """Compute the embeddings of new entries, of many in the background."""
        self._lacks_embeddings = False
        embed_newest(self._config)
        embed_in_background(self._config)

    def _candidates(self, archive: Archive) -> Iterator[ImportCandidate]:
        self._projects = existing_projects(archive)
        here = discovery.here()
        for candidate in locate_candidates(
            self._config, self._infos, os.environ, here, projects=self._projects, note=Notes()
        ):
            self._known[candidate.path] = candidate
            if not self._failed_unchanged(candidate) and self._may_be_read(candidate.path):
                yield candidate

    def _sync(self, find_candidates: Callable[[Archive], Iterable[ImportCandidate]], *, is_all: bool) -> None:
        """Import, and wait for another process that writes for long, as a first sync does."""
        has_reported = False
        while not self._stop.is_set():
            self._started_at = time.monotonic()
            try:
                sync(
                    self._config,
                    self._same_journal(find_candidates),
                    self._was_read,
                    is_all=is_all,
                    create=not self._journal_id,
                )
            except ArchiveInUse as error:
                if not has_reported:
                    self._on_message(f"{error.description}; waiting for it to finish.")
                has_reported = True
                continue
            return

    def _same_journal(
        self, find_candidates: Callable[[Archive], Iterable[ImportCandidate]]
    ) -> Callable[[Archive], Iterable[ImportCandidate]]:
        """Refuse a journal that was replaced meanwhile, instead of silently filling another one."""

        def checked(archive: Archive) -> Iterable[ImportCandidate]:
            if self._journal_id and archive.store.journal_id != self._journal_id:
                reason = "it was replaced while aj was watching; start 'aj watch' again to use the new one"
                raise UnusableArchive(str(self._config.home), reason)
            self._journal_id = archive.store.journal_id
            return find_candidates(archive)

        return checked

    def _watch_roots(self) -> None:
        """Watch the folders that exist now."""
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
        """Stop listening: when the process ends, no thread may still be in the system's code."""
        if self._watching is not None:
            self._watching.set()
        for thread in self._listening:
            thread.join(_MAX_JOIN_S)
        self._listening = []
        self._watched = self._watching = None
