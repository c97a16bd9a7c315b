"""Where bytes come from: a file, a folder, a member of a zip, standard input.

Readers never open anything themselves. That is what makes zips, pipes and folders work alike, keeps
sources untouched, and lets the caller see which files belong to a unit.
"""

from __future__ import annotations

import hashlib
import io
import os
import re
import stat
import sys
from collections import Counter
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, Protocol, Self, TypeVar

from agent_journal.errors import UnreadableSource
from agent_journal.inputs.closeable import Closing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from types import TracebackType

    from _typeshed import WriteableBuffer

    from agent_journal.inputs.zip_files import Archive

_T = TypeVar("_T")
HEAD_BYTES = 65_536
_BLOCK_BYTES = 1 << 20
_HELD_BYTES = 1 << 20
_ZIP = (b"PK\x03\x04", b"PK\x05\x06")
_COMPRESSED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")  # gzip, zstd
_DATABASE = b"SQLite format 3\0"
# What operating systems and version control leave next to people's files.
_LITTER = frozenset({".DS_Store", "Thumbs.db", "desktop.ini", "__MACOSX", ".git", "__pycache__"})
_own: Counter[tuple[int, int]] = Counter()
"""What this process is writing, by device and inode."""


class Stream(Protocol):
    """Bytes that are read from the beginning to the end."""

    def read(self, size: int = -1, /) -> bytes:
        """At most so many bytes; none at the end."""

    def close(self) -> None:
        """Release the file that it reads."""

    def __enter__(self) -> Self: ...

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None: ...


class Input(Protocol):
    """A file or folder that a reader gets.

    `label` is how notes call it, `path` its place below the input the person named.
    """

    @property
    def name(self) -> str:
        """The last part of its path."""

    @property
    def label(self) -> str:
        """How a person would recognize it."""

    @property
    def path(self) -> str:
        """Its place relative to the input, with `/` on every system."""

    @property
    def is_folder(self) -> bool:
        """Whether it has members."""

    @property
    def modified_at(self) -> float | None:
        """The file's time in seconds, which stands in where a source states none."""

    def open(self) -> Stream:
        """The bytes from the beginning, as a stream."""

    def children(self) -> Sequence[Input]:
        """Files, then folders directly below, each sorted by name; none for a file."""

    def companion(self, *names: str) -> Input | None:
        """A file next to this one (below it, for a folder), or None; `..` goes up.

        Each name is one step; a name with a separator in it, as hostile content may have, is no file.
        """

    def companions(self, *names: str) -> Sequence[Input]:
        """What is in a folder next to this file (below it, for a folder); none if there is none."""


def sha256(source: Input) -> str:
    """The hash of a file's bytes as they lie, also of a zip that is read as a folder.

    Of a folder: over the paths and sizes of its files, and the content of those that are text. The pictures
    and sounds of an export may be gigabytes; they are named by its conversations, not read.
    """
    if known := getattr(source, "sha256", None):  # a stored one knows its own
        return str(known)
    if isinstance(source, Held):
        return hashlib.sha256(source.data).hexdigest()
    if isinstance(source, Member) and source.is_folder:
        return source.archive.sha256(source.inside)
    if whole := getattr(source, "whole", None):  # compressed: the bytes as they lie
        return sha256(whole)
    if source.is_folder:
        return _sha256_of_folder(source)
    digest = hashlib.sha256()
    with source.open() as stream:
        if isinstance(stream, io.RawIOBase):
            return hashlib.file_digest(stream, "sha256").hexdigest()
        is_begun = False
        try:
            while block := stream.read(_BLOCK_BYTES):
                digest.update(block)
                is_begun = True
        except UnreadableSource:  # something packed that breaks off: what comes before that is read
            if not is_begun:
                raise
    return digest.hexdigest()


