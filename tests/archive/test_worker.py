"""A second process reads new files; what it cannot tell of, the first one reads."""

from __future__ import annotations

import array
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import IO

import pytest

from agent_journal.archive import encoded, worker
from agent_journal.archive.candidates import ImportCandidate, Result, stat_of
from agent_journal.archive.importing import Importer
from tests.archive.journals import NOW, everything, imported, journal


def history(folder: Path, number: int, times: int = 1) -> ImportCandidate:
    name = f"{number:08}-0000-4000-8000-000000000000"
    lines = [
        {
            "type": "user",
            "uuid": f"{name}-{line}",
            "parentUuid": f"{name}-{line - 1}" if line else None,
            "sessionId": name,
            "timestamp": f"2026-03-01T10:00:{line:02}Z",
            "cwd": "/work",
            "message": {"role": "user", "content": " ".join([f"question {number}.{line}"] * times)},
        }
        for line in range(5)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return ImportCandidate(str(path), "claude-code", "", stat_of(str(path)))


def test_what_it_reads_is_what_one_process_reads(tmp_path: Path) -> None:
    (tmp_path / "histories").mkdir()
    found = [history(tmp_path / "histories", number) for number in range(7)]
    with journal(tmp_path / "alone") as archive:
        imported(archive, *(each.path for each in found))
        alone = everything(archive.store)
    with journal(tmp_path / "together") as archive:
        told: list[Result] = []
        with Importer(archive, NOW, lambda _: None, told.append) as importer:
            for each, prepared in worker.prepare(found, NOW):
                assert prepared is not None, each
                importer.take_prepared(prepared)
        assert everything(archive.store) == alone
        assert not list(archive.store.problems())
        assert [each.status for each in told] == ["imported"] * 7


def test_the_first_reads_what_the_second_died_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [history(tmp_path, number) for number in range(3)]
    started = subprocess.Popen

    def doomed(*arguments: object, **options: object) -> subprocess.Popen[bytes]:
        process = started(*arguments, **options)  # type: ignore[call-overload]
        os.kill(process.pid, signal.SIGKILL)
        return process  # type: ignore[no-any-return]

    monkeypatch.setattr(subprocess, "Popen", doomed)
    assert list(worker.prepare(found, NOW)) == [(each, None) for each in found]


def test_bytes_that_several_files_have_come_once(tmp_path: Path) -> None:
    first = history(tmp_path, 1)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(Path(first.path).read_bytes())
    found = [first, ImportCandidate(str(copy), first.reader, "", stat_of(str(copy)))]
    with journal(tmp_path / "journal") as archive, Importer(archive, NOW, _ignore, _ignore) as importer:
        sent = []
        for _, prepared in worker.prepare(found, NOW):
            assert prepared is not None
            sent.append(len(prepared.blobs))
            importer.take_prepared(prepared)
        importer.flush()
        kept = [archive.store.snapshots(row.key)[0].manifest for row in archive.store.sources()]
        assert [archive.vault.get(each.files[""].chunks[0]) for each in kept] == [copy.read_bytes()] * 2
    assert sent == [1, 0]


def _ignore(_: object) -> None:
    """What is told here is not asked for."""


@pytest.mark.skipif(not hasattr(signal, "SIGSTOP"), reason="there is no such signal")
def test_an_answer_is_whole_although_the_process_was_stopped(tmp_path: Path) -> None:
    """Whoever is stopped while a pipe is full goes on with what the pipe did not take."""
    request = worker._Request(NOW, history(tmp_path, 1, times=10_000))
    process = subprocess.Popen(
        [sys.executable, "-P", "-m", worker.__name__],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    with process:
        worker._send(process.stdin, encoded.encode(request))
        worker._close_quietly(process.stdin)
        _wait_until_full(process.stdout)
        process.send_signal(signal.SIGSTOP)
        process.send_signal(signal.SIGCONT)
        answer = worker._receive(process.stdout)

    assert answer is not None
    prepared = worker._ANSWER.decode(answer)
    assert prepared is not None
    ((_, rows, _),) = prepared.items
    assert [" ".join([f"question 1.{line}"] * 10_000) for line in range(5)] == [row.text for row in rows]


def _wait_until_full(pipe: IO[bytes] | None) -> None:
    """Wait until nothing more fits into a pipe."""
    import fcntl  # noqa: PLC0415 (Windows has none)
    import termios  # noqa: PLC0415

    assert pipe is not None
    held, before = array.array("i", [0]), -1
    while held[0] != before or not before:
        before = held[0]
        time.sleep(0.2)
        fcntl.ioctl(pipe.fileno(), termios.FIONREAD, held)
