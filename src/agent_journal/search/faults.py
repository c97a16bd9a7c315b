"""Turn failures of index files into errors that people understand."""

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
def read_errors_as_damage(folder: Path) -> Iterator[None]:
    """Raise IndexDamaged for any failure to read the index."""
    try:
        yield
    except BaseException as error:
        if not _is_failure(error):
            raise
        raise IndexDamaged(str(folder), _reason(error)) from error


@contextmanager
def write_errors_as_cannot_write(folder: Path) -> Iterator[None]:
    """Raise CannotWrite for any failure to write; the index then stays at its last commit."""
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
    """Return the reason for people; Tantivy's own messages are meant for its developers."""
    message = str(error)
    if isinstance(error, FileNotFoundError) or "FileDoesNotExist" in message:
        return "one of its files is missing"
    # A refusal by the operating system has its number: no permission to read, or too many open files.
    is_refused = isinstance(error, OSError) or "os error" in message
    return _first_line(error) if is_refused else "one of its files is damaged"


def _first_line(error: BaseException) -> str:
    return str(error).split("\n", 1)[0][:200]


def check_file(path: Path) -> list[str]:
    """Check a file, which ends with a JSON footer (with its CRC), the footer's length, and a magic number."""
    data = path.read_bytes()
    length = int.from_bytes(data[-8:-4], "little")
    body, footer = data[: -8 - length], data[-8 - length : -8]
    try:
        if data[-4:] == _FOOTER_MAGIC and json.loads(footer)["crc"] == zlib.crc32(body):
            return []
    except (ValueError, TypeError, KeyError):
        pass
    return [f"{path.name}: its checksum is wrong"]
