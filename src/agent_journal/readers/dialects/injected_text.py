"""Text that programs put into a person's messages: how it is told from what the person wrote.

Agents send context, reminders and the output of commands to the model in the person's name. Nearly all of
them mark it with a tag around the whole text. A tag within a sentence is what somebody wrote about it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Part

# Tags of Claude Code, which also stand in recorded requests; other agents took over some of them.
HARNESS_TAGS = (
    *("system-reminder", "system_reminder", "task-notification", "teammate-message", "agent-message"),
    *("cross-session-message", "channel", "local-command-stdout", "local-command-stderr"),
    *("local-command-caveat", "bash-stdout", "bash-stderr", "ide_opened_file", "ide_selection"),
    *("ide_diagnostics", "new-diagnostics", "user-prompt-submit-hook", "session-start-hook"),
    *("post-tool-use-hook", "mcp-resource-update", "mcp-polling-update", "fork-boilerplate"),
)
SENT = "text"
"""The name in `extra` of the text as it was sent, beside what was typed of it."""
_OPENING = re.compile(r"\s*<([A-Za-z][\w-]*)(?:\s[^<>]*)?>")


class Tags:
    """Finds the blocks of some tags at the beginning of a text."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = frozenset(names)

    def end_of_block(self, text: str, start: int = 0) -> int | None:
        """Where the block ends that begins here; None if none does, or if it has no end."""
        opening = _OPENING.match(text, start)
        if opening is None or opening[1] not in self._names:
            return None
        closing = f"</{opening[1]}>"
        end = text.find(closing, opening.end())
        return None if end < 0 else end + len(closing)

    def is_all(self, text: str) -> bool:
        """Whether a text is blocks and nothing else.

        A block may quote its own tag, so that the first end is not the last one.
        """
        opening = _OPENING.match(text)
        if opening is None or opening[1] not in self._names:
            return False
        end = self._end_of_blocks(text)
        return not text[end:].strip() or text.rstrip().endswith(f"</{opening[1]}>")

    def split(self, text: str) -> tuple[str, str]:
        """The blocks before what a person wrote, each on lines of its own, and the rest."""
        end = self._end_of_blocks(text)
        return (text[:end], text[end:].lstrip("\r\n")) if end else ("", text)

    def _end_of_blocks(self, text: str) -> int:
        done = 0
        while (end := self.end_of_block(text, done)) is not None:
            rest = text[end : end + 1]
            if rest and rest not in "\r\n" and self.end_of_block(text, end) is None:
                break  # the line goes on: somebody wrote it
            done = end
        return done


def marked(parts: list[Part], is_injected: Callable[[str], bool]) -> tuple[list[Part], bool]:
    """The parts of a person's message with those marked that a program wrote; and whether those are all.

    A message of nothing else is hidden as a whole, and its parts stay as they are.
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


def typed_in(part: Text, words: str) -> Text:
    """What was typed of a text, with the text as it was sent beside it."""
    return replace(part, text=words, extra={**part.extra, SENT: part.text})
