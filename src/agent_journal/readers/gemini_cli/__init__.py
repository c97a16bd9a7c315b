"""Gemini CLI: a session is a log of messages and changes (JSONL); before 0.40 it was one JSON document.

A subagent's session is a conversation of its own, linked to the one that started it. Saved chats
(checkpoints) and the prompt history (`logs.json`), which outlives the sessions, are read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo, Retention
from agent_journal.readers.gemini_cli.detect import CHECKPOINT, DOCUMENT, LOG, PROMPTS, version_of
from agent_journal.readers.gemini_cli.names import TOOL_KINDS
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="gemini-cli",
    title="Gemini CLI",
    versions=(LOG, DOCUMENT, CHECKPOINT, PROMPTS),
    revision=6,
    names={"pam": "gemini", "record": "gemini-cli"},
    config_key="gemini_cli",
    env=("AJ_GEMINI_PATH", "GEMINI_CLI_HOME"),
    # The same path in the home folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/.gemini/tmp/*/{pattern}"
        for home in ("~", "%GEMINI_CLI_HOME%")
        for pattern in (
            "chats/**/*.jsonl",
            "chats/session-*.json",
            "checkpoint-*.json",
            "checkpoints/*.json",
            "logs.json",
        )
    ),
    companions=("*/.project_root", "*/.gemini/projects.json", "*/tool-outputs/session-*/*.txt"),
    tool_kinds=TOOL_KINDS,
    record=RecordForm(
        system_as="assistant",
        names_models=True,
        own_status=True,
        call_at=("timestamp",),
        answer_at=("timestamp",),
        derived=frozenset({"exit_code"}),
    ),
    # The app deletes sessions at each start: since early 2026 by default, before that only if configured.
    retention=Retention(
        settings=("%GEMINI_CLI_HOME%/.gemini/settings.json", "~/.gemini/settings.json"),
        key="general.sessionRetention.maxAge",
        days=30,
        switch="general.sessionRetention.enabled",
        most="general.sessionRetention.maxCount",
        advice='"general": {"sessionRetention": {"enabled": false}}',
    ),
    resume="gemini --resume {id}",
    evidence=(
        "the vendor's public source as of 2026 and real sessions (JSON of February, JSONL of April 2026); "
        "verified November 2026. Saved chats and prompt histories are known only from the source"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim sessions by their head or their message types, saved chats, and prompt histories."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file, or one conversation per session of a prompt history."""
    from agent_journal.readers.gemini_cli import (  # noqa: PLC0415 (only reading needs it)
        checkpoint,
        prompts,
        session,
    )

    if version == PROMPTS:
        yield from prompts.conversations(source, note, INFO.name)
    elif version == CHECKPOINT:
        yield from checkpoint.conversations(source, note, INFO.name)
    else:
        yield from session.conversations(source, version, note, INFO.name)
