"""Widths, tables, the line that tells how far something is, and the pager, on a terminal that is real."""

from __future__ import annotations

import io
import os
import pty
import re
import select
import shlex
import subprocess
import sys
import unicodedata
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal import terminal
from agent_journal.terminal import progress_line
from agent_journal.terminal.measure import _NEEDS_LOOKUP, _columns, cut, padded, width
from agent_journal.terminal.progress_line import ProgressLine
from agent_journal.terminal.table import Column, show_table
from agent_journal.terminal.wrapping import _broken_ascii, _broken_between_words, wrapped
from agent_journal.text.humanize import count, size

words = st.text(st.sampled_from([*"ab \u0301。日本語ﾊー👩é-*>1."]), max_size=60)


@pytest.mark.parametrize(
    ("text", "columns"), [("", 0), ("abc", 3), ("日本", 4), ("e\u0301", 1), ("ﾊ", 1), ("👩", 2), ("Ａ", 2)]
)
def test_width_is_in_columns(text: str, columns: int) -> None:
    assert columns == width(text)


@given(words, st.integers(-1, 70))
def test_what_is_cut_fits_and_says_so(text: str, columns: int) -> None:
    got = cut(text, columns)

    assert width(got) <= max(columns, 0)
    if width(text) <= columns:
        assert text == got
    elif columns > 0:
        assert got.endswith("…")
        assert text.startswith(got[:-1])


def test_cutting_looks_at_the_beginning_only_once() -> None:
    assert "a…" == cut("a" + "b\u0301" * 1_000_000, 2)


def test_filling_up_is_in_columns() -> None:
    assert "日  |" == padded("日", 4) + "|"


@given(words, st.integers(4, 50))
def test_wrapped_text_is_whole_and_fits_where_it_can(text: str, columns: int) -> None:
    lines = [*wrapped(text, columns)]

    assert "".join(text.split()) == "".join("".join(lines).split())
    for line in lines:
        # One word may be too long, with what stands before it on its line.
        fits = width(line) <= columns
        assert fits or len(line.split()) <= 2 or text.startswith("    ") or len(lines) == 1


@given(st.text(st.sampled_from("ab  -"), max_size=60), st.integers(1, 30), st.integers(0, 9))
def test_both_ways_of_breaking_lines_agree(text: str, columns: int, indent: int) -> None:
    margin = " " * min(indent, columns // 2)
    slow = [*_broken_between_words(text, columns, margin)]
    fast = [*_broken_ascii(text, columns, margin)]
    # Where nothing is left after the last break there is no line.
    assert [line for line in slow if line.strip()] == [line for line in fast if line.strip()]


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("one two three", ["one two", "three"]),
        ("- one two three", ["- one", "  two", "  three"]),
        ("  1. one two", ["  1. one", "    two"]),
        ("one https://example.org/x two", ["one", "https://example.org/x", "two"]),
        ("日本語日本。語", ["日本語日", "本。語"]),
        ("日本語日。本", ["日本語", "日。本"]),
        ("```\none two three\n```\none two three", ["```", "one two three", "```", "one two", "three"]),
        ("~~~ x\n```\none two three\n~~~", ["~~~ x", "```", "one two three", "~~~"]),
        ("| one | two | three |", ["| one | two | three |"]),
        ("    one two three", ["    one two three"]),
        ("", [""]),
        ("a\n\nb", ["a", "", "b"]),
    ],
)
def test_lines_break_where_people_would_break_them(text: str, lines: list[str]) -> None:
    assert lines == [*wrapped(text, 8)]


@pytest.mark.parametrize(
    ("number", "told"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 KB"),
        (34567, "35 KB"),
        (999_999, "1.0 MB"),
        (2 * 10**15, "2000 TB"),
    ],
)
def test_sizes_for_people(number: int, told: str) -> None:
    assert told == size(number)


def test_counts_for_people() -> None:
    assert ("1 line", "1,200 lines", "2 branches") == (
        count(1, "line"),
        count(1200, "line"),
        count(2, "branch", "branches"),
    )


# Tables.

COLUMNS = [
    Column("id", style="strong"),
    Column("messages", right=True),
    Column("title", gives_way=True),
    Column("at"),
]
ROWS = [
    ["a1", "12", "Fix the login test, which fails now and then", "10:05"],
    ["b22", "1,234", "ログインのテストが時々失敗します、直してください", ""],
    ["c", "1", "\x1b[2Jtwo\nlines\tand a tab", "11:00"],
]


