"""A bar chart for people: one stacked bar for each period."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.terminal.measure import cut, padded, width
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.terminal import Piece, Sink, Style

# Parts differ in color and, for terminals without colors, in the character they are drawn with.
_LOOKS: tuple[tuple[Style, str], ...] = (
    ("user", "█"), ("assistant", "▓"), ("tool", "▒"), ("system", "░"), ("good", "▚"), ("bad", "▞"),
)  # fmt: skip
_ASCII_CHARACTERS = "#=+-*o"
_OTHER_PARTS: tuple[Style, str] = ("dim", "·")


class Bar(NamedTuple):
    """A bar: its name, the label after it, and the size of each part."""

    name: str
    label: str
    parts: dict[str, float]


def show_bars(sink: Sink, bars: Sequence[Bar]) -> None:
    """Print bars, the longest as wide as the terminal allows, and a legend."""
    parts = _parts_by_size(bars)
    looks = dict(zip(parts, _LOOKS if sink.can_show("█▓▒░▚▞·") else _ascii_looks(), strict=False))
    name_width = max((width(bar.name) for bar in bars), default=0)
    label_width = max((width(bar.label) for bar in bars), default=0)
    max_bar_width = max((sink.width or 80) - name_width - label_width - 4, 8)
    largest = max((sum(bar.parts.values()) for bar in bars), default=0.0)
    for bar in bars:
        segments = _segments(bar.parts, parts, looks, max_bar_width, largest)
        used = sum(len(text) for _, text in segments)
        label = " " * (max_bar_width - used + 2 + label_width - width(bar.label)) + bar.label
        sink.line(padded(bar.name, name_width), "  ", *segments, label)
    for pieces in _legend(parts, looks, sink.width or 80):
        sink.line(*pieces)


def _ascii_looks() -> tuple[tuple[Style, str], ...]:
    return tuple((style, sign) for (style, _), sign in zip(_LOOKS, _ASCII_CHARACTERS, strict=True))


def _parts_by_size(bars: Sequence[Bar]) -> list[str]:
    sizes: dict[str, float] = {}
    for bar in bars:
        for part, size in bar.parts.items():
            sizes[part] = sizes.get(part, 0) + size
    return sorted(sizes, key=lambda part: (-sizes[part], part))


def _segments(
    sizes: dict[str, float],
    parts: list[str],
    looks: dict[str, tuple[Style, str]],
    max_width: int,
    largest: float,
) -> list[tuple[Style, str]]:
    """The parts of a bar. The end of each is rounded, not its size, so that the bar has the right length."""
    segments: list[tuple[Style, str]] = []
    total, start = 0.0, 0
    for part in parts:
        total += sizes.get(part, 0)
        end = round(total / largest * max_width) if largest else 0
        style, sign = looks.get(part, _OTHER_PARTS)
        if end > start:
            segments.append((style, sign * (end - start)))
        start = end
    if not segments and total > 0:
        segments.append(("dim", looks.get(parts[0], _OTHER_PARTS)[1]))
    return segments


def _legend(parts: list[str], looks: dict[str, tuple[Style, str]], max_width: int) -> list[list[Piece]]:
    lines: list[list[Piece]] = []
    used = max_width
    shown = [part for part in parts if part in looks]
    for part in shown:
        style, sign = looks[part]
        name = cut(one_line(part), max_width - 4)
        if used + width(name) + 5 > max_width:
            lines.append([])
            used = 0
        lines[-1] += [(style, sign), f" {name}   "]
        used += width(name) + 5
    others = len(parts) - len(shown)
    if others:
        lines.append([_OTHER_PARTS, f" {others} others"])
    return lines
