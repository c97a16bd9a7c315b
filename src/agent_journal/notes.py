"""What was odd, as data: a closed list of kinds, where it was, and in a few words what.

A note is never only a log line: goldens contain notes, and the exit code follows from them.
"""

from __future__ import annotations

from collections import Counter
from enum import Enum
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.crash_reports import CrashReports


class Kind(Enum):
    """The kinds of notes: name, whether something of the input is missing or altered, meaning."""

    # Something of the input did not come through whole: exit code 3.
    BAD_RECORD = ("bad-record", True, "a record could not be decoded and was skipped")
    TORN_TAIL = ("torn-tail", True, "the last record is cut off; it may still be being written")
    TRUNCATED = ("truncated", True, "the file ends in the middle of a value")
    BAD_ENCODING = ("bad-encoding", True, "bytes that are not UTF-8 became U+FFFD")
    LONE_SURROGATE = ("lone-surrogate", True, "half a character became U+FFFD")
    BAD_NUMBER = ("bad-number", True, "a number that JSON cannot hold became a string")
    TOO_LARGE = ("too-large", True, "something exceeds a safety limit and was skipped")
    CYCLE = ("cycle", True, "messages are each other's parents; the chain was cut there")
    DUPLICATE_ID = ("duplicate-id", True, "two different records have one id; the later got a new one")
    MISSING_FILE = ("missing-file", True, "a file that the source names is not there")
    UNKNOWN_FILE = ("unknown-file", True, "no reader knows this file; it was skipped")
    UNREADABLE_FILE = ("unreadable-file", True, "this file could not be read")
    READER_ERROR = (
        "reader-error",
        True,
        "an unforeseen error stopped the reader; what came before it is kept",
    )
    DAMAGED = ("damaged", True, "the journal's copy of this is damaged; what is left of it was taken")
    # Everything came through; a person may still want to know.
    REPEATED_RECORD = ("repeated-record", False, "the same record again; it was counted once")
    WRONG_TYPE = ("wrong-type", False, "a field has an unexpected type and was kept as it is")
    UNKNOWN_TYPE = ("unknown-type", False, "a record or part of an unknown type was kept as it is")
    UNKNOWN_ROLE = ("unknown-role", False, "who speaks is not stated in a known word; it was inferred")
    REORDERED = ("reordered", False, "records follow each other in another order than they stand in")
    DANGLING_PARENT = ("dangling-parent", False, "the parent of a message is not in the source")
    UNLINKED_RESULT = ("unlinked-result", False, "a tool result answers no known call")
    BAD_TIME = ("bad-time", False, "a time could not be understood and was kept as it is")
    MISSING_TIME = ("missing-time", False, "a time is missing; another one stands in")
    MISSING_FIELD = ("missing-field", False, "a field that the format demands is missing; it was inferred")
    MISSING_ID = ("missing-id", False, "an id is missing; one was made from the content")
    GUESSED_LINK = ("guessed-link", False, "a tool result has no call id; it was linked by its place")
    CUT_AT_SOURCE = ("cut-at-source", False, "the source cut or left out something that was said")
    PARTIAL_USAGE = ("partial-usage", False, "the source's token counts are known to be too low")
    ODD_COUNT = ("odd-count", False, "a count of tokens that cannot be true, which no sum has")
    ABSENT_FOLDER = ("absent-folder", False, "a place that the configuration names does not exist")
    IGNORED_FILE = ("ignored-file", False, "a file of the source holds no conversation")
    RECOVERED = ("recovered", False, "one copy of this in the journal is damaged; another one was taken")
    # Writers.
    NOT_EXPRESSED = ("not-expressed", False, "the target format has no place for this")
    CHANGED = ("changed", False, "the target format demands another form of this")
    REDACTED = ("redacted", False, "a secret was replaced by the name of its kind")

    def __init__(self, label: str, damage: bool, meaning: str) -> None:  # noqa: FBT001 (enum row)
        self.label = label
        self.damage = damage
        self.meaning = meaning


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One oddity: what kind, in which file, at which place, and a few words."""

    kind: str
    file: str = ""
    where: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """`a.jsonl line 3: bad-record: unexpected end`."""
        place = " ".join(part for part in (self.file, self.where) if part)
        return ": ".join(part for part in (place, self.kind, self.detail) if part)


class Notes:
    """Collects notes; call it to add one.

    `where` is a line number or a place in words. Each kind is kept in full up to `keep` notes
    per file; beyond that it is only counted, so that a broken gigabyte does not fill the memory.
    """

    def __init__(
        self,
        file: str = "",
        sink: Callable[[Note], None] | None = None,
        keep: int = 1000,
        reports: CrashReports | None = None,
    ) -> None:
        self.file = file
        self.reports = reports
        self.failures: list[str] = []
        """Files that could not be read for a reason that is not in them: another try may read them."""
        self.kept: list[Note] = []
        self.counts: Counter[Kind] = Counter()
        self.lost_bytes: Counter[str] = Counter()
        self._per_file: Counter[tuple[str, Kind]] = Counter()
        self._sink = sink
        self._keep = keep

    def __call__(self, kind: Kind, where: int | str = "", detail: str = "", lost: int = 0) -> None:
        """Add a note about the current file; `lost` is how many of its bytes did not come through."""
        self.add(kind, self.file, where, detail)
        if lost and kind.damage:  # else it was kept as it is
            self.lost_bytes[self.file] += lost

    def add(self, kind: Kind, file: str, where: int | str = "", detail: str = "") -> None:
        """Add a note about any file."""
        self.counts[kind] += 1
        self._per_file[file, kind] += 1
        if self._per_file[file, kind] > self._keep:
            return
        place = f"line {where}" if isinstance(where, int) else where
        note = Note(kind=kind.label, file=file, where=place, detail=detail)
        self.kept.append(note)
        if self._sink is not None:
            self._sink(note)

    def failed(self, error: Exception, file: str, reader: str, version: str = "") -> None:
        """Note that an unforeseen error stopped a reader at a file, and write a crash report."""
        self.failures.append(file)
        if isinstance(error, OSError):
            self.add(Kind.UNREADABLE_FILE, file, "", (error.strerror or str(error)).lower())
            return
        if isinstance(error, MemoryError):
            what = f"there is not enough memory for what the {reader} reader holds of it"
        else:
            what = f"the {reader} reader failed with {type(error).__name__}; this is a bug in it"
        path = None if self.reports is None else self.reports.write(error, reader, version)
        self.add(
            Kind.READER_ERROR, file, "", what + (f": please report it and attach {path}" if path else "")
        )

    def about(self, file: str) -> Notes:
        """The same collection, speaking of another file."""
        other = Notes.__new__(Notes)
        other.__dict__.update(self.__dict__)
        other.file = file
        return other

    @property
    def damaged(self) -> bool:
        """Whether something of the input did not come through whole."""
        return any(kind.damage for kind in self.counts)