def table(width: int | None, *, color: bool = False) -> str:
    out = io.StringIO()
    show_table(terminal.Sink(out, width=width, color=color), COLUMNS, ROWS)
    return out.getvalue()


def test_a_table_fits_the_terminal() -> None:
    assert [
        "ID   MESSAGES  TITLE                         AT",
        "a1         12  Fix the login test, which f…  10:05",
        "b22     1,234  ログインのテストが時々失敗…",
        "c           1  \\x1b[2Jtwo\\nlines and a tab   11:00",
    ] == table(50).rstrip("\n").split("\n")


@pytest.mark.parametrize("columns", [20, 30, 70, 200])
def test_no_line_of_a_table_is_wider_than_the_terminal(columns: int) -> None:
    assert all(width(line) <= columns for line in table(columns).split("\n"))
    assert table(columns) == re.sub("\x1b\\[[0-9;]*m", "", table(columns, color=True))


@pytest.mark.parametrize(
    ("ids", "shown"),
    [
        (["d1000001-2222", "d1000002-2222"], ["d1000001…", "d1000002…"]),
        (["7d3c52a8-2222", "d1000002-2222"], ["7d3c52a…", "d100000…"]),
        (["d1000000000001", "d1000000000002"], ["d100000…", "d100000…"]),  # it would take much of the room
    ],
)
def test_what_distinguishes_rows_is_cut_after_where_they_differ(ids: list[str], shown: list[str]) -> None:
    out = io.StringIO()
    columns = [
        Column("id", gives_way=True, is_distinctive=True),
        Column("title", gives_way=True),
        Column("at"),
    ]
    show_table(terminal.Sink(out, width=46), columns, [[id_, "and so on", "0" * 26] for id_ in ids])

    assert shown == [line.split()[0] for line in out.getvalue().split("\n")[1:-1]]


def test_a_table_without_rows_is_nothing() -> None:
    out = io.StringIO()
    show_table(terminal.Sink(out, width=80), COLUMNS, [])

    assert "" == out.getvalue()


def test_a_table_is_whole_for_programs() -> None:
    assert [
        "a1\t12\tFix the login test, which fails now and then\t10:05",
        "b22\t1,234\tログインのテストが時々失敗します、直してください\t",
        "c\t1\t\\x1b[2Jtwo\\nlines and a tab\t11:00",
    ] == table(None).rstrip("\n").split("\n")


# How far something is.


class Screen(io.StringIO):
    """A terminal that keeps what it is sent."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def screen(monkeypatch: pytest.MonkeyPatch) -> Screen:
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(progress_line, "_MIN_INTERVAL_S", 0)
    return Screen()


def seen(sent: str) -> list[str]:
    """What a terminal shows in the end, where only lines are erased."""
    lines = [""]
    for part in re.split(r"(\r\x1b\[K|\n)", sent):
        if part == "\n":
            lines.append("")
        elif part == "\r\x1b[K":
            lines[-1] = ""
        else:
            lines[-1] += part
    return lines


def test_progress_is_one_line_that_is_gone_at_the_end(
    screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stderr", screen)
    with terminal.progress() as line:
        line.update(5, text="reading")
        assert ["5  reading"] == seen(screen.getvalue())
        line.update(1500, 3000, "a\x1b[2J\nfile" + "x" * 99)
        assert ["1,500 of 3,000 (50%)  a\\x1b[2J\\nfilexx…"] == seen(screen.getvalue())
        terminal.say("note: something")
        assert ["note: something", ""] == seen(screen.getvalue())
        line.update(3000)
        assert ["note: something", "3,000 of 3,000 (100%)"] == seen(screen.getvalue())

    assert ["note: something", ""] == seen(screen.getvalue())


def test_progress_is_gone_after_an_error(screen: Screen) -> None:
    with suppress(KeyboardInterrupt), ProgressLine(screen, 10) as line:
        line.update(5)
        assert ["5 of 10 (50%)"] == seen(screen.getvalue())
        raise KeyboardInterrupt

    assert [""] == seen(screen.getvalue())
    assert [] == terminal.progress_lines


@pytest.mark.parametrize(("seconds", "told"), [(0.5, "50 files  x"), (4.0, "50 files  12/s  x")])
def test_the_rate_is_shown_when_it_means_something(seconds: float, told: str) -> None:
    assert told == progress_line._line(50, None, " files", seconds, "x")


def test_where_no_terminal_is_there_is_no_progress(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(progress_line, "_MIN_INTERVAL_S", 0)
    with terminal.progress() as line:
        line.update(5)

    assert "" == capsys.readouterr().err


# The pager.

PAGES = """\
import sys
from agent_journal import terminal
from agent_journal.terminal.pager import paged
with paged(enabled=sys.argv[1] == "paged") as sink:
    for number in range(int(sys.argv[2])):
        sink.line(("user", f"line {number}"), " \\x1b[2J `id` $(id)")
