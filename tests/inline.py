"""Input that a test writes down itself, read and written as the command line does it."""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from agent_journal import writers
from agent_journal.conversion import pipeline
from agent_journal.conversion.output import new_run
from agent_journal.model import Conversation, Item
from agent_journal.notes import Kind, Notes


class Written(NamedTuple):
    """What a writer made of an input, and what was noted on the way."""

    documents: list[Any]
    notes: Notes

    @property
    def only(self) -> Any:
        (document,) = self.documents
        return document

    def noted(self, kind: Kind) -> list[str]:
        return [note.detail for note in self.notes.collected if note.kind == kind.label]


def save_lines(folder: Path, name: str, records: Iterable[Any]) -> Path:
    path = folder / name
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def save_document(folder: Path, name: str, document: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def converted(path: Path, target: str) -> Written:
    """A file in a format that writes lines."""
    notes = Notes()
    return _written(pipeline.read_all([str(path)], notes), target, notes)


def written(target: str, *items: Item) -> Written:
    """Items of the model in a format that writes lines."""
    return _written(items, target, Notes())


def _written(items: Iterable[Item], target: str, notes: Notes) -> Written:
    out = io.BytesIO()
    writers.get(target).write(items, out, new_run(notes))
    return Written([json.loads(line) for line in out.getvalue().split(b"\n") if line], notes)


def read_one(path: Path) -> Conversation:
    """The one conversation in a file."""
    (item,) = pipeline.read_all([str(path)], Notes())
    assert isinstance(item, Conversation)
    return item
