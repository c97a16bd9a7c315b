"""Completion events of an editor: some moments have several suggestions to choose from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sources.writing import Scribe, lines

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path


def _events(scribe: Scribe) -> Iterator[dict[str, Any]]:
    while True:
        file = f"src/{scribe.random.randrange(300)}.py"
        for _ in range(scribe.random.randrange(1, 8)):
            asked = {
                "timestamp": scribe.time(30),
                "file": file,
                "language": "python",
                "extensionVersion": "1.250.0",
                "editor": "vscode",
                "promptContext": scribe.text(1500),
            }
            for place in range(scribe.random.choice((1, 1, 1, 2, 3))):
                yield asked | {
                    "completion": scribe.some(120, 800),
                    "accepted": place == 0,
                    "completionIndex": place,
                }


def make(folder: Path, megabytes: int) -> list[Path]:
    """One log."""
    return lines(folder / "completions.jsonl", megabytes, _events(Scribe()))


KINDS = {"events": make}
