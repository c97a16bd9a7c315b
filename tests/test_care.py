"""What looks after a journal: the overview's scan, the doctor, what tools delete, and the demo."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import apsw
import pytest

from agent_journal import archive, config, journal, readers, terminal
from agent_journal.archive.candidates import ImportCandidate, Stat, stat_of
from agent_journal.archive.lock import Lock
from agent_journal.cli import overview
from agent_journal.cli._run import run as run_verb
from agent_journal.discovery.retention import Deleting, deleting
from agent_journal.errors import ArchiveInUse, UnusableArchive
from agent_journal.journal import demo, doctor, inventory
from agent_journal.journal.doctor import Finding
from agent_journal.readers import Retention

DAY = 86_400
RULE = Retention(
    settings=("%TEA_HOME%/settings.json", "~/.tea/settings.json"),
    key="pot.keep",
    days=30,
    switch="pot.empties",
    most="pot.most",
    advice='"pot": {"empties": false}',
)


class Machine:
    """A person's folder with a history in it, and no journal yet."""

    def __init__(self, top: Path) -> None:
        self.top = top
        self.home = top / ".agent-journal"
        self.environ = {"HOME": str(top), "USERPROFILE": str(top)}
        self.history = self.write(".claude/projects/-tea/one.jsonl", _history())

    def write(self, path: str, text: str) -> Path:
        (self.top / path).parent.mkdir(parents=True, exist_ok=True)
        (self.top / path).write_text(text, encoding="utf-8")
        return self.top / path

    def sync(self) -> None:
        settled = config.load(self.home, self.environ)
        found = ImportCandidate(str(self.history), "claude-code", "~/", stat_of(str(self.history)))
        journal.sync(settled, lambda _: [found], lambda _: None)

    def survey(self) -> inventory.Inventory:
        settled = config.load(self.home, self.environ)
        if not archive.exists(self.home):
            return inventory.take_inventory(settled, self.environ, str(self.top), None)
        with archive.open_to_read(self.home) as kept:
            return inventory.take_inventory(settled, self.environ, str(self.top), kept)

    def findings(self, topic: str, **environ: str) -> list[Finding]:
        """What the doctor says of something."""
        found = doctor.findings(self.home, {**self.environ, **environ}, str(self.top), time.time_ns())
        return [each for each in found if each.topic == topic]

    def finding(self, topic: str, **environ: str) -> Finding:
        (found,) = self.findings(topic, **environ)
        return found


def _history() -> str:
    said = '{"role":"user","content":"Tea?"}'
    return (
        '{"type":"user","uuid":"a1","parentUuid":null,"isSidechain":false,"sessionId":"s","cwd":"/tea",'
        f'"timestamp":"2026-03-14T09:00:00.000Z","version":"2.1.90","userType":"external","message":{said}}}\n'
    )


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


def test_everything_is_new_without_a_journal(machine: Machine) -> None:
    seen = machine.survey()

    assert (seen.new_files, seen.new_bytes) == (1, machine.history.stat().st_size)
    assert seen.by_source["claude-code"].homes == ["~/.claude/projects/**/*.jsonl"]


def test_what_several_sources_look_for_is_listed_by_their_titles(machine: Machine) -> None:
    looking: dict[str, list[str]] = {}
    for reader in readers.discover().values():
        for home in reader.INFO.homes:
            looking.setdefault(home, []).append(reader.INFO.title)
    home, titles = next(each for each in looking.items() if len(each[1]) > 1 and "*" not in each[0])
    machine.write(home.removeprefix("~/"), "?")
    title = " or ".join(titles)
    seen = machine.survey().by_source[title]

    assert (seen.title, seen.new_files) == (title, 1)
    assert any(each.says.startswith(f"{title}: 1 file") for each in machine.findings("source"))


def test_only_what_changed_is_new_after_a_sync(machine: Machine) -> None:
    machine.sync()
    assert machine.survey().new_files == 0
    machine.write(".claude/projects/-tea/two.jsonl", _history())
    assert machine.survey().new_files == 1


def test_what_moved_a_source_is_shown(machine: Machine) -> None:
    (moved,) = [
        each for each in machine.findings("source", AJ_CLAUDE_PATH=str(machine.top / "no")) if each.data
    ]

    assert moved.data["moved_by"] == ["AJ_CLAUDE_PATH"]
    assert "nothing found" in moved.says


def test_with_a_wrong_configuration_the_index_is_looked_for_where_it_usually_is(machine: Machine) -> None:
    machine.sync()
    machine.write(".agent-journal/config.toml", "indx = 1\n").chmod(0o600)

    assert machine.finding("config").act
    assert machine.finding("index").says == "up to date (1 entry)"
    assert not machine.finding("index").act


