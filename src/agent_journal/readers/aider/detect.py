"""How the files look: a chat history has headings of sessions, a log of calls says who speaks in capitals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

SOURCE = "aider"
CHAT, CALLS, ANALYTICS = "chat", "llm", "analytics"
HEADING = b"# aider chat started at "
# What a history may begin with if the heading of its first session was cut off.
_BEGINNINGS = (HEADING, b"> ", b"####", b"-*- mode:")
_CALLS = (b"TO LLM ", b"LLM RESPONSE ")
_EVENT = frozenset({"event", "properties", "user_id", "time"})


def version_of(file: Peek) -> str | None:
    """What a file is, or None if it is none of ours."""
    if file.is_folder:
        return None
    if file.opening == "{":
        return ANALYTICS if _is_analytics(file) else None
    if file.opening == "#" or file.opening in "->":
        return CHAT if _is_chat(file) else None
    return CALLS if file.opening in {"T", "L"} and _is_calls(file) else None


def _is_chat(file: Peek) -> bool:
    text = file.head.lstrip()
    return text.startswith(_BEGINNINGS) and (text.startswith(HEADING) or b"\n" + HEADING in text)


def _is_calls(file: Peek) -> bool:
    """Whether the first line is a heading with a moment: `TO LLM 2026-01-02T10:00:00`."""
    line = file.head.lstrip().partition(b"\n")[0].rstrip()
    moment = next((line.removeprefix(mark) for mark in _CALLS if line.startswith(mark)), b"")
    return len(moment) == len("2026-01-02T10:00:00") and moment[10:11] == b"T" and moment[:4].isdigit()


def _is_analytics(file: Peek) -> bool:
    if not file.keys >= _EVENT:
        return False
    properties = [record.get("properties") for record in file.records if record.keys() >= _EVENT]
    return any(
        each.__class__ is dict and ("aider_version" in each or "edit_format" in each or "main_model" in each)
        for each in properties
    )
