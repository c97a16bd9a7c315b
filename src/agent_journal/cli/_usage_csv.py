"""A report as CSV. Nothing in it is taken for a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from agent_journal.cli._usage import as_data
from agent_journal.terminal import out

if TYPE_CHECKING:
    from agent_journal.usage import Report, Row

_OF_CONVERSATIONS = ("source", "title", "project")
_NUMBERS = (
    "messages", "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h",
    "reasoning", "total", "cost_usd", "cost_stated_usd", "unpriced",
)  # fmt: skip
# What makes a spreadsheet compute, also behind spaces, also as they are written in East Asia.
_COMPUTES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def show_csv(told: Report, rows: list[Row]) -> None:
    """Print a header and the lines."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    more = _OF_CONVERSATIONS if told.by == "conversation" else ()
    table.writerow([told.by, *more, *_NUMBERS, "models", "estimated"])
    for row in rows:
        data = as_data(told.by, row)
        texts = [neutral(data[name] or "") for name in (told.by, *more)]
        models = neutral(" ".join(data["models"]))
        table.writerow([*texts, *(data[name] for name in _NUMBERS), models, int(row.is_estimated)])
    out().write(text.getvalue())


def neutral(text: str) -> str:
    """A text that no spreadsheet computes: one that could be a formula has an apostrophe before it.

    So has one that begins with an apostrophe: whoever takes the first one away has what it was.
    """
    return f"'{text}" if text.lstrip(" ").startswith(_COMPUTES) else text
