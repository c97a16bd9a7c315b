"""A server on this machine only, for one user, that does no work when nobody asks."""

from __future__ import annotations

import asyncio
import errno
import os
import socket
import time
from typing import TYPE_CHECKING, Any

import uvicorn

from agent_journal.errors import PortInUse

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

ADDRESS = "127.0.0.1"
_GRACE_S = 3


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


def serve_app(
    app: Any, listening: socket.socket, clock: IdleClock, on_ready: Callable[[], None], **options: Any
) -> None:
    """Serve an ASGI application until a signal or the idle time ends it; the options are those of uvicorn."""
    config = uvicorn.Config(
        app,
        http="h11",
        loop="asyncio",
        ws="none",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        date_header=False,
        timeout_graceful_shutdown=_GRACE_S,
        **options,
    )
    with listening:
        _SleepingServer(config, clock, on_ready).run(sockets=[listening])


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


class _SleepingServer(uvicorn.Server):
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
