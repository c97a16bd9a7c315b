"""What a message of a conversation takes in memory while it is imported: a conversation is held whole."""

from __future__ import annotations

from pathlib import Path

import pytest

from agent_journal.archive import importing
from agent_journal.archive.item_rows import item_rows
from agent_journal.archive.rows import row_of
from agent_journal.model import Conversation, Event, Item, Memory, Message, Text
from tests.archive.journals import bare, everything, imported, journal
from tests.test_large_events import prompt, session, traced

COUNT = 20_000


def test_import_holds_no_message_twice(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "LARGE_BYTES", 1_000_000)
    warm = session(tmp_path, prompt(COUNT), prompt(COUNT + 1), id_="b0000000-0000-4000-8000-000000000001")
    path = session(tmp_path, *map(prompt, range(COUNT)))
    with journal(tmp_path / "journal") as archive:
        imported(archive, warm)
        took = traced(lambda: imported(archive, path))

        assert sum(len(each.timeline) for each in everything(archive.store)) == COUNT + 2
    assert took / COUNT < 1_000, "bytes for a message of a word"


def talk(count: int) -> Conversation:
    timeline: list[Message | Event] = [
        Message(id=f"m{number}", role="user", parts=[Text(text=f"words {number} " * 20)])
        for number in range(count)
    ]
    timeline.insert(count // 2, Event(id="e", name="something"))
    return Conversation(id="c", source="kitchen", title="T", timeline=timeline)


def test_rows_of_a_large_conversation_are_packed_in_their_order() -> None:
    conversation, memory = talk(2_000), Memory(id="m", source="kitchen", kind="fact", text="likes tea")
    expected = [row_of(entry) for entry in conversation.timeline]
    seen: list[Item] = []
    for pack_from in (0, 100_000):
        seen.clear()
        packed, remembered = item_rows(iter([conversation, memory]), pack_from, seen.append)

        assert seen == [conversation, memory]
        assert (remembered.item, remembered.rows, remembered.blocks) == (memory, [], [])
        assert packed.item == Conversation(id="c", source="kitchen", title="T")
        assert packed.rows == [row._replace(body=b"") for row in expected]
        assert sum(len(block.sizes) for block in packed.blocks) == len(expected)
    for never in (None, 100_000_000):
        (plain,) = item_rows(iter([conversation]), never, seen.append)
        assert plain.rows == expected
        assert not plain.blocks
    assert len(conversation.timeline) == 2_001, "whoever else has it still has all of it"


def test_a_conversation_that_was_packed_is_stored_and_grows_like_any_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    records = [prompt(number, f"words {number} " * 30) for number in range(400)]
    found = {}
    for size in (0, 1 << 30):
        folder = tmp_path / str(size)
        folder.mkdir()
        with journal(folder / "journal") as archive:
            monkeypatch.setattr(importing, "LARGE_BYTES", size)
            added = [imported(archive, session(folder, *records[:upto])).added for upto in (300, 400, 400)]
            found[size] = everything(archive.store)
        assert added == [300, 100, 0]
    first, second = found.values()
    assert [bare(each).timeline for each in first] == [bare(each).timeline for each in second]
