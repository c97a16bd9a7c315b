"""Reports what an import does: its progress, its results and its problems."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import MAX_PRINTED_PROBLEMS
from agent_journal.cli._run import FAILED, INTERRUPTED, PARTLY
from agent_journal.journal import Status
from agent_journal.terminal import progress, say, show, show_json
from agent_journal.text.humanize import count, missing_files, size

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from agent_journal.journal import Result, Summary
    from agent_journal.notes import Note, Notes

# A rate is meaningless for fewer bytes.
_MIN_BYTES_FOR_RATE = 10_000_000


class Report:
    """Counts what an import does, and prints what it could not do."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._started_at = time.monotonic()
        self._problems: list[Result] = []
        self._pending: list[Result] = []
        self._forgotten: list[Result] = []
        self.files = self.conversations = self.messages = self.size = 0
        self.new_messages = self.new_memories = 0
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
            files = count(self.files, "file was", "files were")
            say(f"aj: Interrupted; {files} imported. 'aj sync' continues from there.")
            raise click.exceptions.Exit(INTERRUPTED) from error

    def expect(self, files: int, bytes_: int) -> None:
        """State how much there is to read."""
        self._expected = (files, bytes_)

    def add(self, result: Result) -> None:
        """Count the result of a file."""
        if result.status == Status.UNCHANGED:
            show_json(result)  # only `--json` asks for these
            return
        self.files += result.status != Status.FORGOTTEN
        self.conversations += result.conversations
        self.messages += result.messages
        self.new_messages += result.new_messages
        self.new_memories += result.new_memories
        self.size += result.bytes
        if result.status == Status.PENDING:
            self._pending.append(result)
        elif result.status == Status.FORGOTTEN:
            self._forgotten.append(result)
        elif result.status != Status.IMPORTED:
            self._problems.append(result)
        if self._as_json:
            show_json(result)
        files, bytes_ = self._expected or (None, 0)
        read = f"{size(self.size)} of {size(bytes_)}" if bytes_ else size(self.size)
        self._progress.update(self.files, files, f"{self.conversations:,} conversations, {read}")

    def finish(self, summary: Summary | None, note: Notes | None = None) -> int:
        """Print the totals and the problems; returns the exit code."""
        seconds = time.monotonic() - self._started_at
        if self._as_json:
            show_json(self._total(summary, seconds))
        else:
            self._show_total(summary, seconds)
        for results in (self._problems, self._pending, self._forgotten):
            _print_results(results)
        _print_notes(note.collected if note else [])
        if not self._problems and not (note and note.damaged):
            return 0
        nothing_imported = summary is None and not self.conversations and not self.new_memories
        return FAILED if nothing_imported else PARTLY

    def _total(self, summary: Summary | None, seconds: float) -> dict[str, object]:
        return {
            "total": True,
            "files": self.files,
            "unchanged": summary.unchanged if summary else 0,
            "missing": summary.missing if summary else 0,
            "conversations": self.conversations,
            "messages": self.messages,
            "new_messages": self.new_messages,
            "new_memories": self.new_memories,
            "unreadable": len(self._problems),
            "pending": len(self._pending),
            "bytes": self.size,
            "seconds": round(seconds, 3),
        }

    def _show_total(self, summary: Summary | None, seconds: float) -> None:
        rate = f", {self.size / 1e6 / seconds:,.0f} MB/s" if self.size > _MIN_BYTES_FOR_RATE else ""
        memories = f", {count(self.new_memories, 'new memory', 'new memories')}" if self.new_memories else ""
        read = self.files - sum(result.status == Status.UNREADABLE for result in self._problems)
        show(
            f"{count(read, 'file')} read, {count(self.conversations, 'conversation')}, "
            f"{count(self.new_messages, 'new entry', 'new entries')}{memories} "
            f"({seconds:.1f} s{rate})"
        )
        if summary is not None:
            missing = f", {missing_files(summary.missing)}" if summary.missing else ""
            show(f"{count(summary.unchanged, 'file')} unchanged{missing}")
            if not (self.files or summary.unchanged or summary.missing):
                say(
                    "aj: No conversations found on this machine. 'aj config show' lists where aj looks for "
                    "them; 'aj import PATH' imports an export from anywhere."
                )


def _print_notes(notes: list[Note]) -> None:
    for each in notes[:MAX_PRINTED_PROBLEMS]:
        say(f"note: {each}")
    if len(notes) > MAX_PRINTED_PROBLEMS:
        say(f"note: … and {len(notes) - MAX_PRINTED_PROBLEMS:,} more")


def _print_results(results: list[Result]) -> None:
    """Print the first of several results, each with its first note."""
    for result in results[:MAX_PRINTED_PROBLEMS]:
        say(f"{result.status}: {result.notes[0] if result.notes else result.status}")
    if len(results) > MAX_PRINTED_PROBLEMS:
        say(f"… and {len(results) - MAX_PRINTED_PROBLEMS:,} more; 'aj status --problems' lists them")
