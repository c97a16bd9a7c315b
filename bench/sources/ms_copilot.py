"""The table of a privacy dashboard: one row per message, the newest first."""

from __future__ import annotations

import csv
from typing import TYPE_CHECKING

from sources.writing import MB, Scribe

if TYPE_CHECKING:
    from pathlib import Path


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file with all rows."""
    scribe, rows, size = Scribe(), [], 0
    while size < megabytes * MB:
        title = scribe.text(30).replace("\n", " ")
        for turn in range(scribe.random.randrange(2, 12)):
            text = scribe.answer() if turn % 2 else scribe.prompt()
            rows.append(
                [title, scribe.moment().strftime("%Y-%m-%dT%H:%M:%S"), "AI" if turn % 2 else "Human", text]
            )
            size += len(text) + 60
    path = folder / "copilot-activity-history.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as out:
        table = csv.writer(out)
        table.writerow(["Conversation", "Time", "Author", "Message"])
        table.writerows(reversed(rows))
    return [path]


KINDS = {"table": make}
