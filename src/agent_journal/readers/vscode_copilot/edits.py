"""Edits of a file, as a response shows them: each the text that took the place of a stretch.

A file that is written anew comes line by line, as the model writes it: lines that are there are replaced,
further ones put behind them, and what is left of the old file is taken away. These edits are one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code
from agent_journal.readers.vscode_copilot import places

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

EDITS = "textEditGroup"
_CORNERS = ("startLineNumber", "startColumn", "endLineNumber", "endColumn")


def edits(part: Fields) -> list[Code] | None:
    """The edits of a file. None if they cannot be told."""
    batches = part.look("edits")
    if not isinstance(batches, list) or not all(isinstance(batch, list) for batch in batches):
        return None
    flat = [edit for batch in batches for edit in batch]
    if not all(isinstance(edit, dict) and isinstance(edit.get("text"), str) for edit in flat):
        return None
    file = places.path_of(part.look("uri"))
    found = [_code(stretch, file) for stretch in _stretches(flat)]
    if found:
        part.drop("edits")
        found[0].extra.update(part.rest())
    return found


def _stretches(flat: list[Bag]) -> list[list[Bag]]:
    """The edits, those that write one line behind the other together."""
    stretches: list[list[Bag]] = []
    line: int | None = None
    for edit in flat:
        corners = _corners(edit)
        if line is not None and corners is not None and _goes_on(edit["text"], corners, line):
            stretches[-1].append(edit)
            line += 1
        elif line is not None and corners is not None and _takes_the_rest(edit, corners, line, stretches[-1]):
            stretches[-1].append(edit)
            line = None
        else:
            stretches.append([edit])
            line = corners[0] if corners is not None and _is_a_line(edit["text"], corners) else None
    return stretches


def _corners(edit: Bag) -> tuple[Any, ...] | None:
    """First line and column of an edit, and last; None if it does not say so, or says more."""
    stretch = edit.get("range")
    if len(edit) != 2 or not isinstance(stretch, dict):  # noqa: PLR2004 (its range and its text)
        return None
    corners = tuple(map(stretch.get, _CORNERS))
    return corners if set(map(type, corners)) == {int} else None


def _is_a_line(text: str, corners: tuple[Any, ...]) -> bool:
    """Whether an edit replaces a line from its beginning by another."""
    first, column, last, _ = corners
    return column == 1 and first == last and "\n" not in text


def _goes_on(text: str, corners: tuple[Any, ...], line: int) -> bool:
    """Whether an edit writes the line behind this one; where the file ends, it has to end the line first."""
    return corners[0] == line + 1 and (
        _is_a_line(text, corners) or (_is_put_behind(text, corners) and "\n" not in text[1:])
    )


def _is_put_behind(text: str, corners: tuple[Any, ...]) -> bool:
    return text.startswith("\n") and corners[1] == corners[3] == 1 and corners[0] == corners[2]


def _takes_the_rest(edit: Bag, corners: tuple[Any, ...], line: int, stretch: list[Bag]) -> bool:
    """Whether an edit takes away what is behind the last line that was written; columns count UTF-16."""
    if edit["text"] or corners[0] != line:
        return False
    last: str = stretch[-1]["text"].removeprefix("\n")
    return bool(corners[1] == len(last.encode("utf-16-le", "surrogatepass")) // 2 + 1)


def _code(stretch: list[Bag], file: str | None) -> Code:
    """One edit, or lines that were written one behind the other; those put behind are told by the text."""
    first_line, last_line = places.lines_of(stretch[0])
    if len(stretch) == 1:
        extra = {name: value for name, value in stretch[0].items() if name != "text"}
        return Code(
            code=stretch[0]["text"], file=file, first_line=first_line, last_line=last_line, extra=extra
        )
    lines = [edit["text"].removeprefix("\n") for edit in stretch]
    if stretch[-1]["range"]["startLineNumber"] == stretch[-2]["range"]["startLineNumber"]:
        lines.pop()  # it took the rest away
    placed = [{"range": edit["range"]} for edit in stretch if not edit["text"].startswith("\n")]
    return Code(
        code="\n".join(lines),
        file=file,
        first_line=first_line,
        last_line=places.lines_of(stretch[-1])[1],
        extra={"edits": placed},
    )
