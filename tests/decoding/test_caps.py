"""Caps on what is inflated and on single values: what is left out is named, and the rest is read."""

from __future__ import annotations

import gzip
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from agent_journal.conversion.pipeline import read_all
from agent_journal.decoding import json_stream, json_value, json_window
from agent_journal.inputs import compressed, sqlite_copy
from agent_journal.inputs.input import File, open_input
from agent_journal.notes import Notes
from tests.memory_source import Bytes

MEGABYTE = 1_000_000


@pytest.fixture(autouse=True)
def _limits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "MIN_RATIO_CHECK_BYTES", 100_000)
    monkeypatch.setattr(compressed, "LARGE_BYTES", MEGABYTE)
    monkeypatch.setattr(compressed._Allowed, "bytes", None)
    monkeypatch.setattr(compressed._Allowed, "asked", None)


def session(count: int) -> bytes:
    lines = (
        {
            "type": "user",
            "uuid": f"u{number}",
            "parentUuid": f"u{number - 1}" if number else None,
            "sessionId": "0574c517-2408-4a20-8808-7626fd961640",
            "timestamp": "2026-03-01T10:00:00.000Z",
            "cwd": "/home/ana/app",
            "message": {"role": "user", "content": f"{number} " + "x" * 900},
        }
        for number in range(count)
    )
    return b"".join(json.dumps(line).encode() + b"\n" for line in lines)


def packed(path: Path, kind: str, data: bytes) -> Path:
    if kind == "gz":
        path = path.with_suffix(".jsonl.gz")
        path.write_bytes(gzip.compress(data))
    else:
        path = path.with_suffix(".zip")
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as out:
            out.writestr("0574c517-2408-4a20-8808-7626fd961640.jsonl", data)
    return path


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_what_packs_too_well_is_read_up_to_the_cap(tmp_path: Path, kind: str) -> None:
    path = packed(tmp_path / "a", kind, session(5_000))
    note = Notes()
    (found,) = read_all([str(path)], note)

    assert 500 < len(found.timeline) < 3_000  # type: ignore[union-attr]
    (cut,) = [each for each in note.collected if "left out" in each.detail]
    assert cut.file.startswith(str(path))
    assert cut.where.startswith("line ")
    assert "inflate more than 20 times" in cut.detail
    assert "storage.max_inflated_mb" in cut.detail
    assert note.damaged


@pytest.mark.parametrize("kind", ["gz", "zip"])
def test_whoever_trusts_it_reads_all(tmp_path: Path, kind: str) -> None:
    path = packed(tmp_path / "a", kind, session(5_000))
    asked = iter([100])
    compressed.allow_if_asked(lambda: next(asked))
    note = Notes()
    (found,) = read_all([str(path)], note)

    assert len(found.timeline) == 5_000  # type: ignore[union-attr]
    assert not note.damaged


def test_what_is_allowed_is_a_limit_too(tmp_path: Path) -> None:
    path = packed(tmp_path / "a", "gz", session(5_000))
    compressed.allow(2)
    note = Notes()
    (found,) = read_all([str(path)], note)

    assert 500 < len(found.timeline) < 2_500  # type: ignore[union-attr]
    assert any("storage.max_inflated_mb is 2" in each.detail for each in note.collected)


def test_ordinary_files_are_read_whole(tmp_path: Path) -> None:
    data = b"".join(json.dumps({"n": os.urandom(300).hex()}).encode() + b"\n" for _ in range(4_000))
    path = packed(tmp_path / "a", "gz", data)

    assert sum(1 for _ in json_stream.lines(open_input(str(path)), Notes())) == 4_000


@pytest.mark.parametrize("verb", ["import", "convert"])
def test_the_setting_counts_for_every_verb(tmp_path: Path, verb: str) -> None:
    path = packed(tmp_path / "a", "gz", session(9_000))
    target = ["-t", "text"] if verb == "convert" else []
    codes = []
    for allowed in ("5", "100"):
        environ = {"AJ_HOME": str(tmp_path / allowed), "AJ_STORAGE_MAX_INFLATED_MB": allowed}
        environ["AJ_INDEX_VECTOR_BACKGROUND"] = "false"
        command = [sys.executable, "-m", "agent_journal", verb, str(path), *target]
        done = subprocess.run(command, env={**os.environ, **environ}, capture_output=True, check=False)
        codes.append((done.returncode, done.stderr.decode()[-300:]))
    assert [code for code, _ in codes] == [3, 0], codes


