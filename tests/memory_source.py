"""A source made of bytes in memory, for tests of what lies above it."""

from __future__ import annotations

import io
from collections.abc import Sequence

from agent_journal.inputs.input import Input, Stream


class Bytes:
    """A file that is not on disk."""

    is_folder = False
    modified_at = None

    def __init__(self, data: bytes, name: str = "input.json") -> None:
        self._data = data
        self.name = self.label = self.path = name

    def open(self) -> Stream:
        return io.BytesIO(self._data)

    def children(self) -> Sequence[Input]:
        return ()

    def companion(self, *names: str) -> Input | None:  # noqa: ARG002 (the contract)
        return None

    def companions(self, *names: str) -> Sequence[Input]:  # noqa: ARG002 (the contract)
        return ()
