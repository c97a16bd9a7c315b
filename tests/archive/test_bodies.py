"""Entries as they lie in blocks: without what columns tell, and whole again with it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agent_journal.archive import bodies
from agent_journal.archive.bodies import Blocks, entry_of
from agent_journal.archive.rows import row_of, without_native
from agent_journal.archive.store import SourceRow
from agent_journal.model import Event, Message, Text
from tests import models
from tests.archive.journals import everything, minute, said, store_in_memory, talk


@given(st.one_of(models.messages, models.events))
def test_a_stored_body_is_whole_with_its_columns(entry: Message | Event) -> None:
    row = row_of(entry)
    again = row._replace(body=b"").with_stored(row.stored)

    assert row == again
    expected = without_native(entry) if isinstance(entry, Message) else entry
    assert expected == entry_of(again.body, row.text)


@pytest.mark.parametrize(
    "entry",
    [
        Message(
            id="a-long-id", role="assistant", parent_id="its-parent", at="2026-01-02T03:04:05Z",
            model="some-model", parts=[Text(text="words")], extra={"more": 1},
        ),
        Event(id="a-long-id", name="some-event", parent_id="its-parent", at="2026-01-02T03:04:05Z"),
    ],
)  # fmt: skip
def test_what_columns_have_is_not_stored_again(entry: Message | Event) -> None:
    row = row_of(entry)

    for told in row[:6]:
        assert told is None or told.encode() not in row.stored
    assert len(row.stored) < len(row.body) / 2


def test_bodies_of_older_versions_are_whole_already() -> None:
    """These were stored with what columns tell."""
    conversation = talk("old", said("1", "one", minute(1)), said("2", "two", minute(2)))
    rows = [row_of(entry) for entry in conversation.timeline]
    store = store_in_memory()
    with store.transaction():
        source = store.put_source(SourceRow(path="/some/file"))
        blocks = list(Blocks().pack(row.body for row in rows))
        store.put(conversation, [row._replace(body=b"") for row in rows], source, blocks)

    assert [conversation] == everything(store)
    assert [] == list(store.problems())
    store.close()


@given(st.binary(max_size=8))
def test_damage_is_no_error_yet(body: bytes) -> None:
    """What cannot be decoded is told where it is decoded."""
    whole = bodies.restore_columns(body, row_of(said("1", "one"))[:6])
    assert whole.endswith(body[3:])
