"""How reports look: within 80 columns, with what they leave out said beside them, and no formulas."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from agent_journal import config
from agent_journal.cli import _usage
from agent_journal.cli._usage_csv import neutralize_formula
from agent_journal.config import Price
from agent_journal.terminal import Sink
from agent_journal.terminal.measure import width
from agent_journal.terminal.table import Column, show_table
from agent_journal.usage import GROUPINGS, By, Report
from agent_journal.usage.periods import parse_zone
from agent_journal.usage.reporting import build_report
from tests.archive.journals import put, store_in_memory, talk
from tests.usage.test_reports import NOW, used


def made(by: By, tmp_path: Path, models: int = 3) -> Report:
    store = store_in_memory()
    for day in range(1, 29):
        at = f"2026-02-{day:02}T12:00:00Z"
        answers = [
            used(f"{day}-{n}", at, 10 ** (n + 5), f"model-with-a-long-name-{n}") for n in range(models)
        ]
        put(store, talk(f"c{day}", *answers, cwd=f"/home/ana/a/very/long/path/{day}", title="Tides " * 20))
    own = {f"model-with-a-long-name-{n}": Price(input=1, output=10) for n in range(3)}
    settled = replace(config.load(tmp_path, {}), prices=own)
    return build_report(store, settled, by, zone=parse_zone("UTC"), now=NOW)


def shown(
    told: Report, monkeypatch: pytest.MonkeyPatch, *, columns: int | None, color: bool = False
) -> list[str]:
    paper = io.StringIO()
    sink = Sink(paper, color=color, width=columns)
    monkeypatch.setattr(_usage, "out", lambda: sink)
    _usage.show(told, told.rows, with_chart=True)
    return paper.getvalue().splitlines()


@pytest.mark.parametrize("by", GROUPINGS)
def test_everything_fits_into_80_columns(by: By, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(made(by, tmp_path), monkeypatch, columns=80)

    assert lines
    assert max(map(width, lines)) <= 80
    assert lines[-1].startswith("total")
    assert lines[-1].endswith("$3,108.00")


@pytest.mark.parametrize(("by", "name"), [("model", "model-with-a-long-name-2"), ("project", "/path/28")])
def test_names_are_whole_where_there_is_no_room(
    by: By, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for columns in (80, 60):
        lines = shown(made(by, tmp_path), monkeypatch, columns=columns)
        (place,) = (place for place, line in enumerate(lines) if name in line)
        assert not any("…" in line.split("  ")[0] for line in lines)
        assert (lines[place] + lines[place + 1]).rstrip().endswith("00")


def test_what_is_wider_than_the_screen_goes_on_below() -> None:
    paper = io.StringIO()
    columns = [Column("name", gives_way=True, is_whole=True), Column("number", right=True)]
    show_table(Sink(paper, width=20), columns, [["x" * 30, "1"], ["y", "2"], ["潮" * 11, "3"]])

    assert paper.getvalue().splitlines() == [
        "NAME          NUMBER", "x" * 20, "x" * 10, "                   1", "y                  2",
        "潮" * 10, "潮", "                   3",
    ]  # fmt: skip


def test_conversations_without_any_counts_are_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = made("day", tmp_path)
    told.notices.uncounted = {"chatgpt": 1200, "grok": 1}
    _usage.report_notices(told)

    assert "1,201 conversations have no token counts at all" in (said := capsys.readouterr().err)
    assert "(chatgpt 1,200, grok 1)" in said


def test_bars_are_of_tokens_where_a_price_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert shown(made("day", tmp_path), monkeypatch, columns=80)[0] == "Cost per day"
    lines = shown(made("day", tmp_path, models=4), monkeypatch, columns=80)
    assert lines[0] == "Tokens per day"
    assert lines[-1].endswith("$3,108.00+")


def test_programs_get_whole_numbers_and_no_bars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = shown(made("month", tmp_path), monkeypatch, columns=None)

    assert lines == ["2026-02\t84\t0\t310800000\t0\t0\t0\t0\t310800000\t3108.000000"]


def test_colors_only_where_they_are_wanted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    told = made("day", tmp_path)

    assert any("\x1b" in line for line in shown(told, monkeypatch, columns=80, color=True))
    assert not any("\x1b" in line for line in shown(told, monkeypatch, columns=80))


@pytest.mark.parametrize(
    "text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "  =1", "＝1", "'=1", "'", "=cmd|' /C calc'!A0"]
)
def test_no_text_is_a_formula(text: str) -> None:
    assert neutralize_formula(text) == f"'{text}"


@given(st.text())
def test_taking_the_apostrophe_away_gives_what_it_was(text: str) -> None:
    written = neutralize_formula(text)

    assert text == written.removeprefix("'")
    assert not written.lstrip(" ").startswith(("=", "+", "-", "@"))
