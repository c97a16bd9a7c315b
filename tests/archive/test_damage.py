"""Damage to one blob or row costs no more than that, and is healed from wherever the same still is."""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from pathlib import Path

import apsw
import pytest

from agent_journal import journal
from agent_journal.archive import Archive, checking, forgetting, frames, open_to_read, vault_checks
from agent_journal.archive import backup as backups
from agent_journal.archive.backup import backup
from agent_journal.archive.candidates import ImportCandidate
from agent_journal.archive.importing import Importer
from agent_journal.archive.native_content import NativeContentReader
from agent_journal.archive.repairing import Repair
from agent_journal.archive.salvage import PatchedVault, RecoveringReader, readable_items
from agent_journal.archive.store import Snapshot
from agent_journal.archive.vault import BlobLocation
from agent_journal.config import load
from agent_journal.errors import CannotWrite, DamagedArchive
from agent_journal.journal.loading import ConversationLoader
from agent_journal.journal.sessions import ReadSession
from agent_journal.model import Message, Text, ToolCall, ToolResult
from agent_journal.terminal import conversation as terminal_view
from agent_journal.terminal.conversation import lines
from agent_journal.terminal.view import View
from tests.archive.journals import ALL, NOW, everything, imported, minute, put, read_again, said, talk, the
from tests.archive.journals import journal as opened
from tests.archive.test_frames import conversations
from tests.gauntlet.corpus import Sessions, export, line_of, session_id, word
from tests.gauntlet.lab import Lab

