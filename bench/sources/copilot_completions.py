"""Completion events of an editor."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _events(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        file = f"src/{scribe.random.randrange(300)}.py"
        for place in range(scribe.random.randrange(1, 8)):
            yield {
                "timestamp": scribe.time(30),
                "file": {"path": file, "language": "python"},
                "prompt": {"prefix": scribe.text(1500), "suffix": scribe.text(400)},
                "completion": {"text": scribe.some(120, 800), "accepted": place % 3 == 0, "index": place},
                "editor": {"name": "vscode", "version": "1.99.0"},
                "extension_version": "1.250.0",
            }


def make(folder: Path, megabytes: int) -> list[Path]:
    """One log."""
    return lines(folder / "completions.jsonl", megabytes, _events(Scribe()))


KINDS = {"events": make}
