"""Terminal output as a terminal shows it: colours become classes; other escape codes are told, not obeyed."""

from __future__ import annotations

import re

from agent_journal.writers.html.markup import Markup, element, joined, text

_COLOURS = re.compile(r"\x1b\[([0-9;:]*)m")
# The 16 colours of terminals, for those that are told by number or mixture: black to white, then bright.
_PALETTE = (
    *((0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16), (36, 114, 200), (188, 63, 188)),
    *((17, 168, 205), (229, 229, 229), (102, 102, 102), (241, 76, 76), (35, 209, 139), (245, 245, 67)),
    *((59, 142, 234), (214, 112, 214), (41, 184, 219), (255, 255, 255)),
)
_STYLES = {1: "bold", 2: "faint", 3: "italic", 4: "under", 7: "inverse", 9: "struck"}
_ENDS = {22: ("bold", "faint"), 23: ("italic",), 24: ("under",), 27: ("inverse",), 29: ("struck",)}
_CUBE, _GREYS, _STEPS = 16, 232, (0, 95, 135, 175, 215, 255)


def screen(output: str) -> Markup:
    """What a terminal showed."""
    output = output.replace("\r\n", "\n")
    # What is written over with a carriage return was there to be seen: it gets a line of its own.
    output = output.replace("\r", "␍\n")
    if "\x1b[" not in output:
        return text(output)
    style: dict[str, str] = {}
    pieces: list[str] = []
    end = 0
    for code in _COLOURS.finditer(output):
        pieces.append(_styled(output[end : code.start()], style))
        _change(style, code[1])
        end = code.end()
    pieces.append(_styled(output[end:], style))
    return joined(pieces)


def _styled(said: str, style: dict[str, str]) -> str:
    return element("span", {"class": " ".join(style.values())}, said) if said and style else said


def _change(style: dict[str, str], code: str) -> None:
    """What a code changes of a style."""
    numbers = [int(number) if number else 0 for number in re.split("[;:]", code[:100])]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style.clear()
        elif number in _STYLES:
            style[_STYLES[number]] = _STYLES[number]
        elif number in _ENDS:
            for name in _ENDS[number]:
                style.pop(name, None)
        elif number in {38, 48}:
            style[_ground(number)] = f"{_ground(number)}{_mixed(numbers)}"
        elif number in {39, 49}:
            style.pop(_ground(number), None)
        elif (colour := _named(number)) is not None:
            style[_ground(number)] = f"{_ground(number)}{colour}"


def _ground(number: int) -> str:
    """Whether a number is about letters or about what is behind them."""
    return "bg" if 40 <= number <= 49 or number >= 100 else "fg"  # noqa: PLR2004 (as terminals number them)


def _named(number: int) -> int | None:
    for first, colour in ((30, 0), (40, 0), (90, 8), (100, 8)):
        if first <= number < first + 8:
            return number - first + colour
    return None


def _mixed(numbers: list[int]) -> int:
    """The nearest of the 16 colours to one that is told by its number or its mixture."""
    form = numbers.pop(0) if numbers else 0
    if form == 5 and numbers:  # noqa: PLR2004 (one of 256)
        number = numbers.pop(0)
        if number < _CUBE:
            return number
        if number >= _GREYS:
            return _nearest([8 + 10 * (number - _GREYS)] * 3)
        number -= _CUBE
        return _nearest([_STEPS[number // 36 % 6], _STEPS[number // 6 % 6], _STEPS[number % 6]])
    mixture, numbers[:3] = numbers[:3], []
    return _nearest([*mixture, 0, 0, 0][:3])


def _nearest(mixture: list[int]) -> int:
    def distance(colour: int) -> int:
        return sum((one - other) ** 2 for one, other in zip(_PALETTE[colour], mixture, strict=True))

    return min(range(len(_PALETTE)), key=distance)
