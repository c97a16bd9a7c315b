"""Notes: anomalies of an input as data, with a kind from a closed list, a location and a few words.

Notes are more than log lines: expected results of tests contain them, and they determine the exit code.
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

    # Some of the input was lost or altered: exit code 3.
    BAD_RECORD = ("bad-record", True, "a record could not be decoded and was skipped")
    TORN_TAIL = ("torn-tail", True, "the last record is cut off; it may still be being written")
    TRUNCATED = ("truncated", True, "the file ends in the middle of a value")
    BAD_ENCODING = ("bad-encoding", True, "bytes that are not valid UTF-8 were replaced by U+FFFD")
    LONE_SURROGATE = ("lone-surrogate", True, "an unpaired surrogate was replaced by U+FFFD")
    BAD_NUMBER = ("bad-number", True, "a number that JSON cannot represent became a string")
    TOO_LARGE = ("too-large", True, "something exceeds a safety limit and was skipped")
    CYCLE = ("cycle", True, "messages are each other's parents; the chain was broken there")
    DUPLICATE_ID = ("duplicate-id", True, "two different records have the same id; the later got a new one")
    MISSING_FILE = ("missing-file", True, "a file that the source refers to is missing")
    UNKNOWN_FILE = ("unknown-file", True, "no reader recognizes this file; it was skipped")
    UNREADABLE_FILE = ("unreadable-file", True, "this file could not be read")
    READER_ERROR = (
        "reader-error",
        True,
        "an unexpected error stopped the reader; what it read before is preserved",
    )
    DAMAGED = ("damaged", True, "the journal's copy of this is damaged; the intact part was used")
    # Nothing was lost, but it may be good to know.
    REPEATED_RECORD = ("repeated-record", False, "a record occurs again; it was counted once")
    WRONG_TYPE = ("wrong-type", False, "a field has an unexpected type; its value is in extra")
    UNKNOWN_TYPE = ("unknown-type", False, "a record or part has an unknown type; it was stored unchanged")
    UNKNOWN_ROLE = ("unknown-role", False, "the role of a message is unknown; it was inferred")
    REORDERED = ("reordered", False, "the source stores records out of order; they were reordered")
    DANGLING_PARENT = ("dangling-parent", False, "the parent of a message is not in the source")
    UNLINKED_RESULT = ("unlinked-result", False, "a tool result belongs to no known call")
    BAD_TIME = ("bad-time", False, "a time is not valid; it was stored unchanged")
    MISSING_TIME = ("missing-time", False, "a time is missing; another one was used instead")
    MISSING_FIELD = ("missing-field", False, "a field that the format requires is missing; it was inferred")
    MISSING_ID = ("missing-id", False, "an id is missing; it was derived from the content")
    GUESSED_LINK = ("guessed-link", False, "a tool result has no call id; it was linked by its position")
    CUT_AT_SOURCE = ("cut-at-source", False, "the source itself truncated or omitted content")
    PARTIAL_USAGE = ("partial-usage", False, "the source's token counts are known to be too low")
    ODD_COUNT = ("odd-count", False, "an impossible token count; totals do not include it")
    ABSENT_FOLDER = ("absent-folder", False, "a folder in the settings does not exist")
    IGNORED_FILE = ("ignored-file", False, "a file of the source contains no conversation")
    RECOVERED = ("recovered", False, "one copy of this in the journal is damaged; another one was used")
    # Writers.
    NOT_EXPRESSED = ("not-expressed", False, "the target format cannot represent this")
    CHANGED = ("changed", False, "the target format requires another form of this")
    REDACTED = ("redacted", False, "a secret was replaced by the name of its kind")

    def __init__(self, label: str, damage: bool, meaning: str) -> None:  # noqa: FBT001 (enum row)
        self.label = label
        self.damage = damage
        self.meaning = meaning


class Note(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One anomaly: its kind, its file, its location in the file, and a few words."""

    kind: str
    file: str = ""
    where: str = ""
    detail: str = ""

    def __str__(self) -> str:
        """`a.jsonl line 3: bad-record: unexpected end`."""
        location = " ".join(part for part in (self.file, self.where) if part)
        return ": ".join(part for part in (location, self.kind, self.detail) if part)


class Notes:
    """Collects notes; call it to add one.

    `where` is a line number or a location in words. Of each kind, `keep` notes per file are collected;
    further ones are only counted, so that a broken gigabyte does not fill the memory.
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
        """Files that could not be read for a reason other than their content: reading them again may work."""
        self.collected: list[Note] = []
        self.counts: Counter[Kind] = Counter()
        self.lost_bytes: Counter[str] = Counter()
        self._per_file: Counter[tuple[str, Kind]] = Counter()
        self._sink = sink
        self._keep = keep

    @property
    def kept(self) -> list[Note]:
        """Another name of `collected`."""
        return self.collected

    def __call__(self, kind: Kind, where: int | str = "", detail: str = "", lost: int = 0) -> None:
        """Add a note about the current file; `lost` is the number of its bytes that were not read."""
        self.add(kind, self.file, where, detail)
        if lost and kind.damage:  # otherwise the bytes were stored unchanged
            self.lost_bytes[self.file] += lost

    def add(self, kind: Kind, file: str, where: int | str = "", detail: str = "") -> None:
        """Add a note about any file."""
        self.counts[kind] += 1
        self._per_file[file, kind] += 1
        if self._per_file[file, kind] > self._keep:
            return
        location = f"line {where}" if isinstance(where, int) else where
        note = Note(kind=kind.label, file=file, where=location, detail=detail)
        self.collected.append(note)
        if self._sink is not None:
            self._sink(note)

    def failed(self, error: Exception, file: str, reader: str, version: str = "") -> None:
        """Note that an unexpected error stopped a reader, and write a crash report."""
        self.failures.append(file)
        if isinstance(error, OSError):
            self.add(Kind.UNREADABLE_FILE, file, "", (error.strerror or str(error)).lower())
            return
        if isinstance(error, MemoryError):
            what = f"the {reader} reader does not have enough memory for it"
        else:
            what = f"the {reader} reader failed with {type(error).__name__}; this is a bug in it"
        path = None if self.reports is None else self.reports.write(error, reader, version)
        self.add(
            Kind.READER_ERROR, file, "", what + (f"; please report it and attach {path}" if path else "")
        )

    def about(self, file: str) -> Notes:
        """The same collection, for notes about another file."""
        other = Notes.__new__(Notes)
        other.__dict__.update(self.__dict__)
        other.file = file
        return other

    @property
    def damaged(self) -> bool:
        """Whether some of the input was lost or altered."""
        return any(kind.damage for kind in self.counts)
