"""Reads the line editor's prompts with their times: `# 2026-01-02 10:00:00.123456`, then `+text`."""

from __future__ import annotations

from collections import defaultdict, deque
from typing import TYPE_CHECKING

from agent_journal.model import timestamps

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input

_MAX_BYTES = 64 << 20


class Prompts:
    """The times of prompts; a text that was typed several times has them in order."""

    def __init__(self, source: Input | None) -> None:
        self._times_by_text: defaultdict[str, deque[str]] = defaultdict(deque)
        if source is not None:
            self._load(_text(source))

    def time_of(self, prompt: str, not_before: str | None) -> str | None:
        """Take the first remaining time of a prompt that is not before another time."""
        times = self._times_by_text.get(prompt.strip()) if self._times_by_text else None
        while times:
            at = times.popleft()
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
                    self._times_by_text["\n".join(lines).strip()].append(at)
                at, lines = timestamps.parse_timestamp(line[2:].strip()), []


def _text(source: Input) -> str:
    data = b""
    with source.open() as stream:
        while len(data) < _MAX_BYTES and (block := stream.read(1 << 20)):
            data += block
    return data.decode("utf-8", "replace")
