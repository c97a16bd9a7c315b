"""The lines of files that the model wrote, according to its successful edits.

Later edits of a file move the lines of earlier ones. Lines whose position is no longer known are omitted.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.model import Message, ToolCall, ToolResult, tree
from agent_journal.writers.dialects.agent_records import is_count

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.model import Conversation

_KINDS = ("edit", "write")
# The names tools use for the file they change, and for its content.
_PATHS = ("file_path", "filePath", "relativePath", "path", "notebook_path", "target_file", "absolute_path")
_CONTENTS = ("content", "contents", "file_text")
_HUNK = re.compile(r"^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*$", re.MULTILINE)
_DRIVE = re.compile(r"[A-Za-z]:/")
# How deeply the description of an edit may be nested.
_MAX_NESTING_LEVELS = 5
# More lines than any file has.
_MAX_LINES = 1 << 60


class _Change(NamedTuple):
    """How many lines were removed and added at a line."""

    at: int
    removed: int
    added: int


class _Span(NamedTuple):
    """The first and last of consecutive lines that a model wrote."""

    first: int
    last: int
    model: str | None


def attribution(conversation: Conversation) -> dict[str, Any] | None:
    """The changed files with the lines that a model wrote; None if none are known."""
    files: dict[str, list[_Span]] = {}
    for message, call, descriptions in _successful_edits(conversation):
        for path, changes in _changes_of_call(call, descriptions):
            relative = _relative(path, conversation.cwd)
            if relative is not None:
                model = message.model or conversation.model
                files[relative] = _updated(files.get(relative, []), changes, model)
    entries = [_file(path, spans) for path, spans in sorted(files.items()) if spans]
    return {"files": entries} if entries else None


def _successful_edits(conversation: Conversation) -> Iterator[tuple[Message, ToolCall, list[Any]]]:
    """Each successful edit, with the values that may describe it."""
    calls: list[tuple[Message, ToolCall]] = []
    results: dict[str | None, tuple[Message, ToolResult]] = {}
    for entry in conversation.timeline:
        if isinstance(entry, Message):
            for part in entry.parts:
                if isinstance(part, ToolResult):
                    results[part.call_id] = (entry, part)
                elif isinstance(part, ToolCall) and part.kind in _KINDS and part.call_id is not None:
                    calls.append((entry, part))
    for message, call in calls:
        if call.call_id in results:
            result_message, result = results[call.call_id]
            if not result.is_error:
                # `extra` of a message describes one of its results only if there is exactly one.
                is_only_result = (
                    result_message is not message and sum(1 for _ in tree.results_in(result_message)) == 1
                )
                yield (
                    message,
                    call,
                    [call.extra, result.extra, result_message.extra if is_only_result else None],
                )


def _changes_of_call(call: ToolCall, descriptions: list[Any]) -> Iterator[tuple[str, list[_Change] | None]]:
    """The files that a call changed, each with its changes; None if these are unknown."""
    arguments = tree.arguments(call)
    path = _first_text(arguments, _PATHS)
    if path is not None:
        changes = next(_patches(descriptions), None)
        if changes is None and call.kind == "write":
            changes = _overwrite(_first_text(arguments, _CONTENTS))
        yield path, changes
        return
    for description in _objects(descriptions):
        path_ = _first_text(description, _PATHS)
        changes = next(_patches([description]), None)
        if path_ is not None and changes is not None:
            yield path_, changes


def _first_text(value: Any, names: Iterable[str]) -> str | None:
    """The first string in an object under one of the names."""
    values = (value.get(name) for name in names) if isinstance(value, dict) else ()
    return next((value for value in values if isinstance(value, str)), None)


def _objects(descriptions: list[Any]) -> Iterator[dict[str, Any]]:
    """Every object in the values, up to the maximum nesting."""
    level: list[Any] = descriptions
    for _ in range(_MAX_NESTING_LEVELS):
        objects = [value for value in level if isinstance(value, dict)]
        yield from objects
        values = [value for item in objects for value in item.values()]
        level = [*values, *(element for value in values if isinstance(value, list) for element in value)]


def _patches(descriptions: list[Any]) -> Iterator[list[_Change]]:
    """The changes that are described by a unified diff or a list of hunks."""
    for item in _objects(descriptions):
        for name, value in item.items():
            if "diff" not in name.lower() and "patch" not in name.lower():
                continue
            changes = [*_changes_in_diff(value)] if isinstance(value, str) else [*_changes_in_hunks(value)]
            if changes:
                yield changes


def _changes_in_diff(text: str) -> Iterator[_Change]:
    hunks = [*_HUNK.finditer(text)]
    ends = [*(hunk.start() for hunk in hunks[1:]), len(text)]
    for hunk, end in zip(hunks, ends, strict=False):
        removed, start, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        lines = text[hunk.end() + 1 : end].split("\n")
        yield from _changes_in_lines(start if added else start + 1, _hunk_lines(lines, removed, added))


def _hunk_lines(lines: list[str], removed: int, added: int) -> Iterator[str]:
    """The lines of a hunk, up to the numbers of lines in its header."""
    for line in lines:
        if removed <= 0 and added <= 0:
            return
        removed -= line[:1] in ("-", " ", "")
        added -= line[:1] in ("+", " ", "")
        yield line


def _changes_in_hunks(hunks: Any) -> Iterator[_Change]:
    for hunk in hunks if isinstance(hunks, list) else ():
        if isinstance(hunk, dict) and all(map(is_count, map(hunk.get, ("newStart", "oldLines", "newLines")))):
            start, removed, added = hunk["newStart"], hunk["oldLines"], hunk["newLines"]
            lines = hunk.get("lines")
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                yield from _changes_in_lines(start if added else start + 1, lines)
            else:
                yield _Change(start, removed, added)


def _changes_in_lines(at: int, lines: Iterable[str]) -> Iterator[_Change]:
    """The changes in a hunk: runs of removed and added lines between unchanged ones."""
    removed = added = 0
    for line in lines:
        prefix = line[:1]
        if prefix == "+":
            added += 1
        elif prefix == "-":
            removed += 1
        elif prefix == "\\":  # no line feed at the end of the file
            continue
        elif prefix not in (" ", ""):
            break  # the hunk is shorter than its header states
        else:
            if removed or added:
                yield _Change(at, removed, added)
            at += added + 1
            removed = added = 0
    if removed or added:
        yield _Change(at, removed, added)


def _overwrite(content: str | None) -> list[_Change] | None:
    """The change of a file that was overwritten: it replaces all lines."""
    if content is None:
        return None
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return [_Change(1, _MAX_LINES, lines)]


def _updated(spans: list[_Span], changes: list[_Change] | None, model: str | None) -> list[_Span]:
    """The lines of models after an edit; none are known after an edit without known changes."""
    for change in changes or ():
        spans = [*_shifted(spans, change)]
        if change.added:
            spans.append(_Span(change.at, change.at + change.added - 1, model))
    return [] if changes is None else spans


def _shifted(spans: list[_Span], change: _Change) -> Iterator[_Span]:
    """The lines at their positions after a change, without the removed ones."""
    end = change.at + change.removed
    shift = change.added - change.removed
    for first, last, model in spans:
        if first < change.at:
            yield _Span(first, min(last, change.at - 1), model)
        if last >= end:
            yield _Span(max(first, end) + shift, last + shift, model)


def _relative(path: str, cwd: str | None) -> str | None:
    """The path relative to the working folder; None if it is outside of it."""
    normalized, base = path.replace("\\", "/"), (cwd or "").replace("\\", "/").rstrip("/")
    if normalized.startswith(("/", "~")) or _DRIVE.match(normalized):
        if not base or not normalized.startswith(f"{base}/"):
            return None
        normalized = normalized[len(base) :]
    steps: list[str] = []
    for step in normalized.split("/"):
        if step == "..":
            if not steps:
                return None
            steps.pop()
        elif step not in ("", "."):
            steps.append(step)
    return "/".join(steps) or None


def _file(path: str, spans: list[_Span]) -> dict[str, Any]:
    models = sorted({span.model for span in spans}, key=lambda model: model or "")
    return {"path": path, "conversations": [_conversation(spans, model) for model in models]}


def _conversation(spans: list[_Span], model: str | None) -> dict[str, Any]:
    contributor = {"type": "ai"} if model is None else {"type": "ai", "model-id": model}
    ranges: list[dict[str, int]] = []
    for first, last, _ in sorted(span for span in spans if span.model == model):
        if ranges and first <= ranges[-1]["end-line"] + 1:
            ranges[-1]["end-line"] = max(last, ranges[-1]["end-line"])
        else:
            ranges.append({"start-line": first, "end-line": last})
    return {"contributor": contributor, "ranges": ranges}
