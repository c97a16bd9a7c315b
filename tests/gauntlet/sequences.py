"""What happens to sources between one sync and the next."""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from pathlib import Path
from random import Random

from agent_journal.archive.store import Status
from tests.gauntlet.corpus import Sessions, export, line_of, session_id, word
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.lab import Lab, Truth, holds, left_of, said


@drill(rounds=500, few=6)
def cuts_of_a_live_file(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A sync at each of many cuts: whole lines are there, a torn one waits, nothing comes twice."""
    whole = Sessions(lab.folder / "aside")
    whole.grow(1, max(20, rounds // 8))
    data = whole.path(1).read_bytes()
    texts = whole.truth[session_id(1)]
    live = Sessions(lab.projects)
    cuts = [*sorted(chance.sample(range(1, len(data)), rounds - 1)), len(data)]
    for cut in cuts:
        with live.path(1).open("ab") as file:
            file.write(data[file.tell() : cut])
        statuses = {result.status for result in lab.synced()}
        assert statuses <= {Status.IMPORTED, Status.PENDING}, (cut, statuses)
        lines = data[:cut].count(b"\n")
        got = [text for _, text in said(lab)]
        # A last line may be whole but for its end.
        assert got in (texts[:lines], texts[: lines + 1]), cut
    holds(lab, whole.truth)
    return {"bytes": len(data)}


@drill(rounds=1, few=1)
def what_befalls_a_source(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Shortened, written anew, moved, deleted: the journal only grows."""
    sessions = Sessions(lab.projects)
    for number in range(6):
        sessions.grow(number, 10)
    lab.good("sync")
    lines = sessions.path(0).read_bytes().splitlines(keepends=True)
    sessions.path(0).write_bytes(b"".join(lines[:4]))  # shortened
    sessions.path(1).write_bytes(b"")  # emptied
    sessions.path(2).unlink()  # deleted
    other = sessions.path(3).parent.parent / "-home-ada-elsewhere"
    other.mkdir()
    sessions.path(3).rename(other / sessions.path(3).name)  # moved
    fresh = [line_of(session_id(4), n, f"{word(4, 90 + n)} anew") for n in range(20, 23)]
    sessions.path(4).write_bytes(b"".join(fresh))  # written anew, with other messages
    lab.good("sync")
    sessions.truth[session_id(4)] += [f"{word(4, 90 + n)} anew" for n in range(20, 23)]
    _same_messages(lab, sessions.truth)
    missing = {line["id"] for line in lab.good("list", "--missing", "--json").lines}
    assert {session_id(2)} == missing
    shutil.rmtree(lab.projects)
    lab.good("sync")
    lab.good("reindex", "--from-vault")
    _same_messages(lab, sessions.truth)
    return {"messages": sum(map(len, sessions.truth.values()))}


def _same_messages(lab: Lab, truth: Truth) -> None:
    lab.checked("--deep")
    expected = sorted((id_, text) for id_, texts in truth.items() for text in texts)
    assert expected == sorted(said(lab))


@drill(rounds=1, few=1)
def same_size_and_time(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Other content behind the same size and time: `--full` finds it."""
    sessions = Sessions(lab.projects)
    sessions.grow(1, 5)
    path = sessions.path(1)
    lab.good("sync")
    before = path.stat()
    data = path.read_bytes().replace(word(1, 3).encode(), word(1, 7).encode())
    data = data.replace(f"{session_id(1)}-3".encode(), f"{session_id(1)}-7".encode())
    with path.open("r+b") as file:
        file.write(data)
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    lab.good("sync", "--full")
    texts = {text.split()[0] for _, text in said(lab)}
    assert {word(1, number) for number in (0, 1, 2, 3, 4, 7)} == texts
    lab.checked("--deep")
    return {"found": True}


@drill(rounds=40, few=4)
def odd_times(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Clocks that are set back or forward, and times that lie in the future: no change is missed."""
    sessions = Sessions(lab.projects)
    now = 1_780_000_000 * 10**9
    for _ in range(rounds):
        number = chance.randrange(4)
        sessions.grow(number, 1)
        shift = chance.choice((-3_600, 0, 31_536_000, -1_780_000_000, 7_258_118_400))
        os.utime(sessions.path(number), ns=(now, now + shift * 10**9))
        lab.synced()
        assert sum(map(len, sessions.truth.values())) == len(list(said(lab)))
    holds(lab, sessions.truth)
    return {"changes": rounds}


@drill(rounds=1, few=1)
def older_export_after_newer(lab: Lab, rounds: int, chance: Random) -> Figures:  # noqa: ARG001
    """Nothing of the newer goes away, nothing comes twice."""
    newer, older = lab.home / "newer.zip", lab.home / "older.zip"
    truth = export(newer, 20, 12)
    export(older, 20, 12)
    _shorten(older)
    for path in (newer, older, newer, older):
        lab.good("import", str(path))
    holds(lab, truth)
    return {"conversations": len(truth)}


def _shorten(path: Path) -> None:
    """The export as it was earlier: without the last messages and the last conversations."""
    with zipfile.ZipFile(path) as zipped:
        talks = json.loads(zipped.read("conversations.json"))[:15]
    for talk in talks:
        nodes = list(talk["mapping"])[:8]
        talk["mapping"] = {name: talk["mapping"][name] for name in nodes}
        talk["mapping"][nodes[-1]]["children"] = []
        talk["current_node"] = nodes[-1]
        talk["update_time"] = 1_700_000_008.0
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("conversations.json", json.dumps(talks))


@drill(rounds=10, few=1)
def forgotten_stays_forgotten(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Of a file of its own and of one of many in an export: no trace, also when they come again."""
    sessions = Sessions(lab.projects)
    for number in range(4 + rounds):
        sessions.grow(number, 6)
    path = lab.home / "export.zip"
    truth = {**export(path, 8 + rounds, 6), **sessions.truth}
    lab.synced()
    lab.good("import", str(path))
    gone: list[str] = []
    for _ in range(rounds):
        for pool in (sessions.truth, truth.keys() - sessions.truth.keys()):
            id_ = chance.choice(sorted(each for each in pool if each in truth))
            lab.good("forget", id_, "--yes")
            gone += [text.split()[0] for text in truth.pop(id_)]
        assert not left_of(lab, gone)
        _touch(sessions.folder)
        lab.good("sync", "--full")
        lab.good("import", str(path))
        copy = lab.home / f"copy{len(gone)}.zip"
        shutil.copy(path, copy)
        lab.good("import", str(copy))
        holds(lab, truth)
        assert not left_of(lab, gone)
    lab.good("reindex", "--from-vault")
    holds(lab, truth)
    return {"forgotten": 2 * rounds, "traces": 0}


def _touch(folder: Path) -> None:
    for path in folder.iterdir():
        path.touch()
