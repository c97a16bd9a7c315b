"""Standard output whose reader may close the pipe before everything is written."""

from __future__ import annotations

import os
from io import FileIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutlastingFile(FileIO):
    """A pipe that discards what is written after its reader has closed it."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes; returns how many were written."""
        try:
            return super().write(data)
        except BrokenPipeError:
            null = os.open(os.devnull, os.O_WRONLY)
            os.dup2(null, self.fileno())
            os.close(null)
            return super().write(data)
