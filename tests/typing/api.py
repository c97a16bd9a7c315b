"""The public types, checked by mypy and never run: they are part of the API."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any, assert_type

import agent_journal
from agent_journal import Conversation, Event, Kind, Memory, Message, Note, Notes, Text, ToolCall, Usage

assert_type(agent_journal.__version__, str)

notes = Notes()
items = agent_journal.read("export.zip", note=notes)
assert_type(items, Iterator[Conversation | Memory])
assert_type(agent_journal.read(Path("export.zip"), "name@version"), Iterator[Conversation | Memory])

for item in items:
    assert_type(item.id, str)
    if isinstance(item, Conversation):
        assert_type(item.title, str | None)
        assert_type(item.timeline, list[Message | Event])
        assert_type(item.extra, dict[str, Any])
        for entry in item.timeline:
            if isinstance(entry, Message):
                assert_type(entry.usage, Usage | None)
                for part in entry.parts:
                    if isinstance(part, Text):
                        assert_type(part.text, str)
                    elif isinstance(part, ToolCall):
                        assert_type(part.call_id, str | None)

agent_journal.write(items, "json", BytesIO())
agent_journal.write([Conversation(id="1", source="made-up")], "json", Path("out.jsonl"), note=notes)
agent_journal.convert("export.zip", "json", "out/", from_format=None, note=notes)

assert_type(notes.collected, list[Note])
assert_type(notes.damaged, bool)
assert_type(Kind.BAD_RECORD.meaning, str)
assert_type(str(agent_journal.UnreadableSource("here", "why")), str)

agent_journal.read(3)  # type: ignore[arg-type]
agent_journal.nothing  # type: ignore[attr-defined] # noqa: B018 (an unknown name is an error)

with agent_journal.open_journal("journal") as journal:
    assert_type(journal.conversation("0f3"), Conversation)
    assert_type(journal.memories(), list[Memory])
    assert_type([each.id for each in journal.conversations()], list[str])
    assert_type([hit.score for hit in journal.search("words").hits], list[float])
    answer = journal.search("words", 5, 10, 1, mode="lexical", filters=agent_journal.Filters(roles=("user",)))
    assert_type(answer.has_more, bool)
    assert_type([hit.snippet.marks for hit in answer.hits], list[list[tuple[int, int]]])
    assert_type([each.message for hit in answer.hits for each in hit.others], list[str])
    assert_type([each.meant for each in answer.corrections], list[tuple[str, ...]])
    journal.search("words", mode="by heart")  # type: ignore[arg-type]
    assert_type(journal.get("0f3", exact=True), Conversation)
    assert_type([each.updated_at for each in journal.list(sort="messages", limit=5).items], list[str | None])
    assert_type(journal.messages("0f3", start=20, limit=10).total, int)
    assert_type([each.relation for each in journal.children("0f3")], list[str | None])
    assert_type(journal.sync(["codex"]).unchanged, int)
    assert_type(journal.import_(["export.zip"]).new_messages, int)
    assert_type(answer.to_dict(), dict[str, Any])
    assert_type(journal.usage("model", timezone="UTC").total.cost_usd, float)
