"""`logs.json`: what the person typed in all sessions of a project. It remains when sessions are deleted."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.model import Text
from agent_journal.readers.dialects.prompt_history import PromptList, entries
from agent_journal.readers.gemini_cli import project

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield one conversation per session: the prompts, without the answers."""
    prompts = PromptList(name)
    folder = project.find_folder_of_prompts(source, note)
    records = ((f"[{index}]", raw) for index, raw in json_stream.elements(source, note))
    for fields in entries(records, note):
        if fields.view("type") == "user":
            fields.drop("type")
        session, text, at = fields.text("sessionId"), fields.text("message"), fields.timestamp("timestamp")
        prompts.add(session or None, at, [Text(text=text)] if text else [], fields.rest(), folder)
    yield from prompts.conversations(note)
