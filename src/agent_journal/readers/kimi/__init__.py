"""Kimi Code, Kimi Work and Kimi CLI: one wire file per agent of a session.

Kimi Code and the desktop app Kimi Work record each change of an agent's context; their predecessor Kimi CLI
recorded what was sent to its user interface. A subagent is a conversation of its own, linked to the call that
started it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.notes import Kind
from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.kimi.detect import CLI, CONTEXT, WIRE, version_of
from agent_journal.readers.kimi.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_WORK = "kimi-desktop/daimon-share/daimon/runtime/kimi-code/home/sessions/wd_*/conv-*"

INFO = ReaderInfo(
    name="kimi",
    title="Kimi Code, Kimi CLI",
    products=(
        Product("Kimi Code", ("*/.kimi-code/*",)),
        Product("Kimi CLI", ("*/.kimi/*",)),
        Product("Kimi Work", ("*/kimi-desktop/*",)),
    ),
    versions=(WIRE, CLI, CONTEXT),
    revision=2,
    names={"record": "kimi"},
    config_key="kimi",
    env=("AJ_KIMI_PATH", "KIMI_CODE_HOME", "KIMI_SHARE_DIR"),
    # Kimi Code and Kimi CLI have the same folders on Linux, macOS and Windows.
    homes=(
        "~/.kimi-code/sessions/*/*/agents/*/wire.jsonl",
        "%KIMI_CODE_HOME%/sessions/*/*/agents/*/wire.jsonl",
        *(
            f"{home}/{_WORK}/{pattern}"
            for home in ("~/Library/Application Support", "~/.config", "~/.local/share", "%APPDATA%")
            for pattern in ("agents/*/wire.jsonl", "wire.jsonl")
        ),
        *(
            f"{home}/{pattern}"
            for home in ("~/.kimi", "%KIMI_SHARE_DIR%")
            for pattern in (
                "sessions/*/*/wire.jsonl",
                "sessions/*/*/subagents/*/wire.jsonl",
                "imported_sessions/*/wire.jsonl",
                # Before the wire file there was only the context.
                "sessions/*/*/context.jsonl",
                "sessions/*/*.jsonl",
            )
        ),
    ),
    companions=(
        "*/session_*/state.json",
        "*/session_*/notify/state.json",
        "*/session_*/logs/*.log",
        "*/.kimi-code/session_index.jsonl",
        "*/.kimi-code/workspaces.json",
        "*/subagents/*/meta.json",
        "*/subagents/*/context*.jsonl",
        "*/subagents/*/prompt.txt",
        "*/subagents/*/output",
        "*/.kimi/sessions/*/*/state.json",
        "*/.kimi/sessions/*/*/context_*.jsonl",
    ),
    tool_kinds=TOOL_KINDS,
    resume="kimi --session {id}",
    evidence=(
        "the vendor's package of Kimi Code 2.1 and the public source of Kimi CLI 1.52, a real session of "
        "Kimi Code (protocol 1.4), and what 2.1 writes; verified November 2026. Kimi Work is known from a "
        "program that reads it"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim wire files by the envelope of their lines, and context files by the roles that only they have."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file."""
    from agent_journal.readers.kimi import session  # noqa: PLC0415 (only reading needs it)

    if version == CONTEXT and source.companion("wire.jsonl") is not None:
        note(Kind.IGNORED_FILE, "", "the wire file next to it has the same messages")
        return
    yield session.conversation(source, version, json_stream.lines(source, note), note, INFO.name)
