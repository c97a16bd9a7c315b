"""The functions of the library, which `agent_journal` exports."""

from __future__ import annotations

import os
from typing import IO, TYPE_CHECKING, TypeAlias

from agent_journal import writers
from agent_journal.conversion.output import for_writer, new_run, write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.model.spilled import load_spilled
from agent_journal.notes import Notes

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from agent_journal.journal import Journal
    from agent_journal.model import Conversation, Item, Memory

Location: TypeAlias = str | os.PathLike[str]


def read(
    location: Location, from_format: str | None = None, note: Notes | None = None
) -> Iterator[Conversation | Memory]:
    """Every conversation and memory in a file, folder or zip, one at a time.

    `from_format` is `NAME` or `NAME@VERSION`, for inputs whose format is not detected. Anomalies are added to
    `note` if it is given. An input that cannot be read at all raises an `AgentJournalError`.
    """
    return map(load_spilled, _read(location, from_format, note))


def _read(location: Location, from_format: str | None, note: Notes | None) -> Iterator[Item]:
    return read_all([os.fspath(location)], Notes() if note is None else note, from_format)


def write(
    items: Iterable[Conversation | Memory],
    target: str,
    out: IO[bytes] | Location,
    note: Notes | None = None,
) -> None:
    """Write items in the target format to a binary file, or to a path; a path that ends with `/` is a folder.

    What the format cannot represent is added to `note` if it is given.
    """
    notes = Notes() if note is None else note
    if isinstance(out, (str, os.PathLike)):
        write_items(items, target, os.fspath(out), notes)
    else:
        writer = writers.get(target)
        writer.write(for_writer(items, writer), out, new_run(notes))


def open_journal(home: Location | None = None, *, create: bool = False) -> Journal:
    """Open the journal in a folder, or the one that `aj` would use. Any number of threads may share it.

    Raises NoArchive if there is none yet; with `create`, the first `sync` or `import_` creates it.
    """
    from agent_journal import config  # noqa: PLC0415 (not needed to convert)
    from agent_journal.journal import Journal  # noqa: PLC0415

    folder = config.home_of(os.environ, None if home is None else os.fspath(home))
    return Journal(config.load(folder, os.environ), must_exist=not create)


def open_archive(home: Location | None = None) -> Journal:
    """Open a journal: the name of `open_journal` until version 0.2. Deprecated."""
    from warnings import warn  # noqa: PLC0415 (rarely needed)

    warn("agent_journal.open_archive is now open_journal; use the new name", DeprecationWarning, stacklevel=2)
    return open_journal(home)


def convert(
    location: Location,
    target: str,
    out: IO[bytes] | Location,
    from_format: str | None = None,
    note: Notes | None = None,
) -> None:
    """Read a file, folder or zip and write it in the target format, with one item in memory at a time."""
    write(_read(location, from_format, note), target, out, note)
