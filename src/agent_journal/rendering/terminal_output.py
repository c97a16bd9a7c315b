"""Terminal output: colors and styles become CSS classes; other escape codes are shown, not executed."""

from __future__ import annotations

import re

from agent_journal.rendering.markup import Markup, element, joined

_STYLE_CODE = re.compile(r"\x1b\[([0-9;:]*)m")
# The 16 colors of terminals, black to white, then bright; 256-color and RGB codes map to the nearest.
_PALETTE = (
    *((0, 0, 0), (205, 49, 49), (13, 188, 121), (229, 229, 16), (36, 114, 200), (188, 63, 188)),
    *((17, 168, 205), (229, 229, 229), (102, 102, 102), (241, 76, 76), (35, 209, 139), (245, 245, 67)),
    *((59, 142, 234), (214, 112, 214), (41, 184, 219), (255, 255, 255)),
)
_STYLES = {1: "bold", 2: "faint", 3: "italic", 4: "under", 7: "inverse", 9: "struck"}
_STYLE_ENDS = {22: ("bold", "faint"), 23: ("italic",), 24: ("under",), 27: ("inverse",), 29: ("struck",)}
# In the 256-color palette, a 6×6×6 color cube starts at 16 and a gray ramp at 232.
_FIRST_CUBE_COLOR, _FIRST_GRAY, _CUBE_LEVELS = 16, 232, (0, 95, 135, 175, 215, 255)


def with_line_ends(output: str) -> str:
    """Terminal output with one kind of line end.

    Text that a carriage return overwrites was visible for a while: it gets a line of its own.
    """
    return output.replace("\r\n", "\n").replace("\r", "␍\n") if "\r" in output else output


class TerminalScreen:
    """Turns terminal output into markup, in parts: a style lasts until it is ended."""

    def __init__(self) -> None:
        self._style: dict[str, str] = {}

    def markup(self, output: str) -> Markup:
        """The next part of the output."""
        if "\x1b[" not in output:
            return joined([_styled(output, self._style)])
        pieces: list[str] = []
        end = 0
        for code in _STYLE_CODE.finditer(output):
            pieces.append(_styled(output[end : code.start()], self._style))
            _apply_code(self._style, code[1])
            end = code.end()
        pieces.append(_styled(output[end:], self._style))
        return joined(pieces)


def terminal_markup(output: str) -> Markup:
    """Terminal output as markup."""
    return TerminalScreen().markup(with_line_ends(output))


def _styled(text_: str, style: dict[str, str]) -> str:
    return element("span", {"class": " ".join(style.values())}, text_) if text_ and style else text_


def _apply_code(style: dict[str, str], code: str) -> None:
    """Apply the numbers of a style code to a style."""
    numbers = [int(number) if number else 0 for number in re.split("[;:]", code[:100])]
    while numbers:
        number = numbers.pop(0)
        if number == 0:
            style.clear()
        elif number in _STYLES:
            style[_STYLES[number]] = _STYLES[number]
        elif number in _STYLE_ENDS:
            for name in _STYLE_ENDS[number]:
                style.pop(name, None)
        elif number in {38, 48}:
            style[_style_key(number)] = f"{_style_key(number)}{_nearest_color_of_code(numbers)}"
        elif number in {39, 49}:
            style.pop(_style_key(number), None)
        elif (color := _named_color(number)) is not None:
            style[_style_key(number)] = f"{_style_key(number)}{color}"


def _style_key(number: int) -> str:
    """`fg` or `bg`: whether a number sets the color of the text or of the background."""
    return "bg" if 40 <= number <= 49 or number >= 100 else "fg"  # noqa: PLR2004 (as terminals number them)


def _named_color(number: int) -> int | None:
    for first, color in ((30, 0), (40, 0), (90, 8), (100, 8)):
        if first <= number < first + 8:
            return number - first + color
    return None


def _nearest_color_of_code(numbers: list[int]) -> int:
    """The nearest of the 16 colors to a 256-color number or an RGB value."""
    form = numbers.pop(0) if numbers else 0
    if form == 5 and numbers:  # noqa: PLR2004 (one of 256)
        number = numbers.pop(0)
        if number < _FIRST_CUBE_COLOR:
            return number
        if number >= _FIRST_GRAY:
            return _nearest_color([8 + 10 * (number - _FIRST_GRAY)] * 3)
        number -= _FIRST_CUBE_COLOR
        return _nearest_color(
            [_CUBE_LEVELS[number // 36 % 6], _CUBE_LEVELS[number // 6 % 6], _CUBE_LEVELS[number % 6]]
        )
    rgb, numbers[:3] = numbers[:3], []
    return _nearest_color([*rgb, 0, 0, 0][:3])


def _nearest_color(rgb: list[int]) -> int:
    def distance(color: int) -> int:
        return sum((left - right) ** 2 for left, right in zip(_PALETTE[color], rgb, strict=True))

    return min(range(len(_PALETTE)), key=distance)
