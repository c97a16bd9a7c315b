"""What is longer than the screen is read with the person's pager."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager, suppress
from shutil import which
from typing import TYPE_CHECKING, TextIO, cast

from agent_journal.terminal import Sink, is_plain, is_terminal, sink_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_USUAL = "less -FRX"  # goes away if one screen is enough, shows colours, leaves the text on the screen


@contextmanager
def paged(*, wanted: bool = True) -> Iterator[Sink]:
    """A sink for something long: through the pager on a terminal, else standard output."""
    command = _command() if wanted else []
    sink = sink_of(sys.stdout)
    if not command:
        yield sink
        return
    sys.stdout.flush()
    try:
        # The command is started as it is, without a shell; what it shows comes through its input alone.
        pager = subprocess.Popen(  # noqa: S603
            command,
            stdin=subprocess.PIPE,
            env=_environment(),
            encoding=sys.stdout.encoding,
            errors="backslashreplace",
        )
    except OSError:
        yield sink
        return
    yield from _through(pager, sink)


def _through(pager: subprocess.Popen[str], sink: Sink) -> Iterator[Sink]:
    to_pager = cast("TextIO", pager.stdin)
    try:
        yield Sink(to_pager, colour=sink.colour, width=sink.width)
    except BrokenPipeError:
        pass  # the person has seen enough
    finally:
        with suppress(BrokenPipeError):
            to_pager.close()
        _wait(pager)


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait until the person leaves the pager; what it does with Ctrl-C is its own affair."""
    while pager.poll() is None:
        with suppress(KeyboardInterrupt):
            pager.wait()


def _command() -> list[str]:
    """The pager and its arguments, or nothing where none is wanted or possible."""
    if not is_terminal(sys.stdout) or is_plain():
        return []
    try:
        command = shlex.split(os.environ.get("PAGER", _USUAL))
    except ValueError:
        return []
    if not command or command == ["cat"] or which(command[0]) is None:
        return []
    return command


def _environment() -> dict[str, str]:
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    # A preprocessor would look at what is shown and run programs by what it seems to be.
    return {name: value for name, value in environment.items() if name not in {"LESSOPEN", "LESSCLOSE"}}
