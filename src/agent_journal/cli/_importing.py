"""How an import is told while it runs and when it is over."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import click

from agent_journal.archive.store import Status
from agent_journal.cli._run import FAILED, INTERRUPTED, PARTLY
from agent_journal.terminal import progress, say, show, show_json
from agent_journal.text.humanize import count, size

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Self

    from agent_journal.archive.candidates import Result
    from agent_journal.journal import Summary
    from agent_journal.notes import Note, Notes

_MOST_NAMED = 20
# Below so many bytes a rate tells nothing.
_RATE_FROM = 10_000_000


class Report:
    """Counts what an import does, and names what it could not do."""

    def __init__(self, *, as_json: bool) -> None:
        self._as_json = as_json
        self._began = time.monotonic()
        self._troubles: list[Result] = []
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
            say(f"aj: interrupted; {self.files:,} files are imported and kept, 'aj sync' goes on from there")
            raise click.exceptions.Exit(INTERRUPTED) from error

    def begun(self, files: int, bytes_: int) -> None:
        """So much is to be read."""
        self._expected = (files, bytes_)

    def done(self, result: Result) -> None:
        """A file is imported, or is not."""
        if result.status == Status.UNCHANGED:
            show_json(result)  # nobody else asks for these
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
            self._troubles.append(result)
        if self._as_json:
            show_json(result)
        files, bytes_ = self._expected or (None, 0)
        read = f"{size(self.size)} of {size(bytes_)}" if bytes_ else size(self.size)
        self._progress.update(self.files, files, f"{self.conversations:,} conversations, {read}")

    def finish(self, summary: Summary | None, note: Notes | None = None) -> int:
        """Tell the whole; the exit code."""
        seconds = time.monotonic() - self._began
        if self._as_json:
            show_json(self._total(summary, seconds))
        else:
            self._tell(summary, seconds)
        for results in (self._troubles, self._pending, self._forgotten):
            _name(results)
        self._tell_notes(note.kept if note else [])
        if not self._troubles and not (note and note.damaged):
            return 0
        nothing = summary is None and not self.conversations and not self.new_memories
        return FAILED if nothing else PARTLY

    def _tell_notes(self, notes: list[Note]) -> None:
        for each in notes[:_MOST_NAMED]:
            say(f"note: {each}")
        if len(notes) > _MOST_NAMED:
            say(f"note: … and {len(notes) - _MOST_NAMED:,} more of this kind")

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
            "unreadable": len(self._troubles),
            "pending": len(self._pending),
            "bytes": self.size,
            "seconds": round(seconds, 3),
        }

    def _tell(self, summary: Summary | None, seconds: float) -> None:
        rate = f", {self.size / 1e6 / seconds:,.0f} MB/s" if self.size > _RATE_FROM else ""
        memories = f", {count(self.new_memories, 'new memory', 'new memories')}" if self.new_memories else ""
        read = self.files - sum(result.status == Status.UNREADABLE for result in self._troubles)
        show(
            f"{count(read, 'file')} read, {count(self.conversations, 'conversation')}, "
            f"{count(self.new_messages, 'new entry', 'new entries')}{memories} "
            f"({seconds:.1f} s{rate})"
        )
        if summary is not None:
            gone = f", {summary.missing:,} gone from disk and kept here" if summary.missing else ""
            show(f"{count(summary.unchanged, 'file')} unchanged{gone}")
            if not (self.files or summary.unchanged or summary.missing):
                where = "'aj config show' tells where it was looked for"
                say(f"aj: no history was found; {where}, 'aj import PATH' reads an export from anywhere")


def _name(results: list[Result]) -> None:
    """The first of several files, each with what is to be said of it."""
    for result in results[:_MOST_NAMED]:
        why = result.notes[0] if result.notes else result.status
        say(f"{result.status}: {why}")
    if len(results) > _MOST_NAMED:
        say(f"… and {len(results) - _MOST_NAMED:,} more; 'aj status --problems' lists them")
