"""Kills, damage and full disks: the index is whole up to a key, or says that it must be made again."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from agent_journal.errors import IndexDamaged
from agent_journal.search.entry import Entry
from agent_journal.search.folder import discard
from agent_journal.search.lexical import Index
from agent_journal.search.query import parse

WRITER = textwrap.dedent("""
    import itertools, sys
    from pathlib import Path
    from agent_journal.search import entry, lexical

    lexical._AHEAD_CHARACTERS = 4_000  # so that much is written before it is counted
    index = lexical.Index.open(Path(sys.argv[1]), threads=int(sys.argv[2]))
    start = index.upto + 1
    print("ready", index.upto, flush=True)
    for first in itertools.count(start, 25):
        keys = range(first, first + 25)
        index.add(entry.Entry(k, 1, "", "", "", "", k, f"word number{k} and more words") for k in keys)
        index.commit(keys[-1])
        print("committed", keys[-1], flush=True)
""")


def entry(key: int) -> Entry:
    return Entry(key, 1, "", "", "", "", key, f"word number{key} and more words")


def keys_in(index: Index) -> list[int]:
    return sorted(hit.key for hit in index.search(parse("word"), limit=100_000).entries)


def run_and_kill(folder: Path, after: float, threads: int) -> int:
    """The last key that the writer said was committed."""
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, str(folder), str(threads)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        said = writer.stdout.readline()
        time.sleep(after)
        writer.kill()
        said += writer.stdout.read()
        assert writer.wait() == -signal.SIGKILL
    whole = [line.split() for line in said.splitlines(keepends=True) if line.endswith("\n")]
    return int(whole[-1][1])


@pytest.mark.parametrize("threads", [1, 2])
def test_killed_at_any_moment(tmp_path: Path, threads: int) -> None:
    folder = tmp_path / "words"
    chance = random.Random(threads)  # noqa: S311
    for _ in range(6):
        said = run_and_kill(folder, chance.uniform(0, 0.3), threads)
        index = Index.open(folder)
        assert said <= index.upto
        counted = [key for key in keys_in(index) if key <= index.upto]
        assert counted == list(range(1, index.upto + 1))
    with Index.open(folder, threads=threads) as index:
        last = index.upto + 60
        index.add(entry(key) for key in range(index.upto + 1, last + 1))
        index.commit(last)
        assert keys_in(index) == list(range(1, last + 1))
        assert (index.upto, index.count, index.check()) == (last, last, [])


def test_killed_while_it_is_made(tmp_path: Path) -> None:
    left = tmp_path / "words.part"
    left.mkdir()
    (left / ".agent-journal-index").touch()
    (left / "meta.json").write_text("{")
    with Index.open(tmp_path / "words") as index:
        index.add([entry(1)])
        index.commit(1)
        assert keys_in(index) == [1]
    assert not left.exists()


def test_what_killed_writers_left_is_swept(tmp_path: Path) -> None:
    folder = made(tmp_path / "words")
    old, new = folder / ".tmpAbCdEf", folder / ".tmpGhIjKl"
    old.write_text("{")
    new.write_text("{")
    os.utime(old, (1_700_000_000, 1_700_000_000))
    with Index.open(folder) as index:
        index.add([entry(101)])
    assert (old.exists(), new.exists()) == (False, True)


def made(folder: Path) -> Path:
    with Index.open(folder) as index:
        for first in (1, 51):
            index.add(entry(key) for key in range(first, first + 50))
            index.commit(first + 49)
        index.remove([3])
        index.commit(100)
    return folder


def parts(folder: Path) -> list[str]:
    return sorted({path.suffix for path in folder.iterdir()} - {".lock", ".json", ""})


@pytest.mark.parametrize("name", ["meta.json", "about.json"])
@pytest.mark.parametrize("damage", [None, b"", b"{", b"[]", b"null", b"{}", b"\xff\0"])
def test_damaged_lists(tmp_path: Path, name: str, damage: bytes | None) -> None:
    folder = made(tmp_path / "words")
    if damage is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(damage)
    with pytest.raises(IndexDamaged):
        Index.open(folder)


@pytest.mark.parametrize("suffix", ["del", "fast", "fieldnorm", "idx", "store", "term"])
@pytest.mark.parametrize("length", [None, 0, 20, -1])
def test_damaged_parts(tmp_path: Path, suffix: str, length: int | None) -> None:
    folder = made(tmp_path / "words")
    for path in folder.glob(f"*.{suffix}"):
        data = path.read_bytes()
        path.unlink()
        if length is not None:
            path.write_bytes(data[:length])
    what = "missing" if length is None else "damaged"
    with pytest.raises(IndexDamaged, match=f": one of its files is {what}; "):
        keys_in(Index.open(folder))


def replace(path: Path, data: bytes) -> None:
    """Another file of the same name: whoever has the old one mapped, and reads what is cut off, dies."""
    path.unlink()
    path.write_bytes(data)


def test_flipped_bits_are_found(tmp_path: Path) -> None:
    folder = made(tmp_path / "words")
    index = Index.open(folder)
    assert parts(folder) == [".del", ".fast", ".fieldnorm", ".idx", ".pos", ".store", ".term"]
    for suffix in parts(folder):
        path = next(folder.glob(f"*{suffix}"))
        sound = path.read_bytes()
        replace(path, bytes([sound[0] ^ 1]) + sound[1:])
        assert index.check() == [f"{path.name}: its checksum is wrong"]
        replace(path, sound)
    assert index.check() == []


def test_a_part_that_makes_the_index_panic_is_damage(tmp_path: Path) -> None:
    """Flip each bit of a column: an answer or a clear error comes, never anything else."""
    folder = made(tmp_path / "words")
    path = min(folder.glob("*.fast"), key=lambda path: path.stat().st_size)
    sound = path.read_bytes()
    outcomes = set()
    for place in range(0, len(sound), 2):
        replace(path, sound[:place] + bytes([sound[place] ^ 0x40]) + sound[place + 1 :])
        try:
            keys_in(Index.open(folder))
            outcomes.add("read")
        except IndexDamaged as error:
            outcomes.add(error.reason)
    assert outcomes == {"read", "one of its files is damaged"}


def test_missing_parts_are_found(tmp_path: Path) -> None:
    folder = made(tmp_path / "words")
    index = Index.open(folder)
    path = next(folder.glob("*.pos"))
    path.unlink()
    assert index.check() == [f"{path.name}: it is missing"]


@pytest.mark.parametrize("content", [{"meta.json": b"{}"}, {"notes.txt": b"mine"}])
def test_foreign_folders_stay_as_they_are(tmp_path: Path, content: dict[str, bytes]) -> None:
    for name, data in content.items():
        (tmp_path / name).write_bytes(data)
    with pytest.raises(IndexDamaged, match="it is not a search index of aj"):
        Index.open(tmp_path)
    assert content == {path.name: path.read_bytes() for path in tmp_path.iterdir()}


def test_what_is_next_to_an_index_stays_when_it_is_discarded(tmp_path: Path) -> None:
    folder = made(tmp_path / "words")
    (folder / "notes.txt").write_text("mine")
    discard(folder)
    assert ["notes.txt"] == [path.name for path in folder.iterdir()]
    with pytest.raises(IndexDamaged, match="it is not a search index of aj"):
        Index.open(folder)
    (folder / "notes.txt").unlink()
    assert Index.open(folder).count == 0


def test_nothing_is_left_of_a_killed_index_that_is_discarded(tmp_path: Path) -> None:
    folder = tmp_path / "words"
    run_and_kill(folder, 0.1, 1)
    discard(folder)
    assert not folder.exists()


def test_another_layout_is_made_again(tmp_path: Path) -> None:
    folder = made(tmp_path / "words")
    about = folder / "about.json"
    about.write_bytes(about.read_bytes().replace(b'"layout":', b'"layout":9'))
    with pytest.raises(IndexDamaged, match="another version"):
        Index.open(folder)


FULL = textwrap.dedent("""
    import resource, signal, sys
    from pathlib import Path
    from agent_journal.errors import CannotWrite
    from agent_journal.search.entry import Entry
    from agent_journal.search.lexical import Index

    index = Index.open(Path(sys.argv[1]))
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[2]), resource.RLIM_INFINITY))
    try:
        index.add(Entry(k, 1, "", "", "", "", 0, f"word number{k} " + "more " * 50) for k in range(101, 3001))
        index.commit(3000)
        print("committed")
    except CannotWrite as error:
        print(error)
""")


@pytest.mark.parametrize("size", [0, 100, 1000, 5000, 20_000])
def test_no_space_left(tmp_path: Path, size: int) -> None:
    folder = made(tmp_path / "words")
    shown = subprocess.run(
        [sys.executable, "-c", FULL, str(folder), str(size)], capture_output=True, text=True, check=True
    ).stdout
    assert shown.startswith("Cannot write")
    with Index.open(folder) as index:
        assert (index.upto, index.count) == (100, 99)
        index.add([entry(101)])
        index.commit(101)
        assert 101 in keys_in(index)
