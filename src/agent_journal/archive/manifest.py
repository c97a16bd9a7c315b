"""What a unit consisted of when it was kept: files and answers of databases, by their hashes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import Struct

if TYPE_CHECKING:
    from collections.abc import Iterator


class KeptFile(Struct, array_like=True):
    """A file's bytes in the vault."""

    name: str
    size: int
    sha256: bytes
    chunks: list[bytes]
    modified_at: float | None = None
    broke: str = ""
    """Why nothing could be read behind these bytes."""


class KeptRows(Struct, array_like=True):
    """What a database answered to a question: groups of rows, and how it broke off if it did."""

    sql: str
    values: tuple[Any, ...]
    groups: list[bytes]
    broke: str = ""
    count: int = 0
    """How many rows; a reader may have asked for no more than the first."""


class Manifest(Struct, omit_defaults=True):
    """All that a reader asked a unit for. Paths are relative to the unit's place, `..` goes up."""

    is_folder: bool = False
    name: str = ""
    label: str = ""
    files: dict[str, KeptFile] = {}
    folders: dict[str, list[tuple[str, bool]]] = {}
    databases: dict[str, list[KeptRows]] = {}
    unpacked: dict[str, str] = {}
    """Zips in it that were looked into, with the reason why one could not be."""
    present: dict[str, float | None] = {}
    """Files beside it that were found, whether or not they were opened, and their times."""
    absent: set[str] = set()
    modified_at: float | None = None
    sha256: str = ""
    is_partial: bool = False
    """Whether an unforeseen error stopped the reader, so that it may not have asked for all that it needs."""
    damage: str = ""
    """Why it cannot be read; it is never stored."""
    loose: list[bytes] = []
    """The blobs that it named, as far as that can be told from what is left of it."""

    def blobs(self) -> Iterator[bytes]:
        """The hash of every blob it needs."""
        yield from self.loose
        for file in self.files.values():
            yield from file.chunks
        for answers in self.databases.values():
            for answer in answers:
                yield from answer.groups
