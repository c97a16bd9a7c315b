"""`blame`: which conversation, prompt and edit changed a file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from agent_journal.errors import BadArguments
from agent_journal.journal import Filter
from agent_journal.mcp.answers import fit_text, fitting, without_empty
from agent_journal.mcp.arguments import offsets
from agent_journal.mcp.excerpts import one_line, relative
from agent_journal.redaction import redact_texts
from agent_journal.text.sanitize import safe

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.blame.answer import BlamedEdit
    from agent_journal.journal import Listed
    from agent_journal.mcp.answers import Call

_MAX_PAGE_ITEMS = 20
_MAX_PROMPT_CHARS = 240
_MAX_DIFF_BYTES = 900
_MAX_NAME_CHARS = 200


def blame(call: Call) -> dict[str, Any]:
    """Return the edits of a file, newest first."""
    (offset,) = offsets(call.tool, call.arguments, 1)
    path: str = call.arguments["path"]
    answer = call.journal.blame(
        path,
        _lines(call),
        text=call.arguments.get("text"),
        limit=_MAX_PAGE_ITEMS,
        offset=offset,
        folder=call.scope.folder,
        reads_file=_is_in_project(call, path),
        is_allowed=_is_allowed(call),
    )
    data: dict[str, Any] = {
        "path": one_line(relative(answer.path, call.scope.folder), _MAX_NAME_CHARS),
        "total": answer.total,
    }
    if answer.notices:
        data["notices"] = [safe(each) for each in answer.notices]
    count = fitting(call, data, "edits", (_edit(call, each) for each in answer.edits))
    if offset + count < answer.total and count:
        data["next_cursor"] = str(offset + count)
    return data


def _lines(call: Call) -> tuple[int, int] | None:
    lines: str | None = call.arguments.get("lines")
    if lines is None:
        return None
    first, _, last = lines.partition("-")
    numbers = int(first), int(last or first)
    if not 1 <= numbers[0] <= numbers[1]:
        raise BadArguments(call.tool, "lines: not a range such as 12-20")
    if not _is_in_project(call, call.arguments["path"]):
        raise BadArguments(call.tool, "lines: only those of files in this project can be looked up")
    return numbers


def _is_in_project(call: Call, path: str) -> bool:
    """Whether a path leads into the project; no other file is opened."""
    if "\0" in path:
        return False
    folder = os.path.realpath(call.scope.folder)
    real = os.path.realpath(os.path.join(folder, path))  # noqa: PTH118
    return os.path.commonpath([folder, real]) == folder if _same_drive(folder, real) else False


def _same_drive(one: str, other: str) -> bool:
    return os.path.splitdrive(one)[0] == os.path.splitdrive(other)[0]


def _is_allowed(call: Call) -> Callable[[Listed], bool] | None:
    if not call.scope.is_limited:
        return None
    keys = call.journal.selected(call.scope.within(Filter(with_children=True)))
    return lambda listed: listed.key in keys


def _edit(call: Call, edit: BlamedEdit) -> dict[str, Any]:
    title, prompt, diff = redact_texts([edit.title or "", edit.prompt or "", edit.diff])
    return without_empty(
        {
            "conversation": edit.conversation,
            "message": edit.message,
            "source": edit.source,
            "role": "assistant",
            "at": edit.at,
            "title": one_line(title, _MAX_NAME_CHARS),
            "prompt": one_line(relative(prompt, edit.project), _MAX_PROMPT_CHARS),
            "path": one_line(relative(edit.path, call.scope.folder), _MAX_NAME_CHARS),
            "lines_now": ", ".join(f"{first}-{last}" for first, last in edit.lines),
            "commits": [each.id[:10] for each in edit.commits],
            "diff": fit_text(safe(relative(diff, edit.project)), _MAX_DIFF_BYTES),
        }
    )
