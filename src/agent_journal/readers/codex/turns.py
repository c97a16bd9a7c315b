"""Turns that were taken back: what followed is another branch; where nothing did, all ends before them."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from agent_journal.model import Event, Message, tree


def as_tree(entries: list[Message | Event]) -> tuple[list[Message | Event], str | None]:
    """The timeline with parents, and the last message that is still there.

    Each entry follows the one before, but behind a step back what is left.
    """
    linked: list[Message | Event] = []
    before: str | None = None
    # What stood before each turn that is still there.
    turns: list[str | None] = []
    for entry in entries:
        if isinstance(entry, Message) and entry.role == "user" and not entry.hidden:
            turns.append(before)
        linked.append(replace(entry, parent_id=before))
        before = entry.id
        if isinstance(entry, Event) and entry.name == "thread_rolled_back":
            count = _taken_back(entry.data.get("payload"))
            if count and turns:
                before = turns[-count] if count <= len(turns) else turns[0]
                del turns[-count:]
    left = [] if before is None else tree.chain_to(linked, before)
    return linked, next((e.id for e in reversed(left) if isinstance(e, Message) and e.parts), None)


def _taken_back(payload: Any) -> int:
    count = payload.get("num_turns") if isinstance(payload, dict) else None
    return count if count.__class__ is int and count > 0 else 0
