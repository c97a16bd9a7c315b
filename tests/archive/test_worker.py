"""A second process reads new files; what it cannot tell of, the first one reads."""

from __future__ import annotations

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest

from agent_journal.archive import worker
from agent_journal.archive.found import Found, Result, stat_of
from agent_journal.archive.importing import Importer
from tests.archive.journals import NOW, everything, imported, journal


def history(folder: Path, number: int) -> Found:
    name = f"{number:08}-0000-4000-8000-000000000000"
    lines = [
        {
            "type": "user",
            "uuid": f"{name}-{line}",
            "parentUuid": f"{name}-{line - 1}" if line else None,
            "sessionId": name,
            "timestamp": f"2026-03-01T10:00:{line:02}Z",
            "cwd": "/work",
            "message": {"role": "user", "content": f"question {number}.{line}"},
        }
        for line in range(5)
    ]
    path = folder / f"{name}.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return Found(str(path), "claude-code", "", stat_of(str(path)))


def test_what_it_reads_is_what_one_process_reads(tmp_path: Path) -> None:
    (tmp_path / "histories").mkdir()
    found = [history(tmp_path / "histories", number) for number in range(7)]
    with journal(tmp_path / "alone") as archive:
        imported(archive, *(each.path for each in found))
        alone = everything(archive.store)
    with journal(tmp_path / "together") as archive:
        told: list[Result] = []
        with Importer(archive, NOW, lambda _: None, told.append) as importer:
            for each, prepared in worker.prepared(found, NOW):
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
    assert list(worker.prepared(found, NOW)) == [(each, None) for each in found]


def test_bytes_that_several_files_have_come_once(tmp_path: Path) -> None:
    first = history(tmp_path, 1)
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(Path(first.path).read_bytes())
    found = [first, Found(str(copy), first.reader, "", stat_of(str(copy)))]
    with journal(tmp_path / "journal") as archive, Importer(archive, NOW, _ignore, _ignore) as importer:
        sent = []
        for _, prepared in worker.prepared(found, NOW):
            assert prepared is not None
            sent.append(len(prepared.blobs))
            importer.take_prepared(prepared)
        importer.flush()
        kept = [archive.store.snapshots(row.key)[0].manifest for row in archive.store.sources()]
        assert [archive.vault.get(each.files[""].chunks[0]) for each in kept] == [copy.read_bytes()] * 2
    assert sent == [1, 0]


def _ignore(_: object) -> None:
    """What is told here is not asked for."""
