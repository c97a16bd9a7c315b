"""Detects folders by their events, and files by the fields of events."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.openhands.names import EVENTS, KINDS, SOURCES, STATE

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

V1, V0 = "v1", "v0"
_MAX_PROBES = 3


def version_of(peek: Peek) -> str | None:
    """The version of the format if the input is a conversation of this tool, else None."""
    if not peek.is_folder:
        return _version_of_events(peek)
    if EVENTS not in peek.folders:
        return None
    events = peek.folder(EVENTS)
    names = [name for name in events.members if name.endswith(".json")] if events is not None else []
    for name in names[:_MAX_PROBES]:
        event = None if events is None else events.member(name)
        if event is not None and (version := _version_of_events(event)) is not None:
            return version
    state = peek.member(STATE)
    return V1 if state is not None and {"agent", "workspace"} <= state.keys else None


def _version_of_events(peek: Peek) -> str | None:
    if peek.opening not in {"{", "["} or not {"source", "timestamp"} <= peek.keys:
        return None
    if any(map(_is_event, peek.records)):
        return V1
    return V0 if any(map(_is_old_event, peek.records)) else None


def _is_event(record: dict[str, Any]) -> bool:
    kind = record.get("kind")
    return (
        kind.__class__ is str
        and kind in KINDS
        and record.get("source") in SOURCES
        and record.get("id").__class__ is str
    )


def _is_old_event(record: dict[str, Any]) -> bool:
    if record.get("id").__class__ is not int or record.get("source") not in SOURCES:
        return False
    if record.get("action").__class__ is str:
        return record.get("args").__class__ is dict
    return record.get("observation").__class__ is str and ("extras" in record or "content" in record)
