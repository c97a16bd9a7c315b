"""The fast path: messages of the common shape are decoded straight into a struct.

A message with any other field, or a field of another type, takes the general path; both give the same result.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from agent_journal.decoding.json_stream import Shape


class CommonMessage(Struct, forbid_unknown_fields=True, gc=False):
    """A message with the fields that Roo Code writes for each."""

    role: Literal["user", "assistant"]
    content: list[Any] | str
    ts: int
    id: str | None = None

    def as_record(self) -> dict[str, Any]:
        """Return the message as a dict, for the general path."""
        record: dict[str, Any] = {"role": self.role, "content": self.content, "ts": self.ts}
        return record if self.id is None else {**record, "id": self.id}


SHAPE = Shape(CommonMessage)
