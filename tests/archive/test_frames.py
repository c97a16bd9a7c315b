"""Files are cut behind whole records, and one conversation of many is read back alone."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.archive import Archive
from agent_journal.archive import frames as framing
from agent_journal.archive.frames import as_standalone, frames
from agent_journal.archive.native_content import NativeContentReader
from agent_journal.conversion import pipeline
from agent_journal.conversion.pipeline import Unit
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Item, Message
from agent_journal.notes import Notes
from tests.archive.journals import ALL, imported, journal

CHUNK = 64
SESSION = "5d0c8f1e-7a52-4c3b-9e61-2f4a8b7c9d10"


@pytest.fixture(autouse=True)
def small_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(framing, "CHUNK_BYTES", CHUNK)
    monkeypatch.setattr(framing, "_FRAME_BYTES", 32)
    monkeypatch.setattr(framing, "_MAX_ELEMENT_BYTES", 512)


@given(
    st.lists(st.dictionaries(st.text(max_size=9), st.text(max_size=80), max_size=3), max_size=30),
    st.sampled_from([None, 1]),
)
def test_frames_of_an_array_are_arrays_and_together_the_file(
    values: list[dict[str, str]], indent: int | None
) -> None:
    data = json.dumps(values, indent=indent).encode()
    pieces = list(frames(io.BytesIO(data)))
    assert b"".join(pieces) == data
    # Behind an element that is too large for a frame, the rest is cut at lines.
    if all(len(json.dumps(value, indent=indent)) < 300 for value in values):
        assert [value for piece in pieces for value in json.loads(as_standalone(piece))] == values


@given(st.lists(st.binary(max_size=90), max_size=20), st.sampled_from([b"", b"[", b" [{", b"\n"]))
def test_any_bytes_come_through(lines: list[bytes], opening: bytes) -> None:
    data = opening + b"\n".join(lines)
    assert b"".join(frames(io.BytesIO(data))) == data


def test_lines_stay_whole() -> None:
    data = b"".join(b'{"n": %d}\n' % number for number in range(100))
    pieces = list(frames(io.BytesIO(data)))
    assert len(pieces) > 5
    assert all(piece.endswith(b"\n") for piece in pieces)


class Breaking(io.BytesIO):
    """Bytes that end in damage."""

    def read(self, size: int | None = -1, /) -> bytes:
        block = super().read(size)
        if not block:
            raise UnreadableSource("a.zip", "it is damaged here")
        return block


def test_what_is_before_damage_comes_first() -> None:
    found: list[bytes] = []
    with pytest.raises(UnreadableSource):
        found.extend(frames(Breaking(b'[{"a": 1}, {"b": 2}')))
    stream = frames(Breaking(b'[{"a": 1}, {"b": 2}'))
    assert next(stream) == b'[{"a": 1}, {"b": 2}'


def conversations(count: int) -> list[dict[str, object]]:
    return [
        {
            "id": f"0000-{number:04}",
            "conversation_id": f"0000-{number:04}",
            "title": f"Number {number}",
            "create_time": 1_760_000_000 + number,
            "update_time": 1_760_000_100 + number,
            "current_node": "b",
            "mapping": {
                "a": {"id": "a", "message": None, "parent": None, "children": ["b"]},
                "b": {
                    "id": "b",
                    "parent": "a",
                    "children": [],
                    "message": {
                        "id": "b",
                        "author": {"role": "user"},
                        "create_time": 1_760_000_001 + number,
                        "content": {"content_type": "text", "parts": [f"word{number}", "and more"]},
                    },
                },
            },
        }
        for number in range(count)
    ]


def test_one_conversation_of_an_export_is_read_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    export = tmp_path / "conversations.json"
    export.write_text(json.dumps(conversations(40)))
    [*wanted] = [item for item in pipeline.read_all([str(export)], Notes()) if isinstance(item, Conversation)]
    with journal(tmp_path / "journal") as archive:
        imported(archive, export)
        export.unlink()
        keys = {each.id: each.key for each in archive.store.conversations(ALL)}
        read: list[Item] = []
        whole = pipeline.read_unit

        def counted(unit: Unit, note: Notes) -> Iterator[Item]:
            for item in whole(unit, note):
                read.append(item)
                yield item

        monkeypatch.setattr(pipeline, "read_unit", counted)
        for conversation in (wanted[0], wanted[17], wanted[39]):
            again = NativeContentReader(archive).read(keys[conversation.id])
            assert again.timeline == conversation.timeline
        assert len(read) < 20, "only the frame is read, not the export"

        read.clear()
        exactly = NativeContentReader(archive)
        for conversation in wanted:
            assert exactly.read(keys[conversation.id]).timeline == conversation.timeline
        assert len(read) < 2 * len(wanted), "who wants all of an export reads it once"


def lines(session: str, numbers: range) -> str:
    """A session file whose content is in blocks, which rows do not keep as they were."""
    return "".join(
        json.dumps(
            {
                "type": "user",
                "uuid": f"u{number}",
                "parentUuid": f"u{number - 1}" if number else None,
                "sessionId": session,
                "timestamp": "2026-03-01T10:00:00.000Z",
                "message": {"role": "user", "content": [{"type": "text", "text": f"{number} tea"}]},
            }
        )
        + "\n"
        for number in numbers
    )


def natives(archive: Archive) -> list[object]:
    (listed,) = archive.store.conversations(ALL)
    entries = NativeContentReader(archive).read(listed.key).timeline
    return [entry.native for entry in entries if isinstance(entry, Message)]


def test_a_session_of_many_frames_is_as_its_source_had_it_to_its_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(framing, "CHUNK_BYTES", 1000)
    file = tmp_path / f"{SESSION}.jsonl"
    file.write_text(lines(SESSION, range(40)))
    with journal(tmp_path / "journal") as archive:
        imported(archive, file)

        assert 40 == len(natives(archive))
        assert None not in natives(archive)


def test_what_a_file_no_longer_states_stays_as_it_was(tmp_path: Path) -> None:
    file = tmp_path / f"{SESSION}.jsonl"
    with journal(tmp_path / "journal") as archive:
        for numbers in (range(6), range(4, 9)):
            file.write_text(lines(SESSION, numbers))
            imported(archive, file)

        assert [[{"type": "text", "text": f"{number} tea"}] for number in range(9)] == natives(archive)


def test_of_many_files_in_a_zip_each_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = [str(uuid5(NAMESPACE_URL, str(number))) for number in range(12)]
    with zipfile.ZipFile(tmp_path / "all.zip", "w") as packed:
        for session in sessions:
            packed.writestr(f"project/{session}.jsonl", lines(session, range(2)))
    with journal(tmp_path / "journal") as archive:
        imported(archive, tmp_path / "all.zip")
        exactly, whole = NativeContentReader(archive), pipeline.read_unit
        read: list[Unit] = []

        def counted(unit: Unit, note: Notes) -> Iterator[Item]:
            read.append(unit)
            return whole(unit, note)

        monkeypatch.setattr(pipeline, "read_unit", counted)
        for listed in archive.store.conversations(ALL):
            assert listed.id == exactly.read(listed.key).id
        assert len(sessions) == len(read)
