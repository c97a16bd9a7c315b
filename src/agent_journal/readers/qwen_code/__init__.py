"""Qwen Code: one file per session, and one per subagent; each line has its parent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.readers import ReaderInfo, Retention
from agent_journal.readers.qwen_code.detect import LOG, version_of
from agent_journal.readers.qwen_code.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="qwen-code",
    title="Qwen Code",
    versions=(LOG,),
    names={"record": "qwen-code"},
    config_key="qwen_code",
    env=("AJ_QWEN_PATH", "QWEN_HOME", "QWEN_RUNTIME_DIR"),
    # The same folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/{pattern}"
        for home in ("~/.qwen", "%QWEN_HOME%", "%QWEN_RUNTIME_DIR%")
        for pattern in (
            "projects/*/chats/**/*.jsonl",
            "projects/*/subagents/*/*.jsonl",
            "tmp/*/chats/*.jsonl",
        )
    ),
    companions=(
        "*/subagents/*/agent-*.meta.json",
        "*/.qwen/usage_record.jsonl",
        "*/.qwen/debug/*",
        "*/.qwen/file-history/*",
    ),
    tool_kinds=TOOL_KINDS,
    # The app deletes the files of subagents, and copies of changed files; sessions stay.
    retention=Retention(
        settings=("%QWEN_HOME%/settings.json", "~/.qwen/settings.json"),
        key="general.cleanupPeriodDays",
        days=30,
        advice='"general": {"cleanupPeriodDays": 3650}',
    ),
    resume="qwen --resume {id}",
    evidence=(
        "the vendor's package 0.24, samples of 0.21, and what 0.24 writes; verified November 2026. Versions "
        "of 2025, which stored sessions as the app it is based on does, are read as that app's"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim files whose lines have ids and parents, and Google's parts as content."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:  # noqa: ARG001 (there is one version)
    """Yield the conversation of a file."""
    from agent_journal.readers.qwen_code.session import Session  # noqa: PLC0415 (only reading needs it)

    session = Session(note)
    session.add_all(json_stream.lines(source, note))
    yield session.conversation(source, INFO.name)
