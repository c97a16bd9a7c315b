"""Bytes that change on disk: one damaged blob costs that blob, and is healed if it is anywhere else."""

from __future__ import annotations

import shutil
import time
from contextlib import suppress
from pathlib import Path
from random import Random

from agent_journal import journal
from agent_journal.archive import open_to_read
from agent_journal.archive.candidates import ImportCandidate, Result
from agent_journal.archive.checking import Problem, problems
from agent_journal.archive.repairing import RepairOutcome
from agent_journal.errors import AgentJournalError
from tests.gauntlet.corpus import Sessions, export
from tests.gauntlet.drills import Figures, drill
from tests.gauntlet.faults import put_back
from tests.gauntlet.lab import Lab, Truth, holds

_SESSIONS, _MESSAGES = 4, 8


def _prepared(lab: Lab) -> tuple[Truth, Path, Path]:
    """What was said, a journal that holds it, and a backup of that."""
    sessions = Sessions(lab.projects, output=20)
    for number in range(_SESSIONS):
        sessions.grow(number, _MESSAGES)
    truth = {**sessions.truth, **export(lab.home / "export.zip", 6, _MESSAGES)}
    lab.synced()
    journal.import_files(lab.config, [ImportCandidate(str(lab.home / "export.zip"))], lambda _: None)
    lab.good("backup", str(lab.folder / "copy"))
    before = lab.folder / "before"
    lab.journal.rename(before)
    return truth, before, lab.folder / "copy"


def _harmed(path: Path, how: str, at: int) -> None:
    data = bytearray(path.read_bytes())
    if how == "flipped":
        data[at] ^= 0xFF
    elif how == "cut":
        del data[at:]
    elif how == "zeros":
        data[at:] = bytes(len(data) - at)
    path.write_bytes(data)
    if how == "gone":
        path.unlink()


def _repaired(lab: Lab, backup: Path | None = None, *, gives_up: bool = False) -> RepairOutcome:
    return journal.repair(lab.config, backup, gives_up=gives_up)


def _forgotten(lab: Lab, truth: Truth, id_: str) -> Truth:
    journal.forget(lab.config, lambda kept: [kept.find_conversation(id_).key])
    return {each: texts for each, texts in truth.items() if each != id_}


@drill(rounds=400, few=4)
def damaged_vault(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A pack is flipped, cut, zeroed or gone: forget and sync go on, and each way of healing heals."""
    truth, before, copy = _prepared(lab)
    size = (before / "vault" / "000001.pack").stat().st_size
    told: dict[str, int] = {}
    for number in range(rounds):
        put_back(lab, before)
        how = ("flipped", "flipped", "cut", "zeros", "gone")[number % 5]
        _harmed(lab.journal / "vault" / "000001.pack", how, number * size // max(rounds, 1))
        way = ("source", "full", "import", "backup", "loss", "forget")[chance.randrange(6)]
        told[way] = told.get(way, 0) + 1
        _healed(lab, truth, way, copy, chance)
    return {"size": size, **told}


def _healed(lab: Lab, truth: Truth, way: str, copy: Path, chance: Random) -> None:
    results: list[Result] = []
    if way == "forget":
        truth = _forgotten(lab, truth, sorted(truth)[chance.randrange(len(truth))])
        lab.synced()
        assert not _repaired(lab).lost
    elif way in {"full", "import"}:
        done = lab.aj("sync", "--full") if way == "full" else lab.aj("import", str(lab.projects))
        assert (0, True) == (done.code, done.is_clear), done.err
        journal.import_files(lab.config, [ImportCandidate(str(lab.home / "export.zip"))], results.append)
        assert {"imported"} == {each.status for each in results}, results
    elif way == "loss":
        sources = lab.folder / "away"
        lab.home.rename(sources)
        try:
            lab.home.mkdir()
            assert not _repaired(lab).repaired
            lost = _repaired(lab, gives_up=True).lost
            assert all(each.is_given_up for each in lost)
        finally:
            shutil.rmtree(lab.home)
            sources.rename(lab.home)
    elif way == "backup":
        shutil.move(lab.home, lab.folder / "away")
        lab.home.mkdir()
        assert not _repaired(lab, copy).lost
        shutil.rmtree(lab.home)
        shutil.move(lab.folder / "away", lab.home)
    else:
        assert not _repaired(lab).lost
    again = _repaired(lab)
    assert ([], []) == again, again
    lab.checked("--deep")
    holds(lab, truth)


@drill(rounds=400, few=4)
def damaged_rows(lab: Lab, rounds: int, chance: Random) -> Figures:
    """A byte of the database changes: the vault heals what it hit, or else a backup does."""
    truth, before, copy = _prepared(lab)
    size = (before / "journal.db").stat().st_size
    told = {"harmless": 0, "by the vault": 0, "by the backup": 0, "named": 0}
    for _ in range(rounds):
        put_back(lab, before)
        _harmed(lab.journal / "journal.db", "flipped", chance.randrange(size))
        if not _problems(lab):
            told["harmless"] += 1
            continue
        with suppress(AgentJournalError):
            _repaired(lab)
        by = "by the vault"
        if _problems(lab):
            by = "by the backup"
            with suppress(AgentJournalError):
                _repaired(lab, copy)
            lab.synced()
        if _problems(lab):
            told["named"] += 1  # a value that nothing else tells; a backup in its place heals it
            continue
        told[by] += 1
        holds(lab, truth)
    return {**told}


def _problems(lab: Lab) -> list[Problem]:
    try:
        with open_to_read(lab.journal) as archive:
            return [*problems(archive)]
    except AgentJournalError as error:
        return [Problem(str(lab.journal), str(error))]


@drill(rounds=50, few=2)
def repair_killed(lab: Lab, rounds: int, chance: Random) -> Figures:
    """Killed while it heals: nothing that was there is lost, and a second repair finishes."""
    truth, before, _ = _prepared(lab)
    size = (before / "vault" / "000001.pack").stat().st_size
    seconds = 0.0
    hits = 0
    for number in range(rounds):
        put_back(lab, before)
        pack = lab.journal / "vault" / "000001.pack"
        _harmed(pack, ("flipped", "cut", "zeros", "gone")[number % 4], chance.randrange(size))
        if not seconds:
            seconds = lab.good("repair").seconds
            continue
        began = time.monotonic()
        if lab.killed(chance.uniform(0.4 * seconds, seconds), "repair"):
            hits += 1
            with open_to_read(lab.journal) as archive:
                rows = archive.store.counts().conversations
            assert rows == len(truth), rows
            lab.good("repair")
        else:
            seconds = min(seconds, time.monotonic() - began)
        assert ([], []) == _repaired(lab)
        lab.checked("--deep")
        holds(lab, truth)
    return {"hits": hits}
