"""Options by which conversations are chosen, as several verbs have them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_journal.archive.store import Filter
from agent_journal.decoding.text_encoding import encodable
from agent_journal.model import timestamps
from agent_journal.search.dates import seconds

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import tzinfo

    from agent_journal.archive.store import Store

    Command = TypeVar("Command", bound=Callable[..., Any])

EMPTY = "the journal is empty; 'aj sync' fills it, 'aj import FILE' adds a file"


def date_in_seconds(_context: click.Context, _option: click.Parameter, value: str | None) -> int | None:
    """The moment that is meant, in seconds since 1970."""
    if value is None:
        return None
    return _seconds(value)


def _seconds(value: str, option: str | None = None, zone: tzinfo | None = None) -> int:
    found = seconds(value, time.time(), zone)
    if found is None:
        said = f"{value!r} is no date; write it as 2026-11-16, 2026-11-16T09:30:00Z or 7d (days ago)"
        raise click.BadParameter(said, param_hint=option)
    return found


def _moment(context: click.Context, option: click.Parameter, value: str | None) -> str | None:
    found = date_in_seconds(context, option, value)
    return None if found is None else timestamps.from_seconds(found)


def moment_in(zone: tzinfo | None, value: str, option: str) -> str:
    """The moment that is meant by the clock of a zone; None is the machine's."""
    return timestamps.from_seconds(_seconds(value, option, zone))


def place(text: str) -> str:
    """What a project is asked for by: a part of its path, or a folder as the shell would take it."""
    if text.partition("/")[0] in {".", "..", "~"}:
        return os.path.abspath(os.path.expanduser(text))  # noqa: PTH100, PTH111 (a name that is typed)
    return text


def _folder(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    return None if value is None else place(value)


PROJECT = "Only projects whose folder has this in its path; '.' is this folder."
_OF_CONVERSATIONS = (
    click.option(
        "--source",
        metavar="NAME",
        help="Only this source ('aj formats' lists them), or those with this in their names.",
    ),
    click.option("--project", metavar="TEXT", callback=_folder, help=PROJECT),
    click.option("--model", metavar="TEXT", help="Only where a model with this in its name took part."),
    click.option("--title", metavar="TEXT", help="Only those with this in the title."),
)


def of_conversations(command: Command) -> Command:
    """Give a verb the options that say which conversations are meant, whenever they were."""
    for option in reversed(_OF_CONVERSATIONS):
        command = option(command)
    return command


def filters(command: Command) -> Command:
    """Give a verb the options."""
    for option in reversed(
        (
            *_OF_CONVERSATIONS,
            click.option(
                "--since", metavar="DATE", callback=_moment, help="Only those that went on after it."
            ),
            click.option(
                "--until", metavar="DATE", callback=_moment, help="Only those that began before it."
            ),
        )
    ):
        command = option(command)
    return command


def is_narrowed(asked: Mapping[str, Any]) -> bool:
    """Whether somebody wants to see only some."""
    return any(value is not None for value in asked.values())


def why_none(store: Store, asked: Mapping[str, Any]) -> str:
    """Why there is nothing like what is asked for, where more than that can be told; else nothing."""
    if not store.counts().conversations:
        return EMPTY
    from agent_journal.search.query import meant  # noqa: PLC0415 (if nothing was found)

    for kind in ("source", "project"):
        name = asked.get(kind)
        if name and not meant(kind, [name], store.values(kind)):
            return not_called(kind, name)
    return ""


def not_called(kind: str, name: str) -> str:
    """What is said of a name that nothing in the journal has."""
    return f"no {kind} in the journal is called {name!r}, nor has it in its name"


def wanted(asked: dict[str, Any], **more: Any) -> Filter:
    """The filter that the options mean. What was typed may be bytes that are no text, which nothing has."""
    texts = {name: encodable(value) for name, value in asked.items() if isinstance(value, str)}
    return Filter(**{**asked, **texts}, **more)
