"""Detects completion events and reports about them, by the fields of their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.readers.copilot_completions.names import (
    COMPLETION,
    DAYS,
    EVENTS,
    EXTENSION,
    FILE,
    LINKS,
    PROMPT,
    TIME,
    USERS,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.detection.peek import Peek

COMPLETIONS, REPORT, METRICS, USAGE = "events", "report", "metrics", "usage"

_TEXT_FIELDS = frozenset({*PROMPT, *COMPLETION})
# Fields that no other record with a prompt or a completion has.
_COMPLETION_FIELDS = frozenset({*PROMPT[:2], *EXTENSION, "accepted", "completionIndex", "completion_index"})
_SECTIONS = frozenset(
    {
        "copilot_ide_code_completions",
        "copilot_ide_chat",
        "copilot_dotcom_chat",
        "copilot_dotcom_pull_requests",
    }
)
_COUNTS = frozenset({"user_initiated_interaction_count", "code_generation_activity_count"})
_PERIOD = frozenset({"report_day", "report_start_day", "report_end_day"})


def version_of(peek: Peek) -> str | None:
    """Get the kind of records in a file, or None."""
    keys = peek.keys
    if EVENTS in keys and peek.opening == "{":
        return COMPLETIONS if any(map(_is_completion, _elements(peek.records, EVENTS))) else None
    if not _PERIOD.isdisjoint(keys) and not keys.isdisjoint({DAYS, USERS, LINKS}):
        return REPORT
    if keys >= _COUNTS and not keys.isdisjoint({"day", "user_login", "login"}):
        return REPORT
    if "date" in keys and not _SECTIONS.isdisjoint(keys):
        return METRICS
    if keys >= {"day", "total_suggestions_count", "breakdown"}:
        return USAGE
    if keys.isdisjoint(_TEXT_FIELDS):
        return None
    return COMPLETIONS if any(map(_is_completion, peek.records)) else None


def _elements(records: Iterable[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    values = (record.get(name) for record in records)
    return [each for value in values if isinstance(value, list) for each in value if isinstance(each, dict)]


def _is_completion(record: dict[str, Any]) -> bool:
    """Whether a record has a time, a file and a text, and a field that only completions have.

    A completion without a prompt is enough: other tools log the prompt, too.
    """
    names = record.keys()
    if names.isdisjoint(TIME) or names.isdisjoint(FILE):
        return False
    has_only_completion = not names.isdisjoint(COMPLETION) and names.isdisjoint(PROMPT)
    return has_only_completion or not (names.isdisjoint(_TEXT_FIELDS) or names.isdisjoint(_COMPLETION_FIELDS))
