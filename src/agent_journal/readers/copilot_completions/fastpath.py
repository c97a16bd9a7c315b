"""The events that logs are full of, decoded straight into their fields.

An event that has any other field, or a field of another type, is not a usual one: it is taken apart with care
instead. So nothing can be lost here, and both ways make the same messages of the same event.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from agent_journal.decoding.json_stream import Shape

_Said = Annotated[str, Meta(min_length=1)]


class UsualEvent(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False):
    """A suggestion; the fields are called as events call them."""

    timestamp: _Said
    file: _Said
    promptContext: _Said  # noqa: N815 (as it is written)
    completion: _Said
    language: str | None = None
    extensionVersion: str | None = None  # noqa: N815
    editor: str | None = None
    accepted: bool | None = None
    completionIndex: int | float | None = None  # noqa: N815

    def rest(self) -> dict[str, Any]:
        """What stays beside the messages."""
        rest: dict[str, Any] = {}
        if self.accepted is not None:
            rest["accepted"] = self.accepted
        if self.completionIndex is not None:
            rest["completionIndex"] = self.completionIndex
        return rest


SHAPE = Shape(UsualEvent)


def as_record(event: UsualEvent) -> dict[str, Any]:
    """The event as it is written."""
    record: dict[str, Any] = msgspec.to_builtins(event)
    return record
