"""`aj dev`: what a developer of a new reader starts from."""

from __future__ import annotations

import json
import keyword
import re
import shutil
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

import click

from agent_journal import readers
from agent_journal.detection.peek import Peek
from agent_journal.errors import AgentJournalError, CannotWrite, UnreadableSource
from agent_journal.inputs.input import File
from agent_journal.model import timestamps
from agent_journal.terminal import show_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

MODULES = Path("src/agent_journal/readers")
CASES = Path("tests/readers")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")
_OF_A_CASE = {"expected.json", "ABOUT.md"}
_TEMPLATES = Path(__file__).parent / "_templates"
# What sources call the things that every one of them has; the first is the guess if none is there.
_CALLED = {
    "id": ("id", "uuid", "conversation_id", "session_id", "sessionId", "chat_id", "message_id"),
    "title": ("title", "name", "subject", "summary"),
    "role": ("role", "sender", "author", "from", "who", "type"),
    "text": ("content", "text", "message", "body", "prompt"),
    "time": ("timestamp", "created_at", "createdAt", "create_time", "time", "date", "at"),
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
def command() -> None:
    """Tools for adding a source; they work on the checkout in the current folder."""


@command.command("new-reader")
@click.argument("name")
@click.argument("sample", type=click.Path())
def new_reader(name: str, sample: str) -> None:
    """Write a reader module for SAMPLE (JSON or JSON Lines) and a first case folder with a copy of it."""
    module, case = _places(name)
    text = _module_text(name, _records_of(sample))
    try:
        module.write_text(text, encoding="utf-8")
        case.mkdir(parents=True)
        shutil.copyfile(sample, case / Path(sample).name)
        (case / "ABOUT.md").write_text(_template("about.md", {"name": name}), encoding="utf-8")
    except OSError as error:
        raise CannotWrite(str(error.filename), (error.strerror or str(error)).lower()) from error
    show_text(
        _template("next_steps.txt", {"name": name, "module": str(module), "case": str(case)}).rstrip("\n")
    )


def _places(name: str) -> tuple[Path, Path]:
    """Where the module and the first case go; nothing may be there yet."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(f"{name!r} is no reader name: lower-case letters, digits and single hyphens")
    if not MODULES.is_dir() or not CASES.is_dir():
        raise CannotWrite(str(MODULES), "there is no checkout of Agent Journal in this folder; go to its top")
    module = MODULES / f"{_module_name(name)}.py"
    for taken in (module, module.with_suffix(""), CASES / name):
        if taken.exists():
            raise CannotWrite(str(taken), "it is there already, and nothing is overwritten")
    return module, CASES / name / "first"


def _module_name(name: str) -> str:
    module = name.replace("-", "_")
    return f"{module}_dev" if keyword.iskeyword(module) else module


def _records_of(sample: str) -> list[dict[str, Any]]:
    """The records a sample begins with, which no reader may know yet."""
    if not Path(sample).is_file():
        raise UnreadableSource(sample, "there is no such file; a reader is started from one sample file")
    if Path(sample).name in _OF_A_CASE:
        raise UnreadableSource(sample, "a case has a file of that name itself; give the sample another one")
    peek = Peek(File(sample))
    if not peek.records:
        raise UnreadableSource(sample, f"{peek.looks_like()}; only JSON and JSON Lines have a template")
    for reader, _ in readers.claims(peek):
        raise AgentJournalError(f"{sample} is read already, by the reader {reader.INFO.name!r}")
    return list(peek.records)


def _module_text(name: str, records: list[dict[str, Any]]) -> str:
    """The module: one for records that hold lists of messages, another for records that are messages."""
    messages_key = _key_of(records, _is_list_of_objects)
    found = [message for record in records for message in record.get(messages_key or "", ())]
    messages = [message for message in found if isinstance(message, dict)] or records
    values = {
        "name": name,
        "title": name.replace("-", " ").title(),
        "keys": "".join(f"        {json.dumps(key)},\n" for key in _shared(records)),
        "messages": json.dumps(messages_key),
        "id": _called("id", records),
        "title_key": _called("title", records),
        "message_id": _called("id", messages),
        "role": _called("role", messages),
        "text": _called("text", messages),
        "time": _called("time", messages, _is_moment),
    }
    return _template("conversations.py.txt" if messages_key else "messages.py.txt", values)


def _called(what: str, records: list[dict[str, Any]], fits: Callable[[Any], bool] | None = None) -> str:
    """What the sample calls a thing, as a literal."""
    key = _key_of(records, fits or _is_text, _CALLED[what])
    return json.dumps(key or _CALLED[what][0])


def _key_of(
    records: list[dict[str, Any]], fits: Callable[[Any], bool], names: Iterable[str] | None = None
) -> str | None:
    """The first of the names (or of all keys) under which some record has a value that fits."""
    candidates = names if names is not None else [key for record in records for key in record]
    return next((name for name in candidates if any(fits(record.get(name)) for record in records)), None)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_moment(value: Any) -> bool:
    """Whether it is a number that can be a time, or a text that the model takes as it is."""
    at = timestamps.moment(value)
    return at is not None and (at == value or not isinstance(value, str))


def _shared(records: list[dict[str, Any]]) -> list[str]:
    """The keys that all whole records have; the last one may be cut."""
    whole = records[:-1] or records
    return sorted(set(whole[0]).intersection(*whole[1:])) or sorted(whole[0])


def _template(name: str, values: dict[str, str]) -> str:
    return Template((_TEMPLATES / name).read_text(encoding="utf-8")).substitute(values)
