"""API traces: recorded calls of chat APIs, as records of request and response, bodies, batches or streams."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.api_trace.detect import version_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name="api-trace",
    title="API traces",
    category="API traffic",
    versions=("auto", "openai", "claude", "responses", "gemini", "converse"),
    revision=9,
    evidence=(
        "llm-path's data-spec.md of 2026-02-21 and its proxy (https://github.com/wang0618/llm-path), "
        "recorded payloads of Chat Completions, Messages, Responses and Gemini APIs; verified 2026-11; of "
        "Bedrock's Converse API and Ollama's own, what is documented"
    ),
)


def sniff(peek: Peek) -> str | None:
    """Claim inputs that can only be recorded calls of chat APIs."""
    return version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the conversations that the calls of a file belong to, each with all its calls."""
    # Imported when something is read, because every start of the program imports this module.
    from agent_journal.readers.api_trace.bodies import records  # noqa: PLC0415
    from agent_journal.readers.api_trace.record import exchange  # noqa: PLC0415
    from agent_journal.readers.dialects.api_calls.detection import detect_dialect  # noqa: PLC0415
    from agent_journal.readers.dialects.api_calls.dialects import DIALECTS  # noqa: PLC0415
    from agent_journal.readers.dialects.api_calls.stitching import Stitching  # noqa: PLC0415

    stitching = Stitching(INFO.name, note)
    forced = DIALECTS.get(version)
    for index, (where, record, api) in enumerate(records(source, note)):
        dialect = forced or DIALECTS.get(api or "") or detect_dialect(record)
        stitching.add(exchange(record, index, dialect, note, where))
    yield from stitching.conversations()
