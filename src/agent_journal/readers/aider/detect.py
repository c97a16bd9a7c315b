"""Detects the files: a chat history has headings of sessions, a log of calls has roles in capitals."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agent_journal.detection.peek import Peek

SOURCE = "aider"
CHAT, CALLS, ANALYTICS = "chat", "llm", "analytics"
HEADING = b"# aider chat started at "
# The possible beginnings of a history; the heading of its first session may be missing.
_BEGINNINGS = (HEADING, b"> ", b"####", b"-*- mode:")
_CALL_HEADINGS = (b"TO LLM ", b"LLM RESPONSE ")
_EVENT_FIELDS = frozenset({"event", "properties", "user_id", "time"})


def version_of(file: Peek) -> str | None:
    """Get the version of a file, or None if it is not Aider's."""
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
    """Whether the first line is a heading with a time: `TO LLM 2026-01-02T10:00:00`."""
    line = file.head.lstrip().partition(b"\n")[0].rstrip()
    time = next((line.removeprefix(mark) for mark in _CALL_HEADINGS if line.startswith(mark)), b"")
    return len(time) == len("2026-01-02T10:00:00") and time[10:11] == b"T" and time[:4].isdigit()


def _is_analytics(file: Peek) -> bool:
    if not file.keys >= _EVENT_FIELDS:
        return False
    properties = [record.get("properties") for record in file.records if record.keys() >= _EVENT_FIELDS]
    return any(
        value.__class__ is dict
        and ("aider_version" in value or "edit_format" in value or "main_model" in value)
        for value in properties
    )
