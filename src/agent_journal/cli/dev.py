"""`aj dev`: templates for the developer of a new reader."""

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
_CASE_FILES = {"expected.json", "ABOUT.md"}
_TEMPLATES = Path(__file__).parent / "_templates"
# The names that sources give to fields that all of them have; the first is used if the sample has none.
_COMMON_KEYS = {
    "id": ("id", "uuid", "conversation_id", "session_id", "sessionId", "chat_id", "message_id"),
    "title": ("title", "name", "subject", "summary"),
    "role": ("role", "sender", "author", "from", "who", "type"),
    "text": ("content", "text", "message", "body", "prompt"),
    "time": ("timestamp", "created_at", "createdAt", "create_time", "time", "date", "at"),
}


@click.group(context_settings={"help_option_names": ["-h", "--help"]}, no_args_is_help=False)
def command() -> None:
    """Tools for adding a source, for use in a checkout of Agent Journal."""


@command.command("new-reader")
@click.argument("name")
@click.argument("sample", type=click.Path())
def new_reader(name: str, sample: str) -> None:
    """Create a reader module for SAMPLE (JSON or JSON Lines), and a first test case with a copy of it."""
    module, case = _target_paths(name)
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


def _target_paths(name: str) -> tuple[Path, Path]:
    """The paths of the module and of the first case, which must not exist yet."""
    if not _NAME.fullmatch(name):
        raise click.BadParameter(
            f"{name!r} is not a reader name; use lower-case letters, digits and single hyphens"
        )
    if not MODULES.is_dir() or not CASES.is_dir():
        raise CannotWrite(str(MODULES), "the current folder is not the top of a checkout of Agent Journal")
    module = MODULES / f"{_module_name(name)}.py"
    for path in (module, module.with_suffix(""), CASES / name):
        if path.exists():
            raise CannotWrite(str(path), "it already exists")
    return module, CASES / name / "first"


def _module_name(name: str) -> str:
    module = name.replace("-", "_")
    return f"{module}_dev" if keyword.iskeyword(module) else module


def _records_of(sample: str) -> list[dict[str, Any]]:
    """The first records of a sample, which no reader may recognize yet."""
    if not Path(sample).exists():
        raise UnreadableSource(sample, "there is no such file")
    if not Path(sample).is_file():
        raise UnreadableSource(sample, "it is not a file; SAMPLE must be one file")
    if Path(sample).name in _CASE_FILES:
        raise UnreadableSource(sample, "a case has a file of that name itself; rename the sample")
    peek = Peek(File(sample))
    if not peek.records:
        raise UnreadableSource(
            sample, f"{peek.looks_like()}; there are templates only for JSON and JSON Lines"
        )
    for reader, _ in readers.claims(peek):
        raise AgentJournalError(f"The reader {reader.INFO.name!r} already reads {sample}.")
    return list(peek.records)


def _module_text(name: str, records: list[dict[str, Any]]) -> str:
    """The module, from the template for records that have lists of messages, or that are messages."""
    messages_key = _key_of(records, _is_list_of_objects)
    elements = [element for record in records for element in record.get(messages_key or "", ())]
    messages = [element for element in elements if isinstance(element, dict)] or records
    values = {
        "name": name,
        "title": name.replace("-", " ").title(),
        "keys": "".join(f"        {json.dumps(key)},\n" for key in _shared_keys(records)),
        "messages": json.dumps(messages_key),
        "id": _key_literal("id", records),
        "title_key": _key_literal("title", records),
        "message_id": _key_literal("id", messages),
        "role": _key_literal("role", messages),
        "text": _key_literal("text", messages),
        "time": _key_literal("time", messages, _is_time),
    }
    return _template("conversations.py.txt" if messages_key else "messages.py.txt", values)


def _key_literal(field: str, records: list[dict[str, Any]], fits: Callable[[Any], bool] | None = None) -> str:
    """The sample's key for a common field, as a literal."""
    key = _key_of(records, fits or _is_text, _COMMON_KEYS[field])
    return json.dumps(key or _COMMON_KEYS[field][0])


def _key_of(
    records: list[dict[str, Any]], fits: Callable[[Any], bool], names: Iterable[str] | None = None
) -> str | None:
    """The first of the names (or of all keys) for which some record has a value that fits."""
    candidates = names if names is not None else [key for record in records for key in record]
    return next((name for name in candidates if any(fits(record.get(name)) for record in records)), None)


def _is_list_of_objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(element, dict) for element in value)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_time(value: Any) -> bool:
    """Whether a value is a number that can be a time, or a text that the model stores unchanged."""
    at = timestamps.parse_timestamp(value)
    return at is not None and (at == value or not isinstance(value, str))


def _shared_keys(records: list[dict[str, Any]]) -> list[str]:
    """The keys that all complete records have; the last record may be truncated."""
    complete = records[:-1] or records
    return sorted(set(complete[0]).intersection(*complete[1:])) or sorted(complete[0])


def _template(name: str, values: dict[str, str]) -> str:
    return Template((_TEMPLATES / name).read_text(encoding="utf-8")).substitute(values)
