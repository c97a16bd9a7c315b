"""Goose: one database with all sessions; versions before 1.10 wrote one file of lines per session."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.goose.detect import DATABASE, LINES, version_of
from agent_journal.readers.goose.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="goose",
    title="Goose",
    versions=(DATABASE, LINES),
    names={"record": "goose"},
    config_key="goose",
    env=("AJ_GOOSE_PATH", "GOOSE_PATH_ROOT", "XDG_DATA_HOME"),
    homes=tuple(
        f"{home}/sessions/{pattern}"
        for home in (
            *("~/.local/share/goose", "%APPDATA%/Block/goose/data", "%GOOSE_PATH_ROOT%/data"),
            # Its first versions on macOS.
            "~/Library/Application Support/Block.goose",
        )
        for pattern in ("sessions.db", "*.jsonl")
    ),
    companions=("*/goose/sessions/sessions.db-*", "*/data/sessions/sessions.db-*"),
    tool_kinds=TOOL_KINDS,
    resume="goose session --resume --session-id {id}",
    sums_requests=True,
    undercounts="versions before 2026 state the tokens of a whole session only",
    evidence=(
        "the vendor's public source (schemas 9 and 13), columns of schema 15 as a program that reads it has "
        "them, and two samples; verified November 2026. How cached tokens are counted is not verified"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of sessions and messages, and files by their first line."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each session as a conversation, the oldest first."""
    from agent_journal.readers.goose import sessions  # noqa: PLC0415 (only reading needs it)

    if version == DATABASE:
        yield from sessions.read_database(source, note, INFO.name)
    else:
        yield from sessions.read_lines(source, note, INFO.name)
