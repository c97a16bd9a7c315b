"""Portable AI Memory keeps all but values of native content and memories that must not leave."""

from __future__ import annotations

from msgspec.structs import replace

from agent_journal.model import Item, Memory, Message, ToolResult
from tests.read_back.losing import Losses, each_message


def without_native(message: Message) -> Message:
    parts = [replace(part, native=None) if isinstance(part, ToolResult) else part for part in message.parts]
    return replace(message, native=None, parts=parts)


def without_what_must_stay(item: Item) -> Item | None:
    is_told = isinstance(item, Memory) and item.source == "pam"
    access = item.extra.get("access") if is_told else None
    return None if isinstance(access, dict) and access.get("exportable") is False else item


LOSSES: Losses = {
    "native content": each_message(without_native),
    "memories marked as not exportable": without_what_must_stay,
}
