"""What is imported of a folder: each file has an account of its own, so that each is told apart later."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal import readers
from agent_journal.conversion import pipeline
from agent_journal.errors import AmbiguousFormat, UnreadableSource
from agent_journal.inputs.input import NotFollowed, open_source
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive.candidates import Found
    from agent_journal.inputs.input import Source
    from agent_journal.notes import Notes


def expanded(
    found: Iterable[Found],
    note: Notes,
    from_format: str | None = None,
    is_refused: Callable[[str], bool] | None = None,
) -> Iterator[Found]:
    """What to import, where a folder that no reader claims as a whole stands for what is in it.

    A format that is asked for is not forced upon files in a folder: those of another one are noted. What is
    refused is not looked at in a folder; it is noted, too. Who names it means it.
    """
    for each in found:
        if each.path != "-" and os.path.isdir(each.path):
            refuses = is_refused is not None and not is_refused(each.path)
            yield from _in_folder(each, note, from_format, is_refused if refuses else None)
        else:
            yield each


def _in_folder(
    folder: Found, note: Notes, from_format: str | None, is_refused: Callable[[str], bool] | None
) -> Iterator[Found]:
    is_empty = True

    def may_be_read(source: Source) -> bool:
        if is_refused is None or not is_refused(source.label):
            return True
        note.add(Kind.IGNORED_FILE, source.label, "", "it is excluded, or the journal itself")
        return False

    for source, is_claimed in _parts(open_source(folder.path), from_format, may_be_read, note):
        is_empty = False
        if is_claimed:
            yield folder._replace(path=source.label)
        else:
            note.add(Kind.UNKNOWN_FILE, source.label, "", f"it is not of the format {from_format}")
    if is_empty:
        yield folder  # which is told as it is told of any input


def _parts(
    folder: Source, from_format: str | None, may_be_read: Callable[[Source], bool], note: Notes
) -> Iterator[tuple[Source, bool]]:
    """Folders that a reader claims, and files, in the order of their paths; whether they are claimed.

    Who claims a file is told when it is read, unless a format was asked for.
    """
    pending = [folder]
    while pending:
        source = pending.pop()
        if not source.is_folder and readers.is_companion(source.path):
            continue  # it is read with what it belongs to
        if isinstance(source, NotFollowed):  # what is given out is opened as if it had been named
            pipeline.note_not_followed(source, note)
            continue
        try:
            is_claimed = (from_format is None and not source.is_folder) or pipeline.is_claimed(
                source, note, from_format
            )
            if is_claimed and source.is_folder and not all(map(may_be_read, _below(source))):
                continue  # it would be read as a whole
            if is_claimed or not source.is_folder:
                yield source, is_claimed
            else:
                pending.extend(filter(may_be_read, reversed(source.children())))
        except (AmbiguousFormat, UnreadableSource):
            yield source, True  # which is told when it is read


def _below(folder: Source) -> Iterator[Source]:
    """Everything that is in a folder."""
    pending = [folder]
    while pending:
        for each in pending.pop().children():
            yield each
            pending.append(each)
