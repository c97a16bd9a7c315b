"""A line that tells how far something is, written over again and again and gone at the end."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Self, TextIO

from agent_journal.terminal import in_the_way, is_plain, is_terminal, sink_of
from agent_journal.terminal.measure import cut
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from types import TracebackType

_SECONDS_BETWEEN = 0.1
_ERASE = "\r\x1b[K"


class ProgressLine:
    """Tells how much is done and how fast, ten times a second at most; silent where no terminal is."""

    def __init__(self, stream: TextIO, total: int | None = None, unit: str = "") -> None:
        self._stream = stream
        self._total = total
        self._unit = f" {unit}" if unit else ""
        self._shows = is_terminal(stream) and not is_plain()
        self._sink = sink_of(stream)
        self._began = time.monotonic()
        self._last = 0.0
        self._visible = False

    def __enter__(self) -> Self:
        """Begin to count the time."""
        self._began = time.monotonic()
        in_the_way.append(self)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Leave nothing behind."""
        self.clear()
        in_the_way.remove(self)

    def update(self, done: int, total: int | None = None, text: str = "") -> None:
        """Tell that so much is done, of so much, and what is being done."""
        if not self._shows:
            return
        if total is not None:
            self._total = total
        now = time.monotonic()
        if now - self._last < _SECONDS_BETWEEN:
            return
        self._last = now
        line = _line(done, self._total, self._unit, now - self._began, one_line(text))
        # One column stays free: a line that fills the last one would begin another.
        self._send(_ERASE + self._sink.drawn(("dim", cut(line, (self._sink.width or 80) - 1))))
        self._visible = True

    def clear(self) -> None:
        """Take the line away, so that something else can be said; the next update brings it back."""
        if self._visible:
            self._send(_ERASE)
            self._visible = False
            self._last = 0.0

    def _send(self, text: str) -> None:
        try:
            self._stream.write(text)
            self._stream.flush()
        except OSError:
            self._shows = False  # nobody looks any more


def _line(done: int, total: int | None, unit: str, seconds: float, text: str) -> str:
    rate = f"{done / seconds:,.0f}/s" if seconds >= 1 else ""
    amount = f"{done:,} of {total:,}{unit} ({min(done / total, 1):.0%})" if total else f"{done:,}{unit}"
    return "  ".join(part for part in (amount, rate, text) if part)
