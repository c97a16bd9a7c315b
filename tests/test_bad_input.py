"""What bad input gets: the good part converted and the rest named, or one line that says why not."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest

DEEP = "[" * 100_000 + "]" * 100_000
DIGITS = "9" * 10_000


class Source(NamedTuple):
    """How a format holds records, so that the same damage can be done to each."""

    file: str
    record: Callable[[int], dict[str, Any]]
    is_array: bool

    def bytes(self, *records: Any) -> bytes:
        """Records as the file holds them; a string is put in as it is."""
        texts = [text if isinstance(text, str) else json.dumps(text) for text in records]
        return ("[" + ",\n".join(texts) + "]" if self.is_array else "\n".join(texts) + "\n").encode()

    def good(self, count: int) -> list[dict[str, Any]]:
        return [self.record(number) for number in range(count)]


def session_line(number: int) -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"u{number}",
        "parentUuid": f"u{number - 1}" if number else None,
        "isSidechain": False,
        "sessionId": "0574c517-2408-4a20-8808-7626fd961640",
        "timestamp": "2026-03-01T10:00:00.000Z",
        "cwd": "/home/ana/app",
        "version": "2.1.90",
        "userType": "external",
        "message": {"role": "user", "content": f"say {number}"},
    }


def chat(number: int) -> dict[str, Any]:
    message = {
        "id": "n1",
        "author": {"role": "user"},
        "create_time": 1770000000.1,
        "content": {"content_type": "text", "parts": [f"say {number}"]},
        "metadata": {},
    }
    return {
        "title": f"Chat {number}",
        "conversation_id": f"6a010000-0000-4000-8000-{number:012d}",
        "create_time": 1770000000.1,
        "update_time": 1770000300.2,
        "current_node": "n1",
        "mapping": {
            "n0": {"id": "n0", "parent": None, "children": ["n1"], "message": None},
            "n1": {"id": "n1", "parent": "n0", "children": [], "message": message},
        },
    }


def call(number: int) -> dict[str, Any]:
    return {
        "id": f"r{number}",
        "timestamp": "2026-02-20T10:00:00Z",
        "duration_ms": 1200,
        "request": {"model": "gpt-4", "messages": [{"role": "user", "content": f"say {number}"}]},
        "response": {"choices": [{"message": {"role": "assistant", "content": f"done {number}"}}]},
        "error": None,
    }


SOURCES = {
    "claude-code": Source("0574c517-2408-4a20-8808-7626fd961640.jsonl", session_line, is_array=False),
    "chatgpt": Source("conversations.json", chat, is_array=True),
    "api-trace": Source("trace.jsonl", call, is_array=False),
}
each_source = pytest.mark.parametrize("source", SOURCES.values(), ids=SOURCES)


class Result(NamedTuple):
    code: int
    texts: str
    conversations: list[dict[str, Any]]
    errors: list[str]


def aj_convert(path: Path, data: bytes | None = None, *options: str) -> Result:
    if data is not None:
        path.write_bytes(data)
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "convert", str(path), "-t", "json", *options],
        capture_output=True,
        check=False,
    )
    out, errors = done.stdout.decode(), done.stderr.decode().splitlines()
    assert not any("Traceback" in line for line in errors), errors
    assert all(line.startswith(("note: ", "aj: ", "aj convert: ")) for line in errors), errors
    return Result(done.returncode, out, [json.loads(line) for line in out.split("\n") if line], errors)


def converted(result: Result, *numbers: int) -> None:
    for number in numbers:
        assert f'"say {number}"' in result.texts
    assert result.conversations


@each_source
def test_a_bad_record_among_good_ones(source: Source, tmp_path: Path) -> None:
    first, _, third = source.good(3)
    opening = json.dumps(first).partition(":")[0]
    result = aj_convert(tmp_path / source.file, source.bytes(first, opening + ': nonsense "}', third))

    converted(result, 0, 2)
    assert result.code == 3
    place = "[1]" if source.is_array else "line 2"
    assert any(f"{source.file} {place}: bad-record" in line for line in result.errors)


@each_source
def test_cut_off_in_the_middle(source: Source, tmp_path: Path) -> None:
    result = aj_convert(tmp_path / source.file, source.bytes(*source.good(3))[:-90])

    converted(result, 0, 1)
    assert result.code == 3
    place = "[2]" if source.is_array else "line 3"
    assert any(place in line for line in result.errors)


@each_source
def test_bytes_of_another_encoding(source: Source, tmp_path: Path) -> None:
    data = source.bytes(*source.good(3)).replace(b"say 1", b"say caf\xe9")
    result = aj_convert(tmp_path / source.file, data)

    converted(result, 0, 2)
    assert "say caf\ufffd" in result.texts
    assert result.code == 3
    assert any("bad-encoding" in line for line in result.errors)


@each_source
@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_damage(source: Source, tmp_path: Path, encoding: str) -> None:
    data = source.bytes(*source.good(3)).decode().encode(encoding)
    result = aj_convert(tmp_path / source.file, data)

    converted(result, 0, 1, 2)
    assert (result.code, result.errors) == (0, [])


@each_source
@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", "empty"),
        (b"\n\n  ", "empty"),
        (b"<!DOCTYPE html>\n<html><body>Sign in</body></html>", "HTML"),
        (b"\0" * 1000, "binary"),
        (b"{" * 1000, "JSON"),
        (b"[]", "JSON"),
        (b"just words", "text"),
    ],
)
def test_nothing_usable_gets_one_line(source: Source, tmp_path: Path, data: bytes, word: str) -> None:
    result = aj_convert(tmp_path / source.file, data)

    assert result.code == 1
    assert result.texts == ""
    (line,) = result.errors
    assert word in line
    assert source.file in line


@each_source
def test_the_wrong_reader_says_so(source: Source, tmp_path: Path) -> None:
    result = aj_convert(tmp_path / source.file, b'{"name": "left-pad"}\n', "-f", own_name(source))

    assert result.code == 1
    assert result.texts == ""
    assert result.errors


def own_name(source: Source) -> str:
    return next(name for name, other in SOURCES.items() if other is source)


@each_source
@pytest.mark.parametrize(
    ("value", "kind", "kept"),
    [
        (DEEP, "bad-record", None),
        (DIGITS, "bad-number", DIGITS),
        ("NaN", "bad-number", '"NaN"'),
        ("-Infinity", "bad-number", '"-Infinity"'),
        ('"half \\ud800 a character"', "lone-surrogate", "half \ufffd a character"),
        ('"\\u0000 \\u001b[2J \\u202e"', None, "\\u0000 \\u001b[2J \u202e"),
        ("1e400", "bad-number", '"1e400"'),
        (str(2**70), None, str(2**70)),
    ],
    ids=["deep", "digits", "nan", "infinity", "surrogate", "controls", "float", "2**70"],
)
def test_values_that_break_parsers(
    source: Source, tmp_path: Path, value: str, kind: str | None, kept: str | None
) -> None:
    records = [json.dumps(record) for record in source.good(3)]
    records[1] = records[1][:-1] + f', "odd": {value}}}'
    result = aj_convert(tmp_path / source.file, source.bytes(*records))

    converted(result, 0, 2)
    assert result.code == (0 if kind is None else 3)
    if kind is not None:
        assert any(kind in line for line in result.errors)
    if kept is not None:
        assert kept in result.texts


@each_source
@pytest.mark.parametrize("value", [7, "text", [], {}, None, True, [[]], {"role": []}])
def test_wrong_types_everywhere(source: Source, tmp_path: Path, value: Any) -> None:
    for key in source.record(1):
        records = source.good(3)
        records[1] = {**records[1], key: value}
        result = aj_convert_here(tmp_path / source.file, source.bytes(*records))

        converted(result, 0, 2)


def aj_convert_here(path: Path, data: bytes) -> Result:
    """The same without a process of its own, where there are many cases."""
    import msgspec  # noqa: PLC0415 (with what it is needed for)

    from tests.cases import outcome  # noqa: PLC0415

    path.write_bytes(data)
    result = outcome(path)
    texts = "\n".join(msgspec.json.encode(item).decode() for item in result.items)
    return Result(0, texts, [json.loads(line) for line in texts.split("\n") if line], [])


def test_parents_in_a_circle(tmp_path: Path) -> None:
    lines = SOURCES["claude-code"].good(4)
    lines[1]["parentUuid"] = "u3"
    result = aj_convert(tmp_path / SOURCES["claude-code"].file, SOURCES["claude-code"].bytes(*lines))

    converted(result, 0, 1, 2, 3)
    assert result.code == 3
    assert any("cycle" in line for line in result.errors)


def test_nodes_in_a_circle(tmp_path: Path) -> None:
    record = chat(0)
    record["mapping"]["n0"]["parent"] = "n1"
    result = aj_convert(tmp_path / "conversations.json", SOURCES["chatgpt"].bytes(record))

    converted(result, 0)
    assert result.code == 3
    assert any("cycle" in line for line in result.errors)


def test_two_records_with_one_id(tmp_path: Path) -> None:
    lines = SOURCES["claude-code"].good(3)
    lines[2]["uuid"] = "u1"
    result = aj_convert(tmp_path / SOURCES["claude-code"].file, SOURCES["claude-code"].bytes(*lines))

    converted(result, 0, 1, 2)
    assert result.code == 3
    assert any("duplicate-id" in line for line in result.errors)
    ids = [entry["id"] for entry in result.conversations[0]["timeline"]]
    assert len(ids) == len(set(ids)) == 3


def test_the_same_record_twice(tmp_path: Path) -> None:
    lines = SOURCES["claude-code"].good(3)
    result = aj_convert(
        tmp_path / SOURCES["claude-code"].file, SOURCES["claude-code"].bytes(*lines, lines[1])
    )

    assert result.texts.count('"text":"say 1"') == 1
    assert result.code == 0
    assert any("repeated-record" in line for line in result.errors)


LONG = 20_000


def test_a_very_long_session(tmp_path: Path) -> None:
    source = SOURCES["claude-code"]
    result = aj_convert(tmp_path / source.file, source.bytes(*source.good(LONG)))

    assert (result.code, result.errors) == (0, [])
    assert len(result.conversations[0]["timeline"]) == LONG


def test_a_very_deep_graph(tmp_path: Path) -> None:
    record = chat(0)
    for number in range(2, LONG):
        message = {**record["mapping"]["n1"]["message"], "id": f"n{number}"}
        record["mapping"][f"n{number}"] = {"id": f"n{number}", "parent": f"n{number - 1}", "message": message}
    record["current_node"] = f"n{LONG - 1}"
    result = aj_convert(tmp_path / "conversations.json", SOURCES["chatgpt"].bytes(record), "--branch", "head")

    assert (result.code, result.errors) == (0, [])
    assert len(result.conversations[0]["timeline"]) == LONG


@pytest.mark.parametrize("target", ["unified", "cooked", "agent-record"])
def test_a_very_long_session_in_every_format(tmp_path: Path, target: str) -> None:
    source = SOURCES["claude-code"]
    (tmp_path / source.file).write_bytes(source.bytes(*source.good(5_000)))
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "convert", str(tmp_path / source.file), "-t", target],
        capture_output=True,
        check=False,
    )

    assert done.returncode == 0
    assert done.stdout.count(b"say ") >= 5_000


def test_a_request_with_very_many_messages(tmp_path: Path) -> None:
    record = call(0)
    record["request"]["messages"] = [{"role": "user", "content": f"say {n}"} for n in range(LONG)]
    result = aj_convert(tmp_path / "trace.jsonl", SOURCES["api-trace"].bytes(record))

    assert (result.code, result.errors) == (0, [])
    assert len(result.conversations[0]["timeline"]) == LONG + 1


def test_several_inputs_of_which_one_is_bad(tmp_path: Path) -> None:
    good, bad = tmp_path / "trace.jsonl", tmp_path / "bad.json"
    good.write_bytes(SOURCES["api-trace"].bytes(call(0)))
    bad.write_bytes(b"{}")
    result = aj_convert(good, None, str(bad), str(tmp_path / "gone"))

    converted(result, 0)
    assert result.code == 3
    assert any("bad.json" in line for line in result.errors)
    assert any("gone" in line for line in result.errors)


def test_output_is_whole_or_not_there(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    result = aj_convert(tmp_path / "trace.jsonl", b"nothing", "-o", str(target))

    assert result.code == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["trace.jsonl"]


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    result = aj_convert(
        tmp_path / "trace.jsonl", SOURCES["api-trace"].bytes(call(0)), "-o", "/proc/nowhere/out.json"
    )

    assert result.code == 1
    (line,) = result.errors
    assert "Cannot write /proc/nowhere/out.json" in line


def test_ids_that_are_paths_stay_below_the_folder(tmp_path: Path) -> None:
    record = {**call(0), "id": "../../../tmp/evil"}
    aj_convert(tmp_path / "trace.jsonl", SOURCES["api-trace"].bytes(record), "-o", f"{tmp_path}/out/")

    (written,) = (tmp_path / "out").iterdir()
    assert written.parent == tmp_path / "out"
    assert written.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("environment", [{"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONIOENCODING": "ascii"}])
def test_a_terminal_without_unicode(tmp_path: Path, environment: dict[str, str]) -> None:
    path = tmp_path / "日本 é.json"
    path.write_text('{"ключ": "値"}', encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "convert", str(path), "-t", "json"],
        capture_output=True,
        check=False,
        env=environment,
    )

    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert done.stderr.isascii()


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_leaves_nothing_half_written(tmp_path: Path, number: int, code: int) -> None:
    source = SOURCES["chatgpt"]
    (tmp_path / source.file).write_bytes(source.bytes(*source.good(60_000)))
    with subprocess.Popen(
        [sys.executable, "-m", "agent_journal", "convert", source.file, "-t", "cooked", "-o", "out.json"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
    ) as running:
        while running.poll() is None and not list(tmp_path.glob(".aj-*.part")):
            time.sleep(0.01)
        running.send_signal(number)
        _, errors = running.communicate()

    assert running.returncode == code
    assert b"Traceback" not in errors
    assert [path.name for path in tmp_path.iterdir()] == [source.file]


def test_a_reader_of_our_output_that_has_seen_enough(tmp_path: Path) -> None:
    source = SOURCES["chatgpt"]
    (tmp_path / source.file).write_bytes(source.bytes(*source.good(2_000)))
    done = subprocess.run(  # noqa: S602 (a pipe is the point)
        f"{sys.executable} -m agent_journal convert {tmp_path / source.file} -t json | head -c 10",
        shell=True,
        capture_output=True,
        check=False,
    )

    assert done.stderr == b""
    assert len(done.stdout) == 10
