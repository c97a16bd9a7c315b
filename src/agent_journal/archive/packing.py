"""Compress and decompress bytes. Zstandard is imported on first use."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import zstandard

_LEVEL = 3
# Smaller tables than the level's default: the result is no larger, and it takes less time.
_HASH_TABLE_BITS = 16


class Compressor:
    """Compresses and decompresses bytes; for one thread at a time."""

    def compress(self, data: bytes) -> bytes:
        """Compress bytes; the result states their size."""
        # The library's result occupies as much memory as the data could have needed in the worst case.
        return bytes(memoryview(self._compress(data)))

    def decompress(self, packed: bytes, size: int | None = None) -> bytes:
        """Decompress bytes. Raises ValueError if they are damaged, or do not have the given size."""
        import zstandard  # noqa: PLC0415

        try:
            # A damaged frame may claim any size: do not allocate it.
            if size is not None and zstandard.frame_content_size(packed) != size:
                raise ValueError("its size is wrong")
            return self._decompressor.decompress(packed)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    def decompress_start(self, packed: bytes, size: int) -> bytes:
        """Decompress the first `size` bytes, or all if there are fewer, without reading the rest."""
        import zstandard  # noqa: PLC0415

        try:
            with self._decompressor.stream_reader(packed) as stream:
                return stream.read(size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    @cached_property
    def _compress(self) -> Callable[[bytes], bytes]:
        import zstandard  # noqa: PLC0415

        settings = zstandard.ZstdCompressionParameters.from_level(_LEVEL, hash_log=_HASH_TABLE_BITS)
        return zstandard.ZstdCompressor(compression_params=settings).compress

    @cached_property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        import zstandard  # noqa: PLC0415

        return zstandard.ZstdDecompressor()
