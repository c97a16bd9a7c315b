"""Which conversation a tool can resume."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.journal import Journal, Listed


def main_conversation(journal: Journal, listed: Listed) -> Listed:
    """Return the conversation that a subagent works for; a tool cannot resume that of the subagent."""
    visited = {listed.id}
    while listed.relation == "subagent" and listed.parent_id and listed.parent_id not in visited:
        parents = journal.find(f"{listed.source}:{listed.parent_id}")
        if len(parents) != 1:
            break
        listed = parents[0]
        visited.add(listed.id)
    return listed
