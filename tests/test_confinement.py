"""An unforeseen error in a reader costs its file, not the others: whatever the reader, wherever it fails."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agent_journal import journal, plugins, readers
from agent_journal.archive import open_to_read, worker
from agent_journal.archive.candidates import ImportCandidate, Result, stat_of
from agent_journal.cli import _run
from agent_journal.config import load
from agent_journal.conversion import pipeline
from agent_journal.crash_reports import FOLDER, MAX_REPORT_BYTES, MAX_REPORTS, CrashReports
from agent_journal.inputs.input import open_input
from agent_journal.journal.watch import Watcher
from agent_journal.model import Conversation, Message, Text
from agent_journal.notes import Kind, Notes
from tests.archive.journals import everything
from tests.archive.test_worker import history
from tests.cases import Case, all_cases

WORDS = "what the person said"
ERRORS = [
    KeyError(WORDS),
    RecursionError(),
    UnicodeError(WORDS),
    MemoryError(),
    TypeError(f"not '{WORDS}'"),
]

# What a source without any fault may have: files that are not needed, and no times.
_HARMLESS = (": ignored-file: ", ": missing-time: ")


def _cases() -> dict[str, Case]:
    """A case of each reader that gives something, the smallest first."""
    found: dict[str, Case] = {}
    with_notes: dict[str, Case] = {}
    for case in sorted(all_cases(), key=lambda case: len((case.folder / "expected.json").read_bytes())):
        expected = json.loads((case.folder / "expected.json").read_text())
        notes = expected.get("notes", [])
        if expected.get("conversations") and all(any(kind in each for kind in _HARMLESS) for each in notes):
            (with_notes if notes else found).setdefault(case.reader, case)
    return {**with_notes, **found}


CASES = _cases()
each_reader = pytest.mark.parametrize("name", sorted(CASES))


def test_there_is_a_case_of_every_reader() -> None:
    assert sorted(readers.discover()) == sorted(CASES)


@pytest.fixture(autouse=True)
def _no_problems(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(plugins, "problems", {})
    monkeypatch.setenv("AJ_HOME", str(tmp_path / "journal"))
    monkeypatch.delenv("AJ_DEBUG", raising=False)


def fail_in_sniff(_real: Any, error: Exception) -> Callable[..., Any]:
    def sniff(_peek: Any) -> str | None:
        raise type(error)(*error.args)

    return sniff


def fail_at_once(_real: Any, error: Exception) -> Callable[..., Any]:
    def read(*_: Any) -> Iterator[Any]:
        raise type(error)(*error.args)

    return read


def fail_after_the_first(real: Any, error: Exception) -> Callable[..., Any]:
    def read(*arguments: Any) -> Iterator[Any]:
        yield next(iter(real(*arguments)))
        raise type(error)(*error.args)

    return read


def give_none(_real: Any, _error: Exception) -> Callable[..., Any]:
    return lambda *_: None


WAYS = {
    "sniff": ("sniff", fail_in_sniff),
    "start": ("read", fail_at_once),
    "midway": ("read", fail_after_the_first),
    "none": ("read", give_none),
}
each_way = pytest.mark.parametrize("way", WAYS)


def broken(monkeypatch: pytest.MonkeyPatch, name: str, way: str, error: Exception | None = None) -> None:
    function, fail = WAYS[way]
    module: Any = readers.get(name)
    real = getattr(module, function)
    monkeypatch.setattr(module, function, fail(real, error or KeyError(WORDS)))


class Files:
    """A file that its reader fails at, between good ones."""

    def __init__(self, folder: Path, name: str) -> None:
        for place in ("before", "after", "scratch"):
            (folder / place).mkdir(parents=True)
        self.bad = CASES[name].location(folder / "scratch").absolute()
        self.good = [self._good(folder / place, name, place) for place in ("before", "after")]
        self.paths = [self.good[0], self.bad, self.good[1]]

    @staticmethod
    def _good(folder: Path, name: str, place: str) -> Path:
        number = 1 if place == "before" else 2
        if name != "claude-code":
            return Path(history(folder, number).path)
        talk = {"type": "conversation", "id": place, "source": "me", "started_at": "2026-03-01T10:00:00Z"}
        message = {"type": "message", "id": "m", "role": "user", "parts": [{"type": "text", "text": "hello"}]}
        path = folder / f"{place}.jsonl"
        path.write_text(json.dumps({**talk, "timeline": [message]}) + "\n")
        return path

    def found(self, name: str) -> list[ImportCandidate]:
        whose = {self.bad: name, self.good[0]: "", self.good[1]: ""}
        return [ImportCandidate(str(path), whose[path], "~/x", stat_of(str(path))) for path in self.paths]


def sources(home: Path) -> dict[str, str]:
    with open_to_read(home) as archive:
        assert not list(archive.store.problems())
        return {row.path: row.status for row in archive.store.sources()}


def conversations(home: Path) -> int:
    with open_to_read(home) as archive:
        return len(everything(archive.store)) + len(list(archive.store.memories()))


def synced(home: Path, found: list[ImportCandidate]) -> dict[str, Result]:
    told: list[Result] = []
    journal.sync(load(home, {}), lambda _: found, told.append)
    return {each.file: each for each in told}


@each_way
@each_reader
def test_import_goes_on(
    name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    files = Files(tmp_path / "in", name)
    broken(monkeypatch, name, way)

    code = _run.run("import", ["--json", *map(str, files.paths)])

    told = capsys.readouterr()
    assert code == 3, told
    rows = {row["file"]: row for row in map(json.loads, told.out.splitlines()) if "file" in row}
    assert [rows[str(path)]["status"] for path in files.good] == ["imported", "imported"]
    assert "Traceback" not in told.err
    assert WORDS not in told.err
    assert str(files.bad) in told.err
    statuses = {row["status"] for path, row in rows.items() if path.startswith(str(files.bad))}
    assert statuses & {"unreadable", "partly", "unknown"}, rows
    (report,) = (tmp_path / "journal" / FOLDER).iterdir()
    assert str(report) in told.err
    assert WORDS not in report.read_text()
    assert "Traceback (most recent call last)" in report.read_text()
    if way == "midway":
        assert statuses == {"partly"}
        assert conversations(tmp_path / "journal") >= 3, rows


@each_way
@each_reader
def test_sync_goes_on_and_the_next_one_reads_the_rest(
    name: str, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(tmp_path / "in", name)
    found = files.found(name)
    home = tmp_path / "journal"
    with monkeypatch.context() as patched:
        broken(patched, name, way)
        first = synced(home, found)
        again = synced(home, found)

    for told in (first, again):
        assert told[str(files.bad)].status in {"unreadable", "partly"}
        assert any("reader" in each for each in told[str(files.bad)].notes)
    assert {first[str(path)].status for path in files.good} == {"imported"}
    assert [*again] == [str(files.bad)]
    assert len(list((home / FOLDER).iterdir())) == 1

    repaired = synced(home, found)
    assert "reader-error" not in str(repaired[str(files.bad)].notes)
    assert sources(home)[str(files.bad)] in {"imported", "partly"}
    alone = tmp_path / "alone"
    synced(alone, found)
    with open_to_read(alone) as other, open_to_read(home) as this:
        assert everything(other.store) == everything(this.store)
    assert not synced(home, found)


@each_reader
def test_a_later_revision_reads_from_the_vault_what_the_earlier_failed_at(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader that fails when it reads from the vault costs nothing that is there."""
    files = Files(tmp_path / "in", name)
    home = tmp_path / "journal"
    synced(home, files.found(name))
    before = conversations(home)
    with monkeypatch.context() as patched:
        broken(patched, name, "midway")
        told: list[Result] = []
        journal.reindex(load(home, {}), from_vault=True, on_result=told.append)
        assert {each.file for each in told if each.status != "imported"} == {str(files.bad)}

    assert conversations(home) == before
    journal.reindex(load(home, {}), from_vault=True, on_result=lambda _: None)
    assert conversations(home) == before
    assert "reader-error" not in str(synced(home, files.found(name)))


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("way", ["sniff", "start", "midway"])
def test_any_error_is_confined(
    error: Exception, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = Files(tmp_path / "in", "chatgpt")
    broken(monkeypatch, "chatgpt", way, error)
    told = synced(tmp_path / "journal", files.found("chatgpt"))

    assert {told[str(path)].status for path in files.good} == {"imported"}
    (why, *_) = told[str(files.bad)].notes
    assert str(files.bad) in why
    assert WORDS not in why


@each_way
def test_convert_and_validate_go_on(
    way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    files = Files(tmp_path / "in", "chatgpt")
    broken(monkeypatch, "chatgpt", way)
    paths = [str(path) for path in files.paths]

    assert _run.run("convert", [*paths, "-t", "json", "-o", str(tmp_path / "out.jsonl")]) == 3
    told = capsysbinary.readouterr().err.decode()
    assert str(files.bad) in told
    assert str(tmp_path / "journal" / FOLDER) in told
    ids = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
    assert len(ids) == (3 if way == "midway" else 2)
    assert _run.run("validate", [*paths, "--level", "lenient"]) == 3
    assert str(files.bad) in capsysbinary.readouterr().err.decode()


def test_cook_names_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    files = Files(tmp_path / "in", "api-trace")
    broken(monkeypatch, "api-trace", "midway")

    assert _run.run("cook", [str(files.bad)]) == 3
    assert str(files.bad) in capsysbinary.readouterr().err.decode()


def test_a_second_process_confines_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = [history(tmp_path, number) for number in range(3)]
    bad = str(Path(found[1].path))
    module: Any = readers.get("claude-code")
    real = module.read

    def read(source: Any, *rest: Any) -> Iterator[Any]:
        if source.label == bad:
            raise KeyError(WORDS)
        yield from real(source, *rest)

    monkeypatch.setattr(module, "read", read)
    answers = [
        worker._ANSWER.decode(
            worker._answer(worker._Request("2026-05-01T12:00:00Z", each, 0, str(tmp_path / "reports")), set())
        )
        for each in found
    ]
    statuses = [answer.read.row.status for answer in answers if answer is not None]
    assert statuses == ["imported", "unreadable", "imported"]
    assert len(list((tmp_path / "reports").iterdir())) == 1


def test_the_demo_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    broken(monkeypatch, "chatgpt", "start")
    monkeypatch.setattr(os, "environ", dict(os.environ))
    _run.run("demo", ["--keep", str(tmp_path / "demo")])

    told = capsys.readouterr()
    assert "Unexpected error, a bug in aj" not in told.err
    assert conversations(tmp_path / "demo") > 1


def test_an_item_that_cannot_be_written_costs_that_item(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rows are written for many files together: one item must not undo the others."""
    files = Files(tmp_path / "in", "chatgpt")
    home = tmp_path / "journal"
    with monkeypatch.context() as patched:
        from agent_journal.archive.sqlite import SqliteStore  # noqa: PLC0415

        put = SqliteStore.put

        def refuse(self: Any, conversation: Conversation, *rest: Any, **options: Any) -> Any:
            change = put(self, conversation, *rest, **options)
            if conversation.source == "chatgpt":
                raise OverflowError("int too big")
            return change

        patched.setattr(SqliteStore, "put", refuse)
        told = synced(home, files.found("chatgpt"))
    assert {told[str(path)].status for path in files.good} == {"imported"}
    assert told[str(files.bad)].status == "unreadable"
    assert "OverflowError" in told[str(files.bad)].notes[0]
    assert conversations(home) == 2
    assert {each.status for each in synced(home, files.found("chatgpt")).values()} == {"imported"}


def test_reports_are_private_few_and_small(tmp_path: Path) -> None:
    reports = CrashReports(str(tmp_path / "far" / "reports"))

    def recurse(number: int) -> int:
        return recurse(number + 1) + 1

    def deep(number: int) -> None:
        deep(number - 1) if number else recurse(0)

    for number in range(MAX_REPORTS + 5):
        try:
            exec(compile("\n" * number + "{}['" + WORDS + "']", "made_up.py", "exec"))  # noqa: S102
        except KeyError as error:
            path = reports.write(error, "A reader/of ours", "1")
    try:
        deep(10)
    except RecursionError as error:
        last = reports.write(error, "x")
    assert path is not None
    assert last is not None
    written = list(Path(reports.folder).iterdir())
    assert len(written) == MAX_REPORTS
    assert Path(last) in written
    assert stat.S_IMODE(Path(reports.folder).stat().st_mode) == 0o700
    assert {stat.S_IMODE(each.stat().st_mode) for each in written} == {0o600}
    assert max(each.stat().st_size for each in written) <= MAX_REPORT_BYTES
    assert not any(WORDS in each.read_text() for each in written)


def test_a_report_that_cannot_be_written_is_not_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    note = Notes(reports=CrashReports(str(tmp_path / "file" / "reports")))
    note.failed(KeyError("x"), "a.json", "x")

    assert note.collected[0].kind == Kind.READER_ERROR.label
    assert "attach" not in note.collected[0].detail


def test_a_time_with_a_zone_that_is_none(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        "Conversation,Time,Author,Message",
        "Trip,2026-01-01T10:00:00+99:00,Human,Where to?",
        "Trip,17 Feb 2026 10:00 +9900,AI,North.",
    ]
    (tmp_path / "copilot-activity-history.csv").write_text("\n".join(rows) + "\n")
    code = _run.run("import", ["--json", str(tmp_path / "copilot-activity-history.csv")])

    told = capsys.readouterr()
    assert (code, told.err) == (0, "")
    assert json.loads(told.out.splitlines()[0])["messages"] == 2


def test_a_read_that_gives_none_is_no_end() -> None:
    """Whoever starts us may have made our standard input one that does not wait."""
    code = "import sys; from agent_journal.inputs.input import Stdin; print(Stdin().size)"
    out, into = os.pipe()
    os.set_blocking(out, False)
    process = subprocess.Popen([sys.executable, "-c", code], stdin=out, stdout=subprocess.PIPE)
    os.close(out)
    assert process.stdout is not None
    with os.fdopen(into, "wb", buffering=0) as pipe:
        for _ in range(3):
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.4)
            pipe.write(b"x" * 1000)
    assert process.communicate(timeout=30)[0].strip() == b"3000"


def test_a_file_of_the_system_that_gives_nothing_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/proc/kmsg counts as a regular file; with nothing to give, a read of it gives None."""
    from agent_journal.errors import UnreadableSource  # noqa: PLC0415
    from agent_journal.inputs.input import File  # noqa: PLC0415

    out, into = os.pipe()
    os.set_blocking(out, False)
    (tmp_path / "a.json").write_text("{}")
    monkeypatch.setattr("agent_journal.inputs.input.os.open", lambda *_: out)
    monkeypatch.setattr("agent_journal.inputs.input.stat.S_ISREG", lambda _: True)
    with (
        pytest.raises(UnreadableSource, match="gives no data"),
        File(str(tmp_path / "a.json")).open() as stream,
    ):
        stream.read(10)
    os.close(into)


def test_watch_leaves_alone_what_its_reader_failed_at_until_it_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / ".claude" / "projects" / "p"
    folder.mkdir(parents=True)
    bad, good = (history(folder, number) for number in (1, 2))
    module: Any = readers.get("claude-code")
    real = module.read

    def read(source: Any, *rest: Any) -> Iterator[Any]:
        if source.label == bad.path:
            raise KeyError(WORDS)
        yield from real(source, *rest)

    monkeypatch.setattr(module, "read", read)
    monkeypatch.setenv("HOME", str(tmp_path))
    told: list[Result] = []
    watcher = Watcher(load(tmp_path / "journal", {}), [module.INFO], told.append, lambda _: None)
    watcher._scan_all()
    assert {each.file: each.status for each in told} == {bad.path: "unreadable", good.path: "imported"}
    watcher._scan_all()
    assert len(told) == 2
    with Path(bad.path).open("a") as file:
        file.write("\n")
    watcher._scan_all()
    assert len(told) == 3


def test_what_another_packages_reader_gives_is_checked(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    module: Any = ModuleType("diary")
    module.INFO = readers.ReaderInfo(name="diary", title="Diary", versions=("1",))
    garbage: list[Any] = [
        Conversation(
            id="1", source="diary", timeline=[Message(id="m", role="user", parts=[Text(text="hi")])]
        ),
        Conversation(id=7, source="diary"),  # type: ignore[arg-type]
    ]
    module.read = lambda *_: iter(garbage)
    monkeypatch.setattr(plugins, "package_of", lambda _: "diary-reader")
    (tmp_path / "a.json").write_text("{}")
    note = Notes()
    unit = pipeline.Unit(open_input(str(tmp_path / "a.json")), module, "1")

    assert [item.id for item in pipeline.read_unit(unit, note)] == ["1"]
    assert [each.kind for each in note.collected if each.kind == "reader-error"] == ["reader-error"]
