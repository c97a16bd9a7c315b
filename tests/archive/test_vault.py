"""The vault: bytes by their hash, in packs that only grow, checked whenever they are read."""

from __future__ import annotations

import os
import random
import resource
import sqlite3
import stat
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Self

import pytest

from agent_journal.archive import Archive, open_to_write, vault
from agent_journal.archive.checking import problems
from agent_journal.archive.lock import Lock
from agent_journal.archive.manifest import StoredFile
from agent_journal.archive.recording import CaptureSession, RecordingSource, ReplayedSource, stream_of
from agent_journal.archive.vault import BlobLocation, Vault
from agent_journal.errors import AgentJournalError, CannotWrite, DamagedArchive, UnreadableSource
from agent_journal.inputs.input import File, Input, Stream
from tests.archive.journals import everything, imported, journal, state
from tests.memory_source import Bytes


class Catalog:
    """Where blobs lie, for as long as a test lasts."""

    def __init__(self) -> None:
        self.known: dict[bytes, BlobLocation] = {}

    def location(self, blob: bytes) -> BlobLocation | None:
        return self.known.get(blob)

    def add_locations(self, locations: Iterable[tuple[bytes, BlobLocation]]) -> None:
        self.known.update(locations)

    def ends(self) -> dict[int, int]:
        ends: dict[int, int] = {}
        for place in self.known.values():
            ends[place.pack] = max(ends.get(place.pack, 0), place.start + place.stored)
        return ends


@pytest.fixture
def catalog() -> Catalog:
    return Catalog()


@contextmanager
def opened(folder: Path, catalog: Catalog) -> Iterator[Vault]:
    found = Vault(folder, catalog)
    yield found
    found.close()


def size_of(kept: Vault, pack: int) -> int:
    return Path(kept.pack_path(pack)).stat().st_size


def noise(size: int, seed: int = 0) -> bytes:
    return random.Random(seed).randbytes(size)  # noqa: S311 (anything incompressible)


