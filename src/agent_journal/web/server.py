"""The server of the page: on this machine only, for one user, without work when nobody asks."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time
from typing import TYPE_CHECKING, NamedTuple

import uvicorn

from agent_journal.errors import PortInUse
from agent_journal.web.access import AccessTokens
from agent_journal.web.app import create_app
from agent_journal.web.guard import TOKEN, Guard
from agent_journal.web.views.errors import locked_page

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from agent_journal.config import Config
    from agent_journal.web.journal_access import JournalAccess

ADDRESS = "127.0.0.1"
DEFAULT_PORT = 8377
_MAX_HEADER_BYTES = 1 << 20  # a longer query is answered with a page, not with a closed connection
_KEEP_ALIVE_S = 30
_GRACE_S = 3


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

    server = SleepingServer(
        uvicorn.Config(
            guard,
            http="h11",
            loop="asyncio",
            ws="none",
            lifespan="off",
            interface="asgi3",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            h11_max_incomplete_event_size=_MAX_HEADER_BYTES,
            timeout_keep_alive=_KEEP_ALIVE_S,
            timeout_graceful_shutdown=_GRACE_S,
        ),
        clock,
        report_ready,
    )
    with listening:
        server.run(sockets=[listening])


def listen(port: int | None, default: int) -> socket.socket:
    """Listen on a port, or else the default or any other; raises `PortInUse` if a chosen one is not free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    if os.name != "nt":  # on Windows it would allow two servers on one port
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((ADDRESS, default if port is None else port))
        listening.listen()
    except OSError as error:
        listening.close()
        if error.errno not in {errno.EADDRINUSE, errno.EACCES}:
            raise
        if port is None:
            return listen(0, default)
        raise PortInUse(port) from error
    return listening


class IdleClock:
    """How long nobody has asked for anything."""

    def __init__(self, limit_s: float | None) -> None:
        self._limit_s = limit_s
        self._last_s = time.monotonic()

    def restart(self) -> None:
        """Note that a request arrived."""
        self._last_s = time.monotonic()

    def left_s(self) -> float | None:
        """The seconds until the server ends; None if it does not end by itself."""
        return None if self._limit_s is None else self._last_s + self._limit_s - time.monotonic()


class SleepingServer(uvicorn.Server):
    """A server that sleeps until something happens; uvicorn's own wakes up ten times a second."""

    def __init__(self, config: uvicorn.Config, clock: IdleClock, on_ready: Callable[[], None]) -> None:
        super().__init__(config)
        self._clock = clock
        self._on_ready = on_ready
        self._stop: Callable[[], object] = lambda: None

    async def main_loop(self) -> None:
        """Wait for the end."""
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        self._stop = lambda: loop.call_soon_threadsafe(stopped.set)
        if self.should_exit:
            return
        self._on_ready()
        while not stopped.is_set():
            left_s = self._clock.left_s()
            if left_s is not None and left_s <= 0:
                self.should_exit = True
                return
            try:
                await asyncio.wait_for(stopped.wait(), left_s)
            except TimeoutError:
                continue

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """End because of a signal."""
        super().handle_exit(sig, frame)
        self._stop()