def large_values(path: Path, *sizes: int) -> Path:
    with closing(sqlite3.connect(path)) as made:
        checked = "value BLOB NOT NULL CHECK(length(value))"
        made.execute(f"CREATE TABLE item (key TEXT UNIQUE ON CONFLICT REPLACE, {checked})")
        made.executemany(
            "INSERT INTO item VALUES (?, zeroblob(?))",
            [(f"k{number}", size) for number, size in enumerate(sizes)],
        )
        made.commit()
    return path


def test_a_value_that_is_too_large_costs_that_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_copy, "MAX_VALUE_BYTES", 10_000)
    sqlite_copy.take_omitted_values()
    path = large_values(tmp_path / "a.db", 5, 20_000, 7, 30_000, 9)
    before = path.read_bytes()
    with sqlite_copy.opened(File(str(path))) as opened:
        rows = list(opened.rows("SELECT key, value FROM item ORDER BY key"))
        again = list(opened.rows("SELECT key, value FROM item ORDER BY key"))

    assert [(key, len(value)) for key, value in rows] == [
        ("k0", 5),
        ("k1", 0),
        ("k2", 7),
        ("k3", 0),
        ("k4", 9),
    ]
    assert rows == again
    omitted = sqlite_copy.take_omitted_values()
    assert [(file, place) for file, place, _ in omitted] == [(str(path), "item.value")] * 2
    assert "20,000 bytes" in omitted[0][2]
    assert path.read_bytes() == before


def test_an_element_that_is_too_large_costs_that_element(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (json_value, json_window, json_stream):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 50_000)
    for module in (json_window, json_stream):
        monkeypatch.setattr(module, "BLOCK_BYTES", 4_096)
    hostile = '\\\\"]}, {"id": ' * 8_000
    values = [{"id": 0}, {"id": 1, "text": hostile, "more": [[{}]]}, {"id": 2}, [hostile], hostile, {"id": 3}]
    for text in (json.dumps(values), json.dumps(values, indent=1)):
        note = Notes()
        found = [value for _, value in json_stream.elements(Bytes(text.encode()), note)]

        assert found == [{"id": 0}, {"id": 2}, {"id": 3}]
        assert [each.where for each in note.collected] == ["[1]", "[3]", "[4]"]
        assert {each.kind for each in note.collected} == {"too-large"}
        assert sum(note.lost_bytes.values()) > 3 * len(hostile)


def test_a_member_that_is_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (json_value, json_window, json_stream):
        monkeypatch.setattr(module, "MAX_RECORD_BYTES", 50_000)
    for module in (json_window, json_stream):
        monkeypatch.setattr(module, "BLOCK_BYTES", 4_096)
    text = json.dumps({"noise": "x" * 200_000, "wanted": [1, 2], "end": True})

    assert [value for _, value in json_stream.elements(Bytes(text.encode()), Notes(), "wanted")] == [1, 2]
    note = Notes()
    found = [(key, value) for key, _, value in json_stream.members(Bytes(text.encode()), note)]
    assert found == [("wanted", 1), ("wanted", 2), ("end", True)]
    assert [each.where for each in note.collected] == ["noise"]


MEASURED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (int(sys.argv[1]), int(sys.argv[1])))
from agent_journal.decoding import json_stream
from agent_journal.notes import Notes
from agent_journal.inputs.input import open_input
note = Notes()
found = list(json_stream.elements(open_input(sys.argv[2]), note))
print(len(found), [each.kind for each in note.collected])
"""


def test_a_huge_string_takes_little_memory(tmp_path: Path) -> None:
    """One of 600 MB; the limit of memory is below that."""
    path = tmp_path / "a.json"
    with path.open("wb") as out:
        out.write(b'[{"id": 1}, {"id": 2, "text": "')
        for _ in range(600):
            out.write(b"x" * MEGABYTE)
        out.write(b'"}, {"id": 3}]')
    # Python itself and its libraries take some address space, too.
    limit = (4 * json_value.MAX_RECORD_BYTES) + (100 << 20)
    done = subprocess.run(
        [sys.executable, "-c", MEASURED, str(limit), str(path)], capture_output=True, text=True, check=False
    )
    assert done.stdout.split() == ["2", "['too-large']"], done.stderr[-500:]
