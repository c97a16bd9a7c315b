"""`history.jsonl`: what the person typed in all sessions. It remains when their rollouts are deleted.

If a maximum size is set, the app removes its oldest lines.
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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes

_INDEX = "session_index"


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield one conversation per session: the prompts, without the answers."""
    prompts = PromptList(name)
    for fields in entries(json_stream.lines(source, note), note):
        key = next((key for key in SESSION_IDS if fields.view(key)), SESSION_IDS[0])
        session, at, text = fields.text(key), fields.timestamp("ts"), fields.text("text")
        prompts.add(session or None, at, [Text(text=text)] if text else [], fields.rest())
    names = meta.entries_by_session(source, note)
    for conversation in prompts.conversations(note):
        entries_of_index = names.get(conversation.id)
        if entries_of_index:
            title, extra = meta.title(entries_of_index), {_INDEX: entries_of_index}
            conversation = replace(conversation, title=title, extra=extra)  # noqa: PLW2901
        yield conversation
