"""What a program wrote in the person's name is the system's, wherever it is shown or used as context."""

from __future__ import annotations

from pathlib import Path

from agent_journal.archive import forgetting
from agent_journal.archive.vault import CHUNK_BYTES
from agent_journal.model import Conversation, Message, Text
from tests.archive.journals import journal, put


def talk() -> Conversation:
    return Conversation(
        id="c",
        source="claude-code",
        shape="list",
        timeline=[
            Message(id="1", role="user", parts=[Text(text="what the person asked")]),
            Message(id="2", role="user", hidden=True, parts=[Text(text="what a program added")]),
            Message(id="3", role="assistant", parts=[Text(text="the answer")]),
        ],
    )


def test_a_hit_is_labeled_as_the_filter_that_matches_it(tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        put(archive.store, talk())
        store = archive.store
        keys = store.index_keys()
        indexed = {each.key: each.role for each in store.index_entries_since(0)}
        assert {key: each.role for key, each in store.entry_views(keys).items()} == {
            key: role for key, role in indexed.items() if key in store.entry_views(keys)
        }


def test_what_a_program_added_is_not_what_was_asked(tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        put(archive.store, talk())
        store = archive.store
        keys = store.index_keys()
        assert set(store.preceding_prompts(1, keys).values()) == {"what the person asked"}


def test_what_is_rewritten_goes_into_the_vault_chunk_by_chunk(tmp_path: Path) -> None:
    with journal(tmp_path / "journal") as archive:
        out = forgetting._VaultStream(archive.vault)
        largest = 0
        for _ in range(50):
            out.write(b"x" * 100_000)
            largest = max(largest, len(out._pending))
        file = out.finished("kept.jsonl")
        assert file.size == 5_000_000
        assert largest < CHUNK_BYTES
        assert b"".join(archive.vault.get(chunk) for chunk in file.chunks) == b"x" * 5_000_000
