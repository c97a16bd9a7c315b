"""Claude Code: one JSONL file per session, one line per content block, title or state.

A sub-agent's file is a conversation of its own, linked to the call that started it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import jsonstream
from agent_journal.fields import Fields
from agent_journal.notes import Kind
from agent_journal.readers import ReaderInfo
from agent_journal.readers.claude_code.lines import TOOL_KINDS
from agent_journal.readers.claude_code.session import Session
from agent_journal.readers.claude_code.signs import WEB, version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Item
    from agent_journal.notes import Notes
    from agent_journal.peek import Peek
    from agent_journal.source import Source

INFO = ReaderInfo(
    name="claude-code",
    title="Claude Code",
    versions=("2", "1", WEB),
    revision=1,
    names={"unified": "claude_code", "pam": "claude", "record": "claude-code"},
    config_key="claude_code",
    env=("AJ_CLAUDE_PATH", "CLAUDE_CONFIG_DIR"),
    homes=("~/.claude/projects/**/*.jsonl", "~/.config/claude/projects/**/*.jsonl"),
    companions=("*/tool-results/*", "*/agent-*.meta.json", "*/remote-agents/*"),
    tool_kinds=TOOL_KINDS,
    resume="claude --resume {id}",
    evidence=(
        "the vendor's bundles 1.0.50, 2.1.100 and 2.1.325, and some 2,300 lines from the field; "
        "verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim session files by the envelope of their lines: versions 2 and 1 of the app, or a web session."""
    return version_of(peek)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the one conversation that a file holds."""
    session = Session(source, note)
    extra = _read_web(source, session, note) if version == WEB else _read_lines(source, session, note)
    if session.timeline.entries:
        yield session.conversation(INFO.name, extra)


def _read_lines(source: Source, session: Session, note: Notes) -> dict[str, Any]:
    for number, line, is_whole in jsonstream.raw_lines(source, note):
        record = jsonstream.decode(line, note, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL)
        if record is not jsonstream.BAD:
            session.add(record, number, line)
    return {}


def _read_web(source: Source, session: Session, note: Notes) -> dict[str, Any]:
    """Add the lines that a web session holds in one object; what else it says."""
    whole = jsonstream.load(source, note)
    if not isinstance(whole, dict):
        return {}
    fields = Fields(whole, note, "")
    for index, record in enumerate(fields.items("loglines") or ()):
        session.add(record, f"loglines[{index}]", msgspec.json.encode(record))
    return fields.rest()