@pytest.mark.parametrize(
    ("settings", "days", "most", "is_settled"),
    [
        (None, 30, None, False),
        ("", 30, None, False),
        ('{"pot": {"keep": 7}}', 7, None, True),
        ('{"pot": {"keep": "2w"}} // two weeks', 14, None, True),
        ('{"pot": {"keep": "12h"}}', 0.5, None, True),
        ('{"pot": {"keep": 0}}', 0, None, True),
        ('{"pot": {"keep": true, "most": 5}}', 30, 5, False),
        ('{"pot": {"keep": "soon"}}', 30, None, False),
        ('{"pot": {"empties": false, "keep": 7, "most": 5}}', None, None, True),
        ('{"pot": "black"}', 30, None, False),
        ("[1]", 30, None, False),
        ('{"url": "https://tea", /* a */ "pot": {"keep": 3}}', 3, None, True),
    ],
)
def test_settings_of_tools(
    machine: Machine, settings: str | None, days: float | None, most: int | None, is_settled: bool
) -> None:
    if settings is not None:
        machine.write(".tea/settings.json", settings)
    file = str(machine.top / ".tea" / "settings.json")

    assert deleting(RULE, machine.environ) == Deleting(file, days, most, is_settled)


def test_settings_that_moved(machine: Machine) -> None:
    machine.write("moved/settings.json", '{"pot": {"keep": 9}}')

    assert deleting(RULE, {**machine.environ, "TEA_HOME": str(machine.top / "moved")}).days == 9


def test_settings_that_cannot_be_read_are_reported(machine: Machine) -> None:
    machine.write(".claude/settings.json", "{")

    assert "cannot read " in machine.finding("retention").says
    assert machine.finding("retention").act


def test_every_retention_says_what_to_do() -> None:
    rules = [each.INFO.retention for each in readers.discover().values() if each.INFO.retention]

    assert len(rules) >= 2
    assert all(rule.advice and rule.settings and rule.days for rule in rules)


