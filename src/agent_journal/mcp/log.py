"""The log of what agents asked for, which the user can read (`aj mcp log`)."""

from __future__ import annotations

import os
from contextlib import suppress
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.journal.query_log import FILE_NAME, PREVIOUS_FILE_NAME
from agent_journal.redaction import redact_texts

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_MAX_BYTES = 2_000_000
_MAX_ARGUMENT_CHARS = 500


class LogEntry(msgspec.Struct, kw_only=True):
    """A call of a tool: what was asked, and how much was answered."""

    at: str
    client: str
    tool: str
    arguments: dict[str, Any]
    ms: int
    bytes: int = 0
    error: str | None = None


class QueryLog:
    """The file that calls are appended to; the last ones before it was full are in a second file."""

    def __init__(self, home: Path) -> None:
        self._home = home

    def append(self, entry: LogEntry) -> None:
        """Append a call; without a journal or space, there is no log."""
        entry.arguments = {name: _loggable(value) for name, value in entry.arguments.items()}
        line = msgspec.json.encode(entry) + b"\n"
        path = str(self._home / FILE_NAME)
        with suppress(OSError):
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)
            handle = os.open(path, flags, 0o600)
            try:
                os.write(handle, line)
                is_full = os.fstat(handle).st_size > _MAX_BYTES
            finally:
                os.close(handle)
            if is_full:
                (self._home / FILE_NAME).replace(self._home / PREVIOUS_FILE_NAME)

    def entries(self) -> Iterator[LogEntry]:
        """Yield the calls that are still known, oldest first."""
        decode = msgspec.json.Decoder(LogEntry).decode
        for name in (PREVIOUS_FILE_NAME, FILE_NAME):
            try:
                lines = (self._home / name).read_bytes().splitlines()
            except OSError:
                continue
            for line in lines:
                with suppress(msgspec.DecodeError):  # a line that was being written when power failed
                    yield decode(line)


def _loggable(value: Any) -> Any:
    if not isinstance(value, str):
        return value if isinstance(value, int | float | bool) or value is None else "(not a text)"
    (redacted,) = redact_texts([value[:_MAX_ARGUMENT_CHARS].encode("utf-8", "replace").decode()])
    return redacted
