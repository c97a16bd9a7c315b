"""`history.jsonl`: what the person typed in all sessions. It is left when their rollouts are deleted.

Where it has a largest size, the app takes away its oldest lines.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.model import Text
from agent_journal.readers.codex import meta
from agent_journal.readers.codex.detect import SESSION_IDS
from agent_journal.readers.dialects.prompt_history import PromptList, entries

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes

_INDEX = "session_index"


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """One conversation for each session: the prompts, without the answers."""
    asked = PromptList(name)
    for fields in entries(json_stream.lines(source, note), note):
        key = next((key for key in SESSION_IDS if fields.look(key)), SESSION_IDS[0])
        session, at, text = fields.text(key), fields.moment("ts"), fields.text("text")
        asked.add(session or None, at, [Text(text=text)] if text else [], fields.rest())
    names = meta.all_entries(source, note)
    for each in asked.conversations(note):
        named = names.get(each.id)
        yield replace(each, title=meta.title(named), extra={_INDEX: named}) if named else each
