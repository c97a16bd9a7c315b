"""Pi, and agents that are based on it: one file per session, one line per message or change.

Oh My Pi, Prime Agent, OpenClaw and QClaw write the same lines; OpenClaw puts them into a database since
September 2026. Lines have ids and parents, so a session is a tree: who goes back begins a branch.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.errors import UnreadableSource
from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.pi.detect import DATABASE, HOOKS, LINES, TREE, version_of
from agent_journal.readers.pi.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

_CLAWS = (
    *("~/.openclaw", "~/.clawdbot", "~/.moltbot", "~/.kimi_openclaw", "~/.qclaw", "%OPENCLAW_STATE_DIR%"),
    *("%OPENCLAW_HOME%/.openclaw",),
)

INFO = ReaderInfo(
    name="pi",
    title="Pi, Oh My Pi, Prime Agent, OpenClaw, QClaw",
    products=(
        Product("Pi", ("*/.pi/*",)),
        Product("Oh My Pi", ("*/.omp/*",)),
        Product("Prime Agent", ("*/.prime/*",)),
        Product(
            "OpenClaw",
            (
                *("*/.openclaw/*", "*/.clawdbot/*", "*/.moltbot/*", "*/.kimi_openclaw/*"),
                "*/openclaw-agent.sqlite",
            ),
        ),
        Product("QClaw", ("*/.qclaw/*",)),
    ),
    versions=(TREE, HOOKS, LINES, DATABASE),
    revision=2,
    names={"record": "pi"},
    config_key="pi",
    env=(
        *("AJ_PI_PATH", "PI_CODING_AGENT_DIR", "PI_CODING_AGENT_SESSION_DIR", "PRIME_AGENT_SESSION_DIR"),
        *("OPENCLAW_STATE_DIR", "OPENCLAW_HOME"),
    ),
    # The same folders on Linux, macOS and Windows.
    homes=(
        "~/.pi/agent/sessions/**/*.jsonl",
        "%PI_CODING_AGENT_DIR%/sessions/**/*.jsonl",
        "%PI_CODING_AGENT_SESSION_DIR%/**/*.jsonl",
        "~/.omp/agent/sessions/**/*.jsonl",
        "~/.prime/agent/sessions/**/*.jsonl",
        "%PRIME_AGENT_SESSION_DIR%/**/*.jsonl",
        *(
            f"{home}/agents/*/{pattern}"
            for home in _CLAWS
            for pattern in (
                "sessions/*.jsonl",
                "sessions/*.jsonl.reset.*",
                "sessions/*.jsonl.deleted.*",
                "sessions/cold/*.jsonl.zst",
                "agent/openclaw-agent.sqlite",
            )
        ),
    ),
    companions=(
        "*/agents/*/sessions/sessions.json",
        # Copies of a session, made before it is compacted or migrated.
        "*/sessions/*.checkpoint.*.jsonl",
        "*/sessions/*.jsonl.full.bak",
        "*/openclaw-agent.sqlite-wal",
        "*/openclaw-agent.sqlite-shm",
    ),
    tool_kinds=TOOL_KINDS,
    resume="pi --session {id}",
    undercounts="requests for a summary are not recorded",
    evidence=(
        "the vendors' public sources as of November 2026 (Pi 0.73 and 1.5, Oh My Pi 18.3, Prime Agent), a "
        "real session of November 2025, and what Pi 0.73 writes; verified November 2026. OpenClaw's files are"
        " known from programs that read them, its database from its documentation"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim session files by their first line, or by lines that no other agent writes; and databases."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a file, or each session of a database."""
    from agent_journal.readers.pi import companions, database  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.pi.session import Session, id_in_name  # noqa: PLC0415

    if version == DATABASE:
        yield from database.conversations(source, note, INFO.name)
        return
    fallback_id = id_in_name(source.name)
    session = Session(note, INFO.name, fallback_id)
    session.add_all(json_stream.lines(source, note))
    if not session.has_known_lines:
        raise UnreadableSource(source.label, "no line in it belongs to a session")
    facts = companions.facts(source, session, note)
    yield session.conversation(facts, companions.product(source))
