"""The ledger: every byte of a source is imported or in a named defect, and what changes is noticed."""

from __future__ import annotations

import io
import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from agent_journal.archive import Archive, forgetting
from agent_journal.archive.candidates import ImportCandidate, Result, Stat, stat_of
from agent_journal.archive.importing import Importer
from agent_journal.archive.store import SourceRow, Status
from agent_journal.archive.syncing import Scan
from agent_journal.notes import Kind
from tests.archive.journals import ALL, NOW, everything, imported, journal, read_again, texts
from tests.archive.test_round_trip import placed
from tests.archive.test_vault import NAME, lines
from tests.cases import Case, all_cases, input_files

LABELS = {kind.label: kind for kind in Kind}


def account(archive: Archive, path: Path) -> SourceRow:
    row = archive.store.source(str(path))
    assert row is not None
    return row


def columns(archive: Archive) -> list[tuple[int, int, int]]:
    return list(archive.store._rows("SELECT size, imported, defects FROM sources"))


@pytest.mark.parametrize("case", all_cases(), ids=str)
def test_the_account_of_every_case_adds_up(case: Case, tmp_path: Path) -> None:
    location = placed(case, tmp_path)
    with journal(tmp_path / "journal") as archive:
        (result,) = imported(archive, location).results
        row = account(archive, location)
        ((size, good, bad),) = columns(archive)
        held = archive.store.counts()

    assert size == good + bad
    assert 0 <= bad <= size
    if location.is_file():
        assert size == location.stat().st_size
    else:
        whole = sum(path.stat().st_size for path in input_files(location))
        assert size <= whole
    assert (result.status, result.bytes) == (row.status, size)
    assert (row.conversations, row.messages) == (held.conversations, held.messages)
    damage = [note for note in row.notes if LABELS[note["kind"]].damage]
    assert bool(bad) <= bool(damage), "what is missing has a name"
    assert all(note["file"] for note in row.notes)
    if row.status == Status.IMPORTED:
        assert {Kind.TORN_TAIL.label} >= {note["kind"] for note in damage}
    else:
        assert damage


def test_a_bad_line_is_counted_to_the_byte(tmp_path: Path) -> None:
    file = tmp_path / NAME
    bad = '{"type":"user", broken\n'
    file.write_text(lines(2) + bad + lines(2, 2))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        row = account(archive, file)

    assert (Status.PARTLY, len(bad) - 1) == (row.status, row.defects)
    assert [("bad-record", str(file), "line 3")] == [
        (note["kind"], note["file"], note["where"]) for note in row.notes
    ]


def test_why_something_is_missing_is_stated_before_what_is_merely_odd(tmp_path: Path) -> None:
    file = tmp_path / NAME
    odd = "".join(f'{{"type":"news-{number}"}}\n' for number in range(100))
    file.write_text(lines(2) + odd + '{"type":"user", broken\n')
    with journal(tmp_path / "journal") as archive:
        (result,) = imported(archive, file).results
        row = account(archive, file)

    assert Kind.BAD_RECORD.label == row.notes[0]["kind"]
    assert Kind.UNKNOWN_TYPE.label == row.notes[1]["kind"]
    assert Kind.BAD_RECORD.label in result.notes[0]


def test_a_line_that_is_still_being_written_waits(tmp_path: Path) -> None:
    file = tmp_path / NAME
    whole = lines(3)
    file.write_text(whole[:-40])
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        row = account(archive, file)
        assert Status.IMPORTED == row.status
        assert row.defects > 0
        file.write_text(whole)
        imported(archive, file)

        assert 0 == account(archive, file).defects
        assert 3 == len(everything(archive.store)[0].timeline)


@pytest.mark.parametrize("case", ["claude-code", "codex", "gemini-cli"])
def test_at_every_cut_of_its_first_line_a_history_is_read_or_waits(case: str, tmp_path: Path) -> None:
    line = _first_line(case)
    file = tmp_path / "history.jsonl"
    told = []
    with journal(tmp_path / "journal") as archive:
        for cut in range(1, len(line)):
            file.write_bytes(line[:cut])
            told.append(in_its_home(archive, file, case))
            row = account(archive, file)
            may_wait = {Status.PENDING} if line[cut:].strip() else set()
            assert told[-1] in {Status.IMPORTED, *may_wait}, line[:cut]
            if told[-1] == Status.PENDING:
                assert [Kind.TORN_TAIL.label] == [note["kind"] for note in row.notes]
                assert (cut, cut) == (row.size, row.defects)
        file.write_bytes(line)
        assert in_its_home(archive, file, case) == Status.IMPORTED
    assert told[0] == Status.PENDING


