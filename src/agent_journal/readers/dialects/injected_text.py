"""Distinguishes text that programs put into a user's messages from text that the user wrote.

Agents send context, reminders and the output of commands to the model in the user's name. Nearly all of them
mark it with a tag around the entire text. A tag within a sentence was written by the user.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Part

# Tags of Claude Code, which recorded requests have too; other agents adopted some of them.
HARNESS_TAGS = (
    *("system-reminder", "system_reminder", "task-notification", "teammate-message", "agent-message"),
    *("cross-session-message", "channel", "local-command-stdout", "local-command-stderr"),
    *("local-command-caveat", "bash-stdout", "bash-stderr", "ide_opened_file", "ide_selection"),
    *("ide_diagnostics", "new-diagnostics", "user-prompt-submit-hook", "session-start-hook"),
    *("post-tool-use-hook", "mcp-resource-update", "mcp-polling-update", "fork-boilerplate"),
)
SENT_TEXT_KEY = "text"
"""The `extra` field of the text as sent, where the part has only the text that the user typed."""
_OPENING = re.compile(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")


class Tags:
    """Locates blocks of certain tags at the beginning of a text."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def end_of_block(self, text: str, start: int = 0) -> int | None:
        """Return the end of the block that begins at `start`; None without a block or its end."""
        opening = _OPENING.match(text, start)
        if opening is None or opening[1] not in self._names:
            return None
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        return None if end < 0 else end + len(closing)

    def is_all(self, text: str) -> bool:
        """Return whether a text consists of blocks only.

        A block may quote its own tag, so its first closing tag is not always its last.
        """
        opening = _OPENING.match(text)
        if opening is None or opening[1] not in self._names:
            return False
        end = self._end_of_blocks(text)
        return not text[end:].strip() or text.rstrip().endswith(f"</{opening[1]}>")

    def split(self, text: str) -> tuple[str, str]:
        """Split a text into its leading blocks, each on its own lines, and the text that the user wrote."""
        end = self._end_of_blocks(text)
        return (text[:end], text[end:].lstrip("\r\n")) if end else ("", text)

    def _end_of_blocks(self, text: str) -> int:
        blocks_end = 0
        while (end := self.end_of_block(text, blocks_end)) is not None:
            next_char = text[end : end + 1]
            if next_char and next_char not in "\r\n" and self.end_of_block(text, end) is None:
                break  # text on the same line: the user wrote the tag
            blocks_end = end
        return blocks_end


def mark_injected_parts(parts: list[Part], is_injected: Callable[[str], bool]) -> tuple[list[Part], bool]:
    """Mark the parts of a user's message that a program wrote, and return whether it wrote all of them.

    The caller hides a message of injected text only, so its parts are returned unmarked.
    """
    flags = [isinstance(part, Text) and is_injected(part.text) for part in parts]
    if not any(flags):
        return parts, False
    if all(flag or _is_blank(part) for flag, part in zip(flags, parts, strict=True)):
        return parts, True
    return [
        replace(part, injected=True) if flag and isinstance(part, Text) else part
        for flag, part in zip(flags, parts, strict=True)
    ], False


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def with_typed_text(part: Text, typed: str) -> Text:
    """Return a part with only the typed text, and the text as sent in `extra`."""
    return replace(part, text=typed, extra={**part.extra, SENT_TEXT_KEY: part.text})
