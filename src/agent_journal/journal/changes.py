"""The verbs that change a journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal.journal.access import JournalAccess

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable
    from pathlib import Path

    from agent_journal.archive.backup import Copied
    from agent_journal.archive.candidates import Result
    from agent_journal.archive.repairing import RepairOutcome
    from agent_journal.journal.embeddings import State
    from agent_journal.journal.forgetting import FinishedForget, ForgetPlan, Forgotten
    from agent_journal.journal.import_totals import ImportTotals
    from agent_journal.journal.importing import Summary
    from agent_journal.journal.watch import Watcher
    from agent_journal.notes import Notes


class JournalChanges(JournalAccess):
    """What brings something into a journal, removes it, or keeps index and embeddings current."""

    def sync(
        self,
        sources: Iterable[str] = (),
        *,
        full: bool = False,
        note: Notes | None = None,
        on_result: Callable[[Result], None] | None = None,
        on_start: Callable[[int, int], None] | None = None,
        on_unchanged: Callable[[Result], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> Summary:
        """Import new and changed conversations of all known tools on this machine, or of some sources.

        With `full`, every file is read again. `on_start` gets the number of files to read and their bytes,
        `on_result` each file that was read, `on_unchanged` each that was not, and `on_wait` another process
        that is writing. The journal is created if there is none. A few new entries get their embeddings at
        once; `embed` or `embed_in_background` computes those of many.
        """
        from agent_journal.journal import importing  # noqa: PLC0415 (a search does not need it)
        from agent_journal.notes import Notes  # noqa: PLC0415

        infos, notes = importing.infos_of(sources), note or Notes()
        with self._limits():
            summary = importing.sync(
                self._config,
                lambda opened: importing.find_candidates(self._config, opened, infos, notes),
                on_result or _ignore,
                full=full,
                on_start=on_start,
                on_unchanged=on_unchanged,
                on_wait=on_wait,
            )
        self._embed_newest()
        return summary

    def import_(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        from_format: str | None = None,
        note: Notes | None = None,
        on_result: Callable[[Result], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> ImportTotals:
        """Import exports, folders and zips, or standard input (`-`); the journal is created if there is none.

        What the user excluded is skipped, and noted. A few new entries get their embeddings at once.
        """
        from agent_journal.discovery.excluded import Refused  # noqa: PLC0415
        from agent_journal.journal import importing  # noqa: PLC0415
        from agent_journal.journal.import_totals import ImportTotals  # noqa: PLC0415

        refused, totals = Refused(self._config, os.environ), ImportTotals()

        def add(result: Result) -> None:
            totals.add(result)
            if on_result is not None:
                on_result(result)

        with self._limits():
            importing.import_files(
                self._config,
                [importing.absolute_candidate(os.fspath(path)) for path in paths],
                add,
                from_format=from_format,
                note=note,
                is_refused=refused.really,
                on_wait=on_wait,
            )
        self._embed_newest()
        return totals

    def watch(
        self,
        sources: Iterable[str] = (),
        *,
        on_result: Callable[[Result], None] | None = None,
        on_message: Callable[[str], None] | None = None,
    ) -> Watcher:
        """Return a watcher: its `run` imports like `sync` and then as agents write, until its `stop`."""
        from agent_journal.journal import importing  # noqa: PLC0415
        from agent_journal.journal.watch import Watcher  # noqa: PLC0415

        infos = importing.infos_of(sources)
        return Watcher(self._config, infos, on_result or _ignore, on_message or _ignore)

    def plan_forget(self, names: Iterable[str] = (), *, everything: bool = False) -> ForgetPlan:
        """Choose conversations to forget, with their subagents; return also what repeats their content."""
        from agent_journal.journal import forgetting  # noqa: PLC0415

        with self._reading() as session:
            if everything:
                return forgetting.plan_all(session.archive)
            return forgetting.plan(session.archive, names)

    def forget(
        self,
        plan: ForgetPlan,
        *,
        with_duplicates: bool = False,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Forgotten:
        """Permanently delete conversations; later syncs do not import them again.

        `on_progress` gets the number of entries in the new index and their total. Raises UnfinishedErasure if
        they are forgotten, but still in some file.
        """
        from agent_journal.journal import erasing, forgetting, query_log  # noqa: PLC0415

        doomed = [*plan.conversations, *(plan.duplicates if with_duplicates else ())]
        conversations, erased = erasing.forget(
            self._config,
            lambda opened: forgetting.current_keys(doomed, opened.store),
            on_progress,
            memories=plan.everything,
            names=plan.names,
        )
        if plan.everything:
            query_log.erase(self._config.home)
        return forgetting.Forgotten(conversations, plan.memories, erased)

    def finish_forget(self, names: Iterable[str] = ()) -> FinishedForget | None:
        """Finish an earlier `forget` that was interrupted; None if there was none.

        The result says which of some names were those of that `forget`.
        """
        from agent_journal.archive.forgetting import hashed_name  # noqa: PLC0415
        from agent_journal.journal import erasing, forgetting  # noqa: PLC0415

        with self._reading() as session:
            pending = session.archive.store.pending_erasure()
        if pending is None:
            return None
        erased = erasing.finish_forgetting(self._config)
        return forgetting.FinishedForget(
            {name for name in names if hashed_name(name) in pending.names}, erased
        )

    def reindex(
        self,
        *,
        from_vault: bool = False,
        on_result: Callable[[Result], None] | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> int:
        """Rebuild the index, and with `from_vault` first the rows; return the number of its entries."""
        from agent_journal.journal import upkeep  # noqa: PLC0415

        self.require()
        with self._limits():
            upkeep.reindex(
                self._config, from_vault=from_vault, on_result=on_result or _ignore, on_progress=on_progress
            )
        with self._reading() as session:
            return session.archive.store.indexable()

    def repair(
        self,
        backup: Path | None = None,
        *,
        gives_up: bool = False,
        on_message: Callable[[str], None] | None = None,
        on_wait: Callable[[str], None] | None = None,
    ) -> RepairOutcome:
        """Repair damage from the tools' files, a backup, and what is intact; `gives_up` accepts the rest."""
        from agent_journal.journal import upkeep  # noqa: PLC0415

        if not self.exists:
            self.require()
        with self._limits():
            return upkeep.repair(
                self._config, backup, gives_up=gives_up, on_message=on_message, on_wait=on_wait
            )

    def backup(self, path: str | os.PathLike[str]) -> Copied:
        """Copy the journal into a new or empty folder and verify the copy; a sync may run meanwhile."""
        from agent_journal.journal import upkeep  # noqa: PLC0415

        return upkeep.backup(self._config, os.fspath(path), self._on_migrate)

    def embed(
        self,
        *,
        from_scratch: bool = False,
        seconds: float | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> State:
        """Compute missing embeddings, newest first, for about `seconds`; return how complete they are."""
        from agent_journal.journal import upkeep  # noqa: PLC0415

        return upkeep.embed(self._config, from_scratch=from_scratch, seconds=seconds, on_progress=on_progress)

    def embed_in_background(self) -> bool:
        """Start a process that computes embeddings if many are missing; return whether one is running."""
        if not (self._config.index.vector.enabled and self._config.index.vector.background):
            return False
        from agent_journal.journal import embeddings  # noqa: PLC0415 (few verbs need it)

        with self._reading() as session:
            return embeddings.start_in_background(session.archive, self._config)

    def _embed_newest(self) -> None:
        """Compute the embeddings of new entries; most syncs find none, and open nothing for that."""
        from agent_journal.journal import embeddings, upkeep  # noqa: PLC0415 (few verbs need it)

        with self._reading() as session:
            is_complete = not embeddings.count_missing(
                session.archive, embeddings.vectors_folder(self._config)
            )
        if not is_complete:
            upkeep.embed_newest(self._config)


def _ignore(_: object) -> None:
    """Do nothing with a report that nobody asked for."""
