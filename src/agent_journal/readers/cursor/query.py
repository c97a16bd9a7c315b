"""What a person typed: the agent wraps it, and puts before it what it sends along."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Text

if TYPE_CHECKING:
    from agent_journal.model import Bag

_OPEN, _CLOSE = "<user_query>", "</user_query>"


def asked(text: str, extra: Bag | None = None) -> Text:
    """What was typed, with the whole text as it was sent beside it."""
    start, end = text.find(_OPEN), text.rfind(_CLOSE)
    if start < 0 or end < start:
        return Text(text=text, extra=extra or {})
    typed = text[start + len(_OPEN) : end].removeprefix("\n").removesuffix("\n")
    return Text(text=typed, extra={**(extra or {}), "text": text})
