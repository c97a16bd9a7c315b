"""Unified conversations hold what was said once: not also in the form that the source had it in."""

from __future__ import annotations

from msgspec.structs import replace

from agent_journal.model import Item, Part, ToolResult
from tests.read_back.losing import Losses, each_part, message_fields, no_memories


def _no_native_results(part: Part) -> Part:
    return replace(part, native=None) if isinstance(part, ToolResult) else part


def _no_native(item: Item) -> Item | None:
    kept = message_fields(native=None)(item)
    return None if kept is None else each_part(_no_native_results)(kept)


LOSSES: Losses = {
    "memories": no_memories,
    "native content": _no_native,
}