sys.exit(terminal.finish(0))
"""


def on_a_terminal(*arguments: str, **environment: str) -> tuple[str, int]:
    """What a terminal is sent by a program that pages, and its exit code."""
    values = {"TERM": "xterm", "COLUMNS": "80", "LINES": "24", **environment}
    leader, follower = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-c", PAGES, *arguments],
        env={**os.environ, **values},
        stdin=follower,
        stdout=follower,
        stderr=follower,
        start_new_session=True,
    ) as process:
        os.close(follower)
        sent = b""
        while select.select([leader], [], [], 60)[0]:
            try:
                part = os.read(leader, 65536)
            except OSError:
                break
            if not part:
                break
            sent += part
        code = process.wait(60)
    os.close(leader)
    return sent.decode().replace("\r\n", "\n"), code


SHOWN = "\x1b[1;36mline 0\x1b[0m \\x1b[2J `id` $(id)\n"


@pytest.fixture
def pager(tmp_path: Path) -> str:
    place = tmp_path / "my pager.py"
    place.write_text(
        "import os, sys\n"
        "print('paged', sys.argv[1:], os.environ.get('LESSOPEN'), os.environ['LESS'], flush=True)\n"
        "for line in sys.stdin:\n"
        "    print(line, end='', flush=True)\n"
        "    if sys.argv[1] == 'quit': break\n",
        encoding="utf-8",
    )
    return shlex.join([sys.executable, str(place)])


def test_the_persons_pager_gets_it_without_a_shell(pager: str) -> None:
    sent, code = on_a_terminal("paged", "1", PAGER=f"{pager} '$(id)' ;", LESSOPEN="|lesspipe %s", LESS="S")

    assert ("paged ['$(id)', ';'] None S\n" + SHOWN, 0) == (sent, code)


def test_leaving_the_pager_early_is_no_failure(pager: str) -> None:
    sent, code = on_a_terminal("paged", "100000", PAGER=f"{pager} quit")

    assert ("paged ['quit'] None FRX\n" + SHOWN, 0) == (sent, code)


@pytest.mark.parametrize("command", ["", "cat", "no-such-pager --x", "'unclosed"])
def test_without_a_pager_it_is_printed(command: str) -> None:
    assert (SHOWN, 0) == on_a_terminal("paged", "1", PAGER=command)


def test_no_pager_where_none_is_wanted(pager: str) -> None:
    assert (SHOWN, 0) == on_a_terminal("not", "1", PAGER=f"{pager} x")


def test_a_terminal_that_can_only_print_gets_no_pager_and_no_colors(pager: str) -> None:
    assert ("line 0 \\x1b[2J `id` $(id)\n", 0) == on_a_terminal("paged", "1", PAGER=f"{pager} x", TERM="dumb")


def test_no_pager_into_a_file(pager: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", PAGES, "paged", "1"],
        env={**os.environ, "PAGER": f"{pager} x"},
        capture_output=True,
        check=True,
    )

    assert b"line 0 \\x1b[2J `id` $(id)\n" == done.stdout


def test_characters_have_the_width_that_unicode_says() -> None:
    assert all(width(chr(code)) == 1 for code in range(0x20, 0x7F))
    assert all(width(chr(code)) == 0 for code in range(0x300, 0x370) if unicodedata.combining(chr(code)))
    usual = [chr(code) for code in range(0x10000) if not re.match(_NEEDS_LOOKUP, chr(code))]
    assert {1} == set(map(_columns, usual))
