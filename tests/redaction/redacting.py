"""One text through the whole of redaction."""

from __future__ import annotations

from agent_journal.model import Memory
from agent_journal.redaction import redact


def redacted_text(text: str, *, personal: bool = False) -> str:
    """What becomes of a text that is all of an item."""
    item = redact(Memory(id="1", source="x", kind="context", text=text), personal=personal).item
    assert isinstance(item, Memory)
    return item.text
