"""The output of a program that a service ran: its two streams as texts.

Anthropic's and OpenAI's services use the same field names for it, next to the exit status.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import Any

from agent_journal.model import Text

OUT, ERR = "stdout", "stderr"


def printed_texts(raw: dict[str, Any]) -> list[Text]:
    """Return the printed texts, with all other fields on the first one; the object is not modified."""
    streams = [(name, raw[name]) for name in (OUT, ERR) if raw.get(name).__class__ is str and raw[name]]
    rest = {key: value for key, value in raw.items() if (key, value) not in streams}
    texts: list[Text] = []
    for name, text in streams:
        extra = {} if texts else rest
        texts.append(Text(text=text, extra={**extra, "stream": ERR} if name == ERR else extra))
    return texts