def test_bytes_are_found_by_their_hash_and_stored_once(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept:
        blobs = [kept.put(data) for data in (b"", b"one", b"two", b"one")]
        assert [b"", b"one", b"two", b"one"] == [kept.get(blob) for blob in blobs]
        kept.settle()
        size = size_of(kept, 1)
        kept.put(b"two")
        kept.settle()

        assert size == size_of(kept, 1)
        assert blobs[1] == blobs[3]
        assert 3 == len(catalog.known) == len(list(kept.blobs(1)))
    with opened(tmp_path, catalog) as kept:
        assert b"two" == kept.get(blobs[2])


def test_what_is_in_no_pack_is_reported(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept, pytest.raises(DamagedArchive, match="in no pack"):
        kept.get(b"\0" * 32)


def test_every_changed_bit_is_noticed(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept:
        blob = kept.put(b"a text that is long enough to be compressed, a text that is long enough" * 3)
        kept.settle()
        path = Path(kept.pack_path(1))
    whole = path.read_bytes()
    place = catalog.known[blob]
    for offset in range(place.start, len(whole)):
        for bit in (0, 3, 7):
            damaged = bytearray(whole)
            damaged[offset] ^= 1 << bit
            path.write_bytes(damaged)
            with opened(tmp_path, catalog) as kept, pytest.raises(DamagedArchive):
                kept.get(blob)
    for end in (0, place.start, len(whole) - 1):
        path.write_bytes(whole[:end])
        with opened(tmp_path, catalog) as kept, pytest.raises(DamagedArchive):
            kept.get(blob)
    path.unlink()
    with opened(tmp_path, catalog) as kept, pytest.raises(DamagedArchive):
        kept.get(blob)


def test_a_killed_write_is_taken_over_or_cut_at_every_byte(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept:
        first = kept.put(b"first")
        kept.settle()
        settled = size_of(kept, 1)
        second = kept.put(noise(90))
        third = kept.put(noise(80, 1))  # written, but nobody knows where
        path = Path(kept.pack_path(1))
        second_ends = kept._pending[second].start + kept._pending[second].stored
    whole = path.read_bytes()
    for end in range(settled, len(whole) + 1):
        path.write_bytes(whole[:end])
        known = Catalog()
        known.known[first] = catalog.known[first]
        with opened(tmp_path, known) as kept:
            fourth = kept.put(b"fourth")
            kept.settle()
            assert b"fourth" == kept.get(fourth)
            assert b"first" == kept.get(first)
            assert kept.has(second) == (end >= second_ends)
            assert kept.has(third) == (end == len(whole))
            assert [*known.known] == [blob for blob, _ in kept.blobs(1)], "nothing between what is whole"


def test_a_pack_that_was_cut_is_left_alone(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept:
        first, lost = kept.put(b"first"), kept.put(noise(500))
        kept.settle()
    path = tmp_path / "000001.pack"
    path.write_bytes(path.read_bytes()[:-100])
    size = path.stat().st_size
    with opened(tmp_path, catalog) as kept:
        new = kept.put(noise(500, 1))
        kept.settle()
        assert size == path.stat().st_size
        assert (b"first", noise(500, 1)) == (kept.get(first), kept.get(new))
        with pytest.raises(DamagedArchive):
            kept.get(lost)


def test_a_full_pack_is_followed_by_another(
    tmp_path: Path, catalog: Catalog, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vault, "_PACK_BYTES", 1000)
    with opened(tmp_path, catalog) as kept:
        blobs = [kept.put(noise(400, seed)) for seed in range(10)]
        kept.settle()

        assert [1, 2, 3, 4] == kept.packs()
        assert [noise(400, seed) for seed in range(10)] == [kept.get(blob) for blob in blobs]
    with opened(tmp_path, catalog) as kept:
        kept.put(noise(400, 99))
        assert 4 == max(kept.packs())


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """As if the disk were full: a file that would be longer cannot be written."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def test_a_full_disk_is_reported_and_nothing_torn_stays(tmp_path: Path, catalog: Catalog) -> None:
    with opened(tmp_path, catalog) as kept:
        first = kept.put(b"first")
        kept.settle()
        with files_of_at_most(300), pytest.raises(CannotWrite, match=r"000001\.pack: file too large"):
            kept.put(noise(1000))
        again = kept.put(noise(1000))
        kept.settle()
        assert [b"first", noise(1000)] == [kept.get(first), kept.get(again)]
        assert 2 == len(list(kept.blobs(1)))


def lines(count: int, start: int = 0) -> str:
    record = (
        '{"type":"user","uuid":"u%d","parentUuid":%s,"sessionId":"11111111-2222-4333-8444-555555555555",'
        '"timestamp":"2026-01-01T10:00:%02dZ","version":"2.0.0","message":{"role":"user","content":"%s"}}\n'
    )
    parts = []
    for number in range(start, start + count):
        parent = f'"u{number - 1}"' if number else "null"
        words = random.Random(number).randbytes(150).hex()  # noqa: S311
        parts.append(record % (number, parent, number % 60, words))
    return "".join(parts)


NAME = "11111111-2222-4333-8444-555555555555.jsonl"


def test_a_full_disk_loses_nothing_that_comes_again(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(60))
    with journal(tmp_path / "whole") as archive:
        imported(archive, file)
        expected = everything(archive.store)
        largest = max(path.stat().st_size for path in (tmp_path / "whole").rglob("*") if path.is_file())
    told: list[str] = []
    home = tmp_path / "journal"
    for step in range(20):
        with files_of_at_most(largest * step // 20 + 1):
            try:
                with journal(home) as archive:
                    imported(archive, file)
            except AgentJournalError as error:
                told.append(str(error))
        if (home / "journal.db").exists() and (home / "journal.db").stat().st_size:
            with journal(home) as archive:
                assert [] == list(problems(archive, deep=True))
    assert len(told) >= 5
    assert all("\n" not in each and ("too large" in each or "full" in each) for each in told), told
    with journal(home) as archive:
        imported(archive, file)
        assert expected == everything(archive.store)
        assert [] == list(problems(archive, deep=True))


# Files that grow


def kept_file(archive: Archive, path: Path) -> StoredFile:
    row = archive.store.source(str(path))
    assert row is not None
    (*_, snapshot) = archive.store.snapshots(row.key)
    return snapshot.manifest.files[""]


def pack_bytes(archive: Archive) -> int:
    return sum(size_of(archive.vault, pack) for pack in archive.vault.packs())


def test_of_a_grown_file_only_the_tail_is_stored(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(300))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        before, size = kept_file(archive, file), pack_bytes(archive)
        with file.open("a") as out:
            out.write(lines(2, 300))
        imported(archive, file)
        after = kept_file(archive, file)

        assert before.chunks == after.chunks[:-1]
        assert pack_bytes(archive) - size < 1000
        assert 302 == len(everything(archive.store)[0].timeline)
        row = archive.store.source(str(file))
        assert row is not None
        assert 1 == len(archive.store.snapshots(row.key)), "the longer file tells all that the shorter told"


def test_ends_that_came_one_by_one_are_joined(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(1))
    with journal(tmp_path / "journal") as archive:
        counts = []
        for number in range(1, 40):
            imported(archive, file)
            counts.append(len(kept_file(archive, file).chunks))
            with file.open("a") as out:
                out.write(lines(1, number))
        assert max(counts) < 20
        with stream_of(kept_file(archive, file), archive.vault) as stream:
            assert lines(39).encode() == stream.read()


def test_a_rewritten_file_is_stored_again_and_the_old_one_preserved(tmp_path: Path) -> None:
    file = tmp_path / NAME
    file.write_text(lines(10))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)
        file.write_text(lines(3))
        imported(archive, file)
        row = archive.store.source(str(file))
        assert row is not None
        sizes = [len(lines(10)), len(lines(3))]

        assert sizes == [each.manifest.files[""].size for each in archive.store.snapshots(row.key)]
        assert 10 == len(everything(archive.store)[0].timeline)


def test_a_long_file_is_several_chunks_and_streams_give_any_piece(tmp_path: Path, catalog: Catalog) -> None:
    data = noise(2 * vault.CHUNK_BYTES + 77)
    with opened(tmp_path, catalog) as kept:
        keeping = CaptureSession(kept)
        source = RecordingSource(Bytes(data), keeping)
        with source.open() as stream:
            pieces = list(iter(lambda: stream.read(700_001), b""))
        assert data == b"".join(pieces)
        assert 3 == len(keeping.manifest.files[""].chunks)
        with ReplayedSource(keeping.manifest, kept, "x", "x").open() as stream:
            assert data == stream.read()


class Cut:
    """A stream that breaks off, as a damaged compressed file does."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def read(self, size: int = -1, /) -> bytes:
        piece, self._data = self._data[:size], self._data[size:]
        if not piece:
            raise UnreadableSource("it", "the rest is damaged")
        return piece

    def close(self) -> None: ...

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None: ...


def test_what_is_before_the_damage_is_preserved_and_breaks_off_again(
    tmp_path: Path, catalog: Catalog
) -> None:
    class Damaged(Bytes):
        def open(self) -> Stream:
            return Cut(b"good")

    with opened(tmp_path, catalog) as kept:
        keeping = CaptureSession(kept)
        sources: list[Input] = [
            RecordingSource(Damaged(b""), keeping),
            ReplayedSource(keeping.manifest, kept, "it", "it"),
        ]
        for source in sources:
            with source.open() as stream:
                assert b"good" == stream.read(100)
                with pytest.raises(UnreadableSource, match="the rest is damaged"):
                    stream.read(100)


# What a reader asks for


def test_a_database_is_preserved_as_its_answers(tmp_path: Path) -> None:
    from agent_journal.inputs import sqlite_copy  # noqa: PLC0415

    file = tmp_path / "state.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE t (id INTEGER PRIMARY KEY, text)")
        rows = [(number, noise(100, number).hex()) for number in range(3000)]
        db.executemany("INSERT INTO t VALUES (?, ?)", rows)
        db.commit()
    question = "SELECT id, text FROM t ORDER BY id"

    def keep(archive: Archive) -> CaptureSession:
        keeping = CaptureSession(archive.vault)
        source = RecordingSource(File(str(file)), keeping)
        assert source.sha256
        with sqlite_copy.opened(source) as opened:
            assert 3000 == len(list(opened.rows(question)))
        archive.vault.settle()
        return keeping

    with journal(tmp_path / "journal") as archive:
        first = keep(archive)
        size = pack_bytes(archive)
        with closing(sqlite3.connect(file)) as db:
            db.execute("UPDATE t SET text = 'changed' WHERE id = 1500")
            db.commit()
        second = keep(archive)

        assert not first.manifest.files, "the file itself is not kept"
        assert pack_bytes(archive) - size < size / 20
        replayed = ReplayedSource(second.manifest, archive.vault, "it", "it")
        with sqlite_copy.opened(replayed) as opened:
            got = list(opened.rows(question))
            assert [*rows[:1500], (1500, "changed"), *rows[1501:]] == got
            with pytest.raises(UnreadableSource, match="was not recorded"):
                list(opened.rows("SELECT 1"))


def test_the_longest_of_equal_questions_is_answered(tmp_path: Path) -> None:
    from agent_journal.inputs import sqlite_copy  # noqa: PLC0415

    file = tmp_path / "state.db"
    with closing(sqlite3.connect(file)) as db:
        db.execute("CREATE TABLE t AS SELECT 1 AS a UNION SELECT 2 UNION SELECT 3")
        db.commit()
    with journal(tmp_path / "journal") as archive:
        keeping = CaptureSession(archive.vault)
        source = RecordingSource(File(str(file)), keeping)
        for most in (1, 3, 2):  # opened three times, and not always asked to the end
            with sqlite_copy.opened(source) as opened:
                rows = opened.rows("SELECT a FROM t ORDER BY a")
                assert most == len([next(rows) for _ in range(most)])
                rows.close()  # type: ignore[attr-defined]
        with sqlite_copy.opened(ReplayedSource(keeping.manifest, archive.vault, "it", "it")) as opened:
            assert [(1,), (2,), (3,)] == list(opened.rows("SELECT a FROM t ORDER BY a"))


def test_companions_are_answered_the_same_way(tmp_path: Path, catalog: Catalog) -> None:
    home = tmp_path / "home"
    (home / "unit").mkdir(parents=True)
    (home / "unit" / "a.json").write_text("a")
    (home / "unit" / "empty").mkdir()
    (home / "titles.txt").write_text("titles")
    hostile = ("nul\0", "/etc/passwd", "..", "a/b", "", "x" * 5000)

    def answers(source: Input) -> list[object]:
        unit = source.companion("unit", "a.json")
        assert unit is not None
        with unit.open() as stream:
            content = stream.read()
        return [
            content,
            unit.name,
            unit.path,
            unit.label,
            [(child.name, child.is_folder, child.path) for child in source.companions("unit")],
            source.companion("missing.txt"),
            [source.companion(name) for name in hostile],
            [(titles.name, titles.modified_at) for titles in [unit.companion("..", "titles.txt")] if titles],
            list(source.companions("nowhere")),
        ]

    with opened(tmp_path / "vault", catalog) as kept:
        keeping = CaptureSession(kept)
        file = home / "main.json"
        file.write_text("main")
        first = answers(RecordingSource(File(str(file), "main.json"), keeping))
        second = answers(ReplayedSource(keeping.manifest, kept, str(file), "main.json"))

        assert first == second
        looked_at = {os.path.relpath(place, home) for place in keeping.companion_stats}
        assert {"main.json", "unit/a.json", "missing.txt", "titles.txt", "nowhere"} <= looked_at
        assert all(not os.path.relpath(place, home).startswith("../..") for place in keeping.companion_stats)


def test_names_that_are_no_text_are_no_obstacle(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9\n"))
    folder.mkdir()
    (folder / NAME).write_text(lines(3))
    with journal(tmp_path / "journal") as archive:
        imported(archive, folder, folder / NAME)
        before = state(archive.store)
        imported(archive, folder, folder / NAME)

        assert 1 == len(before[0])
        assert before == state(archive.store)
        assert {True} == {"\\xe9" in path for path in before[2]}


# Modes


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_nobody_else_may_read_any_of_it(tmp_path: Path, umask: int) -> None:
    file = tmp_path / NAME
    file.write_text(lines(3))
    before = os.umask(umask)
    try:
        with journal(tmp_path / "deep" / "below" / "journal") as archive:
            imported(archive, file)
            archive.store.backup(tmp_path / "deep" / "copy.db")
            made = [tmp_path / "deep", *(tmp_path / "deep").rglob("*")]
            modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made}
            is_folder = {path.name: path.is_dir() for path in made}
    finally:
        os.umask(before)

    assert {"journal.db", "journal.db-wal", "lock", "000001.pack", "vault", "copy.db"} <= set(modes)
    assert {name: 0o700 if is_folder[name] else 0o600 for name in modes} == modes


def test_one_writer_at_a_time(tmp_path: Path) -> None:
    home = tmp_path / "journal"
    with journal(home), pytest.raises(AgentJournalError, match="Another aj is writing"):
        open_to_write(home, wait=0)
    open_to_write(home, wait=0).close()
    (tmp_path / "file").write_text("")
    with pytest.raises(AgentJournalError, match="Cannot use the journal"):
        Lock(tmp_path / "file" / "lock").acquire()
    with files_of_at_most(0):
        lock = Lock(tmp_path / "full" / "lock")
        lock.acquire()
        lock.release()


def test_a_growing_file_of_a_conversation_in_two_files_is_stored_once(tmp_path: Path) -> None:
    first, second = tmp_path / "a" / NAME, tmp_path / "b" / NAME
    for path, text in ((first, lines(2)), (second, lines(3, 40))):
        path.parent.mkdir()
        path.write_text(text)
    with journal(tmp_path / "journal") as archive:
        for number in range(2, 30):
            imported(archive, first, second)
            with first.open("a") as out:
                out.write(lines(1, number))
        numbers = {
            row.path: [each.number for each in archive.store.snapshots(row.key)]
            for row in archive.store.sources()
        }
        assert {str(first): [1], str(second): [1]} == numbers
