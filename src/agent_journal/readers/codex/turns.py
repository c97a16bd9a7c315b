"""Turns that were rolled back: what follows is another branch; otherwise the head is before them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_journal.model import Event, Message, tree


def as_tree(entries: list[Message | Event]) -> tuple[list[Message | Event], str | None]:
    """Add parents to the timeline; also return the last message that was not rolled back.

    Each entry follows the one before it; after a rollback, the last one that remains.
    """
    linked: list[Message | Event] = []
    previous: str | None = None
    # The entry before each turn that was not rolled back.
    turns: list[str | None] = []
    for entry in entries:
        if isinstance(entry, Message) and entry.role == "user" and not entry.hidden:
            turns.append(previous)
        linked.append(replace(entry, parent_id=previous))
        previous = entry.id
        if isinstance(entry, Event) and entry.name == "thread_rolled_back":
            count = _rolled_back_turns(entry.data.get("payload"))
            if count and turns:
                previous = turns[-count] if count <= len(turns) else turns[0]
                del turns[-count:]
    remaining = [] if previous is None else tree.chain_to(linked, previous)
    return linked, next((e.id for e in reversed(remaining) if isinstance(e, Message) and e.parts), None)


def _rolled_back_turns(payload: Any) -> int:
    count = payload.get("num_turns") if isinstance(payload, dict) else None
    return count if count.__class__ is int and count > 0 else 0
