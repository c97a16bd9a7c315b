"""Bytes made small, and whole again. What does it is loaded when there is something to pack."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    import zstandard

_LEVEL = 3
# Smaller tables than the level has: what is packed is no larger, and it takes less time.
_HASH_LOG = 16


class Packing:
    """Makes bytes small, and whole again; for one thread at a time."""

    def packed(self, data: bytes) -> bytes:
        """Bytes made small; they state their size."""
        return self._compress(data)

    def unpacked(self, packed: bytes, size: int | None = None) -> bytes:
        """The bytes as they were. Raises ValueError over what is damaged, or has another size than this."""
        import zstandard  # noqa: PLC0415

        try:
            # A damaged frame may claim any size: so much memory is not asked for.
            if size is not None and zstandard.frame_content_size(packed) != size:
                raise ValueError("it has another size")
            return self._decompressor.decompress(packed)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    def begun(self, packed: bytes, size: int) -> bytes:
        """So many of the first bytes as they were, or all if there are fewer; what follows is not read."""
        import zstandard  # noqa: PLC0415

        try:
            with self._decompressor.stream_reader(packed) as stream:
                return stream.read(size)
        except zstandard.ZstdError as error:
            raise ValueError(str(error)) from error

    @cached_property
    def _compress(self) -> Callable[[bytes], bytes]:
        import zstandard  # noqa: PLC0415

        settings = zstandard.ZstdCompressionParameters.from_level(_LEVEL, hash_log=_HASH_LOG)
        return zstandard.ZstdCompressor(compression_params=settings).compress

    @cached_property
    def _decompressor(self) -> zstandard.ZstdDecompressor:
        import zstandard  # noqa: PLC0415

        return zstandard.ZstdDecompressor()
