"""A usage report as CSV, in which a spreadsheet takes nothing for a formula."""

from __future__ import annotations

import csv
import io
from typing import TYPE_CHECKING

from agent_journal.terminal import out

if TYPE_CHECKING:
    from agent_journal.usage import Report, Row

_CONVERSATION_COLUMNS = ("source", "title", "project")
_NUMBER_COLUMNS = (
    "messages", "input", "output", "cache_read", "cache_write", "cache_write_5m", "cache_write_1h",
    "reasoning", "total", "cost_usd", "cost_stated_usd", "unpriced",
)  # fmt: skip
# What makes a spreadsheet take a text for a formula, even after spaces, also as full-width characters.
_FORMULA_PREFIXES = ("=", "+", "-", "@", "\t", "\r", "\n", "＝", "＋", "－", "＠", "'")


def show_csv(report: Report, rows: list[Row]) -> None:
    """Print a header and the rows."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    extra_columns = _CONVERSATION_COLUMNS if report.by == "conversation" else ()
    table.writerow([report.by, *extra_columns, *_NUMBER_COLUMNS, "models", "estimated"])
    for row in rows:
        data = row.to_dict(report.by)
        texts = [neutralize_formula(data[name] or "") for name in (report.by, *extra_columns)]
        models = neutralize_formula(" ".join(data["models"]))
        table.writerow([*texts, *(data[name] for name in _NUMBER_COLUMNS), models, int(row.is_estimated)])
    out().write(text.getvalue())


def neutralize_formula(text: str) -> str:
    """The text, with an apostrophe before it if a spreadsheet could take it for a formula.

    A text that starts with an apostrophe gets another one, so that removing the first always restores it.
    """
    return f"'{text}" if text.lstrip(" ").startswith(_FORMULA_PREFIXES) else text
