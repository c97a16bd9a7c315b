"""Data on a terminal: what a format holds, with every character that could mislead as an escape."""

from __future__ import annotations

import codecs
from typing import TYPE_CHECKING

from agent_journal.terminal import Sink
from agent_journal.text.sanitize import safe_data

if TYPE_CHECKING:
    from typing import TextIO


class ShownData:
    """A stream of bytes that a person looks at; a character may come in two pieces."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._sink = Sink(stream)
        self._decode = codecs.getincrementaldecoder("utf-8")("backslashreplace").decode

    def write(self, data: bytes) -> int:
        """Show bytes; how many there were."""
        self._sink.write(safe_data(self._decode(data)))
        return len(data)

    def flush(self) -> None:
        """Let what was written so far be read."""
        self._stream.flush()
