"""Hermes Agent: sessions in a database, and in older versions in a file each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.hermes.detect import DATABASE, FILE, LINES, version_of
from agent_journal.readers.hermes.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="hermes",
    title="Hermes Agent",
    versions=(DATABASE, LINES, FILE),
    names={"record": "hermes"},
    config_key="hermes",
    env=("AJ_HERMES_PATH", "HERMES_HOME"),
    # The same folders on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/{pattern}"
        for home in ("~/.hermes", "~/.hermes/profiles/*", "%HERMES_HOME%", "%HERMES_HOME%/profiles/*")
        for pattern in ("state.db", "sessions/*.jsonl", "sessions/session_*.json")
    ),
    companions=(
        "*/.hermes/state.db-*",
        "*/.hermes/profiles/*/state.db-*",
        "*/.hermes/sessions/sessions.json",
    ),
    tool_kinds=TOOL_KINDS,
    sums_requests=True,
    resume="hermes --resume {id}",
    evidence=(
        "the vendor's public schema (version 30, 2026) and samples of its files; verified November 2026. "
        "Times in files have no zone and are read as UTC, although they are local"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of messages, and files by their first line or fields."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each session as a conversation."""
    from agent_journal.readers.hermes import database, files  # noqa: PLC0415 (only reading needs it)

    if version == DATABASE:
        yield from database.conversations(source, note, INFO.name)
    else:
        yield from files.conversations(source, version, note, INFO.name)
