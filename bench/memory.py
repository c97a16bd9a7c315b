"""Measures what hostile and odd inputs take in memory: `python bench/memory.py [--json] [NAME…]`.

Each input is created in a temporary folder, converted to JSON and imported into a new journal, while the
memory of all processes together is measured. It needs no corpus, a few minutes and 3 GB of disk. The exit
code is 1 if a figure is over its limit.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import sqlite3
import sys
import tempfile
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from archive import AJ, MB, Figure, run, show

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

# In MB, for convert and import. Python with all modules and the index take about 60 and 170 MB.
SNAPSHOTS_MB, SNAPSHOTS_LIMITS = 200, (60, 150)
BLOBS_MB, BLOBS_LIMITS = 100, (60, 200)
LINES, LINES_LIMITS = 780_000, (520, 800)
VALUE_MB, VALUE_LIMITS = 900, (60, 90)
LONG_MB, LONG_LIMIT = 400, 120
_LONG_TEXT_WORDS = 8_000
_RARE_WORD = "quetzalcoatlus"
_FILES = 300
_ID = "a0000000-0000-4000-8000-000000000001"
_AT = "2026-03-01T10:00:00.000Z"
# With exit code 3, something was skipped and reported.
_EXIT_CODES = (0, 3)


def snapshots(folder: Path) -> Iterator[Figure]:
    """A session that names every file at every prompt."""
    path = folder / f"{_ID}.jsonl"
    number = 0
    with path.open("wb") as out:
        out.write(_prompt(0))
        while out.tell() < SNAPSHOTS_MB * MB:
            out.write(_event("file-history-snapshot", messageId=f"m{number}", snapshot=_snapshot(number)))
            number += 1
        out.write(_prompt(1))
    yield from _measured("snapshots", path, f"{SNAPSHOTS_MB} MB", SNAPSHOTS_LIMITS)


def blobs(folder: Path) -> Iterator[Figure]:
    """A session with large, incompressible texts in events that only writers use."""
    path = folder / f"{_ID}.jsonl"
    with path.open("wb") as out:
        out.write(_prompt(0))
        for _ in range(BLOBS_MB):
            out.write(_event("api-request-blob", content=os.urandom(MB // 2).hex()))
        out.write(_prompt(1))
    yield from _measured("blobs", path, f"{BLOBS_MB} MB", BLOBS_LIMITS)


def lines(folder: Path) -> Iterator[Figure]:
    """A small file of valid lines that compress well: what is beyond the limit is skipped."""
    path = folder / f"{_ID}.jsonl.gz"
    with gzip.open(path, "wb") as out:
        for number in range(LINES):
            out.write(_prompt(number))
    size = f"{path.stat().st_size / MB:.0f} MB compressed, {LINES:,} lines"
    yield from _measured("lines", path, size, LINES_LIMITS)


def value(folder: Path) -> Iterator[Figure]:
    """An editor's database with one value that is much too large."""
    path = folder / "state.vscdb"
    composer, bubble = "c0de0000-0000-4000-8000-000000000011", "b0bb0000-0000-4000-8000-00000000011"
    heads = [{"bubbleId": f"{bubble}{number}", "type": 1} for number in (0, 1)]
    message = {"bubbleId": f"{bubble}0", "type": 1, "text": "How many rows has data.csv?"}
    details = {
        "composerId": composer,
        "createdAt": 1735000000000,
        "fullConversationHeadersOnly": heads,
        "name": "Tables",
    }
    with closing(sqlite3.connect(path)) as database:
        for table in ("ItemTable", "cursorDiskKV"):
            database.execute(f"CREATE TABLE {table} (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        put = "INSERT INTO cursorDiskKV VALUES (?, ?)"
        database.execute(put, (f"composerData:{composer}", json.dumps(details)))
        database.execute(put, (f"bubbleId:{composer}:{bubble}0", json.dumps(message)))
        database.execute(
            "INSERT INTO cursorDiskKV VALUES (?, zeroblob(?))",
            (f"bubbleId:{composer}:{bubble}1", VALUE_MB * MB),
        )
        database.commit()
    yield from _measured("SQLite value", path, f"one of {VALUE_MB} MB", VALUE_LIMITS)


def conversation(folder: Path) -> Iterator[Figure]:
    """One long conversation: a search hit, a part and its end take no more memory the longer it is."""
    path = folder / f"{_ID}.jsonl"
    words = [f"{place * 7919:x}" for place in range(_LONG_TEXT_WORDS)]
    number = 0
    with path.open("wb") as out:
        while out.tell() < LONG_MB * MB:
            shuffled = words[number % len(words) :] + words[: number % len(words)]
            out.write(_prompt(number, " ".join(shuffled)))
            number += 1
            if out.tell() < LONG_MB * MB // 2:
                middle = number
        out.write(_prompt(number, f"The {_RARE_WORD} is here."))
    home = folder / "home"
    home.mkdir()
    journal = str(home / "journal")
    run([*AJ, "import", str(path)], home, is_watched=False, AJ_HOME=journal)
    for name, verb in {
        "search": ["search", _RARE_WORD, "--mode", "lexical"],
        "show a part": ["show", f"{_ID}@{_message_id(middle)}", "--no-pager"],
        "show the end": ["show", _ID, "--last", "3", "--no-pager"],
        "list": ["list"],
    }.items():
        run_ = run([*AJ, *verb], home, AJ_HOME=journal)
        measured = f"{run_.rss_mb:.0f} MB ({run_.wall:.0f} s)"
        yield Figure(
            f"conversation, {name}",
            measured,
            f"≤ {LONG_LIMIT} MB",
            run_.rss_mb <= LONG_LIMIT,
            f"{LONG_MB} MB",
        )


def _measured(name: str, path: Path, size: str, limits: tuple[int, int]) -> Iterator[Figure]:
    converted = ["convert", str(path), "-t", "json", "-o", str(path.with_suffix(".out"))]
    for verb, limit in zip((converted, ["import", str(path)]), limits, strict=True):
        home = path.parent / f"{verb[0]}-home"
        home.mkdir()
        run_ = run([*AJ, *verb], home, codes=_EXIT_CODES, AJ_HOME=str(home / "journal"))
        measured = f"{run_.rss_mb:.0f} MB ({run_.wall:.0f} s)"
        yield Figure(f"{name}, {verb[0]}", measured, f"≤ {limit} MB", run_.rss_mb <= limit, size)


def _message_id(number: int) -> str:
    return f"{_ID[:24]}{number:012x}"


def _prompt(number: int, text: str = "") -> bytes:
    return _line(
        {
            "type": "user",
            "uuid": _message_id(number),
            "parentUuid": _message_id(number - 1) if number else None,
            "sessionId": _ID,
            "timestamp": _AT,
            "cwd": "/home/ana/app",
            "version": "2.1.90",
            "message": {"role": "user", "content": text or f"hello {number}"},
        }
    )


def _event(kind: str, **data: Any) -> bytes:
    return _line({"type": kind, **data})


def _snapshot(number: int) -> dict[str, Any]:
    backups = {
        f"/home/ana/app/src/module_{place}/file_{place}.py": {
            "backupFileName": f"{place * 7919:016x}@v{number % 7}",
            "version": number % 7,
            "backupTime": _AT,
        }
        for place in range(_FILES)
    }
    return {"messageId": f"m{number}", "trackedFileBackups": backups, "timestamp": _AT}


def _line(record: dict[str, Any]) -> bytes:
    return json.dumps(record, separators=(",", ":")).encode() + b"\n"


INPUTS: dict[str, Callable[[Path], Iterator[Figure]]] = {
    create.__name__: create for create in (snapshots, blobs, lines, value, conversation)
}


def main() -> int:
    """Measure and print a table; return 1 if a figure is over its limit."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true")
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(INPUTS))
    arguments = parser.parse_args()
    within = True
    for name in arguments.names or INPUTS:
        with tempfile.TemporaryDirectory() as folder:
            for figure in INPUTS[name](Path(folder)):
                show(figure, as_json=arguments.json)
                within = within and figure.ok is not False
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
