"""The library's verbs; `agent_journal` offers them by these names."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, TypeAlias

from agent_journal import writers
from agent_journal.conversion.output import new_run, write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.journal import Journal
    from agent_journal.model import Conversation, Memory

Location: TypeAlias = str | os.PathLike[str]


def read(
    location: Location, from_format: str | None = None, note: Notes | None = None
) -> Iterator[Conversation | Memory]:
    """Every conversation and memory in a file, folder or zip, one at a time.

    `from_format` is `NAME` or `NAME@VERSION`, for inputs that cannot be told apart. What was odd is added to
    `note` if one is given. An input that cannot be read at all raises an `AgentJournalError`.
    """
    return read_all([os.fspath(location)], Notes() if note is None else note, from_format)


def write(
    items: Iterable[Conversation | Memory],
    target: str,
    out: IO[bytes] | Location,
    note: Notes | None = None,
) -> None:
    """Write items in the target format to a binary file, or to a path; one that ends with `/` is a folder.

    What the format cannot say is added to `note` if one is given.
    """
    notes = Notes() if note is None else note
    if isinstance(out, (str, os.PathLike)):
        write_items(items, target, os.fspath(out), notes)
    else:
        writers.get(target).write(items, out, new_run(notes))


def open_archive(home: Location | None = None) -> Journal:
    """The journal in a folder, or the one that `aj` would use: its conversations, memories and a search.

    Raises an `AgentJournalError` if there is none yet.
    """
    from agent_journal import config  # noqa: PLC0415 (who only converts needs none of it)
    from agent_journal.journal import Journal  # noqa: PLC0415

    folder = config.home_of(os.environ, None if home is None else os.fspath(home))
    return Journal(config.load(folder, os.environ))


def convert(
    location: Location,
    target: str,
    out: IO[bytes] | Location,
    from_format: str | None = None,
    note: Notes | None = None,
) -> None:
    """Read a file, folder or zip and write it in the target format, never holding more than one item."""
    write(read(location, from_format, note), target, out, note)
