"""Claude Code: one JSONL file per session, one line per content block, title or state.

A subagent's file is a conversation of its own, linked to the call that started it. The prompt history
(`history.jsonl`), which outlives the sessions, is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.readers import Product, ReaderInfo, Retention
from agent_journal.readers.claude_code.detect import PROMPTS, WEB, version_of
from agent_journal.readers.claude_code.names import TOOL_KINDS
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Conversation, Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="claude-code",
    title="Claude Code",
    products=(
        Product("Claude Code", ("*/.claude/*", "*/.config/claude/*")),
        Product("OpenClaude", ("*/.openclaude/*",)),
        Product("Claude Cowork", ("*/local-agent-mode-sessions/*",)),
    ),
    versions=("2", "1", WEB, PROMPTS),
    revision=5,
    names={"unified": "claude_code", "pam": "claude", "record": "claude-code"},
    config_key="claude_code",
    env=("AJ_CLAUDE_PATH", "CLAUDE_CONFIG_DIR", "OPENCLAUDE_CONFIG_DIR"),
    homes=(
        *(
            f"{home}/{pattern}"
            for pattern in ("projects/**/*.jsonl", "history.jsonl")
            for home in (
                *("~/.claude", "~/.config/claude", "%CLAUDE_CONFIG_DIR%"),
                *("~/.openclaude", "%OPENCLAUDE_CONFIG_DIR%"),
            )
        ),
        *(
            f"{home}/local-agent-mode-sessions/*/*/local_*/.claude/projects/**/*.jsonl"
            for home in (
                *("~/Library/Application Support/Claude", "~/.config/Claude", "%APPDATA%/Claude"),
                "%LOCALAPPDATA%/Packages/Claude_*/LocalCache/Roaming/Claude",
            )
        ),
    ),
    companions=(
        "*/tool-results/*",
        "*/agent-*.meta.json",
        "*/remote-agents/*",
        "*/paste-cache/*.txt",
        "*/custom-title.json",
        "*/local-agent-mode-sessions/*/*/local_*.json",
    ),
    tool_kinds=TOOL_KINDS,
    required=("session.session_id", "messages[].timestamp", "messages[].role", "messages[].content"),
    record=RecordForm(body="message"),
    # At each start the app deletes sessions not touched for this long; with 0 it writes none at all.
    retention=Retention(
        settings=("%CLAUDE_CONFIG_DIR%/settings.json", "~/.claude/settings.json"),
        key="cleanupPeriodDays",
        days=30,
        advice='"cleanupPeriodDays": 36500',
    ),
    resume="claude --resume {id}",
    undercounts="interrupted answers state only their first output tokens",
    evidence=(
        "the vendor's bundles 1.0.50, 2.1.100, 2.1.325 and 2.1.326, and about 2,300 real lines; "
        "verified November 2026. The prompt history is known from open-source programs that read it"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim session files by the envelope of their lines (versions 2 and 1, web), and prompt histories."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a session file, or one conversation per session of a prompt history."""
    from agent_journal.readers.claude_code import prompts  # noqa: PLC0415 (only reading needs it)

    if version == PROMPTS:
        yield from prompts.conversations(source, note, INFO.name)
    else:
        yield _session(source, version, note)


def _session(source: Input, version: str, note: Notes) -> Conversation:
    """Return the conversation of a file; once returned, nothing else refers to its entries."""
    from agent_journal.readers.claude_code.session import Session  # noqa: PLC0415 (only reading needs it)

    session = Session(source, note)
    extra: dict[str, Any] = {}
    if version == WEB:
        web_session = _web_session(source, note)
        for index, record in enumerate(web_session.items("loglines") or ()):
            session.add(record, f"loglines[{index}]")
        extra = web_session.rest()
    else:
        session.read(source)
    if not session.has_known_lines:
        raise UnreadableSource(source.label, "none of its lines belongs to a session")
    return session.conversation(INFO.name, extra)


def _web_session(source: Input, note: Notes) -> Fields:
    """The fields of a web session; of a damaged file, the lines that can still be read."""
    value = json_stream.load(source, note)
    if not isinstance(value, dict):
        value = {"loglines": [line for _, line in json_stream.elements(source, note, "loglines")]}
    return Fields(value, note, "")
