"""The files with what agents asked the journal for, which are erased with it."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

FILE_NAME = "mcp-log.jsonl"
PREVIOUS_FILE_NAME = "mcp-log.1.jsonl"


def erase(home: Path) -> None:
    """Delete the log: questions may quote what was forgotten."""
    for name in (PREVIOUS_FILE_NAME, FILE_NAME):
        with suppress(FileNotFoundError):
            (home / name).unlink()
