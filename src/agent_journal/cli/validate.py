"""`aj validate`: check conversations against the unified schema and its rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import click
import msgspec

from agent_journal import readers
from agent_journal.cli._notes import NotePrinter
from agent_journal.cli._options import FROM_HELP
from agent_journal.cli._run import FAILED, PARTLY, apply_configured_limits, crash_reports
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

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Note
    from agent_journal.writers import Run

# Notes are part of the verdict here, so more of them are collected than elsewhere.
_MAX_NOTES_PER_FILE = 100_000


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("inputs", nargs=-1, required=True, metavar="INPUT...")
@click.option(
    "--level",
    type=click.Choice(validate.LEVELS),
    default="standard",
    show_default=True,
    help="lenient: the schema only; standard: also data quality; strict: warnings fail too.",
)
@click.option(
    "-f",
    "--from",
    "from_format",
    metavar="SOURCE",
    help=FROM_HELP,
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per conversation.")
def command(*, inputs: tuple[str, ...], level: validate.Level, from_format: str | None, as_json: bool) -> int:
    """Check conversations against the unified schema.

    Unified JSON is checked unchanged; conversations of other sources are converted to it first.
    """
    apply_configured_limits()
    printer = NotePrinter(everything=False)
    notes = Notes(sink=printer, keep=_MAX_NOTES_PER_FILE, reports=crash_reports())
    run = new_run(Notes())  # notes of the writer are not part of the verdict
    count = invalid = 0
    for checked in _documents(inputs, from_format, run, notes):
        result = validate.check(
            checked.content,
            level,
            run.started_at,
            checked.required,
            noted=checked.noted,
            unsupported=checked.unsupported,
            allows_empty_text=checked.allows_empty_text,
        )
        _show(checked.file, result, as_json=as_json)
        count += 1
        invalid += not result.valid
    printer.finish(notes)
    if not count:
        say("aj: Nothing to validate: no readable conversation in the input.")
        return FAILED
    if not as_json:
        show(f"{count - invalid} of {count} valid ({level})")
    if invalid:
        return FAILED
    return PARTLY if notes.damaged else 0


class _Document(NamedTuple):
    """A unified document, and what its source must state."""

    file: str
    content: Any
    required: tuple[str, ...] = ()
    allows_empty_text: bool = False
    noted: tuple[Note, ...] = ()
    """The notes of its reader."""
    unsupported: tuple[int, ...] = ()
    """The positions of messages whose content the mapping document refuses to read."""


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
        yield from _unified_documents(unit.source, notes)
    else:
        yield from _converted_documents(unit, run, notes)


def _unified_documents(source: Input, notes: Notes) -> Iterator[_Document]:
    infos = [reader.INFO for reader in readers.discover().values()]
    for _, value in json_stream.values(source, notes.about(source.label)):
        platform = value.get("platform") if isinstance(value, dict) else None
        name = platform.get("name") if isinstance(platform, dict) else None
        # Several sources may share this name; the document needs what all of them require.
        matching = [info for info in infos if name and info.names.get("unified") == name]
        required = set.intersection(*(set(info.required) for info in matching)) if matching else ()
        allows_empty_text = any(info.allows_empty_text for info in matching)
        yield _Document(source.label, value, tuple(sorted(required)), allows_empty_text)


def _converted_documents(unit: pipeline.Unit, run: Run, notes: Notes) -> Iterator[_Document]:
    info = unit.reader.INFO
    noted_before = len(notes.collected)
    for item in pipeline.read_unit(unit, notes):
        if isinstance(item, Conversation):
            content = msgspec.json.decode(encode(document(item, run)))
            # Notes that a reader adds while it makes a conversation are about that conversation. A reader
            # that has to see all of a file first adds all of its notes before its first conversation.
            noted, noted_before = tuple(notes.collected[noted_before:]), len(notes.collected)
            unsupported = tuple(_unsupported(item))
            yield _Document(
                unit.source.label, content, info.required, info.allows_empty_text, noted, unsupported
            )


def _unsupported(conversation: Conversation) -> Iterator[int]:
    """The positions of messages that contain only numbers, booleans and empty objects."""
    for index, message in enumerate(tree.messages(conversation)):
        if message.parts and all(
            part.__class__ is Other and _is_without_text(part.data) for part in message.parts
        ):
            yield index


def _is_without_text(data: Any) -> bool:
    return data == {} or data.__class__ in (int, float, bool)


def _show(file: str, result: validate.Result, *, as_json: bool) -> None:
    if as_json:
        verdict = {"file": file, "conversation": result.conversation, "valid": result.valid}
        show_json({**verdict, "errors": result.errors, "warnings": result.warnings})
        return
    show(f"{file}: {result.conversation}: {'valid' if result.valid else 'NOT VALID'}")
    for kind, lines in (("error", result.errors), ("warning", result.warnings)):
        for line in lines:
            show(f"  {kind}: {line}")
