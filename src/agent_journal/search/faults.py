"""What goes wrong with the files of an index, and how it is told."""

from __future__ import annotations

import json
import zlib
from contextlib import contextmanager
from typing import TYPE_CHECKING

from agent_journal.errors import CannotWrite, IndexDamaged

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_FAILURES = (ValueError, OSError, KeyError, TypeError, RuntimeError)
_FOOTER_MAGIC = (1337).to_bytes(4, "little")


@contextmanager
def reading(folder: Path) -> Iterator[None]:
    """Whatever fails while the index is read is damage of it."""
    try:
        yield
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise IndexDamaged(str(folder), _reason(error)) from error


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Whatever fails while the index is written leaves it as of the last commit."""
    try:
        yield
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise CannotWrite(str(folder), _first_line(error)) from error


def _is_failure(error: BaseException) -> bool:
    """Whether the index or the disk failed. A panic of Tantivy derives from BaseException alone."""
    return isinstance(error, _FAILURES) or type(error).__name__ == "PanicException"


def _reason(error: BaseException) -> str:
    """Why the index cannot be read, for people; what it says itself is meant for those who wrote it."""
    said = str(error)
    if isinstance(error, FileNotFoundError) or "FileDoesNotExist" in said:
        return "one of its files is missing"
    # What the system refuses it says so, with its number: a file that may not be read, too many open ones.
    is_refused = isinstance(error, OSError) or "os error" in said
    return _first_line(error) if is_refused else "one of its files is damaged"


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:200]


def problems_of(path: Path) -> list[str]:
    """Each file ends with a checksum of what is before it, in JSON, the length of that, and a number."""
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    try:
        if data[-4:] == _FOOTER_MAGIC and json.loads(footer)["crc"] == zlib.crc32(body):
            return []
    except (ValueError, TypeError, KeyError):
        pass
    return [f"{path.name}: its checksum is wrong"]