def _first_line(reader: str) -> bytes:
    for case in all_cases():
        if case.reader == reader:
            for file in input_files(case.folder):
                lines = file.read_bytes().splitlines(keepends=True)
                if file.suffix == ".jsonl" and lines:
                    return lines[0]
    raise LookupError(reader)


def in_its_home(archive: Archive, file: Path, reader: str) -> str:
    """How a file is read that lies where a source keeps its histories."""
    results: list[Result] = []
    with Importer(archive, NOW, lambda _: None, results.append) as importer:
        importer.take(ImportCandidate(str(file), reader, "~/*"))
    return results[0].status


@pytest.mark.parametrize(
    ("content", "status"),
    [
        (b"  \n", Status.PENDING),
        (b'{"a": 1.', Status.PENDING),
        (b'{"a": "' + b"x" * 70_000, Status.PENDING),
        (b'{"a": "' + b"x" * 70_000 + b'"}', Status.UNKNOWN),
        (b'{"a": 1}\n{"a', Status.UNKNOWN),
        (b'{"a" 1', Status.UNKNOWN),
        (b"# notes", Status.UNKNOWN),
    ],
)
def test_only_what_may_become_a_record_waits(content: bytes, status: str, tmp_path: Path) -> None:
    file = tmp_path / "history.jsonl"
    file.write_bytes(content)
    with journal(tmp_path / "journal") as archive:
        assert in_its_home(archive, file, "claude-code") == status


def test_a_history_that_is_written_again_waits_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        in_its_home(archive, file, "claude-code")
        file.write_text("{")
        assert in_its_home(archive, file, "claude-code") == Status.PENDING
        assert 3 == len(everything(archive.store)[0].timeline)


def test_files_that_nobody_reads_are_in_the_account_of_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / NAME).write_text(lines(2))
    (folder / "notes.bin").write_bytes(b"\x00\x01" * 50)
    with journal(tmp_path / "journal") as archive:
        imported(archive, folder)
        row = account(archive, folder)

        assert (len(lines(2)) + 100, 100, Status.PARTLY) == (row.size, row.defects, row.status)
        assert [str(folder / "notes.bin")] == [note["file"] for note in row.notes]


@pytest.mark.parametrize("content", ["<html>no export</html>", "\0" * 30, '{"a": [1'])
def test_what_no_reader_knows_is_a_defect_as_a_whole(tmp_path: Path, content: str) -> None:
    file = tmp_path / "export.json"
    file.write_text(content)
    with journal(tmp_path / "journal") as archive:
        (result,) = imported(archive, file).results
        row = account(archive, file)

    assert row.status in {Status.UNKNOWN, Status.UNREADABLE}
    assert len(content) == row.size == row.defects
    assert result.notes


@pytest.mark.parametrize(
    ("home", "status", "notes"),
    [("~/*", Status.IMPORTED, []), ("", Status.UNKNOWN, ["unknown-file: it is empty"])],
)
def test_an_empty_file_is_no_fault_where_histories_lie(
    tmp_path: Path, home: str, status: str, notes: list[str]
) -> None:
    (tmp_path / "empty.jsonl").touch()
    told: list[Result] = []
    with (
        journal(tmp_path / "journal") as archive,
        Importer(archive, NOW, lambda _: None, told.append) as importer,
    ):
        importer.take(ImportCandidate(str(tmp_path / "empty.jsonl"), home=home))

    assert [(status, 0)] == [(result.status, result.bytes) for result in told]
    assert notes == [note.partition(": ")[2] for note in told[0].notes]


# What has changed


def changed(archive: Archive, *paths: Path, full: bool = False) -> list[str]:
    scan = Scan(archive, NOW, full=full)
    found = [
        ImportCandidate(str(path), home="~/*", stat=stat_of(str(path))) for path in paths if path.exists()
    ]
    return [each.path for each in scan.changed(found)]


def synced(archive: Archive, *paths: Path) -> int:
    """Import what has changed, and mark what is gone; how many are gone."""
    scan = Scan(archive, NOW)
    found = [
        ImportCandidate(str(path), home="~/*", stat=stat_of(str(path)))
        for path in paths
        if os.path.lexists(path)
    ]
    with Importer(archive, NOW, lambda _: None, lambda _: None) as importer:
        for each in list(scan.changed(found)):
            importer.take(each)
    return scan.mark_missing()


