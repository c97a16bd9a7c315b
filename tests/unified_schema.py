"""Checks a decoded document against the Unified Conversation Schema, as the package has it."""

from __future__ import annotations

from typing import Any

from agent_journal.validation import unified


def check(document: Any) -> list[str]:
    """What is wrong with a document; nothing if it is valid."""
    return [*unified.schema_errors(document)]
