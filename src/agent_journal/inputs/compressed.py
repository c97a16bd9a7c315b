"""Compressed bytes from strangers: inflated as they are read, within limits that are counted, not stated."""

from __future__ import annotations

import io
import os
import zlib
from contextlib import contextmanager
from contextvars import ContextVar
from typing import IO, TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.inputs.input import Reading

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from agent_journal.inputs.input import File, Input, Stdin, Stream

MAX_FILE_BYTES = 2 << 30
MAX_TOTAL_BYTES = 8 << 30
MAX_RATIO = 200
# Below this a high ratio is ordinary: small files of one repeated word.
MIN_RATIO_CHECK_BYTES = 10_000_000
# Larger files must have a lower ratio: a conversation of short lines takes four times their size in memory.
# Files of tools have ratios of 4 to 6 with gzip, and up to 19 with zstd.
LARGE_BYTES = 128_000_000
MAX_RATIO_OF_LARGE = 20
SETTING = "storage.max_inflated_mb"
GZIP, ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_SUFFIXES = (".gz", ".zst")
_BLOCK_BYTES = 1 << 18
# Four bytes of zstd may become 128 KB: so much is decompressed at once.
_PACKED_PIECE_BYTES = 1 << 10


class _Allowed:
    """What a person allows beyond the limits, for the whole process."""

    bytes: int | None = None
    asked: Callable[[], int | None] | None = None


def allow_if_asked(megabytes: Callable[[], int | None]) -> None:
    """The same as `allow` with what this gives, which is asked for when a limit is met."""
    _Allowed.asked = megabytes


def allow(megabytes: int | None) -> None:
    """Let files inflate to so many megabytes, whatever they were packed to; None is as the limits say."""
    _Allowed.bytes = None if megabytes is None else megabytes * 10**6


_allowed_here: ContextVar[tuple[int | None] | None] = ContextVar("allowed_here", default=None)
"""What this thread may inflate to, in place of what the process may."""


@contextmanager
def allowing(megabytes: int | None) -> Iterator[None]:
    """Do the same as `allow` for this thread, in the body."""
    token = _allowed_here.set((None if megabytes is None else megabytes * 10**6,))
    try:
        yield
    finally:
        _allowed_here.reset(token)


def _allowed_bytes() -> int | None:
    here = _allowed_here.get()
    return _Allowed.bytes if here is None else here[0]


def allowed_mb() -> int | None:
    """What was allowed, for another process."""
    allowed = _allowed_bytes()
    return None if allowed is None else allowed // 10**6


class Total:
    """What came out of one archive so far."""

    def __init__(self) -> None:
        self.inflated = 0


class Counted(Reading):
    """Counts what really comes out: the sizes that an archive states may lie."""

    def __init__(self, stream: Stream, label: str, packed: int, total: Total) -> None:
        super().__init__(stream)
        self._label = label
        self._packed = packed
        self._total = total
        self._count = 0

    def read(self, size: int = -1, /) -> bytes:
        try:
            block = self._stream.read(size if size >= 0 else _BLOCK_BYTES)
        except (zlib.error, EOFError, OSError) as error:
            raise UnreadableSource(self._label, f"it is damaged here ({error})") from error
        self._count += len(block)
        self._total.inflated += len(block)
        self._check()
        return block

    def _check(self) -> None:
        if self._count > MIN_RATIO_CHECK_BYTES and _Allowed.asked is not None:
            asked, _Allowed.asked = _Allowed.asked, None
            allow(asked())
        allowed = _allowed_bytes()
        if allowed is not None:
            if self._count > allowed:
                raise UnreadableSource(self._label, self._left_out(f"{SETTING} is {allowed_mb():,}"))
            return
        if self._count > MAX_FILE_BYTES or self._total.inflated > MAX_TOTAL_BYTES:
            raise UnreadableSource(self._label, self._left_out("it inflates beyond the limit (a bomb?)"))
        packed = max(self._packed, 1)
        if self._count > MIN_RATIO_CHECK_BYTES and self._count > MAX_RATIO * packed:
            raise UnreadableSource(self._label, f"it inflates more than {MAX_RATIO} times (a bomb)")
        if self._count > LARGE_BYTES and self._count > MAX_RATIO_OF_LARGE * packed:
            reason = f"{packed:,} bytes inflate more than {MAX_RATIO_OF_LARGE} times"
            raise UnreadableSource(self._label, self._left_out(reason))

    def _left_out(self, reason: str) -> str:
        return (
            f"what follows its first {self._count:,} bytes is left out: {reason}; if you trust it, "
            f"allow more with 'aj config set {SETTING} MB' or unpack it, and read it again"
        )


class Compressed:
    """A file in gzip or zstd, read as what is in it and called so; `whole` is the file as it lies."""

    is_folder = False

    def __init__(self, whole: File | Stdin) -> None:
        self.whole = whole
        self.label = whole.label
        self.path = whole.path

    def __repr__(self) -> str:
        return f"Compressed({self.whole!r})"

    @property
    def name(self) -> str:
        plain, suffix = os.path.splitext(self.whole.name)
        return plain if suffix in _SUFFIXES else self.whole.name

    @property
    def modified_at(self) -> float | None:
        return self.whole.modified_at

    def open(self) -> Stream:
        packed = self.whole.open()
        size = packed.seek(0, io.SEEK_END)
        packed.seek(0)
        is_gzip = packed.read(len(GZIP)) == GZIP
        packed.seek(0)
        return Counted(_gzip(packed) if is_gzip else _Zstd(packed), self.label, size, Total())

    def children(self) -> Sequence[Input]:
        return ()

    def companion(self, *names: str) -> Input | None:
        return self.whole.companion(*names)

    def companions(self, *names: str) -> Sequence[Input]:
        return self.whole.companions(*names)


def _gzip(packed: IO[bytes] | io.RawIOBase) -> Stream:
    import gzip  # noqa: PLC0415 (only compressed files need it)

    file = gzip.GzipFile(fileobj=packed)
    file.myfileobj = packed  # type: ignore[assignment] # it is closed with it
    return file


def inflated_zstd(data: bytes, label: str) -> bytes:
    """The content of zstd frames that are in memory, within the same limits as that of a file."""
    stream = Counted(_Zstd(io.BytesIO(data)), label, len(data), Total())
    blocks: list[bytes] = []
    while block := stream.read():
        blocks.append(block)
    return b"".join(blocks)


class _Zstd(Reading):
    """The frames of a file one after another; one that is cut is an error, not an end."""

    def __init__(self, stream: Stream) -> None:
        super().__init__(stream)
        self._frame: Any = None
        self._packed = b""

    def read(self, size: int = -1, /) -> bytes:  # noqa: ARG002 (as much as a piece gives)
        import zstandard  # noqa: PLC0415 (only compressed files need it)

        try:
            while self._packed or (piece := self._stream.read(_PACKED_PIECE_BYTES)):
                self._packed = self._packed or piece
                if self._frame is None:
                    self._frame = zstandard.ZstdDecompressor().decompressobj()
                block: bytes = self._frame.decompress(self._packed)
                self._packed = self._frame.unused_data
                if self._frame.eof:
                    self._frame = None
                if block:
                    return block
        except zstandard.ZstdError as error:
            raise OSError(str(error)) from error
        if self._frame is not None:
            raise OSError("it ends in the middle of a frame")
        return b""
