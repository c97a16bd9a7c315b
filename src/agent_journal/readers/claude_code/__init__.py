"""Claude Code: one JSONL file per session, one line per content block, title or state.

A sub-agent's file is a conversation of its own, linked to the call that started it. The list of prompts
(`history.jsonl`), which outlives the sessions, is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.readers import ReaderInfo, Retention
from agent_journal.readers.claude_code.detect import PROMPTS, WEB, version_of
from agent_journal.readers.claude_code.names import TOOL_KINDS
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Source
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="claude-code",
    title="Claude Code",
    versions=("2", "1", WEB, PROMPTS),
    revision=5,
    names={"unified": "claude_code", "pam": "claude", "record": "claude-code"},
    config_key="claude_code",
    env=("AJ_CLAUDE_PATH", "CLAUDE_CONFIG_DIR"),
    homes=tuple(
        f"{home}/{place}"
        for place in ("projects/**/*.jsonl", "history.jsonl")
        for home in ("~/.claude", "~/.config/claude", "%CLAUDE_CONFIG_DIR%")
    ),
    companions=(
        "*/tool-results/*",
        "*/agent-*.meta.json",
        "*/remote-agents/*",
        "*/paste-cache/*.txt",
        "*/custom-title.json",
    ),
    tool_kinds=TOOL_KINDS,
    required=("session.session_id", "messages[].timestamp", "messages[].role", "messages[].content"),
    record=RecordForm(body="message"),
    # At each start it deletes what was not touched for so long; with 0 it writes no histories at all.
    retention=Retention(
        settings=("%CLAUDE_CONFIG_DIR%/settings.json", "~/.claude/settings.json"),
        key="cleanupPeriodDays",
        days=30,
        advice='"cleanupPeriodDays": 36500',
    ),
    resume="claude --resume {id}",
    undercounts="answers that were broken off have only the first tokens of their output",
    evidence=(
        "the vendor's bundles 1.0.50, 2.1.100, 2.1.325 and 2.1.326, and some 2,300 lines from the field; "
        "verified November 2026. The list of prompts is known from how open programs read it"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim session files by the envelope of their lines (versions 2 and 1, web), and lists of prompts."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the one conversation that a file holds; of a list of prompts, one for each session."""
    from agent_journal.readers.claude_code import prompts  # noqa: PLC0415 (imported when something is read)
    from agent_journal.readers.claude_code.session import Session  # noqa: PLC0415

    if version == PROMPTS:
        yield from prompts.conversations(source, note, INFO.name)
        return
    session = Session(source, note)
    extra: dict[str, Any] = {}
    if version == WEB:
        whole = _whole(source, note)
        for index, record in enumerate(whole.items("loglines") or ()):
            session.add(record, f"loglines[{index}]")
        extra = whole.rest()
    else:
        session.read(source)
    if not session.is_one:
        raise UnreadableSource(source.label, "no line in it is a line of a session")
    yield session.conversation(INFO.name, extra)


def _whole(source: Source, note: Notes) -> Fields:
    """A web session as the object it is; of a damaged one, the lines that are left."""
    value = json_stream.load(source, note)
    if not isinstance(value, dict):
        value = {"loglines": [line for _, line in json_stream.elements(source, note, "loglines")]}
    return Fields(value, note, "")
