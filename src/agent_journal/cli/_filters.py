"""Options by which conversations are chosen, as several verbs have them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import click

from agent_journal import times
from agent_journal.archive.store import Filter

if TYPE_CHECKING:
    from collections.abc import Callable

    Command = TypeVar("Command", bound=Callable[..., Any])


def _moment(_context: click.Context, _option: click.Parameter, value: str | None) -> str | None:
    if value is None:
        return None
    found = times.moment(value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no date; write it as 2026-11-16 or 2026-11-16T09:30:00Z")
    return found


def filters(command: Command) -> Command:
    """Give a verb the options."""
    for option in reversed(
        (
            click.option("--source", metavar="NAME", help="Only this source ('aj formats' lists them)."),
            click.option(
                "--project", metavar="TEXT", help="Only projects whose folder has this in its path."
            ),
            click.option(
                "--model", metavar="TEXT", help="Only where a model with this in its name took part."
            ),
            click.option("--title", metavar="TEXT", help="Only those with this in the title."),
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


def wanted(asked: dict[str, Any], **more: Any) -> Filter:
    """The filter that the options mean."""
    return Filter(**asked, **more)
