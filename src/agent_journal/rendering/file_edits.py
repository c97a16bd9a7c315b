"""File changes made by tool calls, as diffs derived from the arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.model import tree

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import ToolCall

# The names tools use for the file, the old text, the new text, the complete text, and a patch.
PATHS = (
    *("file_path", "filePath", "notebook_path", "target_file", "absolute_path", "relativePath"),
    *("path", "filename", "file"),
)
_OLD_TEXT = ("old_string", "oldString", "old_str", "oldText", "old_text", "old_source", "search")
_NEW_TEXT = (
    "new_string",
    "newString",
    "new_str",
    "newText",
    "new_text",
    "new_source",
    "replace",
    "replacement",
)
_FULL_TEXT = ("content", "contents", "file_text", "fileText", "text", "code")
_PATCH = ("patch", "diff", "input", "patchText", "command", "cmd")
_EDIT_LISTS = ("edits", "replacements", "changes")
_BEGIN, _END = "*** Begin Patch", "*** End Patch"
_PATCH_FILE_HEADERS = ("*** Update File: ", "*** Add File: ", "*** Delete File: ")
_MAX_CONTEXT_LINES = 3


class Edit(NamedTuple):
    """A change of a file. Lines of its diff start with `-`, `+`, a space or `@@`."""

    path: str | None
    diff: str
    is_new: bool
    """Whether the complete file was written."""


def file_edits(call: ToolCall) -> list[Edit]:
    """The file changes of a tool call, as far as its arguments show them; empty if it is no edit."""
    arguments = tree.arguments(call)
    if isinstance(arguments, str):
        return [*_patch_edits(arguments)]
    if not isinstance(arguments, dict):
        return []
    patch = first_text(arguments, _PATCH)
    if patch is not None and (patched := [*_patch_edits(patch)]):
        return patched
    if call.kind not in {"edit", "write"}:
        return []
    path = first_text(arguments, PATHS)
    listed = [item for name in _EDIT_LISTS for item in _objects(arguments.get(name))]
    replacements = [edit for item in [arguments, *listed] for edit in _replacements(item, path)]
    if replacements:
        return replacements
    full_text = first_text(arguments, _FULL_TEXT)
    return [] if full_text is None else [Edit(path, _prefixed("+", full_text), is_new=True)]


def first_text(values: dict[str, Any], names: Iterable[str]) -> str | None:
    """The first non-empty string in an object under one of the names."""
    return next((value for name in names if isinstance(value := values.get(name), str) and value), None)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    if isinstance(value, list):
        yield from (item for item in value if isinstance(item, dict))


def _replacements(arguments: dict[str, Any], path: str | None) -> Iterator[Edit]:
    old, new = first_text(arguments, _OLD_TEXT), first_text(arguments, _NEW_TEXT)
    if old is not None or new is not None:
        yield Edit(first_text(arguments, PATHS) or path, _line_diff(old or "", new or ""), is_new=False)


def _line_diff(old: str, new: str) -> str:
    """The lines that differ, with a few lines of context."""
    old_lines, new_lines = _lines(old), _lines(new)
    prefix = 0
    while prefix < min(len(old_lines), len(new_lines)) and old_lines[prefix] == new_lines[prefix]:
        prefix += 1
    suffix = 0
    while (
        suffix < min(len(old_lines), len(new_lines)) - prefix
        and old_lines[-1 - suffix] == new_lines[-1 - suffix]
    ):
        suffix += 1
    end = len(old_lines) - suffix
    diff = [f" {line}" for line in old_lines[max(prefix - _MAX_CONTEXT_LINES, 0) : prefix]]
    diff += [f"-{line}" for line in old_lines[prefix:end]]
    diff += [f"+{line}" for line in new_lines[prefix : len(new_lines) - suffix]]
    diff += [f" {line}" for line in old_lines[end : end + _MAX_CONTEXT_LINES]]
    return "\n".join(diff)


def _lines(text: str) -> list[str]:
    return text.removesuffix("\n").split("\n") if text else []


def _prefixed(prefix: str, text: str) -> str:
    return "\n".join(f"{prefix}{line}" for line in _lines(text))


def _patch_edits(text: str) -> Iterator[Edit]:
    """The changes in a patch of the `*** Begin Patch` form or in a unified diff."""
    if _BEGIN in text:
        yield from _starred_patch_edits(text.partition(_BEGIN)[2].partition(_END)[0])
    elif "\n@@ " in f"\n{text}" and "\n+++ " in f"\n{text}":
        yield from _unified_diff_edits(text)


def _starred_patch_edits(text: str) -> Iterator[Edit]:
    path, is_new, lines = None, False, list[str]()
    for line in text.split("\n"):
        header = next((header for header in _PATCH_FILE_HEADERS if line.startswith(header)), None)
        if header is None:
            lines.append(line)
            continue
        if path is not None:
            yield Edit(path, "\n".join(lines).strip("\n"), is_new)
        path, is_new, lines = line.removeprefix(header).strip(), header == _PATCH_FILE_HEADERS[1], []
    if path is not None:
        yield Edit(path, "\n".join(lines).strip("\n"), is_new)


def _unified_diff_edits(text: str) -> Iterator[Edit]:
    for piece in f"\n{text}".split("\n+++ ")[1:]:
        name, _, body = piece.partition("\n")
        path = name.partition("\t")[0].strip().removeprefix("b/")
        yield Edit(path, body.partition("\n--- ")[0].partition("\ndiff --git ")[0].strip("\n"), is_new=False)
