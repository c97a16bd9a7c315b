from __future__ import annotations

import gzip
import hashlib
import io
import os
import struct
import sys
import zipfile
from pathlib import Path

import pytest

from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import compressed, zip_files
from agent_journal.inputs.input import File, Folder, Input, Stdin, Stream, files_below, open_input, sha256
from tests.memory_source import Bytes


def paths(folder: Input) -> list[str]:
    return [file.path for file in files_below(folder)]


def content(source: Input | None) -> bytes:
    assert source is not None
    with source.open() as stream:
        return stream.read()


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for path, text in {
        "a.txt": "a",
        "b/c.txt": "c",
        "b/d/e.txt": "e",
        ".DS_Store": "x",
        "__MACOSX/._a": "x",
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    return root


def zip_of(root: Path, target: Path) -> str:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(root.rglob("*")):
            if path.is_file():
                archive.write(path, path.relative_to(root).as_posix())
    return str(target)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_folder_and_its_zip_are_alike(tree: Path, tmp_path: Path, kind: str) -> None:
    source = open_input(str(tree) if kind == "folder" else zip_of(tree, tmp_path / "t.zip"))
    files = {file.path.removeprefix("t.zip/"): file for file in files_below(source)}

    assert list(files) == ["a.txt", "b/c.txt", "b/d/e.txt"]
    assert [content(file) for file in files.values()] == [b"a", b"c", b"e"]
    assert content(files["b/c.txt"].companion("d", "e.txt")) == b"e"
    assert content(files["b/c.txt"].companion("..", "a.txt")) == b"a"
    assert content(source.companion("b", "c.txt")) == b"c"
    assert files["a.txt"].companion("nothing.txt") is None
    assert [beside.name for beside in files["b/c.txt"].companions("d")] == ["e.txt"]
    assert [beside.name for beside in files["b/c.txt"].companions("..")] == ["a.txt", "b"]
    assert [beside.name for beside in source.companions("b")] == ["c.txt", "d"]
    assert [*files["a.txt"].companions("nothing")] == []
    assert [*files["b/c.txt"].companions("c.txt")] == []
    assert Peek(source).members == ("a.txt",)


@pytest.mark.parametrize("name", ["../../etc/passwd", "/etc/passwd", "b/c.txt", "..\\x", "", ".", "a\0b"])
@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_a_hostile_companion_name_is_no_file(tree: Path, tmp_path: Path, kind: str, name: str) -> None:
    source = open_input(str(tree) if kind == "folder" else zip_of(tree, tmp_path / "t.zip"))

    assert source.companion(name) is None
    assert next(files_below(source)).companion(name) is None
    assert [*source.companions(name)] == []
    assert [*next(files_below(source)).companions(name)] == []


def test_links_pipes_and_loops_are_named_not_followed(tree: Path) -> None:
    (tree / "loop").symlink_to(tree)
    (tree / "link.txt").symlink_to(tree / "a.txt")
    os.mkfifo(tree / "pipe")

    assert paths(Folder(str(tree))) == ["a.txt", "link.txt", "loop", "pipe", "b/c.txt", "b/d/e.txt"]
    for name in ("link.txt", "loop", "pipe"):
        (odd,) = [file for file in files_below(Folder(str(tree))) if file.name == name]
        with pytest.raises(UnreadableSource, match=r"it is a (link|pipe)"):
            odd.open()


def test_a_pipe_given_by_name_does_not_block(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")

    with pytest.raises(UnreadableSource, match="not a regular file"):
        open_input(str(tmp_path / "pipe"))


def test_what_is_not_there_is_reported(tmp_path: Path) -> None:
    with pytest.raises(UnreadableSource, match="no such file"):
        open_input(str(tmp_path / "nothing"))


def test_the_source_is_not_touched(tree: Path) -> None:
    before = (tree / "a.txt").stat()
    content(File(str(tree / "a.txt")))

    assert (tree / "a.txt").stat().st_mtime_ns == before.st_mtime_ns


def test_standard_input_can_be_read_again() -> None:
    source = Stdin(io.BytesIO(b"x" * 20_000_000))

    assert content(source) == content(source) == b"x" * 20_000_000
    assert len(Peek(source).head) == 65_536


def test_what_is_packed_on_standard_input_is_opened(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    location = zip_of(tree, tmp_path / "t.zip")
    zipped = Path(location).read_bytes()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(zipped)))
    source = open_input("-")

    assert [content(file) for file in files_below(source)] == [b"a", b"c", b"e"]
    assert sha256(source) == hashlib.sha256(zipped).hexdigest()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(b"tea" * 1000))))
    assert content(open_input("-")) == b"tea" * 1000