_DAY = vault_checks.SECONDS_PER_DAY


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "CHUNK_BYTES", 1000)
    monkeypatch.setattr(frames, "_FRAME_BYTES", 900)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A journal of an export in several pieces and of two sessions, all of which are on disk."""
    (tmp_path / "conversations.json").write_text(json.dumps(conversations(16)), encoding="utf-8")
    for name in ("one", "two"):
        lines = [line_of(name, number, f"{name} says {number}", "out " * 30) for number in range(12)]
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(lines))
    with opened(tmp_path / "journal") as archive:
        told = imported(archive, *files(tmp_path))
        assert {"imported"} == {each.status for each in told.results}
    return tmp_path / "journal"


def files(folder: Path) -> list[Path]:
    return [folder / "conversations.json", folder / "one.jsonl", folder / "two.jsonl"]


def spoil(archive: Archive, blob: bytes) -> None:
    """Flip a byte of a blob."""
    place = archive.store.location(blob)
    assert place is not None
    path = Path(archive.vault.pack_path(place.pack))
    data = bytearray(path.read_bytes())
    data[place.start + place.stored // 2] ^= 0xFF
    path.write_bytes(data)


def snapshot_of(archive: Archive, path: Path) -> Snapshot:
    row = archive.store.source(str(path))
    assert row is not None
    return archive.store.snapshots(row.key)[-1]


def chunks_of(archive: Archive, path: Path) -> list[bytes]:
    (file,) = snapshot_of(archive, path).manifest.files.values()
    return file.chunks


def spoil_everywhere(home: Path) -> Iterator[tuple[str, Callable[[], None]]]:
    """Ways in which a pack is damaged, at many places."""
    pack = home / "vault" / "000001.pack"
    whole = pack.read_bytes()
    step = max(1, len(whole) // 12)

    def flipped(at: int) -> None:
        pack.write_bytes(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1 :])

    for at in range(0, len(whole), step):
        yield f"flipped at {at}", lambda at=at: flipped(at)  # type: ignore[misc]
    yield "cut", lambda: pack.write_bytes(whole[: len(whole) // 2])  # type: ignore[misc]
    yield "zeros", lambda: pack.write_bytes(whole[:500] + bytes(len(whole) - 500))  # type: ignore[misc]
    yield "gone", pack.unlink


def test_forgetting_goes_on_whatever_is_damaged_in_the_vault(home: Path, tmp_path: Path) -> None:
    with open_to_read(home) as archive:
        before = everything(archive.store)
    copy = tmp_path / "copy"
    for how, spoiling in spoil_everywhere(home):
        shutil.copytree(home, copy)
        spoiling()
        with opened(home) as archive:
            forgetting.forget(archive, [the(archive.store, "0000-0003").key], NOW)
            forgetting.finish_erasing(archive)
            with archive.store.transaction():
                archive.store.set_pending_erasure(None)
            left = [each for each in before if each.id != "0000-0003"]
            assert left == everything(archive.store), how
        shutil.rmtree(home)
        copy.rename(home)


def test_one_damaged_piece_of_an_export_costs_that_piece(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        export = tmp_path / "conversations.json"
        pieces = chunks_of(archive, export)
        assert len(pieces) > 3
        for blob in (pieces[0], pieces[2], pieces[-1]):
            before = Path(archive.vault.pack_path(1)).read_bytes()
            spoil(archive, blob)
            patched = PatchedVault(archive.vault, snapshot_of(archive, export).manifest)
            given = [item.id for item in readable_items(archive, snapshot_of(archive, export), patched, "")]
            assert 9 <= len(given) < 16, given
            assert [blob] == [*patched.damaged]
            (left,) = [each.key for each in archive.store.conversations(ALL) if each.id == "0000-0015"]
            assert NativeContentReader(archive).read(left) == archive.store.conversation(left)
            Path(archive.vault.pack_path(1)).write_bytes(before)


@pytest.mark.parametrize("place", [0, 1, -1])
def test_what_a_newer_reader_reads_again_lacks_nothing(home: Path, tmp_path: Path, place: int) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        spoil(archive, chunks_of(archive, tmp_path / "one.jsonl")[place])
        told = read_again(archive)
        assert before == everything(archive.store)
        status = {Path(each.file).name: each.status for each in told.results}
        assert {
            "conversations.json": "imported",
            "one.jsonl": "unreadable",
            "two.jsonl": "imported",
        } == status


def test_importing_the_source_again_heals(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        for path in files(tmp_path):
            spoil(archive, chunks_of(archive, path)[0])
        assert 3 == len([*checking.problems(archive, deep=True)]) // 2
        imported(archive, *files(tmp_path))
        assert [] == [*checking.problems(archive, deep=True)]


def test_a_source_that_has_grown_is_healed_and_read(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        spoil(archive, chunks_of(archive, tmp_path / "one.jsonl")[0])
        with (tmp_path / "one.jsonl").open("ab") as file:
            file.write(line_of("one", 12, "one says 12"))
        told = imported(archive, tmp_path / "one.jsonl")
        assert ["imported"] == [each.status for each in told.results]
        assert [] == [*checking.problems(archive, deep=True)]


def test_a_source_that_has_changed_puts_nothing_in_the_place_of_what_is_damaged(
    home: Path, tmp_path: Path
) -> None:
    with opened(home) as archive:
        spoil(archive, chunks_of(archive, tmp_path / "one.jsonl")[0])
        lines = [line_of("one", number, f"one says other {number}") for number in range(3)]
        (tmp_path / "one.jsonl").write_bytes(b"".join(lines))
        before = everything(archive.store)
        outcome = Repair(archive, NOW).run()
        assert [] == outcome.repaired
        assert [str(tmp_path / "one.jsonl")] == [each.what for each in outcome.lost]
        assert before == everything(archive.store)


def test_repair_takes_from_the_source_then_from_a_backup(home: Path, tmp_path: Path) -> None:
    with open_to_read(home) as archive:
        backup(archive, tmp_path / "backup")
    with opened(home) as archive, open_to_read(tmp_path / "backup") as copy:
        for path in files(tmp_path):
            spoil(archive, chunks_of(archive, path)[0])
        (tmp_path / "one.jsonl").unlink()
        outcome = Repair(archive, NOW).run(copy)
        assert [] == outcome.lost
        told = {Path(each.what).name: each.how for each in outcome.repaired}
        assert "1 piece of the vault read again from its file on disk" == told["two.jsonl"]
        assert f"1 piece of the vault copied from {tmp_path / 'backup'}" == told["one.jsonl"]
        assert [] == [*checking.problems(archive, deep=True)]
        assert ([], []) == Repair(archive, NOW).run(copy)


def test_what_is_nowhere_else_is_named_and_can_be_given_up(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        export = tmp_path / "conversations.json"
        spoil(archive, chunks_of(archive, export)[2])
        export.unlink()
        for _ in range(2):  # it stays damaged until somebody says that it may
            (lost,) = Repair(archive, NOW).run().lost
            assert str(export) == lost.what
            assert 0 < len(lost.conversations) < 6
            assert lost.bytes > 500
        (lost,) = Repair(archive, NOW).run(gives_up=True).lost
        assert lost.is_given_up
        assert [] == [*checking.problems(archive, deep=True)]
        assert ([], []) == Repair(archive, NOW).run()
        read_again(archive)
        assert before == everything(archive.store)
        assert [] == [*checking.problems(archive, deep=True)]


def test_rows_are_made_again_from_the_vault(home: Path) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        spoil_rows(archive, "one")
        damaged = the(archive.store, "one")
        assert before != everything(archive.store)
        assert archive.store.damaged_rows(damaged.key)
        (healed,) = Repair(archive, NOW).run().repaired
        assert "entries restored from the vault" in healed.how
        assert before == everything(archive.store)
        assert [] == [*checking.problems(archive)]


def spoil_rows(archive: Archive, id_: str) -> None:
    key = the(archive.store, id_).key
    archive.store._db.execute(
        "UPDATE blocks SET data = zeroblob(length(data)) WHERE key IN "
        "(SELECT block FROM timeline WHERE conversation = ?)",
        (key,),
    )
    archive.store._db.execute("UPDATE conversations SET detail = X'00' WHERE key = ?", (key,))


def test_damaged_rows_are_read_from_the_vault_and_reported(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        key = the(archive.store, "one").key
        before = archive.store.conversation(key)
        spoil_rows(archive, "one")
        sound = RecoveringReader(archive)
        assert before.timeline == sound.conversation(key).timeline
        assert [(12, 0)] == [(each.recovered, each.missing) for each in sound.take_reports()]
        for blob in chunks_of(archive, tmp_path / "one.jsonl"):
            spoil(archive, blob)
        assert [f"one says {number}" for number in range(12)] == [
            "".join(part.text for part in entry.parts if isinstance(part, Text))
            for entry in sound.conversation(key).timeline
            if isinstance(entry, Message)
        ]
        assert [(0, 12)] == [(each.recovered, each.missing) for each in sound.take_reports()]


def test_what_is_damaged_for_good_in_the_rows_can_be_given_up(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        spoil_rows(archive, "one")
        for blob in chunks_of(archive, tmp_path / "one.jsonl"):
            spoil(archive, blob)
        (tmp_path / "one.jsonl").unlink()
        assert 2 == len(Repair(archive, NOW).run(gives_up=True).lost)
        assert [] == [*checking.problems(archive, deep=True)]
        assert ([], []) == Repair(archive, NOW).run()


def test_importing_again_heals_rows_too(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        spoil_rows(archive, "two")
        with Importer(archive, NOW, lambda _: None, lambda _: None, repairs_rows=True) as importer:
            importer.take(ImportCandidate(str(tmp_path / "two.jsonl")))
        assert before == everything(archive.store)
        assert [] == [*checking.problems(archive)]


def test_a_damaged_manifest_takes_no_blob_with_it(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        needed = archive.store.needed_blobs()
        row = archive.store.source(str(tmp_path / "one.jsonl"))
        assert row is not None
        archive.store._db.execute(
            "UPDATE snapshots SET manifest = CAST(X'C1' || substr(manifest, 2) AS BLOB) WHERE source = ?",
            (row.key,),
        )
        assert needed <= archive.store.needed_blobs()
        assert any("damaged" in each.problem for each in checking.problems(archive))
        forgetting.forget(archive, [the(archive.store, "0000-0003").key], NOW)
        forgetting.finish_erasing(archive)
        assert [each for each in before if each.id != "0000-0003"] == everything(archive.store)
    config = load(home, {"HOME": str(tmp_path)})
    assert not journal.repair(config).lost
    with open_to_read(home) as archive:
        assert [] == [*checking.problems(archive, deep=True)]


def test_a_backup_names_what_is_damaged_and_has_all_else(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        before = everything(archive.store)
        spoil(archive, chunks_of(archive, tmp_path / "one.jsonl")[0])
    with open_to_read(home) as archive:
        copied = backup(archive, tmp_path / "copy")
    assert [str(tmp_path / "one.jsonl")] == [each.where for each in copied.problems]
    with open_to_read(tmp_path / "copy") as copy:
        assert before == everything(copy.store)
        assert 2 == len([*checking.problems(copy, deep=True)])  # the blob, and the file it is in


def test_a_copy_that_is_not_what_was_copied_is_none(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = backups._copy

    def spoiled(pack: str, folder: Path) -> None:
        real(pack, folder)
        path = folder / Path(pack).name
        data = bytearray(path.read_bytes())
        data[len(data) // 2] ^= 0xFF
        path.write_bytes(data)

    monkeypatch.setattr(backups, "_copy", spoiled)
    with (
        open_to_read(home) as archive,
        pytest.raises(CannotWrite, match="the copy differs from the original"),
    ):
        backup(archive, tmp_path / "copy")
    assert not (tmp_path / "copy").exists()


# Checks


@pytest.fixture
def stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a small vault be as a large one is: each blob is a stretch."""
    monkeypatch.setattr(vault_checks, "_STRETCH_BYTES", 1)
    monkeypatch.setattr(vault_checks, "_MIN_CHECK_BYTES", 1)


