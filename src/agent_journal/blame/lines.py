"""Which edit each line of a file comes from.

The edits are undone from the newest to the oldest: what an edit wrote is looked up in the file as it was
then, and replaced by what had been there. Nobody records everything that happens to a file, so a text may be
missing: then single lines are compared.
"""

from __future__ import annotations

from collections import Counter
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.blame.edits import Change, Hunk

Match: TypeAlias = Literal["exact", "similar"]
_MIN_DISTINCTIVE_CHARS = 4  # letters and digits; shorter lines, such as `else:`, may be equal by chance
_MAX_COMPARED_LINES = 20_000  # of a complete file that was written; of longer ones frequent lines are ignored


class Claim(NamedTuple):
    """The edit that a line comes from."""

    edit: int
    """Its position among the edits."""
    match: Match
    """`exact`: what the edit wrote is there as a whole; `similar`: only this line is."""


class _Line(NamedTuple):
    """A line of the file as it was at some time."""

    text: str
    number: int | None
    """Its number now; None if it is gone."""


class _Undoing:
    """Undoes edits, newest first."""

    def __init__(self, lines: Sequence[str], written_before_ms: Sequence[int | None]) -> None:
        self.claims: dict[int, Claim] = {}
        self._lines = [_Line(text, number) for number, text in enumerate(lines, 1)]
        self._bounds = written_before_ms
        self._is_open = set[int]()
        """Lines of a complete file: an older edit may have written them first."""

    def undo(self, position: int, change: Change, at_ms: int | None) -> None:
        """Undo one edit."""
        if change.is_new:
            self._undo_complete_file(position, change, at_ms)
            return
        for hunk in reversed(change.hunks):
            self._undo_hunk(position, hunk, at_ms)

    def _undo_hunk(self, position: int, hunk: Hunk, at_ms: int | None) -> None:
        start = self._find(hunk.new)
        if start is None:
            self._claim_single_lines(position, hunk.added, at_ms)
            return
        block = zip(self._lines[start:], (line for line in hunk.lines if line[:1] != "-"), strict=False)
        if any(self._is_older(line, at_ms) for line, recorded in block if recorded[:1] == "+"):
            return
        before: list[_Line] = []
        index = start
        for line in hunk.lines:
            if line[:1] == "-":
                before.append(_Line(line[1:], None))
                continue
            if line[:1] == "+":
                self._claim(position, self._lines[index], "exact", at_ms)
            else:
                before.append(self._lines[index])
            index += 1
        self._lines[start:index] = before

    def _find(self, wanted: list[str]) -> int | None:
        """Return where lines are, preferably where a line is not claimed yet; None if they are nowhere."""
        if not any(map(str.strip, wanted)):
            return None
        already_claimed = None
        for start in range(len(self._lines) - len(wanted) + 1):
            lines = self._lines[start : start + len(wanted)]
            if lines[0].text != wanted[0] or [line.text for line in lines] != wanted:
                continue
            if any(self._is_free(line.number) for line in lines):
                return start
            already_claimed = start if already_claimed is None else already_claimed
        return already_claimed

    def _undo_complete_file(self, position: int, change: Change, at_ms: int | None) -> None:
        content = [line for hunk in change.hunks for line in hunk.added]
        now = [line.text for line in self._lines]
        is_long = max(len(content), len(now)) > _MAX_COMPARED_LINES
        before = [_Line(text, None) for text in content]
        reached = set[int]()
        matcher = SequenceMatcher(None, now, content, autojunk=is_long)
        for start, content_start, size in matcher.get_matching_blocks():
            for offset in range(size):
                line = before[content_start + offset] = self._lines[start + offset]
                if line.number is not None and self._claim(position, line, "exact", at_ms):
                    reached.add(line.number)
        # A line that was not in an older version of the whole file was written after that.
        self._is_open = reached
        self._lines = before

    def _claim_single_lines(self, position: int, added: Iterable[str], at_ms: int | None) -> None:
        counts = Counter(line.text for line in self._lines)
        wanted = {text for text in added if _is_distinctive(text) and counts[text] == 1}
        for line in self._lines:
            if line.text in wanted:
                self._claim(position, line, "similar", at_ms)

    def _is_free(self, number: int | None) -> bool:
        return number is not None and (number not in self.claims or number in self._is_open)

    def _is_older(self, line: _Line, at_ms: int | None) -> bool:
        """Whether a commit had a line before an edit."""
        bound = None if line.number is None else self._bounds[line.number - 1]
        return bound is not None and at_ms is not None and at_ms > bound

    def _claim(self, position: int, line: _Line, match: Match, at_ms: int | None) -> bool:
        """Let an edit claim a line, unless a newer one has, or a commit had the line before the edit."""
        if line.number is None or not self._is_free(line.number) or self._is_older(line, at_ms):
            return False
        self._is_open.discard(line.number)
        self.claims[line.number] = Claim(position, match)
        return True


def attribute_lines(
    lines: Sequence[str],
    edits: Sequence[tuple[Change, int | None]],
    written_before_ms: Sequence[int | None] | None = None,
) -> dict[int, Claim]:
    """Return the edit that each line comes from, by the number of the line; unknown ones are left out.

    `edits` are the changes of the file with their times in milliseconds since 1970, newest first.
    `written_before_ms` has a time for each line by which it was there, if that is known.
    """
    undoing = _Undoing(lines, written_before_ms or [None] * len(lines))
    for position, (change, at_ms) in enumerate(edits):
        undoing.undo(position, change, at_ms)
    return undoing.claims


def _is_distinctive(text: str) -> bool:
    return sum(map(str.isalnum, text)) >= _MIN_DISTINCTIVE_CHARS