def test_hashes(tree: Path) -> None:
    assert sha256(Bytes(b"abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    before = sha256(Folder(str(tree)))
    (tree / "b/c.txt").write_text("changed")
    changed = sha256(Folder(str(tree)))
    assert changed != before
    (tree / "link").symlink_to(tree / "a.txt")
    assert sha256(Folder(str(tree))) not in {before, changed}


def test_a_zip_is_hashed_as_it_lies(tree: Path, tmp_path: Path) -> None:
    location = zip_of(tree, tmp_path / "t.zip")
    source = open_input(location)

    assert sha256(source) == hashlib.sha256(Path(location).read_bytes()).hexdigest()
    (folder,) = [child for child in source.children() if child.is_folder]
    assert sha256(folder) != sha256(source)


def read_to_the_end(stream: Stream) -> None:
    while stream.read(1 << 20):
        pass


def zip_bytes(**members: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def opened(data: bytes, tmp_path: Path) -> Input:
    (tmp_path / "x.zip").write_bytes(data)
    return open_input(str(tmp_path / "x.zip"))


def test_a_zip_bomb_is_stopped_while_it_inflates(tmp_path: Path) -> None:
    source = opened(zip_bytes(bomb=b"\0" * 50_000_000), tmp_path)

    (file,) = files_below(source)
    with file.open() as stream, pytest.raises(UnreadableSource, match="bomb"):
        read_to_the_end(stream)


def test_a_member_larger_than_the_limit_is_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compressed, "MAX_FILE_BYTES", 10)
    (file,) = files_below(opened(zip_bytes(a=b"x" * 100), tmp_path))

    with pytest.raises(UnreadableSource, match="beyond the limit"):
        content(file)


def test_too_many_members(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_files, "MAX_MEMBERS", 1)

    with pytest.raises(UnreadableSource, match="more than 1 members"):
        opened(zip_bytes(a=b"1", b=b"2"), tmp_path)


def test_overlapping_members_are_refused(tmp_path: Path) -> None:
    data = bytearray(zip_bytes(a=b"first" * 10, b=b"second" * 10))
    second = data.rindex(b"PK\x01\x02")
    data[second + 42 : second + 46] = struct.pack("<I", 0)  # its header is where the first one's is

    with pytest.raises(UnreadableSource, match="overlap"):
        opened(bytes(data), tmp_path)


def test_names_that_lead_elsewhere_are_named_and_not_opened(tmp_path: Path) -> None:
    outside = {"../up": b"1", "/root": b"2", "C:\\x": b"3", "a/../../b": b"4", "../fine/a": b"5"}
    data = zip_bytes(**outside, **{"fine/a": b"6", "./fine/./b": b"7"})
    files = {file.path: file for file in files_below(opened(data, tmp_path))}

    assert {path: content(files.pop(path)) for path in ("x.zip/fine/a", "x.zip/fine/b")} == {
        "x.zip/fine/a": b"6",
        "x.zip/fine/b": b"7",
    }
    assert sorted(files) == ["x.zip/C:/x", "x.zip/a/b", "x.zip/root", "x.zip/up"]
    for file in files.values():
        with pytest.raises(UnreadableSource, match="leads out of the zip"):
            content(file)


@pytest.mark.parametrize(("second", "is_told"), [(b"other", True), (b"first", False)])
def test_two_members_of_one_name_are_reported_unless_they_are_equal(
    tmp_path: Path, second: bytes, is_told: bool
) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("a", b"first")
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("a", second)
    (file,) = files_below(open_input(str(tmp_path / "x.zip")))

    if not is_told:
        assert content(file) == b"first"
        return
    with pytest.raises(UnreadableSource, match="two files in the zip are called a"):
        content(file)


def test_an_encrypted_member_is_named(tmp_path: Path) -> None:
    data = bytearray(zip_bytes(a=b"secret"))
    data[6] |= 1
    data[data.rindex(b"PK\x01\x02") + 8] |= 1
    (file,) = files_below(opened(bytes(data), tmp_path))

    with pytest.raises(UnreadableSource, match="encrypted"):
        content(file)


@pytest.mark.parametrize("damage", ["cut", "crc"])
def test_a_damaged_zip_is_named(tmp_path: Path, damage: str) -> None:
    data = bytearray(zip_bytes(a=os.urandom(500)))
    if damage == "cut":
        with pytest.raises(UnreadableSource, match="damaged"):
            opened(bytes(data[:200]), tmp_path)
        return
    data[100] ^= 0xFF
    (file,) = files_below(opened(bytes(data), tmp_path))
    with pytest.raises(UnreadableSource, match="damaged"):
        content(file)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"  \n ", "empty"),
        (b"<!DOCTYPE html><html></html>", "web page"),
        (b"\x89PNG\r\n\x1a\n\0\0\0", "binary"),
        (b"SQLite format 3\0", "database"),
        (b'{"name": "left-pad", "version": "1"}', "JSON with name, version"),
        (b"[[[", "cannot be decoded"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "'git lfs pull'"),
        (b"hello", "text"),
    ],
)
def test_a_peek_says_what_it_saw(data: bytes, words: str) -> None:
    assert words in Peek(Bytes(data)).looks_like()


def test_records_of_a_head_that_is_cut_in_the_first_record() -> None:
    record = (
        b'[{"title":"a","mapping":{"n":{"id":"n","message":{"author":{"role":"user"},"text":"'
        + b"x" * 100_000
    )

    (found,) = Peek(Bytes(record)).records
    assert found["mapping"]["n"]["message"]["author"] == {"role": "user"}


def test_records_of_lines_skip_the_bad_ones() -> None:
    peek = Peek(Bytes(b'// comment\n{"a":1}\nbroken\n{"b":2}\n'))

    assert peek.records == ({"a": 1}, {"b": 2})


def test_one_object_over_many_lines_is_one_record() -> None:
    text = b'// comment\n{\n"messages": [\n// comment\n{"role": "user"},\n{"role": "tool"}\n]}\n'

    assert Peek(Bytes(text)).records == ({"messages": [{"role": "user"}, {"role": "tool"}]},)


def test_records_of_a_first_line_longer_than_the_head() -> None:
    assert Peek(Bytes(b'{"a":1,"b":"' + b"x" * 100_000 + b'"}\n{"c":1}')).records == ({"a": 1},)
