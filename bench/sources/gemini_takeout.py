"""Takeout's activity: prompts, and answers as HTML."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, array

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _records(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        yield {
            "header": "Gemini Apps",
            "title": f"Prompted {scribe.prompt()}",
            "time": scribe.time(scribe.random.choice((60, 120, 300, 5000))),
            "products": ["Gemini Apps"],
            "activityControls": ["Gemini Apps Activity"],
            "safeHtmlItem": [{"html": _html(scribe)}],
        }


def _html(scribe: Scribe) -> str:
    first, *further = (escape(scribe.some(120, 1200)) for _ in range(scribe.random.randrange(4, 14)))
    items = "".join(f"<li><p><strong>Note:</strong> {text}</p></li>" for text in further[1:])
    return f"<p>{first}</p><h3>{escape(scribe.text(30))}</h3><p>{further[0]}</p><ul>{items}</ul>"


def make(folder: Path, megabytes: int) -> list[Path]:
    """One file with all records."""
    return array(folder / "MyActivity.json", megabytes, _records(Scribe()))


KINDS = {"activity": make}
