"""What people read cannot do anything to them: the one sink shows what it must not pass on."""

from __future__ import annotations

import io
import json
import os
import pty
import re
import subprocess
import sys
import unicodedata
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from agent_journal import terminal
from agent_journal.text import sanitize

AJ = (sys.executable, "-m", "agent_journal")
DANGEROUS = [*map(chr, [*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0)])]
DANGEROUS += [
    *"\u200b\u200e\u200f\u061c\u2028\u2029\u202a\u202b\u202c\u202d\u202e\u2060\u2066\u2067\u2068\u2069"
]
DANGEROUS += [*"\xad\ufeff\u3164\U000e0001\U000e0041\U000e007f\ud800\udc9b\udfff\ufff9\U000e0101"]
hostile = st.text(
    st.one_of(st.sampled_from([*DANGEROUS, *"\u200c\u200d\ufe0f\u0645❤👩1\u20e3葛\n\t"]), st.characters())
)


@pytest.mark.parametrize("character", DANGEROUS, ids=ascii)
def test_a_character_that_misleads_is_shown_as_an_escape(character: str) -> None:
    shown = sanitize.safe(f"a{character}b")

    assert shown.isascii()
    assert shown.isprintable()
    assert f"a{character}b" == re.sub(
        r"\\r|\\(?:x|u|U)[0-9a-f]+(?=b)", lambda found: unescaped(found[0]), shown
    )


def unescaped(escape: str) -> str:
    return "\r" if escape == "\\r" else chr(int(escape.lstrip("\\xuU"), 16))


@given(hostile)
@example("a\ufe0f\u200d👩")
def test_nothing_else_is_touched_and_nothing_is_left_to_do(text: str) -> None:
    shown = sanitize.safe(text)

    assert sanitize.safe(shown) == shown
    kept = [character for character in shown if unicodedata.category(character) in {"Cc", "Cs", "Zl", "Zp"}]
    assert set(kept) <= {"\n", "\t"}
    assert not set(shown) & set(DANGEROUS) - {"\U000e0101"}
    plain = re.sub(r"\\(r|x[0-9a-f]{2}|u[0-9a-f]{4}|U[0-9a-f]{8})", lambda found: unescaped(found[0]), shown)
    if "\\" not in text:
        assert text == plain


@pytest.mark.parametrize(
    "text",
    [
        "plain, with tabs\tand\nlines",
        "Grüße, 日本語, עברית, العربية, Ελληνικά",
        "می\u200cخواهم",
        "क्\u200dष",
        "👩\u200d👩\u200d👧 ❤\ufe0f\u200d🔥 1\ufe0f\u20e3 👍🏽",
        "葛\U000e0100城市",
        "C:\\x1b\\u202e",
    ],
)
def test_what_is_written_so_stays_so(text: str) -> None:
    assert text == sanitize.safe(text)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a\u200db", "a\\u200db"),
        ("👩\u200dx", "👩\\u200dx"),
        ("\u200d👩", "\\u200d👩"),
        ("😀\ufe0f\ufe0f\U000e0100", "😀\\ufe0f\\ufe0f\\U000e0100"),
        ("rm\ufe0f", "rm\\ufe0f"),
        ("a\U000e0100", "a\\U000e0100"),
        ("\r\n", "\\r\n"),
    ],
)
def test_what_joins_nothing_hides_something(text: str, shown: str) -> None:
    assert shown == sanitize.safe(text)


def test_a_name_stays_on_one_line() -> None:
    assert "'a\\nb c\\x07'" == sanitize.quoted("a\nb\tc\x07")


class Screen(io.TextIOWrapper):
    """A terminal that keeps what it is sent."""

    def __init__(self, encoding: str = "utf-8") -> None:
        super().__init__(io.BytesIO(), encoding=encoding, write_through=True)

    def isatty(self) -> bool:
        return True

    def got(self) -> str:
        assert isinstance(self.buffer, io.BytesIO)
        return self.buffer.getvalue().decode(self.encoding)


@pytest.fixture
def _plain_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_COLOR", "COLUMNS", "LC_ALL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")


@pytest.mark.usefixtures("_plain_environment")
def test_styles_are_escape_sequences_of_our_own_line_by_line() -> None:
    screen = Screen()
    terminal.sink_of(screen).write(("user", "a\x1b[0m\n\nb"), " plain", ("dim", ""), "\n")

    assert "\x1b[1;36ma\\x1b[0m\x1b[0m\n\n\x1b[1;36mb\x1b[0m plain\n" == screen.got()


def test_a_line_is_one_line() -> None:
    screen = Screen()
    terminal.Sink(screen).line("a\nb", ("dim", "c\nd\t"))

    assert "a\\nbc\\nd\t\n" == screen.got()


@pytest.mark.parametrize(
    ("answer", "is_yes"),
    [("y\n", True), ("YES\n", True), ("n\n", False), ("\n", False), ("", False), ("yo", False)],
)
def test_only_yes_is_yes(monkeypatch: pytest.MonkeyPatch, answer: str, is_yes: bool) -> None:
    screen = Screen()
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(sys, "stdin", io.StringIO(answer))

    assert is_yes == terminal.confirm("erase\x1b[2J?")
    assert "erase\\x1b[2J? [y/N] " == screen.got()


@pytest.mark.usefixtures("_plain_environment")
@pytest.mark.parametrize(("name", "value"), [("NO_COLOR", "1"), ("TERM", "dumb")])
def test_colors_can_be_refused(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    screen = Screen()
    terminal.sink_of(screen).line(("user", "a"))

    assert "a\n" == screen.got()


@pytest.mark.usefixtures("_plain_environment")
def test_an_empty_refusal_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "")

    assert terminal.sink_of(Screen()).color


