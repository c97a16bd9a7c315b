"""Edits of a file in a response: each is the text that replaced a range.

A file that the model rewrites comes line by line: existing lines are replaced, further ones are appended, and
the rest of the old file is removed. These edits are merged into one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.model import Code
from agent_journal.readers.vscode_copilot import locations

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

EDITS = "textEditGroup"
_CORNERS = ("startLineNumber", "startColumn", "endLineNumber", "endColumn")


def take_edits(part: Fields) -> list[Code] | None:
    """Take the edits of a file; None if they have an unknown form."""
    batches = part.view("edits")
    if not isinstance(batches, list) or not all(isinstance(batch, list) for batch in batches):
        return None
    flat = [edit for batch in batches for edit in batch]
    if not all(isinstance(edit, dict) and isinstance(edit.get("text"), str) for edit in flat):
        return None
    file = locations.path_of(part.view("uri"))
    codes = [_code(group, file) for group in _group_edits(flat)]
    if codes:
        part.drop("edits")
        codes[0].extra.update(part.rest())
    return codes


def _group_edits(flat: list[Bag]) -> list[list[Bag]]:
    """Group the edits that write consecutive lines."""
    groups: list[list[Bag]] = []
    line: int | None = None
    for edit in flat:
        corners = _corners(edit)
        if line is not None and corners is not None and _is_next_line(edit["text"], corners, line):
            groups[-1].append(edit)
            line += 1
        elif line is not None and corners is not None and _removes_rest(edit, corners, line, groups[-1]):
            groups[-1].append(edit)
            line = None
        else:
            groups.append([edit])
            line = corners[0] if corners is not None and _replaces_line(edit["text"], corners) else None
    return groups


def _corners(edit: Bag) -> tuple[Any, ...] | None:
    """Return the first line and column of an edit, and the last; None if it has other fields."""
    span = edit.get("range")
    if len(edit) != 2 or not isinstance(span, dict):  # noqa: PLR2004 (its range and its text)
        return None
    corners = tuple(map(span.get, _CORNERS))
    return corners if set(map(type, corners)) == {int} else None


def _replaces_line(text: str, corners: tuple[Any, ...]) -> bool:
    """Whether an edit replaces one line from its first column."""
    first, column, last, _ = corners
    return column == 1 and first == last and "\n" not in text


def _is_next_line(text: str, corners: tuple[Any, ...], line: int) -> bool:
    """Whether an edit writes the line after this one; at the end of the file it begins with a line break."""
    return corners[0] == line + 1 and (
        _replaces_line(text, corners) or (_appends_line(text, corners) and "\n" not in text[1:])
    )


def _appends_line(text: str, corners: tuple[Any, ...]) -> bool:
    return text.startswith("\n") and corners[1] == corners[3] == 1 and corners[0] == corners[2]


def _removes_rest(edit: Bag, corners: tuple[Any, ...], line: int, group: list[Bag]) -> bool:
    """Whether an edit removes the text after the last written line; columns count UTF-16 units."""
    if edit["text"] or corners[0] != line:
        return False
    last: str = group[-1]["text"].removeprefix("\n")
    return bool(corners[1] == len(last.encode("utf-16-le", "surrogatepass")) // 2 + 1)


def _code(group: list[Bag], file: str | None) -> Code:
    """Convert a group of edits; `extra` has the ranges that the text does not imply."""
    first_line, last_line = locations.lines_of(group[0])
    if len(group) == 1:
        extra = {name: value for name, value in group[0].items() if name != "text"}
        return Code(code=group[0]["text"], file=file, first_line=first_line, last_line=last_line, extra=extra)
    lines = [edit["text"].removeprefix("\n") for edit in group]
    if group[-1]["range"]["startLineNumber"] == group[-2]["range"]["startLineNumber"]:
        lines.pop()  # it removed the rest of the file
    ranges = [{"range": edit["range"]} for edit in group if not edit["text"].startswith("\n")]
    return Code(
        code="\n".join(lines),
        file=file,
        first_line=first_line,
        last_line=locations.lines_of(group[-1])[1],
        extra={"edits": ranges},
    )
