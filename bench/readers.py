"""Measures every reader: `python bench/readers.py [NAME…] [--megabytes 20]`.

Each reads histories of bench/sources/, compared with decoding the same bytes with orjson (of tables and
databases: reading their rows). JSON inside a text of a record, such as the bodies of calls in logs, is
decoded, too. CPU time, the best of several, in turns; the collector is off, as `aj convert` has it.
"""

from __future__ import annotations

import argparse
import csv
import gc
import importlib
import pkgutil
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import deque
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

import sources
from agent_journal import Notes
from agent_journal.conversion import pipeline

if TYPE_CHECKING:
    from collections.abc import Callable

LIMIT = 4.0
MB = 1_000_000
_ROUNDS = 3
_HELPERS = {"writing"}
_DECODED = {".json", ".jsonl", ".csv", ".db", ".vscdb"}


def decode(path: Path, inner: dict[int, list[str]]) -> None:
    """The least that reading a history takes; `inner` names the fields of records that hold JSON as text."""
    if path.suffix in {".vscdb", ".db"}:
        _rows_of_database(path)
    elif path.suffix == ".csv":
        with path.open(encoding="utf-8-sig", newline="") as table:
            deque(csv.reader(table), 0)
    elif path.suffix == ".jsonl":
        with path.open("rb") as stream:
            for place, record in enumerate(map(orjson.loads, stream)):
                for name in inner.get(place, ()):
                    _decode_text(record[name])
    else:
        value = orjson.loads(path.read_bytes())
        for place, names in inner.items():
            for name in names:
                _decode_text(value[place][name])


def as_json(path: Path, aside: str) -> Path:
    """The file, or of one that is no JSON and no table: JSON that has a string for each line of it."""
    if path.suffix in _DECODED:
        return path
    made = Path(aside) / f"{path.name}.json"
    made.write_bytes(orjson.dumps(path.read_text(encoding="utf-8").split("\n")))
    return made


def inner_json(path: Path) -> dict[int, list[str]]:
    """The fields that hold JSON as text, or as the lines of a stream, by the place of their record."""
    if path.suffix == ".jsonl":
        records: Any = list(map(orjson.loads, path.read_bytes().splitlines()))
    elif path.suffix == ".json":
        records = orjson.loads(path.read_bytes())
    else:
        return {}
    found: dict[int, list[str]] = {}
    for place, record in enumerate(records if isinstance(records, list) else ()):
        for name, value in record.items() if isinstance(record, dict) else ():
            if _holds_json(value):
                found.setdefault(place, []).append(name)
    return found


def _holds_json(value: Any) -> bool:
    """Whether a value is the text of an object or an array: that of a body which was cut is not."""
    if isinstance(value, dict):
        return isinstance(value.get("sse_lines"), list)
    if not isinstance(value, str) or len(value) < len("{}") or value[0] not in "{[":
        return False
    try:
        orjson.loads(value)
    except orjson.JSONDecodeError:
        return False
    return True


def _decode_text(value: Any) -> None:
    if isinstance(value, str):
        orjson.loads(value)
    else:
        for line in value["sse_lines"]:
            if line.startswith("data: {"):
                orjson.loads(line[6:])


def _rows_of_database(path: Path) -> None:
    database = sqlite3.connect(path)
    names = [name for (name,) in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
    for name in names:
        for row in database.execute(f"SELECT * FROM {name}"):  # noqa: S608 (made by ourselves)
            for value in row:
                if isinstance(value, str) and value[:1] in {"{", "["}:
                    orjson.loads(value)
    database.close()


def read(units: list[pipeline.Unit]) -> int:
    """Read everything; how many conversations there were. `run.py` measures detection."""
    note = Notes()
    return sum(
        1
        for unit in units
        for _ in unit.reader.read(unit.source, unit.version, note.about(unit.source.label))
    )


def _decode_all(inner: dict[Path, dict[int, list[str]]]) -> None:
    for path, names in inner.items():
        decode(path, names)


def cpu_of(work: Callable[[], Any]) -> float:
    """CPU seconds of some work."""
    started = time.process_time()
    work()
    return time.process_time() - started


def measure(name: str, kind: str, megabytes: int) -> None:
    """Print one line about a kind of history; this runs in a process of its own, for the peak of memory."""
    gc.disable()
    make = importlib.import_module(f"sources.{name}").KINDS[kind]
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as aside:
        paths: list[Path] = make(Path(folder), megabytes)
        files = [file for path in paths for file in ([path] if path.is_file() else sorted(path.rglob("*.*")))]
        size = sum(file.stat().st_size for file in files)
        units = [unit for path in paths for unit in pipeline.units(str(path), Notes())]
        conversations = read(units)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
        inner = {file: inner_json(file) for file in (as_json(file, aside) for file in files)}
        rounds = [(cpu_of(lambda: read(units)), cpu_of(lambda: _decode_all(inner))) for _ in range(_ROUNDS)]
    ours, base = (min(times) for times in zip(*rounds, strict=True))
    verdict = "ok" if ours / base <= LIMIT else "OVER"
    print(
        f"{name:20} {kind:12} {size / MB:5.0f} MB  {conversations:6,} conversations  {ours:6.2f} s"
        f"  {base:6.2f} s  {ours / base:5.2f} × {verdict:4}  {peak / MB:4.0f} MB"
    )


def main() -> int:
    """Measure what the command line names."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    known = [module.name for module in pkgutil.iter_modules(sources.__path__) if module.name not in _HELPERS]
    parser.add_argument("names", nargs="*", metavar="NAME", choices=[*known, []])
    parser.add_argument("--megabytes", type=int, default=20)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.kind:
        measure(arguments.names[0], arguments.kind, arguments.megabytes)
        return 0
    for name in arguments.names or known:
        for kind in importlib.import_module(f"sources.{name}").KINDS:
            command = [
                sys.executable,
                __file__,
                name,
                "--kind",
                kind,
                "--megabytes",
                str(arguments.megabytes),
            ]
            subprocess.run(command, check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