def _sha256_of_folder(folder: Input) -> str:
    digest = hashlib.sha256()
    for file in files_below(folder):
        try:
            with file.open() as stream:
                is_text = b"\0" not in stream.read(HEAD_BYTES)
            content = sha256(file) if is_text else str(os.path.getsize(file.label))
        except (UnreadableSource, OSError):
            content = "unreadable"
        digest.update(f"{file.path}\0{content}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()


def files_below(folder: Input) -> Iterator[Input]:
    """Every file in a folder and in the folders below it, in order of their paths."""
    pending = [*reversed(folder.children())]
    while pending:
        child = pending.pop()
        if child.is_folder:
            pending.extend(reversed(child.children()))
        else:
            yield child


def is_plain(name: str) -> bool:
    """Whether a name is one step of a path that stays where it is."""
    return bool(name) and name not in {".", ".."} and not any(c in name for c in "/\\\0")


def _are_steps(names: Sequence[str]) -> bool:
    return all(is_plain(name) or name == ".." for name in names)


def as_text(name: str) -> str:
    """A name or path; the bytes of one that is no text, as file systems allow, are written out."""
    return name if name.isprintable() else os.fsencode(name).decode("utf-8", "backslashreplace")


def as_path(text: str) -> str:
    """The path that `as_text` made this of, if bytes of it were written out."""
    if os.name == "nt" or "\\x" not in text:  # there are no such names there
        return text
    data = re.sub(rb"\\x([89a-f][0-9a-f])", lambda byte: bytes.fromhex(byte[1].decode()), os.fsencode(text))
    return os.fsdecode(data)


@contextmanager
def passed_over(place: str | int) -> Iterator[None]:
    """Let no folder hold a file or folder meanwhile: who reads what he writes never comes to an end."""
    status = os.stat(place)
    own = (status.st_dev, status.st_ino)
    _own[own] += 1
    try:
        yield
    finally:
        _own[own] -= 1
        if not _own[own]:
            del _own[own]


def _is_own(entry: os.DirEntry[str]) -> bool:
    try:
        status = os.lstat(entry.path)
    except OSError:
        return False
    return (status.st_dev, status.st_ino) in _own


def is_litter(name: str) -> bool:
    """Whether a file or folder is one that no person made."""
    return name in _LITTER or name.startswith("._")


class _RegularFile(io.FileIO):
    """An open file; a failing disk and a system file without data are reported as such."""

    def __init__(self, handle: int, label: str) -> None:
        super().__init__(handle, "rb")
        self._label = label

    def read(self, size: int | None = -1, /) -> bytes:
        try:
            data: bytes | None = super().read(size)
        except OSError as error:
            raise UnreadableSource(self._label, _reason(error)) from error
        return self._given(data)

    def readall(self) -> bytes:
        try:
            data: bytes | None = super().readall()
        except OSError as error:
            raise UnreadableSource(self._label, _reason(error)) from error
        return self._given(data)

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        try:
            count: int | None = super().readinto(buffer)
        except OSError as error:
            raise UnreadableSource(self._label, _reason(error)) from error
        return self._given(count)

    def _given(self, data: _T | None) -> _T:
        # Files such as /proc/kmsg count as regular, and would be waited for forever.
        if data is None:
            raise UnreadableSource(self._label, "it gives no data; it is a file of the system")
        return data


class File:
    """A regular file on disk."""

    is_folder = False

    def __init__(self, location: str, path: str = "") -> None:
        self.location = location
        self.path = path or os.path.basename(location)

    def __repr__(self) -> str:
        return f"File({self.location!r})"

    @property
    def name(self) -> str:
        return os.path.basename(self.location)

    @property
    def label(self) -> str:
        return self.location

    @property
    def modified_at(self) -> float | None:
        try:
            return os.stat(self.location).st_mtime
        except OSError:
            return None

    def open(self) -> IO[bytes]:
        flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        try:
            handle = os.open(self.location, flags)
        except OSError as error:
            raise UnreadableSource(self.label, _reason(error)) from error
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise UnreadableSource(self.label, "it is not a regular file")
        return _RegularFile(handle, self.label)

    def children(self) -> Sequence[Input]:
        return ()

    def companion(self, *names: str) -> Input | None:
        if not _are_steps(names):
            return None
        location = os.path.join(os.path.dirname(self.location), *names)
        if not os.path.isfile(location) or os.path.islink(location):
            return None
        folder = self.path.rpartition("/")[0]
        return File(os.path.normpath(location), _joined(folder, names))

    def companions(self, *names: str) -> Sequence[Input]:
        location = os.path.join(os.path.dirname(self.location), *names)
        if not _are_steps(names) or not os.path.isdir(location) or os.path.islink(location):
            return ()
        folder = self.path.rpartition("/")[0]
        return Folder(os.path.normpath(location), _joined(folder, names)).children()


class Held(File):
    """A small file, read once: what is looked at, hashed and read are the same bytes."""

    def __init__(self, file: File, data: bytes) -> None:
        super().__init__(file.location, file.path)
        self.data = data

    def open(self) -> IO[bytes]:
        return io.BytesIO(self.data)


class Folder:
    """A folder on disk. Links in it are not followed: they would be read twice, or for ever."""

    is_folder = True

    def __init__(self, location: str, path: str = "", root: str = "") -> None:
        self.location = location
        self.path = path
        self._root = root or os.path.realpath(location)
        """The folder that was named, without links on the way to it."""

    def __repr__(self) -> str:
        return f"Folder({self.location!r})"

    @property
    def name(self) -> str:
        return os.path.basename(os.path.normpath(self.location))

    @property
    def label(self) -> str:
        return self.location

    @property
    def modified_at(self) -> float | None:
        return None

    def open(self) -> Stream:
        raise UnreadableSource(self.label, "it is a folder")

    def children(self) -> Sequence[Input]:
        try:
            entries = sorted(os.scandir(self.location), key=_files_first)
        except OSError as error:
            raise UnreadableSource(self.label, _reason(error)) from error
        children: list[Input] = []
        for entry in entries:
            path = f"{self.path}/{entry.name}" if self.path else entry.name
            if is_litter(entry.name) or (_own and _is_own(entry)):
                continue
            if entry.is_dir(follow_symlinks=False):
                children.append(Folder(entry.path, path, self._root))
            elif _is_special(entry):
                # Links, pipes and sockets are listed so that they can be named.
                children.append(NotFollowed(entry.path, path, self._root))
            else:
                children.append(File(entry.path, path))
        return children

    def companion(self, *names: str) -> Input | None:
        return self._inside().companion(*names)

    def companions(self, *names: str) -> Sequence[Input]:
        return self._inside().companions(*names)

    def _inside(self) -> File:
        return File(os.path.join(self.location, "_"), f"{self.path}/_".lstrip("/"))


class NotFollowed(File):
    """A link, pipe, socket or device in a folder: listed so that it can be named, never opened."""

    def __init__(self, location: str, path: str, root: str) -> None:
        super().__init__(location, path)
        self._target = os.path.realpath(location) if os.path.islink(location) else None
        self.leads_out = self._target is not None and not _is_within(self._target, root)
        """Whether it is a link to something outside of the folder that was named."""

    @property
    def reason(self) -> str:
        """Why it is not read."""
        if self._target is None:
            return "it is a pipe, socket or device, which is not read"
        if self.leads_out:
            return f"it is a link out of the folder, which is not followed; name {self._target} to read that"
        if not os.path.exists(self._target):
            return "it is a link to nothing"
        return "it is a link to something in the same folder, which is read where it is"

    def open(self) -> IO[bytes]:
        raise UnreadableSource(self.label, self.reason)


class Stdin:
    """Standard input, buffered so that it can be examined first and read afterwards."""

    is_folder = False
    name = "-"
    label = "standard input"
    path = "-"
    modified_at = None

    def __init__(self, stream: IO[bytes] | None = None) -> None:
        import tempfile  # noqa: PLC0415 (slow to import, needed only here)

        self._buffer = tempfile.SpooledTemporaryFile(max_size=8 * _BLOCK_BYTES)  # noqa: SIM115 (lives as long as the source)
        stream = stream or sys.stdin.buffer
        self.size = 0
        while block := _next_block(stream):
            self.size += self._buffer.write(block)

    def __del__(self) -> None:
        self._buffer.close()

    def bytes_at(self, position: int, count: int) -> bytes:
        """So many bytes from there on, or all that follow if these are fewer."""
        self._buffer.seek(position)
        return self._buffer.read(count)

    def open(self) -> io.RawIOBase:
        return _Again(self)

    def children(self) -> Sequence[Input]:
        return ()

    def companion(self, *names: str) -> Input | None:  # noqa: ARG002 (the contract)
        return None

    def companions(self, *names: str) -> Sequence[Input]:  # noqa: ARG002 (the contract)
        return ()


def _next_block(stream: IO[bytes]) -> bytes:
    """The next bytes of a stream; whoever started us may have made it one that does not wait for them."""
    block: bytes | None = stream.read(_BLOCK_BYTES)
    while block is None:
        import select  # noqa: PLC0415 (seldom needed)

        select.select([stream], [], [])
        block = stream.read(_BLOCK_BYTES)
    return block


class Member:
    """A file or folder inside a zip."""

    def __init__(self, archive: Archive, inside: str, path: str, *, is_folder: bool) -> None:
        self.archive = archive
        self.inside = inside
        self.path = path
        self.is_folder = is_folder

    def __repr__(self) -> str:
        return f"Member({self.label!r})"

    @property
    def name(self) -> str:
        return self.inside.rpartition("/")[2] or self.archive.name

    @property
    def label(self) -> str:
        return f"{self.archive.label}/{self.inside}" if self.inside else self.archive.label

    @property
    def modified_at(self) -> float | None:
        return self.archive.modified_at

    def open(self) -> Stream:
        if self.is_folder:
            raise UnreadableSource(self.label, "it is a folder")
        return self.archive.open(self.inside)

    def children(self) -> Sequence[Input]:
        if not self.is_folder:
            return ()
        return [
            Member(self.archive, inside, self._below(inside), is_folder=is_folder)
            for inside, is_folder in self.archive.listing(self.inside)
            if not is_litter(inside.rpartition("/")[2])
        ]

    def _below(self, inside: str) -> str:
        name = inside.rpartition("/")[2]
        return f"{self.path}/{name}" if self.path else name

    def companion(self, *names: str) -> Input | None:
        member = self._neighbor(names, is_folder=False)
        return member if _are_steps(names) and self.archive.has(member.inside) else None

    def companions(self, *names: str) -> Sequence[Input]:
        return self._neighbor(names, is_folder=True).children() if _are_steps(names) else ()

    def _neighbor(self, names: Sequence[str], *, is_folder: bool) -> Member:
        folder = self.inside if self.is_folder else self.inside.rpartition("/")[0]
        base = self.path if self.is_folder else self.path.rpartition("/")[0]
        return Member(self.archive, _joined(folder, names), _joined(base, names), is_folder=is_folder)


class Reading(Closing):
    """Base of streams that are made of another one."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream

    def read(self, size: int = -1, /) -> bytes:
        return self._stream.read(size)

    def close(self) -> None:
        self._stream.close()


class _Again(io.RawIOBase):
    """What came on standard input, from its beginning; several may read it side by side."""

    def __init__(self, source: Stdin) -> None:
        self._source = source
        self._at = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET, /) -> int:
        self._at = offset + {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.size}[whence]
        return self._at

    def readinto(self, buffer: WriteableBuffer, /) -> int:
        view = memoryview(buffer).cast("B")
        data = self._source.bytes_at(self._at, len(view))
        view[: len(data)] = data
        self._at += len(data)
        return len(data)


def is_address(location: str) -> bool:
    """Whether it is something on the web, where nothing is read from."""
    return location.startswith(("https://", "http://"))


def why_absent(location: str) -> str:
    """The reason why a file is not there."""
    if is_address(location):
        return "it is an address; save what is there, and give the file"
    return "there is no such file or folder"


def open_input(location: str) -> Input:
    """The input that a user names: a file, a folder, a zip, or `-` for standard input."""
    if location == "-":
        return opened(Stdin())
    if os.path.isdir(location):
        return Folder(location)
    try:
        os.lstat(location)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise UnreadableSource(location, why_absent(location)) from None
    except OSError as error:  # it lies where nobody may look, or can be no name
        raise UnreadableSource(location, (error.strerror or str(error)).lower()) from error
    return opened(File(os.path.realpath(location) if os.path.islink(location) else location))


def opened(source: Input) -> Input:
    """The input itself; of a small file its bytes, of a zip or a compressed file what is in it."""
    if own := getattr(source, "opened", None):  # a stored one remembers what was in it
        inside: Input = own()
        return inside
    if not isinstance(source, File | Stdin):
        return source
    file = _held(source) if isinstance(source, File) else source
    magic = _first_bytes(file)
    if magic in _ZIP:
        from agent_journal.inputs.zip_files import Archive  # noqa: PLC0415 (zipfile is slow to import)

        return Member(Archive(file), "", file.path, is_folder=True)
    if magic.startswith(_COMPRESSED):
        from agent_journal.inputs.compressed import Compressed  # noqa: PLC0415 (seldom needed)

        return Compressed(file)
    return file


def _held(file: File) -> File:
    with file.open() as stream:
        size = os.fstat(stream.fileno()).st_size
        if size > _HELD_BYTES:
            return file
        data = stream.read()
    # A database is read together with its companions, and both must be of one moment.
    return file if data.startswith(_DATABASE) else Held(file, data)


def _first_bytes(file: Input) -> bytes:
    with file.open() as stream:
        return stream.read(4)


def _files_first(entry: os.DirEntry[str]) -> tuple[bool, str]:
    return entry.is_dir(follow_symlinks=False), entry.name


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def _is_special(entry: os.DirEntry[str]) -> bool:
    return entry.is_symlink() or not entry.is_file(follow_symlinks=False)


def _joined(folder: str, names: Sequence[str]) -> str:
    steps = folder.split("/") if folder else []
    for name in names:
        if name == "..":
            del steps[-1:]
        else:
            steps.append(name)
    return "/".join(steps)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()


if not TYPE_CHECKING:  # a type checker that saw this would accept any name

    def __getattr__(name: str) -> object:
        if name.startswith("_"):  # the import system asks for `__path__`
            raise AttributeError(name)
        from agent_journal.moved import renamed  # noqa: PLC0415 (only for old names)

        return renamed(sys.modules[__name__], "inputs.input", name)
