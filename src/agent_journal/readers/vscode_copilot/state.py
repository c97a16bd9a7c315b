"""The editor's store, which contained all sessions of a workspace until 1.96."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import companions
from agent_journal.readers.vscode_copilot.detect import OLD_SESSIONS
from agent_journal.readers.vscode_copilot.session import make_conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def read_store(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield each session in the store; since 1.97 it only lists them."""
    value = companions.load_item(source, OLD_SESSIONS)
    data = value if isinstance(value, bytes) else b"[]"
    stored = json_stream.decode(data, note, OLD_SESSIONS)
    sessions = list(stored.values()) if isinstance(stored, dict) else stored
    if not isinstance(sessions, list) or not sessions:
        note(Kind.IGNORED_FILE, "", "it lists sessions that are separate files")
        return
    for index, session in enumerate(sessions):
        if session.__class__ is dict:
            yield make_conversation(session, source, note, name, [])
        else:
            note(Kind.BAD_RECORD, f"{OLD_SESSIONS}[{index}]", f"a session is {type(session).__name__}")
