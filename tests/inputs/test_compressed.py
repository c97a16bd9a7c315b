"""Compressed files are read as what is in them, within limits."""

from __future__ import annotations

import gzip
import hashlib
from pathlib import Path

import pytest
import zstandard

from agent_journal.decoding import json_stream
from agent_journal.detection.peek import Peek
from agent_journal.errors import UnreadableSource
from agent_journal.inputs import compressed
from agent_journal.inputs.input import open_input, sha256
from agent_journal.notes import Notes

LINES = b"".join(b'{"n": %d}\n' % number for number in range(20_000))
PACK = {"gz": gzip.compress, "zst": zstandard.ZstdCompressor(write_checksum=True).compress}
each_kind = pytest.mark.parametrize("suffix", sorted(PACK))


@each_kind
def test_a_compressed_file_is_read_as_what_is_in_it(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl.{suffix}"
    path.write_bytes(PACK[suffix](LINES))
    source = open_input(str(path))

    assert ("a.jsonl", str(path), path.name) == (source.name, source.label, source.path)
    assert {"n": 0} == Peek(source).records[0]
    assert 20_000 == sum(1 for _ in json_stream.lines(source, Notes()))
    assert hashlib.sha256(path.read_bytes()).hexdigest() == sha256(source)


def test_several_frames_are_one_file(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.zst"
    path.write_bytes(PACK["zst"](b'{"n": 1}\n') + PACK["zst"](b'{"n": 2}\n'))

    assert [(1, {"n": 1}), (2, {"n": 2})] == list(json_stream.lines(open_input(str(path)), Notes()))


@each_kind
def test_of_a_damaged_file_the_good_part_is_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.jsonl.{suffix}"
    whole = PACK[suffix](LINES * 40)
    path.write_bytes(whole[: len(whole) // 2])
    note = Notes()
    count = sum(1 for _ in json_stream.lines(open_input(str(path)), note))

    assert 0 < count < 800_000
    assert note.damaged


@each_kind
def test_a_bomb_is_refused(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    path.write_bytes(PACK[suffix](bytes(compressed.MIN_RATIO_CHECK_BYTES + 2_000_000)))
    with open_input(str(path)).open() as stream, pytest.raises(UnreadableSource, match="bomb"):
        list(iter(lambda: stream.read(1 << 20), b""))
