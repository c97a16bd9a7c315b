"""Full disks, folders that may not be written, few handles."""

from __future__ import annotations

import os
import shutil
import subprocess
from random import Random

from tests.gauntlet.corpus import Sessions, word
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, as_anybody, file_limit, handle_limit, holds, said
from tests.gauntlet.live_databases import Editor

_MANY = 10


@drill(rounds=20, few=3)
def files_too_large(lab: Lab, rounds: int, chance: Random) -> Figures:
    """RLIMIT_FSIZE: one line that names the path, and everything after there is room again."""
    sessions = Sessions(lab.projects, output=300)
    for number in range(30 if rounds >= _MANY else 8):
        sessions.grow(number, 60)
    lab.synced()
    largest = max(path.stat().st_size for path in lab.journal.rglob("*") if path.is_file())
    lab.wipe()
    refused = 0
    for turn in range(rounds):
        limit = int(largest * (turn + chance.random()) / rounds)
        done = lab.aj("sync", limits=file_limit(limit))
        assert done.is_clear, (limit, done.err)
        if done.code:
            refused += 1
            assert str(lab.journal) in done.err, (limit, done.err)
            assert len(done.err.splitlines()) == 1, (limit, done.err)
        if (lab.journal / "journal.db").exists():
            holds_so_far(lab)
        if turn % 3 == 2:
            lab.synced()
            holds(lab, sessions.truth)
            lab.wipe()
    lab.synced()
    holds(lab, sessions.truth)
    return {"refused": refused, "up to": f"{largest:,} bytes"}


def holds_so_far(lab: Lab) -> None:
    """What is there is whole."""
    lab.checked()
    done = lab.aj("search", "birch", "--json")
    assert done.is_clear, done.err


@drill(rounds=20_000, few=150)
def few_handles(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """64 open files, thousands of sources."""
    sessions = Sessions(lab.projects)
    for number in range(rounds):
        sessions.grow(number, 2)
    lab.good("sync", limits=handle_limit(64))
    holds(lab, sessions.truth)
    return {"files": rounds}


@drill(rounds=20, few=2)
def disk_full(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A file system that is too small, grows, and is large enough in the end."""
    sessions = Sessions(lab.projects, output=300)
    for number in range(30 if rounds >= _MANY else 8):
        sessions.grow(number, 60)
    lab.journal.mkdir(mode=0o700)
    if not _mounted(lab, 64):
        lab.journal.rmdir()
        return {"skipped": "mounting is not allowed"}
    refused = 0
    try:
        lab.synced()
        most = sum(path.stat().st_size for path in lab.journal.rglob("*") if path.is_file()) // 1_000
        _empty(lab)
        for turn in range(rounds):
            _resize(lab, kilobytes=100 + int(most * (turn + chance.random()) / rounds))
            done = lab.aj("sync")
            assert done.is_clear, done.err
            if done.code:
                refused += 1
                assert str(lab.journal) in done.err, done.err
                assert len(done.err.splitlines()) == 1, done.err
                _resize(lab, kilobytes=64 << 10)  # reading a log may need a little room
                if (lab.journal / "journal.db").exists():
                    holds_so_far(lab)
            _resize(lab, kilobytes=64 << 10)
            if turn % 3 == 2:
                lab.synced()
                holds(lab, sessions.truth)
                _empty(lab)
        lab.good("sync")
        holds(lab, sessions.truth)
    finally:
        subprocess.run(["umount", str(lab.journal)], check=False)  # noqa: S607
    return {"refused": refused, "up to": f"{most:,} kB"}


def _mounted(lab: Lab, megabytes: int) -> bool:
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "tmpfs", str(lab.journal)]
    return os.getuid() == 0 and subprocess.run(command, check=False, capture_output=True).returncode == 0


def _resize(lab: Lab, *, kilobytes: int) -> None:
    command = ["mount", "-o", f"remount,size={kilobytes}k", str(lab.journal)]
    subprocess.run(command, check=False, capture_output=True)


def _empty(lab: Lab) -> None:
    for path in lab.journal.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


@drill(rounds=1, few=1)
def nothing_may_be_written(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """A journal that may only be read is read; a sync says in one line that it cannot."""
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    lab.good("sync")
    for path in lab.journal.rglob("*"):
        path.chmod(0o500 if path.is_dir() else 0o400)
    lab.journal.chmod(0o500)
    for command in (("list", "--json"), ("search", word(1, 3), "--json"), ("check",), ("status",)):
        lab.good(*command, limits=as_anybody)
    sessions.grow(1, 1)
    done = lab.aj("sync", limits=as_anybody)
    assert (1, True) == (done.code, done.is_clear), (done.out, done.err)
    assert str(lab.journal) in done.err
    assert len(done.err.splitlines()) == 1, done.err
    lab.journal.chmod(0o700)
    for path in lab.journal.rglob("*"):
        path.chmod(0o700 if path.is_dir() else 0o600)
    lab.good("sync")
    holds(lab, sessions.truth)
    return {"told": done.err.strip()[:60]}


@drill(rounds=1, few=1)
def no_temporary_folder(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """A database needs a private copy: without room for it, one line says so, and the rest is imported."""
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    editor = Editor(lab.home / ".config" / "Cursor" / "User" / "globalStorage" / "state.vscdb")
    lab.tmp.chmod(0o500)
    nowhere = {"TMPDIR": str(lab.tmp / "nowhere"), "TMP": "/proc", "TEMP": "/proc"}
    done = lab.aj("sync", environ=nowhere, limits=as_anybody)
    assert done.is_clear, done.err
    assert sessions.truth.keys() <= {id_ for id_, _ in said(lab)}
    lab.tmp.chmod(0o700)
    lab.good("sync", "--full", limits=as_anybody)
    holds(lab, {**sessions.truth, **editor.truth})
    return {"code": done.code, "told": done.err.strip()[-60:]}
