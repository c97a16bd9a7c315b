"""Gemini CLI: a session is a log of messages and changes (JSONL), in versions before 0.40 one JSON document.

A sub-agent's session is a conversation of its own, linked to the one that started it. Saved chats
(checkpoints) and the list of prompts (`logs.json`), which outlives the sessions, are read too.
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
    from agent_journal.inputs.input import Source
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
    # The same below a person's folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/.gemini/tmp/*/{place}"
        for home in ("~", "%GEMINI_CLI_HOME%")
        for place in (
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
    # At each start, since early 2026 unless it is turned off; before that only if it was turned on.
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
        "the vendor's public source as of 2026 and sessions from the field (JSON of February, JSONL of April "
        "2026); verified November 2026. Saved chats and lists of prompts are known from the source alone"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim sessions by their head or their kinds of messages, saved chats and lists of prompts."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation that a file holds; of a list of prompts, one for each session."""
    from agent_journal.readers.gemini_cli import (  # noqa: PLC0415 (imported when something is read)
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
