"""A line that shows progress, overwritten by each update and erased at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TextIO

from agent_journal.terminal import is_dumb, is_terminal, progress_lines, sink_of
from agent_journal.terminal.measure import cut
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from types import TracebackType

_MIN_INTERVAL_S = 0.1
_ERASE = "\r\x1b[K"


class ProgressLine:
    """Shows how much is done and how fast, at most ten times a second; nothing if there is no terminal."""

    def __init__(self, stream: TextIO, total: int | None = None, unit: str = "") -> None:
        self._stream = stream
        self._total = total
        self._unit = f" {unit}" if unit else ""
        self._is_enabled = is_terminal(stream) and not is_dumb()
        self._sink = sink_of(stream)
        self._started_at = time.monotonic()
        self._updated_at = 0.0
        self._is_visible = False

    def __enter__(self) -> Self:
        """Start to measure the rate."""
        self._started_at = time.monotonic()
        progress_lines.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Erase the line."""
        self.clear()
        progress_lines.remove(self)

    def update(self, done: int, total: int | None = None, text: str = "") -> None:
        """Show how much is done, of how much, and what is being done."""
        if not self._is_enabled:
            return
        if total is not None:
            self._total = total
        now = time.monotonic()
        if now - self._updated_at < _MIN_INTERVAL_S:
            return
        self._updated_at = now
        line = _line(done, self._total, self._unit, now - self._started_at, one_line(text))
        # One column stays free: some terminals wrap a line that fills the last one.
        self._send(_ERASE + self._sink.render(("dim", cut(line, (self._sink.width or 80) - 1))))
        self._is_visible = True

    def clear(self) -> None:
        """Erase the line, so that something else can be printed; the next update shows it again."""
        if self._is_visible:
            self._send(_ERASE)
            self._is_visible = False
            self._updated_at = 0.0

    def _send(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._is_enabled = False  # the terminal is gone


def _line(done: int, total: int | None, unit: str, seconds: float, text: str) -> str:
    rate = f"{done / seconds:,.0f}/s" if seconds >= 1 else ""
    amount = f"{done:,} of {total:,}{unit} ({min(done / total, 1):.0%})" if total else f"{done:,}{unit}"
    return "  ".join(part for part in (amount, rate, text) if part)
