"""The filter options that several commands share."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_journal.decoding.text_encoding import encodable
from agent_journal.journal import Filter
from agent_journal.model import timestamps
from agent_journal.search.dates import to_epoch_seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import tzinfo

    from agent_journal.journal import Journal

    Command = TypeVar("Command", bound=Callable[..., Any])

EMPTY_JOURNAL = "The journal is empty. Run 'aj sync' to fill it, or 'aj import FILE' to add a file."
NO_MATCH = "No conversation matches these filters."


def date_in_seconds(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """The time that a date option states, in seconds since 1970."""
    return None if value is None else _parse_seconds(value)


def _parse_seconds(value: str, option: str | None = None, zone: tzinfo | None = None) -> int:
    parsed = to_epoch_seconds(value, time.time(), zone)
    if parsed is None:
        message = f"{value!r} is not a date; write it as 2026-11-16, 2026-11-16T09:30:00Z or 7d (days ago)"
        raise click.BadParameter(message, param_hint=option)
    return parsed


def timestamp_option(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    """The time that a date option states."""
    parsed = date_in_seconds(context, option, value)
    return None if parsed is None else timestamps.from_seconds(parsed)


def timestamp_in(zone: tzinfo | None, value: str, option: str) -> str:
    """The time that an option states in a time zone; None is the machine's."""
    return timestamps.from_seconds(_parse_seconds(value, option, zone))


def project_text(text: str) -> str:
    """What `--project` matches: part of a path; a folder as one types it in a shell becomes absolute."""
    if text.partition("/")[0] in {".", "..", "~"}:
        return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (a name that is typed)
    return text


def _project(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    return None if value is None else project_text(value)


PROJECT_HELP = "Only projects with this in the path of their folder; '.' is the current folder."
_CONVERSATION_OPTIONS = (
    click.option(
        "--source",
        metavar="NAME",
        help="Only sources or products with this in their name ('aj formats' lists them).",
    ),
    click.option("--project", metavar="TEXT", callback=_project, help=PROJECT_HELP),
    click.option(
        "--model", metavar="TEXT", help="Only conversations with a model that has this in its name."
    ),
    click.option("--title", metavar="TEXT", help="Only conversations with this in their title."),
)
_DATE_OPTIONS = (
    click.option(
        "--since",
        metavar="DATE",
        callback=timestamp_option,
        help="Only conversations updated at or after this time.",
    ),
    click.option(
        "--until",
        metavar="DATE",
        callback=timestamp_option,
        help="Only conversations started before this time.",
    ),
)


def conversation_filters(command: Command) -> Command:
    """Give a command the options that choose conversations by anything but time."""
    return _with_options(command, _CONVERSATION_OPTIONS)


def filters(command: Command) -> Command:
    """Give a command all options that choose conversations."""
    return _with_options(command, (*_CONVERSATION_OPTIONS, *_DATE_OPTIONS))


def _with_options(command: Command, options: Sequence[Callable[[Command], Command]]) -> Command:
    for option in reversed(options):
        command = option(command)
    return command


def is_filtered(values: Mapping[str, Any]) -> bool:
    """Whether any filter option was given."""
    return any(value is not None for value in values.values())


def explain_no_match(journal: Journal, values: Mapping[str, Any]) -> str:
    """Why no conversation matches the filters, if there is a more specific reason; else an empty text."""
    if not journal.count().conversations:
        return EMPTY_JOURNAL
    unknown = journal.unknown_filters(source=values.get("source"), project=values.get("project"))
    return unknown_name(*unknown[0]) if unknown else ""


def unknown_name(kind: str, name: str) -> str:
    """The message for a source or project name that does not occur in the journal."""
    return f"No {kind} in the journal has {name!r} in its name."


def conversation_filter(values: dict[str, Any], **more: Any) -> Filter:
    """The filter that the options describe; bytes on the command line that are not text match nothing."""
    texts = {name: encodable(value) for name, value in values.items() if isinstance(value, str)}
    return Filter(**{**values, **texts}, **more)
