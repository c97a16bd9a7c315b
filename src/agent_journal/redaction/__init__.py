"""What must stay secret, found by rules and replaced wherever it stands in an item.

`redact` is all that others need: it gives the item back, and of each finding the kind and the place, never
the secret. What was found once is replaced everywhere in that item, in each form that it may have there.
"""

from __future__ import annotations

from typing import Generic, NamedTuple, TypeVar

from msgspec import Struct

from agent_journal.model import Conversation, Memory

RECORDED = "redactions"
"""Where an item says in its `extra` what was replaced in it: how often, by kind."""
ItemT = TypeVar("ItemT", Conversation, Memory, Conversation | Memory)


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was replaced and where; nothing of the secret itself."""

    kind: str
    """As the replacement names it: `aws-access-key`."""
    message: str = ""
    """The id of the message or event; none for what belongs to the whole conversation."""
    field: str = ""
    """The way to the text: `parts.0.output`."""
    count: int = 1


class Redacted(NamedTuple, Generic[ItemT]):
    """An item without its secrets, and what was replaced in it."""

    item: ItemT
    findings: list[Finding]


def told(item: Conversation | Memory) -> str:
    """What was replaced in an item, in a few words: `2 × aws-access-key`; empty if nothing was."""
    found = item.extra.get(RECORDED)
    if not isinstance(found, dict):
        return ""
    return ", ".join(f"{count} × {kind}" for kind, count in found.items())


def redact(item: ItemT, *, personal: bool = False) -> Redacted[ItemT]:
    """The item without secrets; with `personal` also without addresses, phone, card and account numbers.

    An item in which nothing was found is the same object. What was found is counted by kind in
    `extra["redactions"]`, so that it is part of whatever is written.
    """
    from agent_journal.redaction.items import Redaction  # noqa: PLC0415 (the rules take a moment to compile)

    return Redacted(*Redaction(personal=personal).of(item))
