"""Large events that nobody looks into stay out of memory, and nothing is lost or changed by that."""

from __future__ import annotations

import io
import json
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given as given_any

import agent_journal
from agent_journal import plugins, writers
from agent_journal.conversion import transforms
from agent_journal.conversion.output import for_writer
from agent_journal.conversion.pipeline import read_all
from agent_journal.decoding import spill
from agent_journal.model import Conversation, Event, Item
from agent_journal.model.spilled import Spilled, load_spilled
from agent_journal.notes import Notes
from agent_journal.writers.dialects.json_bytes import encode, encode_in_pieces
from tests.archive.journals import everything, imported, journal, read_again
from tests.models import items as any_items
from tests.test_writers import written

ID = "a0000000-0000-4000-8000-000000000001"
AT = "2026-03-01T10:00:00.000Z"


def prompt(number: int, words: str = "hello") -> dict[str, Any]:
    return {
        "type": "user",
        "uuid": f"{ID}-{number}",
        "parentUuid": f"{ID}-{number - 1}" if number else None,
        "sessionId": ID,
        "timestamp": AT,
        "cwd": "/home/ana/app",
        "version": "2.1.90",
        "message": {"role": "user", "content": words},
    }


def snapshot(number: int, files: int = 60) -> dict[str, Any]:
    backups = {
        f"/home/ana/app/src/module_{place}.py": {
            "backupFileName": f"{number * 7919 + place:016x}@v2",
            "version": 2,
            "backupTime": AT,
        }
        for place in range(files)
    }
    return {
        "type": "file-history-snapshot",
        "messageId": f"m{number}",
        "snapshot": {"messageId": f"m{number}", "trackedFileBackups": backups, "timestamp": AT},
        "isSnapshotUpdate": False,
    }


def session(folder: Path, *records: dict[str, Any], id_: str = ID) -> Path:
    path = folder / f"{id_}.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(record) + b"\n" for record in records))
    return path


ODD = {
    "type": "a-kind-yet-to-come",
    "uuid": "odd",
    "parentUuid": f"{ID}-0",
    "timestamp": AT,
    "text": "é 🙂 \u2028" * 2_000,
    "floats": [1e300, 0.1, 1e-7, -0.0] * 400,
    "large": 2**80,
    "wide": [2**80] * 400,
    "deep": json.loads("[" * 300 + "1" + "]" * 300),
    "null": None,
    "secret": "the token is ghp_" + "a1B2" * 9 + " of course" + " and so on" * 200,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return session(tmp_path, prompt(0), *map(snapshot, range(20)), ODD, prompt(1))


def read(path: Path) -> Conversation:
    (item,) = read_all([str(path)], Notes())
    assert isinstance(item, Conversation)
    return item


@pytest.fixture
def in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> Conversation:
    """The same conversation, read as if nothing could be put anywhere."""
    with monkeypatch.context() as patched:
        patched.setattr(spill.ValueSpill, "put", lambda _self, value: value)
        return read(path)


def spilled(conversation: Conversation) -> list[Spilled]:
    events = [entry for entry in conversation.timeline if isinstance(entry, Event)]
    return [value for event in events for value in event.data.values() if isinstance(value, Spilled)]


def test_large_values_are_out_of_memory_and_equal(path: Path, in_memory: Conversation) -> None:
    found = read(path)

    assert not spilled(in_memory)
    assert len(spilled(found)) == 20 + 3, "snapshots; text, floats and the secret"
    assert found == in_memory
    assert in_memory == found
    assert not spilled(load_spilled(found))
    assert encode(found) == encode(in_memory) == b"".join(encode_in_pieces(found))
    assert load_spilled(in_memory) is in_memory


@pytest.mark.parametrize("name", sorted(writers.discover()))
def test_every_writer_writes_the_same(path: Path, in_memory: Conversation, name: str) -> None:
    assert written(name, [in_memory]) == written(name, [read(path)])


def test_writers_of_others_get_all_in_memory(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    writer, item = writers.get("json"), read(path)
    assert [item] == for_writer([item], writer)
    assert spilled(item)
    monkeypatch.setattr(plugins, "package_of", lambda _offered: "somebody's")
    (given,) = for_writer([item], writer)
    assert isinstance(given, Conversation)
    assert not spilled(given)


def test_the_library_gives_plain_values(path: Path, in_memory: Conversation) -> None:
    (found,) = agent_journal.read(path)
    out = io.BytesIO()
    agent_journal.convert(path, "json", out)

    assert msgspec.json.encode(found) + b"\n" == out.getvalue()
    assert encode(found) == encode(in_memory)


def test_secrets_are_replaced_in_what_is_out_of_memory(path: Path, in_memory: Conversation) -> None:
    notes, others = Notes(), Notes()
    found = transforms.redacted(read(path), notes)

    assert found == transforms.redacted(in_memory, others)
    assert notes.collected == others.collected
    assert len(notes.collected) == 1
    assert b"ghp_" not in encode(found)
    assert len(spilled(found)) == 20 + 2, "what has no secret stays where it is"


def test_the_archive_has_all_of_it(path: Path, in_memory: Conversation, tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        imported(archive, path)
        (stored,) = everything(archive.store)
        again = read_again(archive)
        assert everything(archive.store) == [stored]
        assert again.added == 0

    assert stored.timeline == in_memory.timeline


def no_folder(**_: Any) -> Any:
    raise FileNotFoundError(2, "no temporary folder is usable")


class Full(io.BytesIO):
    """A file on a disk that is full after the first write."""

    def write(self, data: Any, /) -> int:
        if self.tell():
            raise OSError(28, "no space left on device")
        return super().write(data)


@pytest.mark.parametrize("file", [no_folder, lambda **_: Full()], ids=["no folder", "full"])
def test_without_room_it_stays_in_memory(
    path: Path, in_memory: Conversation, file: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spill, "TemporaryFile", file)
    found = read(path)

    assert len(spilled(found)) <= 1
    assert encode(found) == encode(in_memory)


@given_any(any_items)
def test_json_is_written_piece_by_piece(item: Item) -> None:
    assert b"".join(encode_in_pieces(item)) == encode(item)


def traced(action: Callable[[], object]) -> int:
    """The most memory that Python's objects took meanwhile."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        action()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.fixture
def large(tmp_path: Path) -> Path:
    """Fifteen megabytes, of which hardly anything is text."""
    other = ID.replace("a", "b")
    snapshots = (snapshot(number, 300) for number in range(400))
    return session(tmp_path, prompt(7), *snapshots, prompt(8), id_=other)


class Nowhere(io.RawIOBase):
    """Takes what is written and forgets it."""

    def write(self, data: Any, /) -> int:
        return len(data)


def test_memory_of_converting_snapshots(path: Path, large: Path) -> None:
    def convert(location: Path) -> None:
        agent_journal.convert(location, "json", Nowhere())  # type: ignore[arg-type]

    convert(path)  # so that modules are imported
    assert large.stat().st_size > 15_000_000
    assert traced(lambda: convert(large)) < 3_000_000


def test_memory_of_importing_snapshots(path: Path, large: Path, tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        imported(archive, path)
        assert traced(lambda: imported(archive, large)) < 13_000_000