@pytest.mark.usefixtures("_plain_environment")
@pytest.mark.parametrize(("columns", "width"), [("40", 40), ("0", 80), ("wide", 80), ("", 80), ("²", 80)])
def test_the_width_is_stated_or_eighty(monkeypatch: pytest.MonkeyPatch, columns: str, width: int) -> None:
    monkeypatch.setenv("COLUMNS", columns)

    assert width == terminal.sink_of(Screen()).width


def test_a_file_has_no_colors_and_no_width() -> None:
    sink = terminal.sink_of(io.TextIOWrapper(io.BytesIO(), encoding="utf-8"))

    assert (False, None) == (sink.color, sink.width)


def test_what_the_encoding_lacks_is_escaped() -> None:
    screen = Screen("latin-1")
    terminal.Sink(screen).line("Grüße 日 \x9b")

    assert "Grüße \\u65e5 \\x9b\n" == screen.got()


@given(
    st.dictionaries(
        hostile,
        hostile | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.none(),
        max_size=3,
    )
)
@example({"wide": 1 << 70, "small": 6e-05})
def test_json_is_printable_ascii_that_gives_the_value_back(value: dict[str, object]) -> None:
    out = Screen()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stdout", out)
        terminal.show_json(value)
    line = out.got().removesuffix("\n")

    assert line.isascii()
    assert line.isprintable()
    assert value == json.loads(line)


# The command itself.


def run(
    *command: str, stdout: int = subprocess.PIPE, stderr: int = subprocess.PIPE, **environment: str
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [*AJ, *command], env={**os.environ, **environment}, check=False, stdout=stdout, stderr=stderr
    )


@pytest.mark.parametrize(
    "command", [["--help"], ["--version"], ["formats"], ["formats", "--json"], ["convert", "-h"]]
)
def test_a_reader_that_goes_away_is_no_failure(command: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run(*command, stdout=writing)
    os.close(writing)

    assert (b"", 0) == (done.stderr, done.returncode)


def test_when_nobody_hears_errors_there_is_no_traceback(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run("convert", str(tmp_path / "none"), "-t", "json", stdout=writing, stderr=writing)
    os.close(writing)

    assert 1 == done.returncode


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="a device of Linux")
@pytest.mark.parametrize("command", [["--help"], ["formats"]])
def test_output_that_cannot_be_written_is_a_failure(command: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = run(*command, stdout=full.fileno())

    assert (b"aj: Cannot write standard output: no space left on device\n", 1) == (
        done.stderr,
        done.returncode,
    )


@pytest.mark.parametrize(
    ("closed", "code", "told"),
    [
        (">&-", 1, b"aj: Cannot write standard output: bad file descriptor\n"),
        ("2>&-", 0, b""),
        ("<&-", 0, b""),
    ],
)
def test_streams_that_are_closed_at_the_start(closed: str, code: int, told: bytes) -> None:
    shell = f'"{sys.executable}" -m agent_journal formats {closed}'
    done = subprocess.run(["/bin/sh", "-c", shell], capture_output=True, check=False)

    assert (code, told) == (done.returncode, done.stderr)


@pytest.mark.parametrize(
    "environment", [{"LC_ALL": "C"}, {"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C.UTF-8"}]
)
def test_any_locale_and_any_name_of_a_file(tmp_path: Path, environment: dict[str, str]) -> None:
    place = os.fsencode(tmp_path) + b"/\x9b31m\x1b]0;t\x07\xe2\x80\xae\n\xc3\xa9.json"
    try:
        Path(os.fsdecode(place)).write_bytes(b"{}")
    except OSError:
        pytest.skip("this file system does not take such names")
    done = subprocess.run(
        [*map(os.fsencode, AJ), b"convert", place, b"-t", b"json"],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )

    assert 1 == done.returncode
    assert b"\\udc9b31m\\x1b]0;t\\x07\\u202e\\n" in done.stderr
    assert 1 == done.stderr.count(b"\n")
    assert not set(b"\x1b\x07\x9b") & set(done.stderr)


def test_on_a_terminal_names_are_shown_and_not_obeyed() -> None:
    leader, follower = pty.openpty()
    done = run("\x1b]0;title\x07\u202e", stderr=follower, stdout=follower)
    os.close(follower)
    seen = os.read(leader, 4096)
    os.close(leader)

    assert 2 == done.returncode
    assert b"aj: Unknown command '\\x1b]0;title\\x07\\u202e'; 'aj --help' lists all commands.\r\n" == seen


@pytest.mark.skipif(os.name == "nt", reason="no size of a file can be limited")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_what_a_full_disk_does_not_take_is_reported(tmp_path: Path, unbuffered: str) -> None:
    """Python's stream without a buffer says how much was written, and nobody listens."""
    line = {
        "type": "user", "uuid": "u", "sessionId": "s", "timestamp": "2026-03-01T10:00:00Z",
        "message": {"role": "user", "content": "some words " * 9_000},
    }  # fmt: skip
    (tmp_path / "s.jsonl").write_text(json.dumps(line) + "\n")
    command = f'"{sys.executable}" -m agent_journal convert s.jsonl -f claude-code -t text > out'
    done = subprocess.run(
        ["bash", "-c", f"trap '' XFSZ; ulimit -f 16; {command}"],  # noqa: S607
        cwd=tmp_path,
        env={**os.environ, "PYTHONUNBUFFERED": unbuffered, "PYTHONDONTWRITEBYTECODE": "1"},
        stderr=subprocess.PIPE,
        check=False,
    )

    assert (1, b"aj: Cannot read or write: file too large\n") == (done.returncode, done.stderr)
