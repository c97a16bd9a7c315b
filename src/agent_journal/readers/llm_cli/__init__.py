"""LLM, the command line by Simon Willison: one database with all prompts and responses.

Since 2026 it is a store of messages, each with its parent, that several threads share.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.dialects.database_rows import has_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

THREADS, RESPONSES = "threads", "responses"
_COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    THREADS: {"turns": ("thread_id", "tip_message_hash"), "parts": ("message_hash", "payload")},
    RESPONSES: {RESPONSES: ("conversation_id", "prompt", "response", "options_json", "datetime_utc")},
}

INFO = ReaderInfo(
    name="llm-cli",
    title="LLM (command line)",
    versions=(THREADS, RESPONSES),
    names={"record": "llm-cli"},
    config_key="llm_cli",
    env=("AJ_LLM_CLI_PATH", "LLM_USER_PATH"),
    homes=(
        "~/.config/io.datasette.llm/logs.db",
        "~/Library/Application Support/io.datasette.llm/logs.db",
        "%APPDATA%/io.datasette.llm/logs.db",
        "%LLM_USER_PATH%/logs.db",
    ),
    companions=("*/io.datasette.llm/logs.db-*",),
    resume="llm chat --cid {id}",
    evidence=(
        "the vendor's public source and documentation as of August 2026, and what 0.36 writes; verified "
        "November 2026. The first tables, of 2023, are not read"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim databases by the columns of threads or of responses."""
    if peek.is_folder or peek.opening in {"{", "["}:
        return None
    versions = (
        version
        for version, tables in _COLUMNS.items()
        if all(has_columns(peek, table, columns) for table, columns in tables.items())
    )
    return next(versions, None)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield each thread, and each conversation of earlier versions, the oldest first."""
    from agent_journal.inputs import sqlite_copy  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.llm_cli import responses, threads  # noqa: PLC0415

    with sqlite_copy.opened(source) as database:
        known: set[str] = set()
        if version == THREADS:
            for thread in threads.conversations(database, note, INFO.name):
                known.add(thread.id)
                yield thread
        yield from responses.conversations(database, note, INFO.name, known)
