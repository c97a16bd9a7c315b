"""Codex (CLI, IDE extension, desktop app): one rollout file per session, one line per item or event.

Two tracks repeat each other: what went to and from the model becomes messages, what the app sent to its
user interface becomes events. Text that only the second track has becomes a message too. The prompt history
(`history.jsonl`), which outlives the rollouts, is read too.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind
from agent_journal.readers import Product, ReaderInfo
from agent_journal.readers.codex.detect import DOCUMENT, PROMPTS, version_of
from agent_journal.readers.codex.names import TOOL_KINDS
from agent_journal.records.forms import RecordForm

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes
    from agent_journal.readers.codex.rollout import Rollout

INFO = ReaderInfo(
    name="codex",
    title="Codex",
    products=(
        Product("Codex", ("*/.codex/*",)),
        Product("TraeX", ("*/.trae/cli/*",)),
    ),
    versions=("envelope", "bare", DOCUMENT, PROMPTS),
    revision=8,
    names={"record": "codex"},
    config_key="codex",
    env=("AJ_CODEX_PATH", "CODEX_HOME"),
    # The same folder on Linux, macOS and Windows.
    homes=tuple(
        f"{home}/{pattern}"
        for home in ("~/.codex", "%CODEX_HOME%", "~/.trae/cli")
        for pattern in (
            "sessions/**/rollout-*.jsonl",
            "sessions/**/rollout-*.jsonl.zst",
            "archived_sessions/rollout-*.jsonl",
            "archived_sessions/rollout-*.jsonl.zst",
            "sessions/rollout-*.json",
            "history.jsonl",
        )
    ),
    companions=("*/session_index.jsonl",),
    tool_kinds=TOOL_KINDS,
    record=RecordForm(
        provider="model_provider",
        system_as="user",
        body="payload",
        event_body="payload",
        separate=True,
        echoes={
            "user_message": ("user", "message"),
            "agent_message": ("assistant", "message"),
            "agent_reasoning": ("reasoning", "text"),
        },
        derived=frozenset({"exit_code", "status"}),
        usage_in="info",
        usage_of=("last_token_usage", "total_token_usage"),
        usage_names={
            "input_tokens": "input",
            "cached_input_tokens": "cached",
            "output_tokens": "output",
            "reasoning_output_tokens": "reasoning",
            "total_tokens": "total",
        },
    ),
    resume="codex resume {id}",
    evidence=(
        "the vendor's public source as of August 2026, about 1,400 real lines "
        "(0.50 to 0.146), and what 0.169 writes; verified November 2026"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim rollouts (lines with an envelope, bare lines and documents of 2025), and prompt histories."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversation of a rollout, or one conversation per session of a prompt history."""
    from agent_journal.readers.codex import prompts  # noqa: PLC0415 (only reading needs it)
    from agent_journal.readers.codex.rollout import Rollout  # noqa: PLC0415

    if version == PROMPTS:
        yield from prompts.conversations(source, note, INFO.name)
        return
    if source.path.endswith(".zst") and source.companion(source.name) is not None:
        note(Kind.IGNORED_FILE, "", "the same rollout is next to it, not compressed")
        return
    rollout = Rollout(source, note)
    if version == DOCUMENT:
        _read_document(source, rollout, note)
    else:
        for number, record in json_stream.lines(source, note):
            rollout.add(record, number)
    if not rollout.has_known_lines:
        raise UnreadableSource(source.label, "none of its lines belongs to a rollout")
    yield rollout.conversation(INFO.name)


def _read_document(source: Input, rollout: Rollout, note: Notes) -> None:
    """Read a session of before May 2025, one JSON object; of a damaged one, the items that can be read."""
    document = json_stream.load(source, note)
    if isinstance(document, dict):
        fields = Fields(document, note, "")
        items = list(enumerate(fields.items("items") or ()))
        rollout.begin(fields.bag("session") or {}, fields.rest())
    else:
        items = list(json_stream.elements(source, note, "items"))
    for index, item in items:
        rollout.add(item, f"items[{index}]")
