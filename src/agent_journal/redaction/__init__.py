"""Find secrets by rules and replace them everywhere in an item.

`redact` is all that callers need. It returns the redacted item and its findings, which hold the kind and the
place of each secret, never the secret itself. A secret that is found once is replaced everywhere in its item,
in every form that it may take there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, NamedTuple, TypeVar

from msgspec import Struct

from agent_journal.model import Conversation, Memory, Message, Text

if TYPE_CHECKING:
    from collections.abc import Sequence

REDACTIONS_KEY = "redactions"
"""The field of `extra` with the number of replaced secrets by kind."""
ItemT = TypeVar("ItemT", Conversation, Memory, Conversation | Memory)


class Finding(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What was replaced and where; nothing of the secret itself."""

    kind: str
    """The name of the kind in the replacement: `aws-access-key`."""
    message: str = ""
    """The id of the message or event; empty for fields of the conversation itself."""
    field: str = ""
    """The path to the text: `parts.0.output`."""
    count: int = 1


class Redacted(NamedTuple, Generic[ItemT]):
    """An item without its secrets, and what was replaced in it."""

    item: ItemT
    findings: list[Finding]


def describe_redactions(item: Conversation | Memory) -> str:
    """Summarize what was replaced in an item: `2 × aws-access-key`; empty if nothing was."""
    counts = item.extra.get(REDACTIONS_KEY)
    if not isinstance(counts, dict):
        return ""
    return ", ".join(f"{count} × {kind}" for kind, count in counts.items())


def redact(item: ItemT, *, personal: bool = False) -> Redacted[ItemT]:
    """Replace the secrets of an item; with `personal` also addresses, phone, card and account numbers.

    An item without findings is returned as the same object. Findings are counted by kind in
    `extra["redactions"]`, so that every format includes the counts.
    """
    from agent_journal.redaction.redactor import Redactor  # noqa: PLC0415 (compiling the rules is slow)

    return Redacted(*Redactor(personal=personal).redact(item))


def redact_texts(texts: Sequence[str]) -> list[str]:
    """Replace the secrets of texts that belong together: what is found in one is replaced in all."""
    messages = [Message(id=str(at), role="user", parts=[Text(text=text)]) for at, text in enumerate(texts)]
    item = redact(Conversation(id="", source="", shape="list", timeline=[*messages])).item
    return [
        "".join(part.text for part in entry.parts if isinstance(part, Text))
        for entry in item.timeline
        if isinstance(entry, Message)
    ]
