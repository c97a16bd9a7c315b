"""Manage the folder of the word index: its metadata, replacing it, and removing it.

Nothing here imports Tantivy, which is slow to import.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

import msgspec

from agent_journal.errors import CannotWrite, IndexDamaged
from agent_journal.files import make_folder, write_bytes

if TYPE_CHECKING:
    from pathlib import Path

LAYOUT_VERSION = 12  # of the schema and of word splitting; an index with another number is rebuilt
INFO_FILE = "about.json"
MARKER = ".agent-journal-index"
"""A file that marks the folder as an index, created first and removed last."""
_DATABASE = "journal.db"
# The names of index files; those of segments start with the segment's id.
_OWN_FILES = re.compile(
    r"\.agent-journal-index|\.aj-\d+-\d+\.part|[0-9a-f]{32}\.(?:\d+\.)?\w+|about\.json(?:\.part\d+)?|meta\.json|\.managed\.json|\.tantivy-\w+\.lock|\.tmp\w+"
)


class IndexInfo(NamedTuple):
    """Metadata of an index."""

    layout: int
    journal: str
    reach: int = 0
    """The highest key in the index, apart from uncommitted entries."""
    left_out: tuple[str, ...] = ()
    """Text fields that are not indexed."""


def read_info(folder: Path) -> IndexInfo:
    """Read the metadata of the index in a folder."""
    try:
        content = msgspec.json.decode((folder / INFO_FILE).read_bytes())
        info = IndexInfo(int(content["layout"]), str(content["journal"]), int(content.get("reach", 0)))
        return info._replace(left_out=tuple(map(str, content.get("left_out", ()))))
    except FileNotFoundError:
        reason = "it is not a search index of aj" if folder.exists() else "it does not exist"
        raise IndexDamaged(str(folder), reason) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(str(folder), "its description is damaged") from error


def write_info(folder: Path, info: IndexInfo) -> None:
    """Write the metadata of an index."""
    write_bytes(str(folder / INFO_FILE), msgspec.json.encode(info._asdict()))


def read_highest_key(folder: Path) -> int:
    """Return the highest key in an index; 0 if there is no readable index."""
    try:
        return read_info(folder).reach
    except IndexDamaged:
        return 0


def has_index_with(folder: Path, left_out: tuple[str, ...]) -> bool:
    """Whether there is an index of the current layout that leaves out exactly these text fields."""
    try:
        info = read_info(folder)
    except IndexDamaged:
        return False
    return (info.layout, info.left_out) == (LAYOUT_VERSION, left_out)


def has_index(folder: Path) -> bool:
    """Whether a folder has the metadata of an index."""
    return (folder / INFO_FILE).is_file()


def is_replaceable(folder: Path) -> bool:
    """Whether an index may be built, replaced or removed here: the folder is new, empty or an index."""
    if not os.path.lexists(folder):
        return True
    try:
        is_empty = not any(folder.iterdir())
    except OSError:  # a file, or a folder without read permission
        return False
    # Older indexes have no marker; next to a journal's database there can be nothing else.
    return (
        is_empty
        or any(path.exists() for path in (folder / MARKER, folder.parent / _DATABASE))
        or _has_layout(folder)
    )


def _has_layout(folder: Path) -> bool:
    try:
        return "layout" in msgspec.json.decode((folder / INFO_FILE).read_bytes(), type=dict)
    except (OSError, ValueError):
        return False


def find_conflict(folder: Path) -> CannotWrite | None:
    """Return why no index may be written here: other files are in the folder or a neighbor it needs."""
    for candidate in (folder, staging_folder(folder), folder.with_name(f"{folder.name}.vectors")):
        if not is_replaceable(candidate):
            problem = (
                "it contains files that do not belong to a search index"
                if candidate.is_dir()
                else "it is a file"
            )
            reason = (
                f"{problem}, which aj does not overwrite; set storage.index_path to a new or empty folder"
            )
            return CannotWrite(str(candidate), reason)
    return None


def write_marker(folder: Path) -> None:
    """Mark a folder as a search index."""
    write_bytes(str(folder / MARKER), b"The search index of a journal; aj replaces what is in this folder.\n")


def staging_folder(folder: Path) -> Path:
    """Return where a new index is built while the old one stays in use."""
    return folder.with_name(f"{folder.name}.new")


def install(new: Path, folder: Path) -> None:
    """Replace the old index with a new one. Between the two there is none, never half of one."""
    discard(folder)
    try:
        make_folder(str(folder))
        write_marker(folder)
        for path in sorted(new.iterdir(), key=lambda path: (path.name == MARKER, path.name == INFO_FILE)):
            path.replace(folder / path.name)
        new.rmdir()
    except OSError as error:
        raise CannotWrite(str(folder), (error.strerror or str(error)).lower()) from error


def discard(folder: Path) -> None:
    """Remove an index or its remains, and no other files."""
    if is_replaceable(folder):
        remove_own_files(folder, _OWN_FILES)


def remove_own_files(folder: Path, own_names: re.Pattern[str]) -> None:
    """Remove files with our names, then the folder if it is empty.

    The metadata is removed first, so that an incomplete index is never taken for a whole one.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted(folder.iterdir(), key=lambda path: (path.name == MARKER, path.name != INFO_FILE)):
            if own_names.fullmatch(path.name) and not path.is_dir():
                path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def remove_leftovers(folder: Path) -> None:
    """Remove what killed processes left next to an index."""
    for suffix in ("new", "new.part", "part"):
        discard(folder.with_name(f"{folder.name}.{suffix}"))
