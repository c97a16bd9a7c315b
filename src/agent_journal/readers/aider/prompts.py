"""The prompts with their times, as a line editor keeps them: `# 2026-01-02 10:00:00.123456`, then `+text`."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source

_LARGEST = 64 << 20


class Prompts:
    """When each prompt was typed. A text that was typed several times is given out in order."""

    def __init__(self, source: Source | None) -> None:
        self._at: defaultdict[str, deque[str]] = defaultdict(deque)
        if source is not None:
            self._load(_text(source))

    def time_of(self, prompt: str, not_before: str | None) -> str | None:
        """The first moment, not before another, at which a prompt was typed; each is given out once."""
        typed = self._at.get(prompt.strip()) if self._at else None
        while typed:
            at = typed.popleft()
            if not_before is None or at >= not_before:
                return at
        return None

    def _load(self, text: str) -> None:
        at: str | None = None
        lines: list[str] = []
        for line in (*text.split("\n"), "# "):
            if line.startswith("+"):
                lines.append(line[1:])
            elif line.startswith("# "):
                if at and lines:
                    self._at["\n".join(lines).strip()].append(at)
                at, lines = timestamps.moment(line[2:].strip()), []


def _text(source: Source) -> str:
    data = b""
    with source.open() as stream:
        while len(data) < _LARGEST and (block := stream.read(1 << 20)):
            data += block
    return data.decode("utf-8", "replace")
