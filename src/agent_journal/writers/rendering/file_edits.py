"""What calls of tools change in files, as lines that go and lines that come, by what their arguments say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.model import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import ToolCall

# What tools call the file they change, what was there, what comes instead, and a text that says all of it.
PATHS = (
    *("file_path", "filePath", "notebook_path", "target_file", "absolute_path", "relativePath"),
    *("path", "filename", "file"),
)
_OLD = ("old_string", "oldString", "old_str", "oldText", "old_text", "old_source", "search")
_NEW = ("new_string", "newString", "new_str", "newText", "new_text", "new_source", "replace", "replacement")
_WHOLE = ("content", "contents", "file_text", "fileText", "text", "code")
_PATCH = ("patch", "diff", "input", "patchText", "command", "cmd")
_SEVERAL = ("edits", "replacements", "changes")
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_FILES = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_AROUND = 3


class Edit(NamedTuple):
    """A change of a file: lines that begin with `-`, `+`, a space or `@@`."""

    path: str | None
    diff: str
    is_new: bool
    """Whether the whole file was written."""


def edits(call: ToolCall) -> list[Edit]:
    """What a call changes, as far as its arguments tell; nothing if it is no edit."""
    given = tree.arguments(call)
    if isinstance(given, str):
        return [*_patched(given)]
    if not isinstance(given, dict):
        return []
    patch = text_in(given, _PATCH)
    if patch is not None and (found := [*_patched(patch)]):
        return found
    if call.kind not in {"edit", "write"}:
        return []
    path = text_in(given, PATHS)
    several = [each for name in _SEVERAL for each in _objects(given.get(name))]
    replaced = [edit for each in [given, *several] for edit in _replaced(each, path)]
    if replaced:
        return replaced
    whole = text_in(given, _WHOLE)
    return [] if whole is None else [Edit(path, _marked("+", whole), is_new=True)]


def text_in(bag: dict[str, Any], names: Iterable[str]) -> str | None:
    """The first text that an object has under one of the names."""
    return next((value for name in names if isinstance(value := bag.get(name), str) and value), None)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (each for each in value if isinstance(each, dict))


def _replaced(given: dict[str, Any], path: str | None) -> Iterator[Edit]:
    old, new = text_in(given, _OLD), text_in(given, _NEW)
    if old is not None or new is not None:
        yield Edit(text_in(given, PATHS) or path, _between(old or "", new or ""), is_new=False)


def _between(old: str, new: str) -> str:
    """The lines that differ, with a few that are the same around them."""
    before, after = _lines(old), _lines(new)
    same = 0
    while same < min(len(before), len(after)) and before[same] == after[same]:
        same += 1
    behind = 0
    while behind < min(len(before), len(after)) - same and before[-1 - behind] == after[-1 - behind]:
        behind += 1
    end = len(before) - behind
    shown = [f" {line}" for line in before[max(same - _AROUND, 0) : same]]
    shown += [f"-{line}" for line in before[same:end]]
    shown += [f"+{line}" for line in after[same : len(after) - behind]]
    shown += [f" {line}" for line in before[end : end + _AROUND]]
    return "\n".join(shown)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _marked(mark: str, text: str) -> str:
    return "\n".join(f"{mark}{line}" for line in _lines(text))


def _patched(text: str) -> Iterator[Edit]:
    """The files of a patch: in the form that names them by lines with stars, or of a unified diff."""
    if _BEGIN in text:
        yield from _starred(text.partition(_BEGIN)[2].partition(_END)[0])
    elif "\n@@ " in f"\n{text}" and "\n+++ " in f"\n{text}":
        yield from _unified(text)


def _starred(text: str) -> Iterator[Edit]:
    path, is_new, lines = None, False, list[str]()
    for line in text.split("\n"):
        mark = next((mark for mark in _FILES if line.startswith(mark)), None)
        if mark is None:
            lines.append(line)
            continue
        if path is not None:
            yield Edit(path, "\n".join(lines).strip("\n"), is_new)
        path, is_new, lines = line.removeprefix(mark).strip(), mark == _FILES[1], []
    if path is not None:
        yield Edit(path, "\n".join(lines).strip("\n"), is_new)


def _unified(text: str) -> Iterator[Edit]:
    for piece in f"\n{text}".split("\n+++ ")[1:]:
        name, _, body = piece.partition("\n")
        path = name.partition("\t")[0].strip().removeprefix("b/")
        yield Edit(path, body.partition("\n--- ")[0].partition("\ndiff --git ")[0].strip("\n"), is_new=False)
