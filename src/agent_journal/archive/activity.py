"""When messages were written, and how often tools were called and failed."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class ToolSum(NamedTuple):
    """The calls of a tool. Copies of calls in forks and duplicates are not counted."""

    name: str
    calls: int
    answered: int
    """Calls of which the result is known."""
    failed: int
    retried: int
    """Failed calls that were followed by a call of the same tool."""
    conversations: int


class ActivitySums(Protocol):
    """The part of a store that counts activity."""

    def messages_by_hour(self) -> dict[str, int]:
        """Return how many messages people and models wrote, by hour in UTC: `2026-03-12T10`."""

    def tool_sums(self) -> list[ToolSum]:
        """Return the calls of each tool, the most called one first."""