def looked(archive: Archive, now: float, **more: object) -> vault_checks.CheckOutcome:
    return vault_checks.check(archive, checking.needed_blobs(archive), now, **more)  # type: ignore[arg-type]


@pytest.mark.usefixtures("stretches")
@pytest.mark.parametrize("days", [1, 3, 7, 20, 40])
def test_checks_read_all_of_the_vault_within_a_month(home: Path, days: int) -> None:
    with open_to_read(home) as archive:
        start = now = time.time()
        first = looked(archive, now)
        assert 0 < first.read_bytes < first.total_bytes
        while not (found := looked(archive, now)).whole_at:
            now += days * _DAY
        assert now - start <= max(vault_checks.FULL_CHECK_DAYS + 1, days) * _DAY
        for _ in range(40):
            now += days * _DAY
            found = looked(archive, now)
            assert now - found.whole_at <= max(30, days) * _DAY
        assert found.read_bytes <= found.total_bytes


@pytest.mark.usefixtures("stretches")
def test_damage_that_a_check_found_is_remembered_until_it_is_healed(home: Path, tmp_path: Path) -> None:
    now = time.time()
    with opened(home) as archive:
        spoil(archive, chunks_of(archive, tmp_path / "one.jsonl")[0])
        assert [] == checking.vault_damage(archive)  # nobody has looked
        while not looked(archive, now).damage:
            now += _DAY
        assert 1 == len(checking.vault_damage(archive))
        assert 1 == len(looked(archive, now + 1).damage)
        imported(archive, tmp_path / "one.jsonl")
        assert [] == checking.vault_damage(archive)
        assert [] == looked(archive, now + 2).damage


