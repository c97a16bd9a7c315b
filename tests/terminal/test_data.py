"""Data on a terminal: nothing in it is obeyed; everywhere else it is exact."""

from __future__ import annotations

import io
import json
import os
import pty
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.terminal.data import SanitizedBytes
from agent_journal.text.sanitize import safe_data

NASTY = "a\x9b31mb\u202ec\x7fd\u2066e\U000e0041f\x85g"


def shown(*pieces: bytes) -> str:
    stream = io.StringIO()
    out = SanitizedBytes(stream)
    assert len(b"".join(pieces)) == sum(map(out.write, pieces))
    out.flush()
    return stream.getvalue()


def test_controls_are_shown_as_escapes_of_json() -> None:
    told = shown(json.dumps({"said": NASTY}, ensure_ascii=False).encode() + b"\n")

    assert told.isascii()
    assert '{"said": "a\\u009b31mb\\u202ec\\u007fd\\u2066e\\udb40\\udc41f\\u0085g"}\n' == told
    assert NASTY == json.loads(told)["said"]


def test_a_character_in_two_pieces_is_one() -> None:
    assert "é\\u009b\\xff" == shown(b"\xc3", b"\xa9\xc2", b"\x9b", b"\xff")


@given(st.text())
def test_json_stays_json_whatever_the_text(text: str) -> None:
    told = safe_data(json.dumps(text, ensure_ascii=False))

    assert text == json.loads(told)
    assert not set(told) & {chr(code) for code in (*range(32), *range(0x7F, 0xA0), 0x202E, 0x2066)}


@pytest.fixture
def session(tmp_path: Path) -> Path:
    record = {
        "type": "user",
        "uuid": "u1",
        "parentUuid": None,
        "sessionId": "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10",
        "timestamp": "2026-03-14T09:00:00.000Z",
        "version": "2.1.90",
        "message": {"role": "user", "content": NASTY},
    }
    path = tmp_path / "5d1f4c1e-3a52-4c0b-9d6e-7f2a8b3c9e10.jsonl"
    path.write_text(json.dumps(record, ensure_ascii=False) + "\n", encoding="utf-8")
    return path


def command(*arguments: str) -> list[str]:
    return [sys.executable, "-m", "agent_journal", *arguments]


def on_a_terminal(*arguments: str) -> tuple[int, bytes]:
    leader, follower = pty.openpty()
    seen: list[bytes] = []

    def look() -> None:
        try:
            while data := os.read(leader, 65_536):
                seen.append(data)
        except OSError:  # nobody has the other end any more
            return

    looking = threading.Thread(target=look)
    looking.start()
    done = subprocess.run(command(*arguments), stdout=follower, stderr=follower, check=False)
    os.close(follower)
    looking.join()
    os.close(leader)
    return done.returncode, b"".join(seen)


def test_a_conversion_cannot_move_the_cursor(session: Path) -> None:
    code, seen = on_a_terminal("convert", str(session), "-t", "json")
    piped = subprocess.run(command("convert", str(session), "-t", "json"), capture_output=True, check=False)

    assert (0, 0) == (code, piped.returncode)
    assert NASTY.encode() in piped.stdout, "exact where no terminal is"
    assert json.loads(piped.stdout) == json.loads(seen.decode("ascii"))


def test_a_zip_is_not_sent_to_a_terminal(session: Path) -> None:
    code, seen = on_a_terminal("convert", str(session), "-t", "pam")

    assert 1 == code
    assert b"pam is not text for a terminal; use -o PATH" in seen
    assert b"PK" not in seen
