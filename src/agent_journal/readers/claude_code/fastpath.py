"""The lines that sessions are full of, decoded straight into their fields: more than twice as fast.

A line that has any other field, or a field of another type, is not a usual one: it is taken apart with care
instead. So nothing can be lost here, and both ways make the same message of the same line.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any, Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

# Whoever has seen so many lines in a row that were not usual need not try any longer.
GIVE_UP_AFTER = 40


class UsualBody(Struct, forbid_unknown_fields=True, gc=False):
    """The message of a usual line."""

    role: Literal["user", "assistant"]
    content: str | list[Any]
    id: str | None = None
    type: Literal["message"] | UnsetType = UNSET
    model: str | None = None
    stop_reason: Any = UNSET
    stop_sequence: Any = UNSET
    usage: dict[str, Any] | None = None

    def is_prompt(self) -> bool:
        """Whether it has none of the fields that only answers have."""
        return (
            self.type is UNSET
            and self.stop_reason is UNSET
            and self.stop_sequence is UNSET
            and not (self.id or self.model or self.usage)
        )

    def left(self) -> dict[str, Any]:
        """What stays beside the parts, under the source's names."""
        left = {}
        if self.stop_reason is not UNSET:
            left["stop_reason"] = self.stop_reason
        if self.stop_sequence is not UNSET:
            left["stop_sequence"] = self.stop_sequence
        return left


class UsualLine(Struct, forbid_unknown_fields=True, gc=False, rename="camel"):
    """A line with the envelope that the app has written since its first versions."""

    type: Literal["user", "assistant"]
    uuid: str
    timestamp: str
    message: UsualBody
    parent_uuid: str | None = None
    session_id: str | None = None
    cwd: str | None = None
    version: str | None = None
    git_branch: str | None = None
    is_sidechain: Any = UNSET
    user_type: Any = UNSET
    request_id: Any = UNSET
    tool_use_result: Any = UNSET
    agent_id: Any = UNSET
    permission_mode: Any = UNSET
    slug: Any = UNSET
    entrypoint: Any = UNSET
    prompt_id: Any = UNSET
    thinking_metadata: Any = UNSET
    todos: Any = UNSET
    source_tool_assistant_uuid: Any = msgspec.field(default=UNSET, name="sourceToolAssistantUUID")

    def left(self) -> dict[str, Any]:
        """What stays beside the message, under the source's names."""
        left: dict[str, Any] = {}
        if self.is_sidechain is not UNSET:
            left["isSidechain"] = self.is_sidechain
        if self.user_type is not UNSET:
            left["userType"] = self.user_type
        if self.request_id is not UNSET:
            left["requestId"] = self.request_id
        if self.tool_use_result is not UNSET:
            left["toolUseResult"] = self.tool_use_result
        values = _less_usual(self)
        if values != _NONE_OF_THEM:
            left |= {name: value for name, value in zip(_NAMES, values, strict=True) if value is not UNSET}
        return left


_LESS_USUAL = [field for field in msgspec.structs.fields(UsualLine) if field.default is UNSET][4:]
_NAMES = tuple(field.encode_name for field in _LESS_USUAL)
_NONE_OF_THEM = (UNSET,) * len(_NAMES)
_less_usual = attrgetter(*(field.name for field in _LESS_USUAL))

decode = msgspec.json.Decoder(UsualLine).decode
