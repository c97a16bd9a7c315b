"""The folder of the index of words: how far it reaches, how a new one takes its place, how it goes.

Nothing here needs the index itself, which takes long to import.
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

LAYOUT = 10  # of the fields and of how words are cut; one of another number is made again
ABOUT = "about.json"
MARKER = ".agent-journal-index"
"""Says that a folder is ours from before its first file until after its last."""
_ROWS = "journal.db"
# The names of its files; those of parts have their part's id before them.
_OWN = re.compile(
    r"\.agent-journal-index|\.aj-\d+-\d+\.part|[0-9a-f]{32}\.(?:\d+\.)?\w+|about\.json(?:\.part\d+)?|meta\.json|\.managed\.json|\.tantivy-\w+\.lock|\.tmp\w+"
)


class About(NamedTuple):
    """What an index says about itself."""

    layout: int
    journal: str
    reach: int = 0
    """No key in it is higher, but for entries that it does not count yet."""
    left_out: tuple[str, ...] = ()
    """Texts of entries that it was not given."""


def about(folder: Path) -> About:
    """What the index in a folder says about itself."""
    try:
        said = msgspec.json.decode((folder / ABOUT).read_bytes())
        known = About(int(said["layout"]), str(said["journal"]), int(said.get("reach", 0)))
        return known._replace(left_out=tuple(map(str, said.get("left_out", ()))))
    except FileNotFoundError:
        reason = "it is none of ours" if folder.exists() else "there is none"
        raise IndexDamaged(str(folder), reason) from None
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise IndexDamaged(str(folder), "it does not say what it is") from error


def say(folder: Path, what: About) -> None:
    """Let an index say something about itself."""
    write_bytes(str(folder / ABOUT), msgspec.json.encode(what._asdict()))


def reach(folder: Path) -> int:
    """The highest key that an index may know; 0 if there is none that says so."""
    try:
        return about(folder).reach
    except IndexDamaged:
        return 0


def is_made_so(folder: Path, left_out: tuple[str, ...]) -> bool:
    """Whether there is an index of this layout that was given all texts but some."""
    try:
        said = about(folder)
    except IndexDamaged:
        return False
    return (said.layout, said.left_out) == (LAYOUT, left_out)


def is_there(folder: Path) -> bool:
    """Whether there is an index in a folder, or at least what says that it is one."""
    return (folder / ABOUT).is_file()


def is_ours(folder: Path) -> bool:
    """Whether an index may be made, replaced or removed in a folder: it is new, empty, or one of ours."""
    if not os.path.lexists(folder):
        return True
    try:
        is_empty = not any(folder.iterdir())
    except OSError:  # a file, or nobody may look into it
        return False
    # An index that has no marker is from before there was one; in a journal there is nothing else.
    return (
        is_empty or any(path.exists() for path in (folder / MARKER, folder.parent / _ROWS)) or _says(folder)
    )


def _says(folder: Path) -> bool:
    try:
        return "layout" in msgspec.json.decode((folder / ABOUT).read_bytes(), type=dict)
    except (OSError, ValueError):
        return False


def why_not_ours(folder: Path) -> CannotWrite | None:
    """Why no index may be written to a folder: other files are there, or where its companions would be."""
    for place in (folder, beside(folder), folder.with_name(f"{folder.name}.vectors")):
        if not is_ours(place):
            what = "it holds files that are not a search index's" if place.is_dir() else "it is a file"
            reason = f"{what}, which aj does not overwrite; set storage.index_path to a new or empty folder"
            return CannotWrite(str(place), reason)
    return None


def mark(folder: Path) -> None:
    """Let a folder say that it is ours."""
    write_bytes(str(folder / MARKER), b"The search index of a journal; aj replaces what is in this folder.\n")


def beside(folder: Path) -> Path:
    """Where a new index is made while the old one serves."""
    return folder.with_name(f"{folder.name}.new")


def put_in_place(new: Path, folder: Path) -> None:
    """Let a new index take the place of the old one. Between the two there is none, never half of one."""
    discard(folder)
    try:
        make_folder(str(folder))
        mark(folder)
        for path in sorted(new.iterdir(), key=lambda path: (path.name == MARKER, path.name == ABOUT)):
            path.replace(folder / path.name)
        new.rmdir()
    except OSError as error:
        raise CannotWrite(str(folder), (error.strerror or str(error)).lower()) from error


def discard(folder: Path) -> None:
    """Remove an index, whatever is left of it, and nothing else that lies there."""
    if is_ours(folder):
        remove(folder, _OWN)


def remove(folder: Path, own: re.Pattern[str]) -> None:
    """Remove a folder's own files, and itself if nothing else lies there.

    What says what it is goes first: half of it is none.
    """
    with suppress(FileNotFoundError, NotADirectoryError):
        for path in sorted(folder.iterdir(), key=lambda path: (path.name == MARKER, path.name != ABOUT)):
            if own.fullmatch(path.name) and not path.is_dir():
                path.unlink(missing_ok=True)
    with suppress(OSError):
        folder.rmdir()


def tidy(folder: Path) -> None:
    """Remove what processes that were killed left beside an index."""
    for left in ("new", "new.part", "part"):
        discard(folder.with_name(f"{folder.name}.{left}"))
