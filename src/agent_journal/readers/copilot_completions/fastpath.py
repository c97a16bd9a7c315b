"""The fast path: the most common events, decoded directly into a struct.

An event that has any other field, or a field of another type, takes the slow path instead. So nothing can be
lost here, and both paths make the same messages from the same event.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agent_journal.decoding.json_stream import Shape

_NonemptyStr = Annotated[str, Meta(min_length=1)]


class CommonEvent(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A suggestion; the fields have the names of the source."""

    timestamp: _NonemptyStr
    file: _NonemptyStr
    promptContext: _NonemptyStr  # noqa: N815 (the name in the source)
    completion: _NonemptyStr
    language: str | None = None
    extensionVersion: str | None = None  # noqa: N815
    editor: str | None = None
    accepted: bool | None = None
    completionIndex: int | float | None = None  # noqa: N815

    def rest(self) -> dict[str, Any]:
        """Get the fields that no message has."""
        rest: dict[str, Any] = {}
        if self.accepted is not None:
            rest["accepted"] = self.accepted
        if self.completionIndex is not None:
            rest["completionIndex"] = self.completionIndex
        return rest


SHAPE = Shape(CommonEvent)


def as_record(event: CommonEvent) -> dict[str, Any]:
    """Convert an event back to its record."""
    record: dict[str, Any] = msgspec.to_builtins(event)
    return record
