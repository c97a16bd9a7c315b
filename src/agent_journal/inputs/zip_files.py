"""Zips from strangers: streamed member by member, never unpacked, with limits counted while inflating."""

from __future__ import annotations

import hashlib
import io
import re
import zipfile
from typing import IO, TYPE_CHECKING

from agent_journal.errors import UnreadableSource
from agent_journal.inputs.compressed import Counted, Total
from agent_journal.inputs.input import Reading, sha256

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input, Stream

MAX_MEMBERS = 50_000
_ENCRYPTED_FLAG = 0x1
_NO_NAMES = {"", ".", ".."}


class Archive:
    """An open zip; hands out its members as streams."""

    def __init__(self, file: Input) -> None:
        self.name = file.name
        self.label = file.label
        self.modified_at = file.modified_at
        self._total = Total()
        self._file = file
        self._stream = _seekable(file)
        try:
            self._zip = zipfile.ZipFile(self._stream)
        except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
            reason = f"the zip is damaged, or was not downloaded whole ({error})"
            raise UnreadableSource(self.label, reason) from error
        members = self._zip.infolist()
        if len(members) > MAX_MEMBERS:
            raise UnreadableSource(self.label, f"the zip has more than {MAX_MEMBERS:,} members")
        self._refuse_overlaps(members)
        self._members, self._refused = _by_path(members)
        self._folders = _tree(self._members)

    def __del__(self) -> None:
        # Its members are read long after the archive was opened: it closes when nobody holds it.
        self._stream.close()

    def _refuse_overlaps(self, members: list[zipfile.ZipInfo]) -> None:
        # Overlapping members are how 20 KB become gigabytes without any high ratio.
        end = 0
        for info in sorted(members, key=lambda info: info.header_offset):
            if info.header_offset < end:
                raise UnreadableSource(self.label, "members of the zip overlap (a zip bomb)")
            end = info.header_offset + 30 + info.compress_size

    def sha256(self, folder: str) -> str:
        """The hash of the zip; of a folder in it, over the paths, sizes and checksums of its files."""
        if not folder:
            return sha256(self._file)
        digest = hashlib.sha256()
        for path, info in sorted(self._members.items()):
            if path.startswith(f"{folder}/"):
                digest.update(f"{path}\0{info.file_size}\0{info.CRC}\n".encode("utf-8", "surrogateescape"))
        return digest.hexdigest()

    def has(self, inside: str) -> bool:
        """Whether there is such a file."""
        return inside in self._members

    def size(self, inside: str) -> int:
        """How many bytes a member says that it has."""
        return self._members[inside].file_size

    def listing(self, folder: str) -> Iterator[tuple[str, bool]]:
        """Path inside the zip, and whether it is a folder, of everything directly in a folder."""
        below = self._folders.get(folder, {})
        for is_folder, name in sorted((is_folder, name) for name, is_folder in below.items()):
            yield (f"{folder}/{name}" if folder else name), is_folder

    def open(self, inside: str) -> Stream:
        """The bytes of a member, inflated as they are read."""
        info = self._members[inside]
        label = f"{self.label}/{inside}"
        if inside in self._refused:
            raise UnreadableSource(label, self._refused[inside])
        if info.flag_bits & _ENCRYPTED_FLAG:
            raise UnreadableSource(label, "it is encrypted; unpack the zip and give the folder")
        try:
            stream = self._zip.open(info)
        except (zipfile.BadZipFile, NotImplementedError, OSError, RuntimeError) as error:
            raise UnreadableSource(label, f"the zip is damaged here ({error})") from error
        return Counted(_Member(stream), label, info.compress_size, self._total)


class _Member(Reading):
    """zipfile has an error of its own."""

    def read(self, size: int = -1, /) -> bytes:
        try:
            return self._stream.read(size)
        except zipfile.BadZipFile as error:
            raise OSError(str(error)) from error


def _seekable(file: Input) -> IO[bytes]:
    stream = file.open()
    if isinstance(stream, io.RawIOBase):
        return io.BufferedReader(stream)
    if isinstance(stream, io.BytesIO):
        return stream
    return io.BytesIO(stream.read())  # zips need to be read from the end


def _by_path(members: list[zipfile.ZipInfo]) -> tuple[dict[str, zipfile.ZipInfo], dict[str, str]]:
    """Files by their paths inside, and why some of them are not opened."""
    by_path: dict[str, zipfile.ZipInfo] = {}
    refused: dict[str, str] = {}
    named = [(info, _steps(info)) for info in members if not info.is_dir()]
    for info, steps in sorted(named, key=lambda pair: _leads_out(pair[1])):
        path = "/".join(step for step in steps if step not in _NO_NAMES)
        if not path:
            continue
        before = by_path.setdefault(path, info)
        if before is info and _leads_out(steps):
            refused[path] = f"its path leads out of the zip ({info.filename})"
        elif (before.CRC, before.file_size) != (info.CRC, info.file_size) and not _leads_out(steps):
            refused[path] = f"two files in the zip are called {path}; unpack it and give the folder"
    return by_path, refused


def _steps(info: zipfile.ZipInfo) -> list[str]:
    """The names that a path consists of. Some exports have doubled slashes; unpacking makes one of them."""
    return re.sub("(?<=[^/])/+", "/", info.filename.replace("\\", "/")).split("/")


def _leads_out(steps: list[str]) -> bool:
    """Whether a path leads anywhere but below the folder that it is unpacked to."""
    return ".." in steps or not steps[0] or ":" in steps[0]


def _tree(members: dict[str, zipfile.ZipInfo]) -> dict[str, dict[str, bool]]:
    folders: dict[str, dict[str, bool]] = {}
    for path in members:
        inside, is_folder = path, False
        while True:
            folder, _, name = inside.rpartition("/")
            known = folders.setdefault(folder, {})
            if name in known:
                break
            known[name] = is_folder
            if not folder:
                break
            inside, is_folder = folder, True
    return folders
