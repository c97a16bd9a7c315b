"""What a program printed where a service ran it: its two streams as texts.

Anthropic's and OpenAI's services tell it in the same names, beside how the program ended.
Known from recorded payloads up to November 2026.
"""

from __future__ import annotations

from typing import Any

from agent_journal.model import Text

OUT, ERR = "stdout", "stderr"


def texts(raw: dict[str, Any]) -> list[Text]:
    """What was printed, all else beside the first text; nothing if nothing was. The object stays as it is."""
    told = [(name, raw[name]) for name in (OUT, ERR) if raw.get(name).__class__ is str and raw[name]]
    rest = {key: value for key, value in raw.items() if (key, value) not in told}
    found: list[Text] = []
    for name, text in told:
        extra = {} if found else rest
        found.append(Text(text=text, extra={**extra, "stream": ERR} if name == ERR else extra))
    return found
