"""GitHub Copilot's completions: telemetry events as threads, and GitHub's reports as counts by day."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.readers import ReaderInfo
from agent_journal.readers.copilot_completions.detect import COMPLETIONS, METRICS, REPORT, USAGE, version_of
from agent_journal.readers.copilot_completions.names import PLATFORM, SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.detection.peek import Peek
    from agent_journal.inputs.input import Input
    from agent_journal.model import Item
    from agent_journal.notes import Notes

INFO = ReaderInfo(
    name=SOURCE,
    title="GitHub Copilot completions and metrics",
    category="editors",
    versions=(COMPLETIONS, REPORT, METRICS, USAGE),
    revision=3,
    names={"unified": PLATFORM, "pam": "copilot"},
    # Events are collected, and reports downloaded, by users themselves: there is no default location.
    required=("messages[].timestamp", "messages[].content[].code", "context.custom.file"),
    evidence="events as the mapping to the unified schema describes them; the metrics API (closed in April "
    "2026), its predecessor and the reports that replace it as GitHub documents them, with samples of the "
    "viewer for them; verified November 2026",
)


def sniff(peek: Peek) -> str | None:
    """Claim completion events, and GitHub's metrics in the format of each of its APIs."""
    return None if peek.is_folder or peek.opening not in {"[", "{"} else version_of(peek)


def read(source: Input, version: str, note: Notes) -> Iterator[Item]:
    """Yield the threads of each edited file, or the counts of each day."""
    if version == COMPLETIONS:
        from agent_journal.readers.copilot_completions.completions import threads  # noqa: PLC0415 (imported when something is read)

        return threads(source, note)
    from agent_journal.readers.copilot_completions.reports import days  # noqa: PLC0415 (imported when something is read)

    return days(source, version, note)
