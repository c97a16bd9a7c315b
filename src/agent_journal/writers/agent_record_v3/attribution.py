"""Which lines of which files the model wrote: what its edits say of themselves, where they succeeded.

Later edits of a file move the lines of earlier ones. Lines that cannot be known any longer are left out.
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
# What tools call the file they change, and what they write into it.
_PATHS = ("file_path", "filePath", "relativePath", "path", "notebook_path", "target_file", "absolute_path")
_CONTENTS = ("content", "contents", "file_text")
_HUNK = re.compile(r"^@@ -\d{1,9}(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@.*$", re.MULTILINE)
_DRIVE = re.compile(r"[A-Za-z]:/")
# What a tool says of an edit lies in few nested objects.
_DEPTH = 5
# More lines than any file has.
_ALL = 1 << 60


class _Change(NamedTuple):
    """At a line: how many lines were taken out, and how many put in."""

    at: int
    removed: int
    added: int


class _Span(NamedTuple):
    """Lines that a model wrote, the first and the last."""

    first: int
    last: int
    model: str | None


def attribution(conversation: Conversation) -> dict[str, Any] | None:
    """The files that were changed, each with the lines that a model wrote; None if none is known."""
    files: dict[str, list[_Span]] = {}
    for message, call, about in _edits(conversation):
        for path, changes in _told(call, about):
            place = _relative(path, conversation.cwd)
            if place is not None:
                model = message.model or conversation.model
                files[place] = _after(files.get(place, []), changes, model)
    told = [_file(path, spans) for path, spans in sorted(files.items()) if spans]
    return {"files": told} if told else None


def _edits(conversation: Conversation) -> Iterator[tuple[Message, ToolCall, list[Any]]]:
    """Each edit that succeeded, and where it may tell about itself."""
    calls: list[tuple[Message, ToolCall]] = []
    answers: dict[str | None, tuple[Message, ToolResult]] = {}
    for entry in conversation.timeline:
        if isinstance(entry, Message):
            for part in entry.parts:
                if isinstance(part, ToolResult):
                    answers[part.call_id] = (entry, part)
                elif isinstance(part, ToolCall) and part.kind in _KINDS and part.call_id is not None:
                    calls.append((entry, part))
    for message, call in calls:
        if call.call_id in answers:
            answer, result = answers[call.call_id]
            if not result.is_error:
                # What a message says beside its results is of one of them only if there is one.
                is_alone = answer is not message and sum(1 for _ in tree.results_in(answer)) == 1
                yield message, call, [call.extra, result.extra, answer.extra if is_alone else None]


def _told(call: ToolCall, about: list[Any]) -> Iterator[tuple[str, list[_Change] | None]]:
    """The files that a call changed, each with its changes; those are None where they are not told."""
    given = tree.arguments(call)
    path = _text_in(given, _PATHS)
    if path is not None:
        changes = next(_patches(about), None)
        if changes is None and call.kind == "write":
            changes = _whole(_text_in(given, _CONTENTS))
        yield path, changes
        return
    for inside in _objects(about):
        named = _text_in(inside, _PATHS)
        changes = next(_patches([inside]), None)
        if named is not None and changes is not None:
            yield named, changes


def _text_in(bag: Any, names: Iterable[str]) -> str | None:
    """The first text that an object has under one of the names."""
    values = (bag.get(name) for name in names) if isinstance(bag, dict) else ()
    return next((value for value in values if isinstance(value, str)), None)


def _objects(about: list[Any]) -> Iterator[dict[str, Any]]:
    """Every object in what is said, as deep as such things lie."""
    level: list[Any] = about
    for _ in range(_DEPTH):
        found = [value for value in level if isinstance(value, dict)]
        yield from found
        inner = [value for bag in found for value in bag.values()]
        level = [*inner, *(element for value in inner if isinstance(value, list) for element in value)]


def _patches(about: list[Any]) -> Iterator[list[_Change]]:
    """The changes that are told as a unified diff, or as a list of its hunks."""
    for bag in _objects(about):
        for name, value in bag.items():
            if "diff" not in name.lower() and "patch" not in name.lower():
                continue
            found = [*_in_diff(value)] if isinstance(value, str) else [*_in_hunks(value)]
            if found:
                yield found


def _in_diff(text: str) -> Iterator[_Change]:
    hunks = [*_HUNK.finditer(text)]
    ends = [*(hunk.start() for hunk in hunks[1:]), len(text)]
    for hunk, end in zip(hunks, ends, strict=False):
        removed, start, added = int(hunk[1] or 1), int(hunk[2]), int(hunk[3] or 1)
        lines = text[hunk.end() + 1 : end].split("\n")
        yield from _in_lines(start if added else start + 1, _body(lines, removed, added))


def _body(lines: list[str], removed: int, added: int) -> Iterator[str]:
    """The lines of a hunk, without what follows it: it states how many lines it has before and after."""
    for line in lines:
        if removed <= 0 and added <= 0:
            return
        removed -= line[:1] in ("-", " ", "")
        added -= line[:1] in ("+", " ", "")
        yield line


def _in_hunks(hunks: Any) -> Iterator[_Change]:
    for hunk in hunks if isinstance(hunks, list) else ():
        if isinstance(hunk, dict) and all(map(is_count, map(hunk.get, ("newStart", "oldLines", "newLines")))):
            start, removed, added = hunk["newStart"], hunk["oldLines"], hunk["newLines"]
            lines = hunk.get("lines")
            if isinstance(lines, list) and all(isinstance(line, str) for line in lines):
                yield from _in_lines(start if added else start + 1, lines)
            else:
                yield _Change(start, removed, added)


def _in_lines(at: int, lines: Iterable[str]) -> Iterator[_Change]:
    """The changes in a hunk that begins at a line: what goes and comes between lines that stay."""
    removed = added = 0
    for line in lines:
        mark = line[:1]
        if mark == "+":
            added += 1
        elif mark == "-":
            removed += 1
        elif mark == "\\":  # no line feed at the end of the file
            continue
        elif mark not in (" ", ""):
            break  # the hunk ends before it should
        else:
            if removed or added:
                yield _Change(at, removed, added)
            at += added + 1
            removed = added = 0
    if removed or added:
        yield _Change(at, removed, added)


def _whole(content: str | None) -> list[_Change] | None:
    """A file that was written as a whole: nothing of what was there before is left."""
    if content is None:
        return None
    lines = content.count("\n") + (not content.endswith("\n") and content != "")
    return [_Change(1, _ALL, lines)]


def _after(spans: list[_Span], changes: list[_Change] | None, model: str | None) -> list[_Span]:
    """The lines that a model wrote after an edit; after one that tells no lines, none is known."""
    for change in changes or ():
        spans = [*_moved(spans, change)]
        if change.added:
            spans.append(_Span(change.at, change.at + change.added - 1, model))
    return [] if changes is None else spans


def _moved(spans: list[_Span], change: _Change) -> Iterator[_Span]:
    """The lines where they are after a change, without those that it took out."""
    end = change.at + change.removed
    shift = change.added - change.removed
    for first, last, model in spans:
        if first < change.at:
            yield _Span(first, min(last, change.at - 1), model)
        if last >= end:
            yield _Span(max(first, end) + shift, last + shift, model)


def _relative(path: str, cwd: str | None) -> str | None:
    """The path below the working folder; None if it leads elsewhere."""
    place, base = path.replace("\\", "/"), (cwd or "").replace("\\", "/").rstrip("/")
    if place.startswith(("/", "~")) or _DRIVE.match(place):
        if not base or not place.startswith(f"{base}/"):
            return None
        place = place[len(base) :]
    steps: list[str] = []
    for step in place.split("/"):
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
