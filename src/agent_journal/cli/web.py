"""`aj web`: read and search the journal in a browser."""

from __future__ import annotations

import re
import webbrowser
from typing import TYPE_CHECKING

import click

from agent_journal.cli._journal import settings
from agent_journal.terminal import flush, say, show

if TYPE_CHECKING:
    from agent_journal.web.server import Link

_UNITS_S = {"": 1, "s": 1, "m": 60, "min": 60, "h": 3600}
_DURATION = re.compile(r"(\d{1,7})\s*(s|min|m|h)?")
_PREFIX = re.compile(r"(?:/[A-Za-z0-9._~-]+)*/?")
_HOST = re.compile(r"[A-Za-z0-9._-]{1,253}(?::\d{1,5})?|\[[0-9A-Fa-f:]+\](?::\d{1,5})?")


def _parse_duration(_context: click.Context, _option: click.Parameter, value: str | None) -> float | None:
    """`90`, `30min` or `8h` in seconds."""
    if value is None:
        return None
    match = _DURATION.fullmatch(value.strip())
    if match is None or not int(match[1]):
        raise click.BadParameter(f"{value!r} is no time such as 90s, 30min or 8h")
    return float(int(match[1]) * _UNITS_S[match[2] or ""])


def _parse_prefix(_context: click.Context, _option: click.Parameter, value: str) -> str:
    """A path without a slash at its end."""
    if not _PREFIX.fullmatch(value):
        raise click.BadParameter(f"{value!r} is no path such as /journal")
    return value.rstrip("/")


def _parse_hosts(
    _context: click.Context, _option: click.Parameter, values: tuple[str, ...]
) -> tuple[str, ...]:
    for value in values:
        if not _HOST.fullmatch(value):
            raise click.BadParameter(f"{value!r} is no host such as journal.example.org or localhost:9000")
    return values


@click.command(context_settings={"help_option_names": ["-h", "--help"]})
@click.option(
    "--port",
    type=click.IntRange(min=0, max=65535),
    metavar="N",
    help="Port to listen on. Default: 8377, or any other if that is in use.",
)
@click.option("--no-open", is_flag=True, help="Only print the link; do not open a browser.")
@click.option(
    "--idle-exit",
    callback=_parse_duration,
    metavar="TIME",
    help="End after this time without a request: 90s, 30min, 8h.",
)
@click.option(
    "--prefix",
    default="",
    callback=_parse_prefix,
    metavar="PATH",
    help="Path that all addresses begin with, for a proxy in front of the page.",
)
@click.option(
    "--allowed-host",
    "allowed_hosts",
    multiple=True,
    callback=_parse_hosts,
    metavar="HOST[:PORT]",
    help="Host by which a proxy or tunnel reaches the page. Can be repeated.",
)
def command(
    *,
    port: int | None,
    no_open: bool,
    idle_exit: float | None,
    prefix: str,
    allowed_hosts: tuple[str, ...],
) -> int:
    """Open the journal in a browser, until interrupted.

    The page is read-only, and only this machine can reach it. The link that is printed works once.
    """
    config = settings()
    from agent_journal.web.journal_access import JournalAccess  # noqa: PLC0415 (only where needed)
    from agent_journal.web.server import Options, serve  # noqa: PLC0415

    def report_ready(link: Link) -> None:
        show(link.url)
        flush()
        if not no_open:
            webbrowser.open(link.browser_url)

    options = Options(port, prefix, allowed_hosts, idle_exit)
    with JournalAccess(config) as journal:
        try:
            serve(config, journal, options, report_ready, lambda text: say(f"aj: {text}"))
        except KeyboardInterrupt:
            return 0  # this is how people end it
    return 0
