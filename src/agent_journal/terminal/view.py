"""What a person wants to see of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from agent_journal.terminal import Piece

    Line: TypeAlias = tuple[Piece, ...]

TEXT = "    "
"""What was said stands this far in, and our own words before it: no text can pass for them."""
OURS = "  "


def is_text(line: Line) -> bool:
    """Whether a line is of what was said."""
    first = line[0]
    return (first if isinstance(first, str) else first[1]).startswith(TEXT)


class View(Struct, frozen=True, kw_only=True):
    """What is shown; all else is folded to a line or counted."""

    branch: str = "head"
    """`head`, `all`, or the id of the message that the branch leads to."""
    thinking: bool = False
    tools: bool = False
    everything: bool = False
    """Also what is hidden, what subagents said, and events."""
    message: str | None = None
    """Only this message, unfolded, with some before and after it."""
    context: int = 3
    last: int | None = None
    """Only so many messages at the end."""
