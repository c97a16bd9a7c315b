"""Portable AI Memory keeps all but the values that only writers of native content read."""

from __future__ import annotations

from msgspec.structs import replace

from agent_journal.model import Message, ToolResult
from tests.read_back.losing import Losses, each_message


def without_native(message: Message) -> Message:
    parts = [replace(part, native=None) if isinstance(part, ToolResult) else part for part in message.parts]
    return replace(message, native=None, parts=parts)


LOSSES: Losses = {"the content as the source had it": each_message(without_native)}
