"""Serves the page to the browser of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.web.access import AccessTokens
from agent_journal.web.app import create_app
from agent_journal.web.guard import TOKEN, Guard
from agent_journal.web.local_server import ADDRESS, IdleClock, listen, serve_app
from agent_journal.web.views.errors import locked_page

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.config import Config
    from agent_journal.web.journal_access import JournalAccess

DEFAULT_PORT = 8377
_MAX_HEADER_BYTES = 1 << 20  # a longer query is answered with a page, not with a closed connection
_KEEP_ALIVE_S = 30


class Options(NamedTuple):
    """How the page is served."""

    port: int | None = None
    """None for the default port, or any other that is free."""
    prefix: str = ""
    """The path that all addresses begin with, without a slash at its end."""
    allowed_hosts: tuple[str, ...] = ()
    """Hosts, with their port, by which a proxy in front of the page is reached."""
    idle_exit_s: float | None = None
    """After how many seconds without a request the server ends."""


class Link(NamedTuple):
    """A server that is ready: the link for people, and one that may be shown to other processes."""

    url: str
    browser_url: str


def serve(
    config: Config,
    journal: JournalAccess,
    options: Options,
    on_ready: Callable[[Link], None],
    on_problem: Callable[[str], None],
) -> None:
    """Serve the page until a signal or the idle time ends it."""
    listening = listen(options.port, DEFAULT_PORT)
    port = listening.getsockname()[1]
    tokens = AccessTokens()
    clock = IdleClock(options.idle_exit_s)
    guard = Guard(
        create_app(journal, config, options.prefix),
        tokens,
        [f"{name}:{port}" for name in (ADDRESS, "localhost")]
        + [host.lower() for host in options.allowed_hosts],
        options.prefix,
        locked_page=locked_page(),
        on_request=clock.restart,
        on_refused_host=lambda host: on_problem(
            f"Refused a request for the host {host!r}; if it is yours, allow it with --allowed-host."
        ),
    )

    def report_ready() -> None:
        start = f"http://{ADDRESS}:{port}{options.prefix}/?{TOKEN}="
        on_ready(Link(start + tokens.create_link(), start + tokens.create_link()))

    serve_app(
        guard,
        listening,
        clock,
        report_ready,
        lifespan="off",
        h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
        timeout_keep_alive=_KEEP_ALIVE_S,
    )
