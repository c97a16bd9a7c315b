"""What to show of a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from msgspec import Struct

if TYPE_CHECKING:
    from agent_journal.terminal import Piece

    Line: TypeAlias = tuple[Piece, ...]

TEXT_INDENT = "    "
"""Text of messages is indented further than our own remarks, so that no message can imitate one."""
REMARK_INDENT = "  "


def is_text(line: Line) -> bool:
    """Whether a line is text of a message."""
    first = line[0]
    return (first if isinstance(first, str) else first[1]).startswith(TEXT_INDENT)


class View(Struct, frozen=True, kw_only=True):
    """What is shown in full; everything else is folded to a line or counted."""

    branch: str = "head"
    """`head`, `all`, or the id of the message that the branch leads to."""
    thinking: bool = False
    tools: bool = False
    everything: bool = False
    """Also hidden messages, those of subagents, and events."""
    message: str | None = None
    """Show only this message, in full, with some messages before and after it."""
    context: int = 3
    last: int | None = None
    """Show only this many messages, the last ones."""