def test_only_what_changed_is_read(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(2))
    with journal(tmp_path / "journal") as archive:
        assert [str(file)] == changed(archive, file)
        synced(archive, file)
        assert [] == changed(archive, file)
        assert [str(file)] == changed(archive, file, full=True)
        with file.open("a") as out:
            out.write(lines(1, 2))
        assert [str(file)] == changed(archive, file)


def test_unchanged_files_are_reported_on_request(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(2) + "{broken\n")
    told: list[Result] = []
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        found = [ImportCandidate(str(file), home="~/*", stat=stat_of(str(file)))]
        assert not list(Scan(archive, NOW, on_unchanged=told.append).changed(found))

    (result,) = told
    assert (Status.UNCHANGED, "claude-code", 1, 2) == (
        result.status, result.source, result.conversations, result.messages
    )  # fmt: skip
    assert ["line 3: bad-record"] == [note[:18] for note in result.notes]


def test_a_change_next_to_a_file_is_a_change(tmp_path: Path) -> None:
    case = next(case for case in all_cases() if str(case) == "copilot-cli/workspace_in_other_forms")
    location = placed(case, tmp_path)
    units = sorted(path for path in location.rglob("events.jsonl"))
    with journal(tmp_path / "journal") as archive:
        synced(archive, *units)
        assert [] == changed(archive, *units)
        beside = next(path for path in location.rglob("*.yaml"))
        beside.write_text(beside.read_text() + "\n# changed\n")
        assert 1 <= len(changed(archive, *units)) <= len(units)


def test_a_deleted_source_is_flagged_and_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(2))
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        before = everything(archive.store)
        file.rename(tmp_path / "elsewhere")

        assert 1 == synced(archive, file)
        assert before == everything(archive.store)
        (listed,) = archive.store.conversations(ALL)
        assert listed.source_missing
        assert NOW == account(archive, file).missing_since
        (tmp_path / "elsewhere").rename(file)
        assert 0 == synced(archive, file)
        assert account(archive, file).missing_since is None


def test_a_source_that_is_gone_when_it_is_read_keeps_its_account(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(2))
    told: list[Result] = []
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        before = account(archive, file)
        file.unlink()
        with Importer(archive, NOW, lambda _: None, told.append) as importer:
            importer.take(ImportCandidate(str(file), home="~/*", stat=Stat()))  # as who watches does
        assert replace(before, missing_since=NOW) == account(archive, file)
        assert [] == told
        (result,) = imported(archive, file).results
        assert (Status.UNREADABLE, NOW) == (result.status, account(archive, file).missing_since)

        file.write_text(lines(3))
        synced(archive, file)
        assert account(archive, file).missing_since is None


@pytest.mark.parametrize(("error", "is_gone"), [(NotADirectoryError, True), (PermissionError, False)])
def test_what_may_not_be_looked_at_is_not_shown_as_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[OSError], is_gone: bool
) -> None:
    def refused(path: str) -> None:
        raise error(path)

    file = tmp_path / NAME
    file.write_text(lines(2))
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        with monkeypatch.context() as patched:
            patched.setattr("agent_journal.archive.candidates.os.lstat", refused)
            assert is_gone == synced(archive)


@pytest.mark.skipif(os.name == "nt", reason="names are text there")
@pytest.mark.parametrize("name", [b"not\xfftext", rb"written \xff so", b"\xc3\xa4\xe4\n"])
def test_what_was_not_looked_for_is_gone_only_if_it_is(tmp_path: Path, name: bytes) -> None:
    folder = tmp_path / os.fsdecode(name)
    folder.mkdir()
    file = folder / NAME
    file.write_text(lines(2))
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        assert 0 == synced(archive), "as where only another source is asked for"
        file.unlink()
        assert 1 == synced(archive)


@pytest.mark.parametrize("is_deleted_first", [True, False])
def test_a_forgotten_source_that_is_gone_is_not_shown_as_archived(
    tmp_path: Path, is_deleted_first: bool
) -> None:
    file = tmp_path / NAME
    file.write_text(lines(2))
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        if is_deleted_first:
            file.unlink()
            assert 1 == synced(archive, file)
        forgetting.forget(archive, [each.key for each in archive.store.conversations(ALL)], NOW)
        forgetting.finish_erasing(archive)
        file.unlink(missing_ok=True)

        assert 0 == synced(archive, file)
        assert 0 == archive.store.counts().missing


