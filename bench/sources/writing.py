"""What the histories of all sources are made of."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from corpus import Words

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from pathlib import Path

MB = 1_000_000
_BEGIN = datetime(2026, 3, 1, 9, tzinfo=UTC)


class Scribe(Words):
    """Words, ids, and times that go on."""

    def __init__(self) -> None:
        super().__init__(11)
        self._now = _BEGIN

    def time(self, seconds: float = 7.25) -> str:
        """The next moment, as RFC 3339."""
        return self.moment(seconds).strftime("%Y-%m-%dT%H:%M:%S.%f")[:-3] + "Z"

    def milliseconds(self, seconds: float = 7.25) -> int:
        """The next moment, as an epoch."""
        return int(self.moment(seconds).timestamp() * 1000)

    def moment(self, seconds: float = 7.25) -> datetime:
        """The next moment."""
        self._now += timedelta(seconds=seconds)
        return self._now

    def prompt(self) -> str:
        """What a person asks."""
        return self.some(150, 4000)

    def answer(self) -> str:
        """What a model says."""
        return self.some(500, 8000)

    def output(self) -> str:
        """What a tool gives back."""
        return self.some(1200, 30_000)


def dumped(value: Any) -> str:
    """Compact JSON."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def lines(path: Path, megabytes: float, records: Iterable[Any]) -> list[Path]:
    """A file of JSON lines of about that size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with path.open("w", encoding="utf-8") as out:
        for record in records:
            line = dumped(record) + "\n"
            out.write(line)
            size += len(line)
            if size > megabytes * MB:
                break
    return [path]


def array(
    path: Path, megabytes: float, elements: Iterable[Any], around: tuple[str, str] = ("[", "]")
) -> list[Path]:
    """A file with one JSON array of about that size."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as out:
        out.write(around[0])
        for place, element in enumerate(up_to(megabytes, elements)):
            out.write(("," if place else "") + dumped(element))
        out.write(around[1])
    return [path]


def up_to(megabytes: float, values: Iterable[Any]) -> Iterator[Any]:
    """Values until they have that size as JSON."""
    size = 0.0
    for value in values:
        yield value
        size += len(dumped(value))
        if size > megabytes * MB:
            return
