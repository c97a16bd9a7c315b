"""Count messages by hour, and calls of tools."""

from __future__ import annotations

from agent_journal.archive.activity import ToolSum
from agent_journal.archive.sqlite.spending import Spending

# A time without a zone is in UTC; one with an offset is rare, and at most a few hours off.
_MESSAGES = """
    SELECT substr(t.at, 1, 13), count(*) FROM timeline t JOIN conversations c ON c.key = t.conversation
    WHERE t.role IN ('user', 'assistant') AND t.copy_of IS NULL AND t.earlier = 0 AND c.twin_of IS NULL
      AND length(t.at) >= 13
    GROUP BY 1 ORDER BY 1
"""
_TOOLS = """
    SELECT name, count(*), count(answered_by), coalesce(sum(is_error), 0),
      coalesce(sum(is_error AND next_name = name), 0), count(DISTINCT conversation)
    FROM (
      SELECT u.name, u.is_error, u.answered_by, u.conversation,
        lead(u.name) OVER (PARTITION BY u.conversation ORDER BY u.message, u.slot) AS next_name
      FROM tool_calls u
      JOIN conversations c ON c.key = u.conversation AND c.twin_of IS NULL
      JOIN timeline t ON t.key = u.message AND t.copy_of IS NULL AND t.earlier = 0
    )
    GROUP BY name ORDER BY 2 DESC, name
"""


class Activity(Spending):
    """The part of the store that counts activity."""

    def messages_by_hour(self) -> dict[str, int]:
        """Return how many messages people and models wrote, by hour in UTC: `2026-03-12T10`."""
        return dict(self._rows(_MESSAGES))

    def tool_sums(self) -> list[ToolSum]:
        """Return the calls of each tool, the most called one first."""
        return [ToolSum(*row) for row in self._rows(_TOOLS)]