def test_what_is_about_to_be_deleted_must_be_archived(machine: Machine) -> None:
    assert not machine.finding("retention").act
    old = time.time() - 26 * DAY
    os.utime(machine.history, (old, old))
    assert "aj sync" in machine.finding("retention").act
    machine.sync()
    assert not machine.finding("retention").act


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_files_that_others_may_read_are_reported(machine: Machine) -> None:
    machine.sync()
    assert not machine.finding("permissions").act
    (machine.home / archive.DATABASE).chmod(0o644)
    assert f"chmod -R go-rwx {shlex.quote(str(machine.home))}" == machine.finding("permissions").act


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_a_journal_that_may_not_be_written_to_is_reported(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine.sync()
    rows = machine.home / archive.DATABASE
    monkeypatch.setattr(os, "access", lambda path, mode: path.exists() and (mode == os.F_OK or path != rows))
    found = machine.finding("permissions")

    assert found.says.startswith(f"you cannot write to {rows}, ")
    assert found.act.startswith("sudo chown")
    assert found.data == {"barred": [str(rows)]}


@pytest.mark.skipif(os.name == "nt", reason="modes are those of POSIX")
def test_a_configuration_that_others_may_write_is_reported(machine: Machine) -> None:
    machine.write(".agent-journal/config.toml", "")
    (machine.home / config.FILE_NAME).chmod(0o666)

    assert "other users can write" in machine.finding("config").says
    assert machine.finding("config").act


def test_an_index_that_is_gone_is_reported(machine: Machine) -> None:
    machine.sync()
    for file in (machine.home / "index").iterdir():
        file.unlink()

    assert "aj reindex" in machine.finding("index").act


def test_a_vault_that_is_gone_is_reported(machine: Machine) -> None:
    machine.sync()
    assert not machine.finding("vault").act
    pack = machine.home / archive.VAULT / "000001.pack"
    pack.write_bytes(pack.read_bytes()[:-1])
    assert "000001.pack" in machine.finding("vault").says
    pack.unlink()

    assert "aj repair" in machine.finding("vault").act
    assert "1 file" in machine.finding("journal").says


def test_rows_that_are_gone_are_not_recreated_in_silence(machine: Machine) -> None:
    machine.sync()
    (machine.home / archive.DATABASE).rename(machine.top / "lost")

    assert machine.finding("journal").act
    for opened in (archive.open_to_read, archive.open_to_write):
        with pytest.raises(UnusableArchive, match="it is missing, but vault next to it is not"):
            opened(machine.home)
    assert not (machine.home / archive.DATABASE).exists()
    (machine.home / archive.VAULT).rename(machine.top / "vault")
    machine.sync()
    assert machine.survey().new_files == 0


def test_the_process_that_writes_is_shown(machine: Machine) -> None:
    machine.sync()
    assert machine.finding("lock").says == "no other process is writing"
    lock = Lock(machine.home / archive.LOCK)
    lock.acquire()
    try:
        assert str(os.getpid()) in machine.finding("lock").says
        with pytest.raises(ArchiveInUse):
            archive.open_to_write(machine.home, wait=0)
    finally:
        lock.release()


def test_a_newer_journal_is_refused_and_left_alone(machine: Machine) -> None:
    machine.sync()
    database = machine.home / archive.DATABASE
    with apsw.Connection(str(database)) as connection:
        connection.pragma("user_version", 1000)
    connection.close()
    before = database.read_bytes()
    with pytest.raises(UnusableArchive, match="newer version"):
        archive.open_to_write(machine.home)

    assert machine.finding("journal").act
    assert database.read_bytes() == before


@pytest.mark.parametrize(
    ("version", "is_safe"),
    [
        ("3.51.2", False),
        ("3.51.3", True),
        ("3.54.1", True),
        ("3.50.7", True),
        ("3.50.4", False),
        ("3.44.6", True),
    ],
)
def test_versions_of_sqlite_that_damage(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, version: str, is_safe: bool
) -> None:
    monkeypatch.setattr(apsw, "sqlite_lib_version", lambda: version)

    assert is_safe == (not machine.finding("sqlite").act)


def test_a_journal_in_a_folder_that_is_synchronized_is_reported(machine: Machine) -> None:
    machine.home = machine.top / "Dropbox" / "journal"

    assert "aj backup" in machine.finding("place").act


def test_a_journal_that_another_machine_uses_is_reported_and_can_be_adopted(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one", "other"):
        monkeypatch.setattr(archive.machine, "machine_id", lambda name=name: name)
        machine.sync()
    monkeypatch.setattr(archive.machine, "machine_id", lambda: "one")
    assert "aj doctor --adopt" in machine.finding("place").act
    with pytest.raises(UnusableArchive):
        machine.sync()

    archive.open_to_write(machine.home, adopt=True).close()
    machine.sync()
    assert [] == machine.findings("place")


def test_a_disk_that_is_nearly_full_is_reported(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    usage = type("Usage", (), {"free": 1 << 20})
    monkeypatch.setattr("shutil.disk_usage", lambda _: usage)

    assert "free some" in machine.finding("disk").act


def test_the_demo_uses_nothing_of_the_person(machine: Machine) -> None:
    elsewhere = machine.top / "elsewhere"
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", "demo"],
        env={"PATH": os.environ["PATH"], **machine.environ, "AJ_INDEX_PATH": str(elsewhere)},
        capture_output=True,
        check=False,
    )

    assert (done.returncode, done.stderr) == (0, b"")
    assert not elsewhere.exists()
    assert not machine.home.exists()


def test_whoever_has_seen_enough_of_the_demo_may_go(machine: Machine) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "agent_journal", "demo"],
        env={"PATH": os.environ["PATH"], **machine.environ},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        assert process.stderr.read() == b""

    assert process.returncode == 0


def test_every_history_of_the_demo_is_read_whole(tmp_path: Path) -> None:
    demo.fill(tmp_path / "journal")
    with archive.open_to_read(tmp_path / "journal") as kept:
        rows = list(kept.store.sources())

    assert len(rows) == len([path for path in demo.HISTORIES.rglob("*") if path.is_file()])
    assert {(row.status, row.defects) for row in rows} == {("imported", 0)}


def test_the_amount_to_read_is_shown(machine: Machine) -> None:
    told: list[tuple[int, int]] = []
    found = ImportCandidate(str(machine.history), stat=Stat(5, 1, 1))
    settled = config.load(machine.home, machine.environ)
    journal.sync(settled, lambda _: [found], lambda _: None, on_start=lambda *each: told.append(each))

    assert told == [(1, 5)]


def test_hints_fit_a_terminal_and_name_as_much_of_an_id_as_does(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    named = _history().replace('"sessionId":"s"', '"sessionId":"5d1f4c1e-3a52-4c0b"')
    machine.history.write_text(named.replace("Tea?", "Tea? " * 40), encoding="utf-8")
    machine.sync()
    for name, value in {**machine.environ, "AJ_HOME": str(machine.home)}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(machine.top)
    run_verb("overview", [])
    whole = capsys.readouterr().out
    monkeypatch.setattr(overview, "out", lambda: terminal.Sink(io.StringIO(), width=80))
    run_verb("overview", [])
    hints = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  aj ")]

    assert "aj show 5d1f4c1e-3a52-4c0b" in whole
    assert "aj show 5d1f4c1e  Tea? Tea?" in "\n".join(hints)
    assert max(map(len, hints)) <= 80
