"""Copies made while others write, journals of older versions, and bytes that a disk changed."""

from __future__ import annotations

import shutil
from pathlib import Path
from random import Random

import apsw

from agent_journal.archive import DATABASE, open_to_read
from agent_journal.archive.backup import backup
from agent_journal.archive.sqlite import open_store
from agent_journal.archive.sqlite.schema import VERSION
from agent_journal.errors import DamagedArchive, UnusableArchive
from tests.archive.older import as_of_version
from tests.gauntlet.corpus import Sessions
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.faults import put_back, run_with, shim_of
from tests.gauntlet.lab import Lab, holds, said


@drill(rounds=50, few=2)
def copied_while_syncing(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A backup is of one moment: whole, with no less than before the sync and no more than after it."""
    sessions = Sessions(lab.projects, output=60)
    for number in range(8):
        sessions.grow(number, 10)
    lab.synced()
    least, running = 80, 0
    for turn in range(rounds):
        for number in range(8, 20):
            sessions.grow(number, chance.randrange(1, 10))
        syncing = lab.start("sync")
        target = lab.folder / f"copy{turn}"
        with open_to_read(lab.journal) as archive:
            backup(archive, target)
        running += syncing.poll() is None
        _, err = syncing.communicate(timeout=120)
        assert syncing.returncode == 0, err.decode()
        restored = Lab(lab.folder / f"machine{turn}")
        target.rename(restored.journal)
        count = len(list(said(restored)))
        assert least <= count <= len(list(said(lab))), (least, count)
        least = len(list(said(lab)))
        restored.home.rmdir()
        restored.home.symlink_to(lab.home)  # the same histories lie there
        restored.synced()
        holds(restored, sessions.truth)
        shutil.rmtree(restored.folder)
    return {"while it ran": running}


@drill(rounds=100, few=2)
def migration_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A journal of each older version, and the process that brings it up killed at any write."""
    shim = shim_of(lab)
    sessions = Sessions(lab.projects)
    for number in range(6):
        sessions.grow(number, 8)
    lab.synced()
    older = [lab.folder / f"version{number}" for number in range(1, VERSION)]
    for number, place in enumerate(older, 1):
        shutil.copytree(lab.journal, place)
        _as_of_version(place / DATABASE, number)
    sessions.grow(1, 1)
    versions: dict[int, int] = {}
    for turn in range(rounds):
        put_back(lab, older[turn % len(older)])
        if shim is not None:
            run_with(lab, shim, 1 + chance.randrange(60), "kill")
        version = _version(lab.journal / DATABASE)
        assert version in {1 + turn % len(older), VERSION}
        versions[version] = versions.get(version, 0) + 1
        lab.synced()
        holds(lab, sessions.truth)
    return {"versions after the kill": versions}


def _version(path: Path) -> int:
    database = apsw.Connection(str(path))
    version: int = database.pragma("user_version")
    database.close()
    return version


def _as_of_version(path: Path, version: int) -> None:
    """Let a database have the tables of an older version, with what fits into them."""
    rest = path.with_name("older.db")
    new = open_store(path, for_writing=True)
    as_of_version(new, rest, version)
    new.close()
    rest.replace(path)


@drill(rounds=1_000, few=0)
def changed_bytes(lab: Lab, rounds: int, chance: Random) -> Figures:
    """All bits of one byte of the rows: whatever changes a message is told; nothing crashes."""
    sessions = Sessions(lab.projects, output=60)
    for number in range(12):
        sessions.grow(number, 20)
    lab.synced()
    path = lab.journal / DATABASE
    whole = bytearray(path.read_bytes())
    before = _messages(path)
    told = refused = harmless = 0
    for _ in range(rounds):
        at = chance.randrange(len(whole))
        whole[at] ^= 0xFF
        path.write_bytes(whole)
        whole[at] ^= 0xFF
        try:
            store = open_store(path, for_writing=False)
        except UnusableArchive:
            refused += 1
            continue
        found = list(store.problems())
        store.close()
        if not found:
            assert before == _messages(path), at
            harmless += 1
        told += bool(found)
    path.write_bytes(whole)
    holds(lab, sessions.truth)
    return {"told": told, "refused": refused, "in no message": harmless}


def _messages(path: Path) -> list[object]:
    store = open_store(path, for_writing=False)
    try:
        columns: list[object] = list(store._rows("SELECT * FROM messages ORDER BY key"))
        entries = [list(store.entries(key)) for (key,) in list(store._rows("SELECT key FROM conversations"))]
        return [*columns, *entries]  # noqa: TRY300
    except DamagedArchive as error:
        return [str(error)]
    finally:
        store.close()
