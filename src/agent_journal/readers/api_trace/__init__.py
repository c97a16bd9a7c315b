"""API traces: recorded calls of chat APIs, one record with request and response per call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import jsonstream
from agent_journal.notes import Kind
from agent_journal.readers import ReaderInfo
from agent_journal.readers._api_calls.detection import dialect_of
from agent_journal.readers._api_calls.dialects import CLAUDE, OPENAI
from agent_journal.readers._api_calls.stitching import Stitching
from agent_journal.readers.api_trace.record import exchange

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.model import Item
    from agent_journal.notes import Notes
    from agent_journal.peek import Peek
    from agent_journal.source import Source

INFO = ReaderInfo(
    name="api-trace",
    title="API traces",
    versions=("auto", OPENAI.name, CLAUDE.name),
    revision=1,
    evidence=(
        "llm-path's data-spec.md of 2026-02-21 and its proxy (https://github.com/wang0618/llm-path), "
        "recorded payloads of both APIs; verified 2026-11"
    ),
)

# What a record has before its response, and what is in requests that are not for a chat.
_BEFORE = frozenset({"id", "timestamp", "duration_ms", "error", "request"})
_NO_CHAT = frozenset({"messages", "input", "contents", "prompt", "method", "url", "headers", "body"})
_FORCED = {dialect.name: dialect for dialect in (OPENAI, CLAUDE)}
# What records of other tools have at their top: HAR, VCR, Langfuse, LiteLLM, Azure, VS Code, the Batch API.
_FOREIGN = frozenset(
    {
        "log",
        "interactions",
        "observations",
        "batch",
        "call_type",
        "custom_llm_provider",
        "CorrelationId",
        "correlationId",
        "requests",
        "responderUsername",
        "custom_id",
    }
)


def sniff(peek: Peek) -> str | None:
    """Claim records whose `request` holds messages, or whose `response` holds the lines of a stream."""
    if "request" not in peek.keys or _FOREIGN & peek.keys:
        return None
    records = peek.records
    if any(map(_has_messages, records)) or (peek.is_cut and any(map(_is_cut_before_messages, records))):
        return "auto"
    return None


def _has_messages(record: dict[str, Any]) -> bool:
    request, response = record.get("request"), record.get("response")
    if not isinstance(request, dict):
        return False
    return isinstance(request.get("messages"), list) or (
        isinstance(response, dict) and isinstance(response.get("sse_lines"), list)
    )


def _is_cut_before_messages(record: dict[str, Any]) -> bool:
    """Whether the messages may lie beyond the head, behind a long system prompt or many tools."""
    request = record.get("request")
    return isinstance(request, dict) and record.keys() <= _BEFORE and _NO_CHAT.isdisjoint(request)


def read(source: Source, version: str, note: Notes) -> Iterator[Item]:
    """Yield the dialogues that the calls of a file belong to, each with all its calls."""
    stitching = Stitching(INFO.name, note)
    index = 0
    for where, record in jsonstream.values(source, note):
        if not isinstance(record, dict) or not isinstance(record.get("request"), dict):
            note(Kind.BAD_RECORD, where, "it is no record with a request")
            continue
        dialect = _FORCED.get(version) or dialect_of(record)
        stitching.add(exchange(record, index, dialect, note, where))
        index += 1
    yield from stitching.conversations()