def test_what_comes_after_all_was_forgotten_is_imported(tmp_path: Path) -> None:
    file = tmp_path / ".aider.chat.history.md"
    file.write_text(_aider("one"))
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        forgetting.forget(archive, [each.key for each in archive.store.conversations(ALL)], NOW)
        forgetting.finish_erasing(archive)
        file.write_text(_aider("one") + "\n")
        synced(archive, file)
        assert [] == everything(archive.store)
        assert [] == archive.store.snapshots(account(archive, file).key), "nothing of it was kept again"
        assert [] == changed(archive, file)
        (result,) = imported(archive, file).results
        assert Status.FORGOTTEN == result.status

        file.write_text(_aider("one", "two"))
        synced(archive, file)
        (conversation,) = everything(archive.store)
        assert ["two", "As you like."] == texts(conversation)
        forgetting.finish_erasing(archive)
        assert Status.IMPORTED == account(archive, file).status
        read_again(archive)
        assert [conversation] == everything(archive.store)


def _aider(*asked: str) -> str:
    started = "\n# aider chat started at 2026-01-0{} 10:00:00\n\n#### {}\n\nAs you like.\n\n"
    return "".join(started.format(day, each) for day, each in enumerate(asked, 1))


def piped(archive: Archive, text: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """Import what comes on standard input; what became of it."""
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(text.encode())))
    (result,) = imported(archive, "-").results
    return result.status


def test_standard_input_is_taken_after_what_came_there_was_forgotten(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with journal(tmp_path / "journal") as archive:
        assert Status.IMPORTED == piped(archive, _aider("one"), monkeypatch)
        forgetting.forget(archive, [each.key for each in archive.store.conversations(ALL)], NOW)
        forgetting.finish_erasing(archive)
        assert Status.FORGOTTEN == piped(archive, _aider("one"), monkeypatch)
        assert Status.IMPORTED == piped(archive, _aider("one", "two"), monkeypatch)
        assert [["two", "As you like."]] == [texts(each) for each in everything(archive.store)]


@pytest.mark.parametrize(
    ("text", "status", "lost"),
    [
        (lines(2), Status.IMPORTED, ""),
        (lines(2) + "{torn\n", Status.PARTLY, "{torn"),
        ("what is this", Status.UNKNOWN, "what is this"),
    ],
)
def test_the_bytes_of_standard_input_are_accounted_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, status: str, lost: str
) -> None:
    with journal(tmp_path / "journal") as archive:
        assert status == piped(archive, text, monkeypatch)
        assert [(len(text), len(text) - len(lost), len(lost))] == columns(archive)


def test_what_is_not_there_has_no_account(tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        (result,) = imported(archive, tmp_path / NAME).results

        assert Status.UNREADABLE == result.status
        assert ["there is no such file or folder"] == [note.rpartition(": ")[2] for note in result.notes]
        assert 0 == archive.store.counts().sources


def test_what_could_not_be_opened_is_tried_again(tmp_path: Path) -> None:
    file = tmp_path / NAME
    target = tmp_path / "target"
    file.symlink_to(target / "x")  # leads nowhere
    with journal(tmp_path / "journal") as archive:
        synced(archive, file)
        assert Status.UNREADABLE == account(archive, file).status
        assert Stat() == account(archive, file).stat


def test_a_copy_elsewhere_is_the_same_conversation(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / NAME, tmp_path / "b" / NAME
    for path, count in ((first, 2), (second, 4)):
        path.parent.mkdir()
        path.write_text(lines(count))
    with journal(tmp_path / "journal") as archive:
        synced(archive, first, second)
        (conversation,) = everything(archive.store)

        assert 4 == len(texts(conversation))
        shutil.rmtree(first.parent)
        synced(archive, first, second)
        (listed,) = archive.store.conversations(ALL)
        assert not listed.source_missing, "another file still has it"


def test_memories_outlive_the_conversations_of_their_export(tmp_path: Path) -> None:
    location = placed(next(case for case in all_cases() if str(case) == "claude-ai/export_folder"), tmp_path)
    with journal(tmp_path / "journal") as archive:
        imported(archive, location)
        before = list(archive.store.memories())
        assert before
        forgetting.forget(archive, [each.key for each in archive.store.conversations(ALL)], NOW)
        forgetting.finish_erasing(archive)
        read_again(archive)
        assert before == list(archive.store.memories())
        assert Status.IMPORTED == account(archive, location).status

        forgetting.forget(archive, [], NOW, memories=True)
        forgetting.finish_erasing(archive)
        imported(archive, location)
        forgetting.finish_erasing(archive)
        assert [] == list(archive.store.memories())
        assert Status.FORGOTTEN == account(archive, location).status
        assert [] == list(archive.store.locations()), "and nothing is left in the vault"
