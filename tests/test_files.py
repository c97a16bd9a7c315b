"""What is written appears whole, stays inside its place, and is for its owner alone."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import zipfile
from contextlib import nullcontext
from itertools import islice
from pathlib import Path

import pytest

from agent_journal import files
from agent_journal.conversion.output import write_items
from agent_journal.conversion.pipeline import read_all
from agent_journal.errors import CannotWrite
from agent_journal.model import Memory
from agent_journal.notes import Notes
from tests.archive.journals import said, talk


def put(place: Path, **content: str) -> None:
    with files.bundle(str(place), is_folder=not place.name.endswith(".zip")) as bundle:
        for name, text in content.items():
            with bundle.file(f"inner/{name}") as out:
                out.write(text.encode())


def test_a_folder_appears_whole(tmp_path: Path) -> None:
    put(tmp_path / "b", one="1", two="2")

    assert {"one": "1", "two": "2"} == {
        path.name: path.read_text() for path in (tmp_path / "b" / "inner").iterdir()
    }
    assert [0o700, 0o600] == [
        stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "b", tmp_path / "b" / "inner" / "one")
    ]


def test_the_same_files_give_the_same_zip(tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        put(tmp_path / name, one="1", two="2")

    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        assert ["inner/one", "inner/two"] == archive.namelist()
        assert archive.testzip() is None


def test_a_bundle_is_not_mixed_with_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    put(tmp_path / "b", one="1")
    with pytest.raises(CannotWrite, match="it already exists; choose another folder"):
        put(tmp_path / "b", two="2")
    assert ["one"] == [path.name for path in (tmp_path / "b" / "inner").iterdir()]


@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_what_breaks_off_leaves_nothing(tmp_path: Path, name: str) -> None:
    place = str(tmp_path / name)
    for error in (KeyboardInterrupt, files.Nothing, ValueError):
        try:
            with files.bundle(place, is_folder=name == "b") as bundle:
                with bundle.file("x") as out:
                    out.write(b"half")
                raise error
        except (KeyboardInterrupt, ValueError):
            pass
        assert [] == [*tmp_path.iterdir()]


@pytest.mark.parametrize("path", ["../x", "/x", "a/../x", "a//x", "", "a\\..\\x", "a/\0"], ids=repr)
@pytest.mark.parametrize("name", ["b", "b.zip"])
def test_no_path_leads_out_of_a_bundle(tmp_path: Path, path: str, name: str) -> None:
    with pytest.raises(CannotWrite), files.bundle(str(tmp_path / name), is_folder=name == "b") as bundle:
        bundle.file(path)
    assert [] == [*tmp_path.iterdir()]


@pytest.mark.skipif(os.name == "nt", reason="there are no such files")
@pytest.mark.parametrize("place", ["talks/", "talks.zip"])
def test_what_a_format_has_no_place_for_makes_no_empty_file(tmp_path: Path, place: str) -> None:
    memory = Memory(id="m", source="x", kind="fact", text="Drinks tea.")
    notes = Notes()
    write_items([memory, talk("a", said("1", "hello"))], "unified", f"{tmp_path}/{place}", notes)

    written = tmp_path / place
    if written.is_dir():
        files_there = {path.name: path.stat().st_size for path in written.iterdir()}
    else:
        files_there = {each.filename: each.file_size for each in zipfile.ZipFile(written).infolist()}
    (only,) = files_there
    assert only.startswith("a-")
    assert files_there[only]
    assert "a memory, as it is no conversation" in [note.detail for note in notes.collected]


def test_what_is_no_file_is_written_to_and_stays_what_it_is(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    handle = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
    write_items([talk("a", said("1", "hello"))], "text", str(pipe), Notes())
    got = os.read(handle, 4096)
    os.close(handle)

    assert b"hello" in got
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert [pipe] == list(tmp_path.iterdir())


@pytest.mark.skipif(os.name == "nt", reason="links are for administrators there")
def test_a_link_leads_to_what_is_written(tmp_path: Path) -> None:
    (tmp_path / "inner").mkdir()
    file, link = tmp_path / "inner" / "there.txt", tmp_path / "link.txt"
    file.write_text("old")
    link.symlink_to(file)
    write_items([talk("a", said("1", "hello"))], "text", str(link), Notes())

    assert link.is_symlink()
    assert "hello" in file.read_text()


@pytest.mark.parametrize("output", ["z/all.jsonl", "z/", "z/all.zip", ""])
def test_what_is_written_into_a_folder_that_is_read_is_none_of_it(tmp_path: Path, output: str) -> None:
    for name in "ab":  # more than a buffer takes
        write_items([talk(name, said("m", name * 300_000))], "json", str(tmp_path / f"{name}.json"), Notes())
    (tmp_path / "z").mkdir()
    place = str(tmp_path / output) if output else None
    notes = Notes()
    items = islice(read_all([str(tmp_path)], notes), 10)  # it would go on until the disk is full
    with (tmp_path / "z" / "standard").open("wb") if place is None else nullcontext() as standard:
        count = write_items(items, "json", place, notes, standard)

    assert (2, []) == (count, notes.collected)
    assert 4 == len([*read_all([str(tmp_path)], Notes())]), "when it is written, it is there"


KILLED = """
import os, signal, sys
from agent_journal import files
with files.whole_file(sys.argv[1] + "/out.json") as out:
    out.write(b"half")
    out.flush()
    with files.bundle(sys.argv[1] + "/pages", is_folder=True) as bundle, bundle.file("a") as page:
        page.write(b"half")
        page.flush()
        os.kill(os.getpid(), signal.SIGKILL)
