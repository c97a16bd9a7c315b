"""`aj mcp`: let agents search and read the journal."""

from __future__ import annotations

import gc
import os
import sys
from shutil import which
from typing import TYPE_CHECKING

import click

from agent_journal.cli._filters import conversation_filter, project_text, timestamp_option
from agent_journal.cli._home import home, option
from agent_journal.cli._journal import open_journal, settings
from agent_journal.cli._run import FAILED, NOT_FOUND
from agent_journal.errors import NoSuchName
from agent_journal.terminal import confirm, flush, out, say, show, show_json
from agent_journal.terminal.command_name import VARIABLE
from agent_journal.terminal.local_times import short
from agent_journal.text.humanize import size
from agent_journal.text.sanitize import quoted

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.journal import Filter
    from agent_journal.mcp.clients import Change, Client
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
    if "" in (project, source):
        raise click.UsageError("--project and --source must not be empty.")
    gc.disable()  # what is imported stays, so there is nothing to collect
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

        _enable_collector()
        serve_stdio(service)
        return
    from agent_journal.mcp.http import serve_http, token_of  # noqa: PLC0415 (slow to import)

    journal_home = home()
    if not journal_home.is_dir():
        open_journal().close()  # which says that there is none
    _enable_collector()
    serve_http(service, token_of(journal_home), port, _report_ready)


def _enable_collector() -> None:
    gc.freeze()
    gc.enable()


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


@command.command("install", context_settings=_SETTINGS)
@click.argument("names", nargs=-1, metavar="[CLIENT]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show the changes.")
@click.pass_context
def install(context: click.Context, *, names: tuple[str, ...], yes: bool, dry_run: bool) -> int:
    """Add the server to the configuration of agents.

    CLIENT is claude, codex, gemini, copilot, cursor, vscode or opencode; without one, all that are on this
    machine. Options before 'install' (--project, --source, --since) limit what they get.
    """
    from agent_journal.mcp.clients import plan_install  # noqa: PLC0415 (only where needed)

    started = [*_own_command(), *_scope_arguments(context)]
    return _change(names, lambda client: plan_install(client, started), yes=yes, dry_run=dry_run)


@command.command("uninstall", context_settings=_SETTINGS)
@click.argument("names", nargs=-1, metavar="[CLIENT]...")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Only show the changes.")
def uninstall(*, names: tuple[str, ...], yes: bool, dry_run: bool) -> int:
    """Remove the server from the configuration of agents; without a CLIENT, of all."""
    from agent_journal.mcp.clients import plan_uninstall  # noqa: PLC0415 (only where needed)

    return _change(names, plan_uninstall, yes=yes, dry_run=dry_run)


def _own_command() -> list[str]:
    """What starts this program, whatever folder and search path an agent has."""
    called = os.environ.get(VARIABLE) or sys.argv[0]
    if os.path.basename(called) == "aj":  # noqa: PTH119
        path = called if os.sep in called else which(called)
        start = [os.path.abspath(path)] if path else ["aj"]  # noqa: PTH100
    else:
        start = [sys.executable, "-m", "agent_journal"]
    folder = option()
    return [*start, *(["--home", os.path.abspath(folder)] if folder else []), "mcp"]  # noqa: PTH100


def _scope_arguments(context: click.Context) -> list[str]:
    given = context.parent.params if context.parent is not None else {}
    names = ("project", "source", "since")
    return [text for name in names if given.get(name) for text in (f"--{name}", str(given[name]))]


def _change(names: tuple[str, ...], plan: Callable[[Client], Change], *, yes: bool, dry_run: bool) -> int:
    """Show changes of configurations, ask, and make them."""
    from agent_journal.mcp.clients import known_clients  # noqa: PLC0415 (only where needed)

    clients = known_clients(os.environ)
    for name in names:
        if name not in clients:
            raise NoSuchName("client", name, [*clients])
    chosen = [clients[name] for name in names] or [each for each in clients.values() if each.is_present]
    if not chosen:
        say(f"aj: No known client on this machine; name one of: {', '.join(clients)}.")
        return NOT_FOUND
    is_done = True
    for client in chosen:
        change = plan(client)
        if change.before == change.after:
            say(f"aj: {client.title}: nothing to change in {quoted(str(change.path))}.")
            continue
        out().write(change.diff, "\n")
        if dry_run:
            continue
        if not yes and not confirm(f"Change the configuration of {client.title}?"):
            say(f"aj: {client.title} was not changed. Use --yes to change it without asking.")
            is_done = False
            continue
        change.write()
        say(f"aj: Changed {quoted(str(change.path))}; restart {client.title}.")
    return 0 if is_done else FAILED
