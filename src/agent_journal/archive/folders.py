"""Expand folders into files to import; each gets a ledger entry of its own, so changes are found per file."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from agent_journal import readers
from agent_journal.conversion import pipeline
from agent_journal.errors import AmbiguousFormat, UnreadableSource
from agent_journal.inputs.input import NotFollowed, open_input
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from agent_journal.archive.candidates import ImportCandidate
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes


def expand_folders(
    candidates: Iterable[ImportCandidate],
    note: Notes,
    from_format: str | None = None,
    is_refused: Callable[[str], bool] | None = None,
) -> Iterator[ImportCandidate]:
    """Yield what to import: a folder that no reader claims as a whole is replaced by its content.

    A requested format is not forced upon files in a folder: those of another format are noted. Refused files
    in a folder are noted, too, and not read; a file that the user names directly is never refused.
    """
    for candidate in candidates:
        if candidate.path != "-" and os.path.isdir(candidate.path):
            refuses = is_refused is not None and not is_refused(candidate.path)
            yield from _in_folder(candidate, note, from_format, is_refused if refuses else None)
        else:
            yield candidate


def _in_folder(
    folder: ImportCandidate, note: Notes, from_format: str | None, is_refused: Callable[[str], bool] | None
) -> Iterator[ImportCandidate]:
    is_empty = True

    def may_be_read(source: Input) -> bool:
        if is_refused is None or not is_refused(source.label):
            return True
        note.add(Kind.IGNORED_FILE, source.label, "", "it is excluded, or the journal itself")
        return False

    for source, is_claimed in _parts(open_input(folder.path), from_format, may_be_read, note):
        is_empty = False
        if is_claimed:
            yield folder._replace(path=source.label)
        else:
            note.add(Kind.UNKNOWN_FILE, source.label, "", f"it is not of the format {from_format}")
    if is_empty:
        yield folder  # reading it reports that it is empty


def _parts(
    folder: Input, from_format: str | None, may_be_read: Callable[[Input], bool], note: Notes
) -> Iterator[tuple[Input, bool]]:
    """Yield claimed folders and all files, in the order of their paths, and whether they are claimed.

    A file counts as claimed until it is read, unless a format was requested.
    """
    pending = [folder]
    while pending:
        source = pending.pop()
        if not source.is_folder and readers.is_companion(source.path):
            continue  # it is read with its unit
        if isinstance(source, NotFollowed):  # opening it here would follow the link
            pipeline.note_not_followed(source, note)
            continue
        try:
            is_claimed = (from_format is None and not source.is_folder) or pipeline.is_claimed(
                source, note, from_format
            )
            if is_claimed and source.is_folder and not all(map(may_be_read, _below(source))):
                continue  # the folder would be read as a whole, with refused files
            if is_claimed or not source.is_folder:
                yield source, is_claimed
            else:
                pending.extend(filter(may_be_read, reversed(source.children())))
        except (AmbiguousFormat, UnreadableSource):
            yield source, True  # reading it reports the error


def _below(folder: Input) -> Iterator[Input]:
    """Yield everything in a folder."""
    pending = [folder]
    while pending:
        for each in pending.pop().children():
            yield each
            pending.append(each)
