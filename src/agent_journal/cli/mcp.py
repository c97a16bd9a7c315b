"""`aj mcp`: let agents search and read the journal."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from agent_journal.cli._filters import conversation_filter, project_text, timestamp_option
from agent_journal.cli._home import home
from agent_journal.cli._journal import open_journal, settings
from agent_journal.terminal import flush, out, say, show, show_json
from agent_journal.terminal.local_times import short
from agent_journal.text.humanize import size

if TYPE_CHECKING:
    from agent_journal.journal import Filter
    from agent_journal.mcp.http import Address
    from agent_journal.mcp.service import Service

_SETTINGS = {"help_option_names": ["-h", "--help"]}


@click.group(context_settings=_SETTINGS, invoke_without_command=True, no_args_is_help=False)
@click.option("--project", metavar="PATH", help="Only conversations of this folder; '.' is the current one.")
@click.option("--source", metavar="NAME", help="Only conversations of this source.")
@click.option(
    "--since",
    metavar="DATE",
    callback=timestamp_option,
    help="Only conversations updated at or after this time.",
)
@click.option("--http", "by_http", is_flag=True, help="Serve by HTTP, to this machine only.")
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    metavar="N",
    help="With --http: port to listen on. Default: 8378, or any other if that is in use.",
)
@click.pass_context
def command(
    context: click.Context,
    *,
    project: str | None,
    source: str | None,
    since: str | None,
    by_http: bool,
    port: int | None,
) -> int:
    """Serve the journal to an agent by the Model Context Protocol.

    Agents start this themselves. They can search, read and list conversations, ask for token usage and for
    who changed a file, and cannot change anything. The options limit what they get.
    """
    if context.invoked_subcommand is not None:
        return 0
    if port is not None and not by_http:
        raise click.UsageError("--port is only for --http.")
    from agent_journal.mcp.scope import Scope  # noqa: PLC0415 (slow to import)
    from agent_journal.mcp.service import Service  # noqa: PLC0415

    folder = os.getcwd()  # noqa: PTH109 (a name, as tools record it)
    with Service(settings(), Scope(folder=folder, limits=_limits(project, source, since))) as service:
        try:
            _serve(service, port, by_http=by_http)
        except KeyboardInterrupt:
            return 0  # this is how people end it
    return 0


def _serve(service: Service, port: int | None, *, by_http: bool) -> None:
    if not by_http:
        from agent_journal.mcp.stdio import serve_stdio  # noqa: PLC0415 (slow to import)

        serve_stdio(service)
        return
    from agent_journal.mcp.http import serve_http, token_of  # noqa: PLC0415 (slow to import)

    journal_home = home()
    if not journal_home.is_dir():
        open_journal().close()  # which says that there is none
    serve_http(service, token_of(journal_home), port, _report_ready)


def _report_ready(address: Address) -> None:
    show(address.url)
    flush()
    if address.token_file is not None:
        say(f"aj: Clients need the token in {address.token_file} ('Authorization: Bearer TOKEN').")


def _limits(project: str | None, source: str | None, since: str | None) -> Filter:
    """What may be returned: a path is a folder and what is below it, other text a part of a path."""
    if project is None:
        return conversation_filter({"source": source, "since": since})
    text = project_text(project)
    name = "folder" if os.path.isabs(text) else "project"  # noqa: PTH117 (a name that is typed)
    return conversation_filter({"source": source, "since": since, name: text})


@command.command("log", context_settings=_SETTINGS)
@click.option(
    "--max",
    "limit",
    type=click.IntRange(min=1),
    default=50,
    show_default=True,
    help="Maximum number of calls.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object per call.")
def show_log(*, limit: int, as_json: bool) -> None:
    """Show what agents asked for, and how much they got."""
    from agent_journal.mcp.log import QueryLog  # noqa: PLC0415 (only where needed)

    entries = [*QueryLog(home()).entries()][-limit:]
    for each in entries:
        if as_json:
            show_json(each)
            continue
        arguments = " ".join(f"{name}={value}" for name, value in each.arguments.items())
        result = each.error or size(each.bytes)
        out().line(
            ("dim", short(each.at)), f" {each.client or '-'} {each.tool} ", arguments, ("dim", f" {result}")
        )
    if not entries:
        say("aj: No agent has asked for anything yet.")
