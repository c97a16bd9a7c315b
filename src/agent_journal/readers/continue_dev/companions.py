"""Companion files of the sessions: the index with their dates, the configuration, the event logs."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import config
from agent_journal.readers.continue_dev.names import DEV_DATA, FEEDBACK, INDEX, LOG_FOLDERS, SESSIONS, SOURCE
from agent_journal.readers.continue_dev.session_logs import KEYS, Logs

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes

# The name of the feedback log when logs were in the folder itself.
_OLD_NAMES = {FEEDBACK: "chat"}


class Companions:
    """The companions of a source; `up` is the path from it to the folder with all files.

    Without `only`, all sessions are read.
    """

    def __init__(self, source: Input, up: tuple[str, ...], note: Notes, only: str | None = None) -> None:
        self._source = source
        self._up = up
        self._note = note
        self._only = only

    def file(self, *names: str) -> Input | None:
        """Return a file below the folder with all files."""
        return self._source.companion(*self._up, *names)

    @cached_property
    def models(self) -> config.Models:
        """The models that are configured."""
        for name in (config.YAML, config.JSON):
            if (file := self.file(name)) is not None and (models := config.load(file, self._note)).configured:
                return models
        return config.Models([])

    def configured(self) -> Bag:
        """Return the configured models as platform facts of a session."""
        models = [model.as_bag() for model in self.models.configured]
        return {"models": models} if models else {}

    @cached_property
    def logs(self) -> Logs:
        """The logs, in their current and older versions."""
        return Logs({event: self._log_files(event) for event in KEYS}, self._note, self._only)

    def _log_files(self, event: str) -> list[Input]:
        files: list[Input] = []
        for folder in LOG_FOLDERS:
            name = event if folder else _OLD_NAMES.get(event, event)
            if (file := self.file(DEV_DATA, *folder, f"{name}.jsonl")) is not None:
                files.append(file)
        return files

    @cached_property
    def index(self) -> dict[str, Bag]:
        """The index entries, by session id."""
        file = self._source.companion(INDEX) or self.file(SESSIONS, INDEX)
        return {} if file is None else load_index(file, self._note.about(file.label))

    def entry(self, session_id: str | None) -> Bag:
        """Return the index entry of a session; empty if it has none."""
        return self.index.get(session_id or "", {})


def id_in(entry: Bag) -> str | None:
    """Return the session id of an index entry, which was called `session_id` until the end of 2023."""
    return nonempty_str(entry.get("sessionId")) or nonempty_str(entry.get("session_id"))


def load_index(file: Input, note: Notes) -> dict[str, Bag]:
    """Return the entries of an index, by session id."""
    entries: dict[str, Bag] = {}
    try:
        for position, value in json_stream.elements(file, note):
            if value.__class__ is not dict:
                note(Kind.BAD_RECORD, f"[{position}]", f"an entry is {type(value).__name__}")
                continue
            stated = id_in(value)
            if stated is None:
                note(Kind.MISSING_ID, f"[{position}]", "an entry without a session id")
            entries[stated or ids.made(SOURCE, INDEX, value)] = value
    except UnreadableSource as error:
        note(Kind.UNREADABLE_FILE, "", error.reason)
    return entries
