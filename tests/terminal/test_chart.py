"""Bars: as long as they should be, told apart with and without colours, never wider than the terminal."""

from __future__ import annotations

import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.terminal import Sink
from agent_journal.terminal.chart import Bar, show_bars
from agent_journal.terminal.measure import width


class Paper(io.StringIO):
    """A stream of an encoding."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__()
        self._encoding = encoding

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._encoding


def drawn(*bars: Bar, color: bool = False, columns: int = 40, encoding: str = "utf-8") -> list[str]:
    paper = Paper(encoding)
    show_bars(Sink(paper, color=color, width=columns), bars)
    return paper.getvalue().splitlines()


DAYS = (Bar("Mon", "$3.00", {"a": 2.0, "b": 1.0}), Bar("Tue", "$1.50", {"b": 1.5}))


def test_the_longest_bar_has_all_the_room() -> None:
    first, second, legend = drawn(*DAYS)
    assert "█" * 9 + "▓" * 19 == re.sub(r"[^█▓]", "", first)
    assert second.count("█") == 14
    assert legend == "█ b   ▓ a   "


def test_colors_and_none() -> None:
    assert "\x1b[1;36m" in drawn(*DAYS, color=True)[0]
    assert not any("\x1b" in line for line in drawn(*DAYS))


def test_a_terminal_that_has_only_ascii() -> None:
    assert all(line.isascii() for line in drawn(*DAYS, encoding="ascii"))


def test_something_is_more_than_nothing() -> None:
    tiny = drawn(Bar("Mon", "", {"a": 1000.0}), Bar("Tue", "", {"a": 0.001}), Bar("Wed", "", {}))

    assert [1, 0] == [line.count("█") for line in tiny[1:3]]


def test_names_from_elsewhere_do_no_harm() -> None:
    lines = drawn(Bar("Mon", "", {"evil\x1b[2J\nmodel": 1.0}))

    assert not any("\x1b" in line for line in lines)
    assert 2 == len(lines)


@pytest.mark.parametrize("columns", [30, 80, 200])
@given(
    st.lists(
        st.dictionaries(st.sampled_from("abcdefghij"), st.floats(0, 1e9), max_size=9), min_size=1, max_size=9
    )
)
def test_no_bar_is_wider_than_the_terminal(columns: int, days: list[dict[str, float]]) -> None:
    bars = [Bar(f"day {place}", f"{sum(parts.values()):.0f}", parts) for place, parts in enumerate(days)]

    for line in drawn(*bars, columns=columns)[: len(bars)]:
        assert width(line) <= columns