@pytest.mark.usefixtures("stretches")
def test_a_check_ends_in_time_and_says_so(home: Path) -> None:
    ticks = iter(range(0, 10_000, 40))
    with open_to_read(home) as archive:
        now = time.time()
        looked(archive, now, deep=True)
        found = looked(archive, now + 60 * _DAY, clock=lambda: float(next(ticks)))
        assert found.is_cut_short
        assert found.read_bytes < found.total_bytes


def test_a_deep_check_reads_all(home: Path) -> None:
    with open_to_read(home) as archive:
        found = looked(archive, 2_000_000_000.0, deep=True)
        assert (found.read_bytes, found.whole_at) == (found.total_bytes, 2_000_000_000)
        assert (home / vault_checks.FILE).stat().st_mode & 0o777 == 0o600


def test_a_check_that_cannot_be_remembered_says_so(home: Path) -> None:
    (home / vault_checks.FILE).mkdir()
    with open_to_read(home) as archive:
        assert vault_checks.FILE in looked(archive, time.time()).save_error


def test_a_record_of_checks_that_is_damaged_counts_for_nothing(home: Path) -> None:
    (home / vault_checks.FILE).write_bytes(b"{\xff")
    with open_to_read(home) as archive:
        assert looked(archive, time.time()).read_bytes > 0


# Memory


