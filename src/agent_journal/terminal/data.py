"""Bytes of any format on a terminal, sanitized."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from agent_journal.terminal import Sink
from agent_journal.text.sanitize import safe_data

if TYPE_CHECKING:
    from typing import TextIO


class SanitizedBytes:
    """A binary stream that prints to a terminal; a character may be split between two writes."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._sink = Sink(stream)
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode

    def write(self, data: bytes) -> int:
        """Print bytes; returns their number."""
        self._sink.write(safe_data(self._decode(data)))
        return len(data)

    def flush(self) -> None:
        """Flush the terminal."""
        self._stream.flush()
