"""What lies in folders where histories are: links, pipes, names of any bytes, and modes."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path
from random import Random

from tests.gauntlet.corpus import Sessions, line_of, session_id, word
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, Truth, as_anybody, holds, said


@drill(rounds=1, few=1)
def odd_files(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Done in ten seconds: nothing blocks, nothing is read twice, no escape code is printed."""
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    folder = sessions.folder
    (folder / "loop").symlink_to(folder, target_is_directory=True)
    (folder / "self.jsonl").symlink_to("self.jsonl")
    (folder / "link.jsonl").symlink_to(sessions.path(1))
    os.mkfifo(folder / "pipe.jsonl")
    with socket.socket(socket.AF_UNIX) as bound:
        here = Path.cwd()
        os.chdir(folder)  # the path of a socket is short
        try:
            bound.bind("socket.jsonl")
        finally:
            os.chdir(here)
    os.link(sessions.path(1), folder / f"{session_id(99)}.jsonl")
    truth = dict(sessions.truth)
    for number, name in enumerate((b"not\xfftext", b"new\nline", b"\x1b[31mred", "\u202ebidi".encode())):
        path = os.fsencode(folder) + b"/" + name + b".jsonl"
        text = f"{word(50 + number, 0)} behind an odd name"
        with open(path, "wb") as file:  # noqa: PTH123 (bytes)
            file.write(line_of(session_id(50 + number), 0, text))
        truth[session_id(50 + number)] = [text]
    done = lab.aj("sync", timeout=60)
    assert done.is_clear, done.err
    assert done.seconds < 30
    assert "\x1b" not in done.out + done.err
    words = [text for _, text in said(lab)]
    assert sorted(text for texts in truth.values() for text in texts) == sorted(set(words))
    again = lab.aj("sync", timeout=60)
    assert " 0 new" in again.out, again.out
    lab.checked()
    return {"seconds": round(done.seconds, 1), "code": done.code}


@drill(rounds=1, few=1)
def unreadable_files(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Mode 000: named, exit code 3, the rest is there; and read when it may be."""
    sessions = Sessions(lab.projects)
    for number in range(4):
        sessions.grow(number, 3)
    sessions.path(2).chmod(0)
    closed = lab.projects / "-closed"
    closed.mkdir()
    closed.chmod(0)
    done = lab.aj("sync", limits=as_anybody)
    assert (3, True) == (done.code, done.is_clear), (done.out, done.err)
    assert sessions.path(2).name in done.err
    assert {session_id(number) for number in (0, 1, 3)} == {id_ for id_, _ in said(lab)}
    sessions.path(2).chmod(0o600)
    closed.chmod(0o700)
    lab.good("sync", limits=as_anybody)
    holds(lab, sessions.truth)
    return {"code": done.code}


@drill(rounds=1, few=1)
def for_the_owner_alone(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Whatever the umask: files 0600, folders 0700."""
    lab.journal = lab.folder / "far" / "away" / "journal"
    sessions = Sessions(lab.projects)
    for number in range(3):
        sessions.grow(number, 3)
    open_to_all = {"limits": lambda: os.umask(0)}
    lab.good("sync", **open_to_all)
    lab.good("reindex", **open_to_all)
    lab.good("forget", session_id(1), "--yes", **open_to_all)
    lab.good("config", "set", "search.max_results", "7", **open_to_all)
    lab.good("backup", str(lab.folder / "copies" / "one"), **open_to_all)
    made = [
        path
        for top in (lab.folder / "far", lab.folder / "copies", lab.tmp)
        for path in [top, *top.rglob("*")]
        if path != lab.tmp
    ]
    wrong = [
        f"{path.relative_to(lab.folder)} {stat.S_IMODE(path.lstat().st_mode):o}"
        for path in made
        if stat.S_IMODE(path.lstat().st_mode) != (0o700 if path.is_dir() else 0o600)
    ]
    assert not wrong, wrong
    truth: Truth = {id_: texts for id_, texts in sessions.truth.items() if id_ != session_id(1)}
    holds(lab, truth)
    return {"files and folders": len(made)}
