"""Standard output whose reader may go away before everything is written."""

from __future__ import annotations

import os
from io import FileIO
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer


class OutlastingFile(FileIO):
    """A pipe that takes, and forgets, what is written after its reader has gone."""

    def write(self, data: ReadableBuffer, /) -> int:
        """Write bytes; the number that was taken."""
        try:
            return super().write(data)
        except BrokenPipeError:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self.fileno())
            os.close(nowhere)
            return super().write(data)
