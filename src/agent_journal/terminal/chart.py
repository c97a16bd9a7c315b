"""Bars for people: one for each period, its parts one behind the other."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.terminal.measure import cut, padded, width
from agent_journal.text.sanitize import one_line

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.terminal import Piece, Sink, Style

# Told apart by colour and, where there is none, by what they are drawn with.
_LOOKS: tuple[tuple[Style, str], ...] = (
    ("user", "█"), ("assistant", "▓"), ("tool", "▒"), ("system", "░"), ("good", "▚"), ("bad", "▞"),
)  # fmt: skip
_ASCII = "#=+-*o"
_REST: tuple[Style, str] = ("dim", "·")


class Bar(NamedTuple):
    """A bar: its name, what stands behind it, and how large each part is."""

    name: str
    label: str
    parts: dict[str, float]


def show_bars(sink: Sink, bars: Sequence[Bar]) -> None:
    """Print bars, the longest as wide as there is room, and which part is drawn how."""
    parts = _by_size(bars)
    looks = dict(zip(parts, _LOOKS if sink.draws("█▓▒░▚▞·") else _in_ascii(), strict=False))
    names = max((width(bar.name) for bar in bars), default=0)
    labels = max((width(bar.label) for bar in bars), default=0)
    room = max((sink.width or 80) - names - labels - 4, 8)
    most = max((sum(bar.parts.values()) for bar in bars), default=0.0)
    for bar in bars:
        drawn = _drawn(bar.parts, parts, looks, room, most)
        used = sum(len(text) for _, text in drawn)
        label = " " * (room - used + 2 + labels - width(bar.label)) + bar.label
        sink.line(padded(bar.name, names), "  ", *drawn, label)
    for pieces in _legend(parts, looks, sink.width or 80):
        sink.line(*pieces)


def _in_ascii() -> tuple[tuple[Style, str], ...]:
    return tuple((style, sign) for (style, _), sign in zip(_LOOKS, _ASCII, strict=True))


def _by_size(bars: Sequence[Bar]) -> list[str]:
    sizes: dict[str, float] = {}
    for bar in bars:
        for part, size in bar.parts.items():
            sizes[part] = sizes.get(part, 0) + size
    return sorted(sizes, key=lambda part: (-sizes[part], part))


def _drawn(
    sizes: dict[str, float],
    parts: list[str],
    looks: dict[str, tuple[Style, str]],
    room: int,
    most: float,
) -> list[tuple[Style, str]]:
    """The parts of a bar; ends are rounded, so that the whole is as long as it should be."""
    drawn: list[tuple[Style, str]] = []
    upto, at = 0.0, 0
    for part in parts:
        upto += sizes.get(part, 0)
        end = round(upto / most * room) if most else 0
        style, sign = looks.get(part, _REST)
        if end > at:
            drawn.append((style, sign * (end - at)))
        at = end
    if not drawn and upto > 0:
        drawn.append(("dim", looks.get(parts[0], _REST)[1]))
    return drawn


def _legend(parts: list[str], looks: dict[str, tuple[Style, str]], room: int) -> list[list[Piece]]:
    lines: list[list[Piece]] = []
    used = room
    shown = [part for part in parts if part in looks]
    for part in shown:
        style, sign = looks[part]
        name = cut(one_line(part), room - 4)
        if used + width(name) + 5 > room:
            lines.append([])
            used = 0
        lines[-1] += [(style, sign), f" {name}   "]
        used += width(name) + 5
    others = len(parts) - len(shown)
    if others:
        lines.append([_REST, f" {others} others"])
    return lines
