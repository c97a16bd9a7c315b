"""`aj validate`: whether conversations hold what the unified schema and its rules demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from agent_journal import readers
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._run import FAILED, PARTLY, allow_what_is_settled, crash_reports
from agent_journal.conversion import pipeline
from agent_journal.conversion.output import new_run
from agent_journal.decoding import json_stream
from agent_journal.errors import AgentJournalError, UnreadableSource
from agent_journal.model import Conversation, Other, tree
from agent_journal.notes import Kind, Notes
from agent_journal.terminal import say, show, show_json
from agent_journal.validation import unified as validate
from agent_journal.writers import unified
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.unified.envelope import document

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.notes import Note
    from agent_journal.writers import Run

# Notes are a part of the verdict here, so more of them are kept than elsewhere.
_NOTES_PER_FILE = 100_000


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--level",
    type=click.Choice(validate.LEVELS),
    default="standard",
    show_default=True,
    help="lenient: the schema alone; standard: also data quality; strict: also warnings fail.",
)
@click.option(
    "-f",
    "--from",
    "from_format",
    metavar="SOURCE",
    help="What the input is, if it cannot be told: NAME or NAME@VERSION.",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object per conversation.")
def command(*, inputs: tuple[str, ...], level: validate.Level, from_format: str | None, as_json: bool) -> int:
    """Check unified JSON as it is, and conversations of any source as the unified JSON they become."""
    allow_what_is_settled()
    printer = NotePrinter(everything=False)
    notes = Notes(sink=printer, keep=_NOTES_PER_FILE, reports=crash_reports())
    run = new_run(Notes())  # what writing them would note is no news here
    count = bad = 0
    for found in _documents(inputs, from_format, run, notes):
        result = validate.check(
            found.document,
            level,
            run.started_at,
            found.required,
            noted=found.noted,
            unsupported=found.unsupported,
            allows_empty_text=found.allows_empty_text,
        )
        _show(found.file, result, as_json=as_json)
        count += 1
        bad += not result.valid
    printer.finish(notes)
    if not count:
        say("aj: nothing to validate: the input holds no conversation that could be read")
        return FAILED
    if not as_json:
        show(f"{count - bad} of {count} valid ({level})")
    if bad:
        return FAILED
    return PARTLY if notes.damaged else 0


class _Document(NamedTuple):
    """A unified document, and what its source must state."""

    file: str
    document: Any
    required: tuple[str, ...] = ()
    allows_empty_text: bool = False
    noted: tuple[Note, ...] = ()
    """What its reader noted."""
    unsupported: tuple[int, ...] = ()
    """The places of messages whose content the mapping document refuses to read."""


def _documents(
    inputs: tuple[str, ...], from_format: str | None, run: Run, notes: Notes
) -> Iterator[_Document]:
    for location in inputs:
        try:
            for unit in pipeline.units(location, notes, from_format):
                yield from _of_unit(unit, run, notes)
        except UnreadableSource as error:
            if len(inputs) == 1:
                raise
            notes.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        except AgentJournalError as error:
            if len(inputs) == 1:
                raise
            notes.add(Kind.UNREADABLE_FILE, location, "", str(error))


def _of_unit(unit: pipeline.Unit, run: Run, notes: Notes) -> Iterator[_Document]:
    if unit.reader.INFO.name == unified.INFO.name:
        yield from _as_they_are(unit.source, notes)
    else:
        yield from _as_they_become(unit, run, notes)


def _as_they_are(source: Source, notes: Notes) -> Iterator[_Document]:
    infos = [reader.INFO for reader in readers.discover().values()]
    for _, found in json_stream.values(source, notes.about(source.label)):
        platform = found.get("platform") if isinstance(found, dict) else None
        name = platform.get("name") if isinstance(platform, dict) else None
        # Several sources may go by one name there: what all of them must have.
        known = [info for info in infos if name and info.names.get("unified") == name]
        required = set.intersection(*(set(info.required) for info in known)) if known else ()
        allows_empty_text = any(info.allows_empty_text for info in known)
        yield _Document(source.label, found, tuple(sorted(required)), allows_empty_text)


def _as_they_become(unit: pipeline.Unit, run: Run, notes: Notes) -> Iterator[_Document]:
    info = unit.reader.INFO
    kept = len(notes.kept)
    for item in pipeline.read_unit(unit, notes):
        if isinstance(item, Conversation):
            made = msgspec.json.decode(encode(document(item, run)))
            # What a reader notes while it makes a conversation is about that one. A reader that has to see
            # all of a file first has noted everything before it gives the first.
            noted, kept = tuple(notes.kept[kept:]), len(notes.kept)
            unsupported = tuple(_unsupported(item))
            yield _Document(
                unit.source.label, made, info.required, info.allows_empty_text, noted, unsupported
            )


def _unsupported(conversation: Conversation) -> Iterator[int]:
    """The places of messages that hold nothing but numbers, truth values and empty objects."""
    for place, message in enumerate(tree.messages(conversation)):
        if message.parts and all(
            part.__class__ is Other and _says_nothing(part.data) for part in message.parts
        ):
            yield place


def _says_nothing(data: Any) -> bool:
    return data == {} or data.__class__ in (int, float, bool)


def _show(file: str, result: validate.Result, *, as_json: bool) -> None:
    if as_json:
        found = {"file": file, "conversation": result.conversation, "valid": result.valid}
        show_json({**found, "errors": result.errors, "warnings": result.warnings})
        return
    show(f"{file}: {result.conversation}: {'valid' if result.valid else 'NOT VALID'}")
    for kind, lines in (("error", result.errors), ("warning", result.warnings)):
        for line in lines:
            show(f"  {kind}: {line}")