def large(home: Path, messages: int, size: int) -> None:
    """A conversation of which most is in what tools gave."""
    with opened(home) as archive:
        timeline = []
        for number in range(messages):
            result = ToolResult(call_id=f"c{number}", output=os.urandom(size // 2).hex())
            call = ToolCall(name="ls", call_id=f"c{number}", input={})
            timeline += [
                said(f"q{number}", f"question{number} of mine", minute(number % 60)),
                Message(id=f"a{number}", role="assistant", at=minute(number % 60), parts=[call]),
                Message(id=f"r{number}", role="tool", at=minute(number % 60), parts=[result]),
            ]
        put(archive.store, talk("large", *timeline, title="Large"))


def test_only_what_is_shown_is_read(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    large(tmp_path / "other", 60, 100_000)
    with open_to_read(tmp_path / "other") as archive:
        key = the(archive.store, "large").key
        outline = archive.store.outline(key)
        assert 180 == len(outline.keys) == len(outline.sizes)
        read: list[int] = []
        block = archive.store._block

        def counted(key: int, upto: int | None = None) -> bytes:
            read.append(key)
            return block(key, upto)

        monkeypatch.setattr(archive.store, "_block", counted)
        load = ConversationLoader(lambda: nullcontext(ReadSession(archive)), key, outline)
        shown = list(lines(load.conversation, View(message="q30", context=1), load=load))
        assert any("question30" in str(line) for line in shown)
        assert 0 < len(set(read)) <= 4, read
        read.clear()
        shown = list(lines(load.conversation, View(last=2), load=load))
        assert any("question59" in str(line) for line in shown)
        assert not any("question50" in str(line) for line in shown)
        assert 0 < len(set(read)) <= 4, read
        read.clear()
        first = lines(load.conversation, View(), load=load)
        while "question3 " not in str(next(first)):
            pass
        assert len(set(read)) <= 15, read  # who leaves the pager has had no more read than a piece


def test_a_large_conversation_is_shown_as_a_small_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    large(tmp_path / "other", 12, 1000)
    monkeypatch.setattr(terminal_view, "_PIECE_BYTES", 10**9)
    with open_to_read(tmp_path / "other") as archive:
        key = the(archive.store, "large").key
        whole = archive.store.conversation(key)
        outline = archive.store.outline(key)
        load = ConversationLoader(lambda: nullcontext(ReadSession(archive)), key, outline)
        for view in (
            View(),
            View(message="q5"),
            View(message="r5", context=1),
            View(last=3),
            View(tools=True),
        ):
            assert [*lines(whole, view)] == [*lines(load.conversation, view, load=load)]


@pytest.mark.skipif(sys.platform != "linux", reason="RLIMIT_AS is not kept elsewhere")
@pytest.mark.parametrize(
    "arguments", [["show", "large@q5"], ["show", "large", "--last", "2"], ["show", "large", "--no-pager"]]
)
def test_showing_takes_little_memory(tmp_path: Path, arguments: list[str]) -> None:
    home = tmp_path / "other"
    large(home, 100, 1_000_000)
    limit = 240 << 20

    def limited() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

    environ = {**os.environ, "AJ_HOME": str(home), "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-m", "agent_journal", *arguments],
        env=environ,
        preexec_fn=limited,
        capture_output=True,
        check=False,
    )
    assert (0, b"") == (done.returncode, done.stderr)


def test_lost_blobs_keep_their_sizes(home: Path, tmp_path: Path) -> None:
    with opened(home) as archive:
        blob = chunks_of(archive, tmp_path / "one.jsonl")[0]
        place = archive.store.location(blob)
        assert place is not None
        with archive.store.transaction():
            archive.store.mark_lost([(blob, place)])
        lost = archive.store.location(blob)
        assert lost == BlobLocation(0, 0, place.stored, place.size)
        assert lost.is_lost
        assert not archive.vault.has(blob)
        with pytest.raises(DamagedArchive):
            archive.vault.get(blob)
        assert any("is lost" in each.problem for each in checking.problems(archive))


# The verbs


def prepared(tmp_path: Path) -> Lab:
    lab = Lab(tmp_path / "lab")
    sessions = Sessions(lab.projects)
    for number in range(2):
        sessions.grow(number, 4)
    lab.good("sync")
    export(lab.home / "export.zip", 4, 4)
    lab.good("import", str(lab.home / "export.zip"))
    return lab


def flip_near_the_end(lab: Lab) -> None:
    pack = lab.journal / "vault" / "000001.pack"
    data = bytearray(pack.read_bytes())
    data[-100] ^= 0xFF
    pack.write_bytes(data)


def test_a_flipped_byte_and_one_forget(tmp_path: Path) -> None:
    lab = prepared(tmp_path)
    flip_near_the_end(lab)
    checked = lab.aj("check")
    assert (1, True) == (checked.code, "export.zip" in checked.out)
    assert "aj repair" in checked.err
    assert "Vault: 1 piece is damaged or missing" in lab.good("status").out
    doctor = lab.aj("doctor")
    assert (1, True) == (doctor.code, "run 'aj repair'" in doctor.out)
    forgotten = lab.good("forget", session_id(100_001), "--yes").err
    assert f"{lab.home / 'export.zip'}: stored bytes of it were damaged" in forgotten
    assert "the original form of their messages comes back with 'aj import" in forgotten
    problems = lab.good("status", "--problems").out
    assert "partly" in problems
    assert "recovered: stored bytes of it were damaged" in problems
    for verb in ("sync", "check", "list", "usage", "reindex", "search canary00000x00001q", "check --deep"):
        lab.good(*verb.split())
    assert "last read completely on" in lab.good("doctor").out
    lab.good("import", str(lab.home / "export.zip"))
    assert "damaged" not in lab.good("status", "--problems").out


def test_a_backup_and_a_repair_say_what_is_damaged(tmp_path: Path) -> None:
    lab = prepared(tmp_path)
    lab.good("backup", str(tmp_path / "good"))
    flip_near_the_end(lab)
    copied = lab.aj("backup", str(tmp_path / "copy"))
    assert (3, True, True) == (copied.code, "export.zip" in copied.err, (tmp_path / "copy").is_dir())
    assert 3 == lab.aj("reindex", "--from-vault").code
    assert lab.aj("export", "--all", "-t", "json", "-o", str(tmp_path / "all.jsonl")).code == 3
    assert all(word(100_003, number) in (tmp_path / "all.jsonl").read_text() for number in range(4))
    (lab.home / "export.zip").rename(tmp_path / "export.zip")
    lost = lab.aj("repair", "--json")
    assert (3, False, 0, 1) == (lost.code, *lost.lines[-1].values())
    assert 4 == len(lost.lines[0]["conversations"])
    healed = lab.good("repair", "--from", str(tmp_path / "good"), "--json").lines
    assert {"ok": True, "healed": 1, "lost": 0} == healed[-1]
    assert "No damage found." in lab.good("repair").out
    lab.good("check", "--deep")


@pytest.mark.parametrize("how", ["gone", "garbage"])
def test_rows_that_cannot_be_used_come_from_a_backup(tmp_path: Path, how: str) -> None:
    lab = prepared(tmp_path)
    lab.good("backup", str(tmp_path / "copy"))
    database = lab.journal / "journal.db"
    database.write_bytes(b"garbage" * 10_000)
    if how == "gone":
        database.unlink()
    assert 1 == lab.aj("repair").code
    repaired = lab.good("repair", "--from", str(tmp_path / "copy"))
    assert "journal.db: replaced by the database in" in repaired.out
    assert (how == "garbage") == (lab.journal / "journal.db.damaged-1").exists()
    lab.good("sync")
    lab.good("check", "--deep")


def test_rows_of_a_newer_version_are_not_taken_for_damaged(tmp_path: Path) -> None:
    lab = prepared(tmp_path)
    lab.good("backup", str(tmp_path / "copy"))
    connection = apsw.Connection(str(lab.journal / "journal.db"))
    connection.execute("PRAGMA user_version = 9999")
    connection.close()
    refused = lab.aj("repair", "--from", str(tmp_path / "copy"))
    assert (1, True) == (refused.code, "newer version" in refused.err)
    assert not (lab.journal / "journal.db.damaged-1").exists()


def test_damaged_rows_are_shown_and_exported_from_the_vault(tmp_path: Path) -> None:
    lab = prepared(tmp_path)
    before = lab.good("show", session_id(0), "--json").lines
    with opened(lab.journal) as archive:
        spoil_rows(archive, session_id(0))
    shown = lab.aj("show", session_id(0), "--json")
    assert (0, before[0]["timeline"]) == (shown.code, shown.lines[0]["timeline"])
    assert "4 damaged in the rows, restored from the vault" in shown.err
    exported = lab.aj("export", session_id(0), "-t", "markdown")
    assert (0, True) == (exported.code, "recovered" in exported.err)
    (lab.journal / "vault" / "000001.pack").unlink()
    shown = lab.aj("show", session_id(0))
    assert (3, True) == (shown.code, "canary00000x00001q" in shown.out)
    exported = lab.aj("export", session_id(0), "-t", "markdown")
    assert (3, True) == (exported.code, "canary00000x00001q" in exported.out)
    for verb in ("search canary00000x00001q", "reindex", "list", "usage"):
        lab.good(*verb.split())
