"""What the search index gets of a row."""

from __future__ import annotations

from typing import NamedTuple


class IndexEntry(NamedTuple):
    """The texts of a message, a title or a memory, and the values that filters use."""

    key: int  # of its row: unique and always increasing; a changed entry gets a new one
    conversation: int
    role: str
    source: str
    project: str
    model: str
    at: int  # seconds since 1970, or 0
    text: str = ""  # the visible text of the message
    thinking: str = ""
    tool: str = ""  # input of tools
    output: str = ""  # output of tools
    attached: str = ""  # text of attached files
    title: str = ""
    branch: str = ""  # of the Git repository
    tools: tuple[str, ...] = ()  # names and kinds of the tools called or answered
    has_error: bool = False  # whether a tool call failed

    @property
    def texts(self) -> tuple[str, ...]:
        """The values of the text fields."""
        return self.text, self.thinking, self.tool, self.output, self.attached, self.title
