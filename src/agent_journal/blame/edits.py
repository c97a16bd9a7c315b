"""The changes of files that messages record: edits, complete files, and moves."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.blame.target import resolved
from agent_journal.model import tree
from agent_journal.rendering.file_edits import Edit, file_edits, first_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Message, ToolCall

# The names that tools use for the two paths of a move.
_OLD_PATHS = ("source", "source_path", "sourcePath", "old_path", "oldPath", "from", "src", "path")
_NEW_PATHS = (
    *("destination", "destination_path", "destinationPath", "new_path", "newPath", "to", "dst"),
    "move_path",
)
_COMMANDS = ("command", "cmd", "script")
_PATCHES = ("patch", "diff", "input", "patchText", "command", "cmd")
_STARRED_MOVE = re.compile(r"^\*\*\* Update File: (.+)\n\*\*\* Move to: (.+)$", re.MULTILINE)
_GIT_MOVE = re.compile(r"^rename from (.+)\nrename to (.+)$", re.MULTILINE)
_SEPARATORS = re.compile(r"(?:&&|\|\||[;\n|&])")
_MAX_COMMAND_CHARS = 20_000
_HUNK = re.compile(r"^@@.*$", re.MULTILINE)
_MAX_ARGUMENTS = 64


class Hunk(NamedTuple):
    """One place of an edit: lines with `-`, `+` or a space in front."""

    lines: tuple[str, ...]

    @property
    def old(self) -> list[str]:
        """The lines that were there."""
        return [line[1:] for line in self.lines if line[:1] != "+"]

    @property
    def new(self) -> list[str]:
        """The lines that were there afterward."""
        return [line[1:] for line in self.lines if line[:1] != "-"]

    @property
    def added(self) -> list[str]:
        """The lines that are new."""
        return [line[1:] for line in self.lines if line[:1] == "+"]


class Change(NamedTuple):
    """What a tool call did to one file."""

    path: str
    """As it was recorded, made absolute if possible."""
    call_id: str | None
    tool: str
    diff: str
    is_new: bool = False
    """Whether the complete file was written."""

    @property
    def hunks(self) -> list[Hunk]:
        """The places that were changed."""
        hunks = (Hunk(tuple(_diff_lines(piece))) for piece in _HUNK.split(self.diff))
        return [hunk for hunk in hunks if hunk.lines]


def _diff_lines(piece: str) -> Iterator[str]:
    return (line.removesuffix("\r") for line in piece.split("\n") if line[:1] in {"+", "-", " "})


class Move(NamedTuple):
    """A file that got another name."""

    old: str
    new: str
    call_id: str | None


def changes_in(message: Message, folder: str | None) -> Iterator[Change]:
    """Yield the changes of files that the tool calls of a message ask for; `folder` is the working folder."""
    for call in tree.calls_in(message):
        for edit in file_edits(call):
            if edit.path:
                yield _change(call, edit, edit.path, folder)


def _change(call: ToolCall, edit: Edit, path: str, folder: str | None) -> Change:
    return Change(resolved(path, folder), call.call_id, call.name, edit.diff, edit.is_new)


def moves_in(message: Message, folder: str | None) -> Iterator[Move]:
    """Yield the moves of files that the tool calls of a message ask for."""
    for call in tree.calls_in(message):
        arguments = tree.arguments(call)
        for old, new in _moves(call.kind, arguments):
            yield Move(resolved(old, folder), resolved(new, folder), call.call_id)


def _moves(kind: str | None, arguments: Any) -> Iterator[tuple[str, str]]:
    if isinstance(arguments, str):
        yield from _moves_in_patch(arguments)
        return
    if not isinstance(arguments, dict):
        return
    yield from _moves_in_patch(first_text(arguments, _PATCHES) or "")
    if kind == "shell":
        yield from _moves_in_command(_command(arguments))
    elif kind in {"edit", "write", None}:
        new = first_text(arguments, _NEW_PATHS)
        old = first_text(arguments, _OLD_PATHS) if new else None
        if old and new:
            yield old, new


def _moves_in_patch(text: str) -> Iterator[tuple[str, str]]:
    for pattern in (_STARRED_MOVE, _GIT_MOVE):
        for old, new in pattern.findall(text):
            yield old.strip(), new.strip()


def _command(arguments: dict[str, Any]) -> str:
    """Return the command of a shell call: a text, or a list of words whose last one may be a script."""
    for name in _COMMANDS:
        value = arguments.get(name)
        if isinstance(value, list) and value and all(isinstance(word, str) for word in value):
            is_script = len(value) > 1 and value[-2] in {"-c", "-lc"}
            return str(value[-1]) if is_script else shlex.join(value)
    return first_text(arguments, _COMMANDS) or ""


def _moves_in_command(command: str) -> Iterator[tuple[str, str]]:
    """Yield what `mv OLD NEW` and `git mv OLD NEW` move, if it is one file."""
    if "mv" not in command or len(command) > _MAX_COMMAND_CHARS:
        return
    for piece in _SEPARATORS.split(command):
        try:
            words = shlex.split(piece)[:_MAX_ARGUMENTS]
        except ValueError:  # an open quote
            continue
        if words[:2] == ["git", "mv"]:
            words = words[1:]
        paths = [word for word in words[1:] if not word.startswith("-")]
        if words[:1] == ["mv"] and len(paths) == 2:  # noqa: PLR2004 (old and new)
            old, new = paths
            is_folder = new.endswith("/") or new in {".", ".."}
            yield old, f"{new.rstrip('/')}/{old.rstrip('/').rpartition('/')[2]}" if is_folder else new
