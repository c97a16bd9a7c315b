"""A server of the page in a process of its own, and requests to it over sockets."""

from __future__ import annotations

import http.client
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from agent_journal.journal import demo

_READY_S = 60


class Response(NamedTuple):
    """What a server answered."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def text(self) -> str:
        return self.body.decode()


class Served:
    """A server that is ready."""

    def __init__(self, process: subprocess.Popen[str], url: str) -> None:
        self.process = process
        self.url = url
        self.port = int(url.split(":")[2].partition("/")[0])
        self.start = url[url.index("/", len("http://")) :]
        self.cookie = ""

    def get(self, path: str, headers: Mapping[str, str] | None = None, *, cookie: bool = True) -> Response:
        return self.ask("GET", path, headers, cookie=cookie)

    def ask(
        self,
        method: str,
        path: str,
        headers: Mapping[str, str] | None = None,
        body: bytes | None = None,
        *,
        cookie: bool = True,
    ) -> Response:
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        sent = {"Cookie": self.cookie, **(headers or {})} if cookie else dict(headers or {})
        try:
            connection.request(method, path, body, sent)
            response = connection.getresponse()
            return Response(
                response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
            )
        finally:
            connection.close()

    def sign_in(self) -> Response:
        """Open the link as a browser does."""
        response = self.get(self.start, cookie=False)
        self.cookie = response.headers.get("set-cookie", "").partition(";")[0]
        return response


@contextmanager
def serving(home: Path, *options: str, signed_in: bool = True) -> Iterator[Served]:
    """A server for a journal."""
    command = [sys.executable, "-m", "agent_journal", "--home", str(home), "web", "--no-open", *options]
    environ = {name: value for name, value in os.environ.items() if not name.startswith("AJ_")}
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ
    )
    assert process.stdout is not None
    assert process.stderr is not None
    try:
        line = process.stdout.readline().strip()
        assert line.startswith("http://127.0.0.1:"), process.stderr.read()
        served = Served(process, line)
        if signed_in:
            served.sign_in()
        yield served
    finally:
        process.terminate()
        process.wait(_READY_S)
        process.stdout.close()
        process.stderr.close()


def copy_demo(folder: Path) -> Path:
    """A small journal of sample data."""
    home = folder / "journal"
    demo.fill(home)
    return home


def wait_for_end(served: Served, seconds: float) -> int | None:
    """The exit code of a server that ends by itself."""
    until = time.monotonic() + seconds
    while served.process.poll() is None and time.monotonic() < until:
        time.sleep(0.1)
    return served.process.poll()


def remove(home: Path) -> None:
    """Delete a journal."""
    shutil.rmtree(home)
