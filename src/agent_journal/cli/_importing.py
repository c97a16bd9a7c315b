"""Reports what an import does: its progress, its results and its problems."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import MAX_PRINTED_PROBLEMS
from agent_journal.cli._run import FAILED, INTERRUPTED, PARTLY
from agent_journal.journal import ImportTotals, Status
from agent_journal.journal.import_totals import is_problem
from agent_journal.notes import Kind
from agent_journal.terminal import progress, say, show, show_json
from agent_journal.text.humanize import count, missing_files, size

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from agent_journal.journal import Result, Summary
    from agent_journal.notes import Note, Notes

# A rate is meaningless for fewer bytes.
_MIN_BYTES_FOR_RATE = 10_000_000
_UNREAD = {Status.UNREADABLE, Status.UNKNOWN}
_IN_WORDS = {Kind.UNREADABLE_FILE: "Cannot read", Kind.UNKNOWN_FILE: "Unknown format of"}


class Report:
    """Counts what an import does, and prints what it could not do."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._started_at = time.monotonic()
        self._problems: list[Result] = []
        self._pending: list[Result] = []
        self._forgotten: list[Result] = []
        self.totals = ImportTotals()
        self._expected: tuple[int, int] | None = None
        self._progress = progress(unit="files")

    def __enter__(self) -> Self:
        self._progress.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> None:
        self._progress.__exit__(kind, error, trace)
        if kind is KeyboardInterrupt:
            files = count(self.totals.files, "file was", "files were")
            say(f"aj: Interrupted; {files} imported. 'aj sync' continues from there.")
            raise click.exceptions.Exit(INTERRUPTED) from error

    def expect(self, files: int, bytes_: int) -> None:
        """State how much there is to read."""
        self._expected = (files, bytes_)

    def add(self, result: Result) -> None:
        """Count the result of a file."""
        if result.status == Status.UNCHANGED:
            show_json(result.to_dict())  # only `--json` asks for these
            return
        self.totals.add(result)
        if result.status == Status.PENDING:
            self._pending.append(result)
        elif result.status == Status.FORGOTTEN:
            self._forgotten.append(result)
        elif is_problem(result):
            self._problems.append(result)
        if self._as_json:
            show_json(result.to_dict())
        files, bytes_ = self._expected or (None, 0)
        imported = size(self.totals.bytes)
        read = f"{imported} of {size(bytes_)}" if bytes_ else imported
        self._progress.update(
            self.totals.files, files, f"{self.totals.conversations:,} conversations, {read}"
        )

    def finish(self, summary: Summary | None, note: Notes | None = None) -> int:
        """Print the totals and the problems; returns the exit code."""
        seconds = time.monotonic() - self._started_at
        if summary is not None:
            self.totals.unchanged, self.totals.missing = summary.unchanged, summary.missing
        if self._as_json:
            show_json({"total": True, **self.totals.to_dict(), "seconds": round(seconds, 3)})
        elif summary is not None or self._read_count() or not self._problems:
            self._show_total(seconds, is_sync=summary is not None)
        for results in (self._problems, self._pending, self._forgotten):
            _print_results(results)
        _print_notes(note.collected if note else [])
        if not self._problems and not (note and note.damaged):
            return 0
        nothing_imported = summary is None and not self.totals.conversations and not self.totals.new_memories
        return FAILED if nothing_imported else PARTLY

    def _read_count(self) -> int:
        """How many files were read: neither unreadable nor of an unknown format."""
        return self.totals.files - sum(result.status in _UNREAD for result in self._problems)

    def _show_total(self, seconds: float, *, is_sync: bool) -> None:
        totals = self.totals
        rate = f", {totals.bytes / 1e6 / seconds:,.0f} MB/s" if totals.bytes > _MIN_BYTES_FOR_RATE else ""
        memories = (
            f", {count(totals.new_memories, 'new memory', 'new memories')}" if totals.new_memories else ""
        )
        show(
            f"{count(self._read_count(), 'file')} read, {count(totals.conversations, 'conversation')}, "
            f"{count(totals.new_messages, 'new entry', 'new entries')}{memories} "
            f"({seconds:.1f} s{rate})"
        )
        if is_sync:
            missing = f", {missing_files(totals.missing)}" if totals.missing else ""
            show(f"{count(totals.unchanged, 'file')} unchanged{missing}")
            if not (totals.files or totals.unchanged or totals.missing):
                say(
                    "aj: No conversations found on this machine. 'aj config show' lists where aj looks for "
                    "them; 'aj import PATH' imports an export from anywhere."
                )


def _print_notes(notes: list[Note]) -> None:
    for each in notes[:MAX_PRINTED_PROBLEMS]:
        say(f"note: {each}")
    if len(notes) > MAX_PRINTED_PROBLEMS:
        say(f"note: … and {len(notes) - MAX_PRINTED_PROBLEMS:,} more")


def _describe(result: Result) -> str:
    """What went wrong with a file: its first note, in words if the note says no more than the status."""
    note = result.notes[0] if result.notes else result.status
    for kind, beginning in _IN_WORDS.items():
        location, separator, detail = note.partition(f": {kind.label}: ")
        if separator:
            return f"aj: {beginning} {location}: {detail}"
    return f"{result.status}: {note}"


def _print_results(results: list[Result]) -> None:
    """Print the first of several results, each with its first note."""
    for result in results[:MAX_PRINTED_PROBLEMS]:
        say(_describe(result))
    if len(results) > MAX_PRINTED_PROBLEMS:
        say(f"… and {len(results) - MAX_PRINTED_PROBLEMS:,} more; 'aj status --problems' lists them")
