"""The answer to the question who changed a file."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

from agent_journal.blame.lines import Match


class CommitOfLines(msgspec.Struct, kw_only=True, frozen=True):
    """A commit that carries lines of an edit."""

    id: str
    at: str
    summary: str
    lines: int
    """How many of the edit's lines it brought."""


class BlamedEdit(msgspec.Struct, kw_only=True, frozen=True):
    """An edit of the file: what was changed, by which tool, in which conversation, after which prompt."""

    conversation: str
    source: str
    title: str | None
    project: str | None
    message: str
    call_id: str | None
    at: str | None
    model: str | None
    tool: str
    path: str
    """The file's path as it was recorded."""
    is_new: bool
    """Whether the complete file was written."""
    diff: str
    added: int
    removed: int
    prompt: str | None
    """The beginning of the prompt before the edit."""
    lines: list[tuple[int, int]] = []
    """The ranges of lines in the file now that come from it."""
    match: Match | None = None
    """Whether these lines are there as the edit wrote them, or only some of them."""
    commits: list[CommitOfLines] = []


class Rename(msgspec.Struct, kw_only=True, frozen=True):
    """A move that the edits reveal."""

    old: str
    new: str
    at: str | None
    conversation: str
    message: str


class Blame(msgspec.Struct, kw_only=True, frozen=True):
    """Who changed a file, newest first; for a range of lines, only the edits that they come from."""

    path: str
    first: int | None = None
    last: int | None = None
    """The range of lines that was asked about."""
    edits: list[BlamedEdit]
    total: int
    """The number of edits, of which `edits` may be a page."""
    line_count: int | None = None
    """The number of lines of the file on disk; None if there is none that could be read."""
    unknown: list[tuple[int, int]] = []
    """Ranges of lines in the file that no recorded edit wrote."""
    renames: list[Rename] = []
    git: Literal["checked", "unavailable", "unused"] = "unused"
    """Whether the lines were compared with `git blame`: no edit counts that is younger than the commit that
    brought the line. `unused` if there is no file to compare."""
    notices: list[str] = []
    """What makes the answer incomplete."""

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values
