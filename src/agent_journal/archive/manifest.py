"""What a unit consisted of when it was stored: files and answers of databases, by their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator


class StoredFile(Struct, array_like=True):
    """A file in the vault."""

    name: str
    size: int
    sha256: bytes
    chunks: list[bytes]
    modified_at: float | None = None
    read_error: str = ""
    """Why nothing could be read after these bytes."""


class StoredRows(Struct, array_like=True):
    """A database's answer to a query: groups of rows, and the error that ended it, if any."""

    sql: str
    values: tuple[Any, ...]
    groups: list[bytes]
    read_error: str = ""
    count: int = 0
    """The number of rows; a reader may have read only the first of them."""


class Manifest(Struct, omit_defaults=True):
    """Everything that a reader requested of a unit. Paths are relative to the unit; `..` goes up."""

    is_folder: bool = False
    is_in_zip: bool = False
    """Whether the unit is a zip or in one; unknown for units that were imported before version 0.2."""
    name: str = ""
    label: str = ""
    files: dict[str, StoredFile] = {}
    folders: dict[str, list[tuple[str, bool]]] = {}
    databases: dict[str, list[StoredRows]] = {}
    unpacked: dict[str, str] = {}
    """Zips in it that were opened, each with the error if that failed."""
    present: dict[str, float | None] = {}
    """Companions that exist, whether or not they were opened, and their times."""
    absent: set[str] = set()
    modified_at: float | None = None
    sha256: str = ""
    is_partial: bool = False
    """Whether an unforeseen error stopped the reader, so that it may not have asked for all that it needs."""
    damage: str = ""
    """Why the manifest cannot be read; never stored."""
    loose: list[bytes] = []
    """The blobs that a damaged manifest still names; never stored."""

    def blobs(self) -> Iterator[bytes]:
        """Yield the hash of every blob it needs."""
        yield from self.loose
        for file in self.files.values():
            yield from file.chunks
        for answers in self.databases.values():
            for answer in answers:
                yield from answer.groups
