"""Messages as nearly all are, decoded straight into their fields: faster than taking them apart with care.

A message with any other field, or a field of another type, is no usual one; both ways make the same of each.
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

from agent_journal.decoding.json_stream import Shape


class Usual(Struct, forbid_unknown_fields=True, gc=False):
    """A message with the fields that Roo Code writes for each."""

    role: Literal["user", "assistant"]
    content: list[Any] | str
    ts: int
    id: str | None = None

    def as_record(self) -> dict[str, Any]:
        """The same as any other record, to be taken apart with care."""
        record: dict[str, Any] = {"role": self.role, "content": self.content, "ts": self.ts}
        return record if self.id is None else {**record, "id": self.id}


SHAPE = Shape(Usual)
