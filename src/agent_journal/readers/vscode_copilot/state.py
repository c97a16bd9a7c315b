"""The editor's store, where all sessions of a workspace were until 1.96."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind
from agent_journal.readers.vscode_copilot import companions
from agent_journal.readers.vscode_copilot.detect import OLD_SESSIONS
from agent_journal.readers.vscode_copilot.session import conversation

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Conversation
    from agent_journal.notes import Notes


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """Each session that the store holds; since 1.97 it only lists them."""
    value = companions.item(source, OLD_SESSIONS)
    data = value if isinstance(value, bytes) else b"[]"
    found = json_stream.decode(data, note, OLD_SESSIONS)
    sessions = list(found.values()) if isinstance(found, dict) else found if isinstance(found, list) else []
    if not sessions:
        note(Kind.IGNORED_FILE, "", "it lists sessions, which are files beside it")
    for place, session in enumerate(sessions):
        if session.__class__ is dict:
            yield conversation(session, source, note, name, [])
        else:
            note(Kind.BAD_RECORD, f"{OLD_SESSIONS}[{place}]", f"a session is {type(session).__name__}")
