"""Output that is longer than the screen, through the user's pager."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from contextlib import contextmanager, suppress
from shutil import which
from typing import TYPE_CHECKING, TextIO, cast

from agent_journal.terminal import Sink, is_dumb, is_terminal, sink_of

if TYPE_CHECKING:
    from collections.abc import Iterator

_DEFAULT_PAGER = "less -FRX"  # exits if one screen is enough, shows colors, leaves the text on the screen


@contextmanager
def paged(*, enabled: bool = True) -> Iterator[Sink]:
    """A sink for long output: through the pager on a terminal, else standard output."""
    command = _pager_command() if enabled else []
    sink = sink_of(sys.stdout)
    if not command:
        yield sink
        return
    sys.stdout.flush()
    try:
        # The pager runs without a shell, and gets text only through its standard input.
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
        yield Sink(to_pager, color=sink.color, width=sink.width)
    except BrokenPipeError:
        pass  # the user has left the pager
    finally:
        with suppress(BrokenPipeError):
            to_pager.close()
        _wait(pager)


def _wait(pager: subprocess.Popen[str]) -> None:
    """Wait until the user leaves the pager, which handles Ctrl-C itself."""
    while pager.poll() is None:
        with suppress(KeyboardInterrupt):
            pager.wait()


def _pager_command() -> list[str]:
    """The pager and its arguments; empty if there is none to use."""
    if not is_terminal(sys.stdout) or is_dumb():
        return []
    try:
        command = shlex.split(os.environ.get("PAGER", _DEFAULT_PAGER))
    except ValueError:
        return []
    if not command or command == ["cat"] or which(command[0]) is None:
        return []
    return command


def _environment() -> dict[str, str]:
    environment = {"LESS": "FRX", "LV": "-c", **os.environ}
    # A preprocessor would run programs that depend on what the text looks like.
    return {name: value for name, value in environment.items() if name not in {"LESSOPEN", "LESSCLOSE"}}
