"""What lies beside the sessions: the index with their dates, the configuration, the logs of events."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import words
from agent_journal.errors import UnreadableSource
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import config
from agent_journal.readers.continue_dev.names import DEV_DATA, FEEDBACK, INDEX, LOG_FOLDERS, SESSIONS, SOURCE
from agent_journal.readers.continue_dev.session_logs import KEYS, Logs

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

# What the log of opinions was called when it lay in the folder itself.
_FIRST_NAMES = {FEEDBACK: "chat"}


class Beside:
    """The files around a source; `up` leads from it to the folder that holds everything.

    Without `only`, all sessions are going to be read.
    """

    def __init__(self, source: Source, up: tuple[str, ...], note: Notes, only: str | None = None) -> None:
        self._source = source
        self._up = up
        self._note = note
        self._only = only

    def file(self, *names: str) -> Source | None:
        """A file below the folder that holds everything."""
        return self._source.companion(*self._up, *names)

    @cached_property
    def models(self) -> config.Models:
        """The models that are configured."""
        for name in (config.YAML, config.JSON):
            if (file := self.file(name)) is not None and (found := config.load(file, self._note)).configured:
                return found
        return config.Models([])

    def configured(self) -> Bag:
        """The same as facts about each session."""
        told = [model.told() for model in self.models.configured]
        return {"models": told} if told else {}

    @cached_property
    def logs(self) -> Logs:
        """The logs, each of its newest form and of those before."""
        return Logs({event: self._logs_of(event) for event in KEYS}, self._note, self._only)

    def _logs_of(self, event: str) -> list[Source]:
        found: list[Source] = []
        for folder in LOG_FOLDERS:
            name = event if folder else _FIRST_NAMES.get(event, event)
            if (file := self.file(DEV_DATA, *folder, f"{name}.jsonl")) is not None:
                found.append(file)
        return found

    @cached_property
    def index(self) -> dict[str, Bag]:
        """What the list of sessions says of each, by its id."""
        file = self._source.companion(INDEX) or self.file(SESSIONS, INDEX)
        return {} if file is None else entries(file, self._note.about(file.label))

    def entry(self, session_id: str | None) -> Bag:
        """What the list says of one session; nothing if it is not in it."""
        return self.index.get(session_id or "", {})


def id_in(entry: Bag) -> str | None:
    """The session that an entry is about; until the end of 2023 it called the id `session_id`."""
    return words(entry.get("sessionId")) or words(entry.get("session_id"))


def entries(file: Source, note: Notes) -> dict[str, Bag]:
    """The sessions that an index lists, by their ids."""
    found: dict[str, Bag] = {}
    try:
        for place, value in json_stream.elements(file, note):
            if value.__class__ is not dict:
                note(Kind.BAD_RECORD, f"[{place}]", f"an entry is {type(value).__name__}")
                continue
            stated = id_in(value)
            if stated is None:
                note(Kind.MISSING_ID, f"[{place}]", "an entry without the id of a session")
            found[stated or ids.made(SOURCE, INDEX, value)] = value
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)
    return found
