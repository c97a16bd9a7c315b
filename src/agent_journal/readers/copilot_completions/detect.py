"""How completion events and reports about them are told, by the fields of their records."""

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

_SAID = frozenset({*PROMPT, *COMPLETION})
# What no other record with a prompt or a completion has.
_OF_COMPLETIONS = frozenset({*PROMPT[:2], *EXTENSION, "accepted", "completionIndex", "completion_index"})
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
    """What a file holds, or None."""
    keys = peek.keys
    if EVENTS in keys and peek.opening == "{":
        return COMPLETIONS if any(map(_is_completion, _listed(peek.records, EVENTS))) else None
    if not _PERIOD.isdisjoint(keys) and not keys.isdisjoint({DAYS, USERS, LINKS}):
        return REPORT
    if keys >= _COUNTS and not keys.isdisjoint({"day", "user_login", "login"}):
        return REPORT
    if "date" in keys and not _SECTIONS.isdisjoint(keys):
        return METRICS
    if keys >= {"day", "total_suggestions_count", "breakdown"}:
        return USAGE
    if keys.isdisjoint(_SAID):
        return None
    return COMPLETIONS if any(map(_is_completion, peek.records)) else None


def _listed(records: Iterable[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    found = (record.get(name) for record in records)
    return [each for listed in found if isinstance(listed, list) for each in listed if isinstance(each, dict)]


def _is_completion(record: dict[str, Any]) -> bool:
    """Whether a record has a time, a file and a text, and something that only completions have.

    A completion alone is enough: what other tools log has the prompt beside it.
    """
    names = record.keys()
    if names.isdisjoint(TIME) or names.isdisjoint(FILE):
        return False
    is_alone = not names.isdisjoint(COMPLETION) and names.isdisjoint(PROMPT)
    return is_alone or not (names.isdisjoint(_SAID) or names.isdisjoint(_OF_COMPLETIONS))