"""


def age(folder: Path) -> list[Path]:
    """Let what is there have been written long ago."""
    found = sorted(folder.iterdir())
    for path in found:
        os.utime(path, (1, 1))
    return found


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: Path) -> None:
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False)
    assert len(age(tmp_path)) == 2
    others = [".aj-1-x.part", "out.json.part1", ".aj-1.part", "aj-1-1.part"]
    for name in others:
        (tmp_path / name).write_text("mine")
    (tmp_path / "target").mkdir()
    (tmp_path / "target" / "file").write_text("mine")
    (tmp_path / ".aj-7-7.part").symlink_to(tmp_path / "target")
    age(tmp_path)
    files._cleaned_folders.clear()
    files.write_bytes(str(tmp_path / "other.json"), b"{}")

    left = {path.name for path in tmp_path.iterdir()}
    assert left == {*others, "other.json", "target", ".aj-7-7.part"}
    assert (tmp_path / "target" / "file").exists()


def test_what_another_process_is_writing_stays(tmp_path: Path) -> None:
    code = KILLED.replace(
        "os.kill(os.getpid(), signal.SIGKILL)", "print('now', flush=True); sys.stdin.read()"
    )
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"now\n"
        age(tmp_path)
        files._cleaned_folders.clear()
        files.write_bytes(str(tmp_path / "other.json"), b"{}")
        process.communicate(b"")
    assert {path.name for path in tmp_path.iterdir()} == {"other.json", "out.json", "pages"}


@pytest.mark.parametrize("umask", [0, 0o077, 0o777])
def test_modes_do_not_depend_on_the_umask(tmp_path: Path, umask: int) -> None:
    before = os.umask(umask)
    try:
        put(tmp_path / "far" / "b", one="1")
        files.write_bytes(str(tmp_path / "file"), b"x")
        files.make_folder(str(tmp_path / "a" / "b"))
    finally:
        os.umask(before)
    modes = {
        str(path.relative_to(tmp_path)): stat.S_IMODE(path.stat().st_mode) for path in tmp_path.rglob("*")
    }
    assert {mode for name, mode in modes.items() if (tmp_path / name).is_dir()} == {0o700}
    assert {mode for name, mode in modes.items() if (tmp_path / name).is_file()} == {0o600}
