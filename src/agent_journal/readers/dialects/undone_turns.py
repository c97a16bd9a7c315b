"""Turns that were taken back: what follows is another branch; otherwise the head is before them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Event, Message, tree

if TYPE_CHECKING:
    from collections.abc import Callable


def as_tree(
    entries: list[Message | Event], undone_turns: Callable[[Event], int]
) -> tuple[list[Message | Event], str | None]:
    """Add parents to the timeline; also return the last message that was not taken back.

    Each entry follows the one before it; after an event that takes turns back, the last one that remains.
    `undone_turns` returns how many turns of the user an event takes back.
    """
    linked: list[Message | Event] = []
    previous: str | None = None
    # The entry before each turn that was not taken back.
    turns: list[str | None] = []
    for entry in entries:
        if isinstance(entry, Message) and entry.role == "user" and not entry.hidden:
            turns.append(previous)
        linked.append(replace(entry, parent_id=previous))
        previous = entry.id
        count = undone_turns(entry) if isinstance(entry, Event) else 0
        if count and turns:
            previous = turns[-count] if count <= len(turns) else turns[0]
            del turns[-count:]
    remaining = [] if previous is None else tree.chain_to(linked, previous)
    return linked, next((e.id for e in reversed(remaining) if isinstance(e, Message) and e.parts), None)
