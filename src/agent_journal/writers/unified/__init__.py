"""The Unified Conversation Schema 1.0.0: one JSON object per conversation and line.

A conversation id that is no UUID becomes the UUIDv5 of `<source>-<id>`, as does the id of its parent
conversation; the original is in `session.session_id` and `platform.metadata.conversation_id`. Data without a
field in the schema is in its open objects: `platform.metadata`, `context.custom`, the `metadata` of messages
and blocks, and the additional top-level keys `events`, `tools` and `requests`.
"""

from __future__ import annotations

from typing import IO, TYPE_CHECKING

from agent_journal.model import Memory
from agent_journal.writers import WriterInfo
from agent_journal.writers.dialects.json_bytes import encode
from agent_journal.writers.unified.envelope import document

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Item
    from agent_journal.writers import Run

INFO = WriterInfo(
    name="unified",
    title="Unified Conversation Schema",
    suffix=".json",
    layout="lines",
    loses=("memories", "native content"),
    evidence="the JSON Schema, version 1.0.0 of December 2025; the bundled schema has the same constraints",
)


def write(items: Iterable[Item], out: IO[bytes], run: Run) -> None:
    """Write each conversation as one line."""
    for item in items:
        if isinstance(item, Memory):
            run.note_not_preserved(item, "", "a memory, as it is no conversation")
            continue
        out.write(encode(document(item, run)))
        out.write(b"\n")
