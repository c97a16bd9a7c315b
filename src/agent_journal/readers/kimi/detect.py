"""Detects wire files by the envelope of their lines, and context files by the roles that only they have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.kimi.names import CONFIG, LOOP_EVENT, MESSAGE, METADATA, PROFILE, PROMPT, USAGE

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

WIRE, CLI, CONTEXT = "wire", "cli", "context"
_OWN_ROLES = ("_system_prompt", "_checkpoint", "_usage")
_FIELDS = {
    MESSAGE: "message",
    LOOP_EVENT: "event",
    PROMPT: "input",
    CONFIG: "modelAlias",
    PROFILE: "profileName",
    USAGE: "usage",
}
_ENVELOPE_FIELD_COUNT = 2


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a wire or context file, else None."""
    if peek.is_folder or peek.opening != "{":
        return None
    keys, records = peek.keys, peek.records
    if "protocol_version" in keys and records[0].get("type") == METADATA:
        is_flat = "created_at" in records[0] or any("time" in record for record in records[1:])
        return WIRE if is_flat else CLI
    if "type" in keys and any(map(_is_flat, records)):
        return WIRE
    if "message" in keys and any(map(_is_enveloped, records)):
        return CLI
    return CONTEXT if "role" in keys and any(record.get("role") in _OWN_ROLES for record in records) else None


def _is_flat(record: dict[str, Any]) -> bool:
    kind = record.get("type")
    field = _FIELDS.get(kind) if kind.__class__ is str else None
    return field is not None and field in record


def _is_enveloped(record: dict[str, Any]) -> bool:
    message, at = record.get("message"), record.get("timestamp")
    return (
        len(record) == _ENVELOPE_FIELD_COUNT
        and at.__class__ in (int, float)
        and message.__class__ is dict
        and message.keys() == {"type", "payload"}
    )
