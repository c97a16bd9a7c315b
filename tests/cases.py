"""The cases of the readers: folders with an input, what is expected of it, and what it is for."""

from __future__ import annotations

import json
import shutil
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_journal.conversion import pipeline
from agent_journal.errors import AgentJournalError
from agent_journal.model import Conversation, Item
from agent_journal.notes import Kind, Notes

HERE = Path(__file__).parent
READERS = HERE / "readers"
NOT_INPUT = {"expected.json", "ABOUT.md", "excused.txt"}


class Case(NamedTuple):
    """One folder."""

    reader: str
    name: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.reader}/{self.name}"

    @property
    def input(self) -> Path:
        """The file or folder as it lies here, with databases as the SQL that makes them."""
        if (self.folder / "input").is_dir():
            return self.folder / "input"
        (found,) = [path for path in self.folder.iterdir() if path.name not in NOT_INPUT]
        return found

    @property
    def is_zip(self) -> bool:
        return self.name.endswith("_zip")

    def built(self, scratch: Path) -> Path:
        """The file or folder to read, before zipping; a file `X.sql` has become the database `X`."""
        scripts = [path for path in input_files(self.input) if path.suffix == ".sql"]
        if not scripts:
            return self.input
        target = scratch / "built" / self.input.name
        if self.input.is_file():
            return database(self.input, target.with_suffix(""))
        if not target.exists():
            shutil.copytree(self.input, target, ignore=shutil.ignore_patterns("*.sql"))
        for script in scripts:
            database(script, target / script.relative_to(self.input).with_suffix(""))
        return target

    def location(self, scratch: Path) -> Path:
        """What to give to the program."""
        location = self.built(scratch)
        return zipped(location, scratch / "input.zip") if self.is_zip else location


_only: set[str] = set()


def use_only(reader: str) -> None:
    """Restrict all cases to those of one reader, for the quick run of its tests."""
    _only.add(reader)


def all_cases() -> list[Case]:
    return [
        Case(reader.name, case.name, case)
        for reader in sorted(READERS.iterdir())
        if reader.is_dir() and (not _only or reader.name in _only)
        for case in sorted(reader.iterdir())
        if case.is_dir()
    ]


def first_of_each_reader() -> set[Case]:
    """Return one case of each reader, for a quick look at what holds for all of them."""
    return set({case.reader: case for case in reversed(all_cases())}.values())


def input_files(path: Path) -> list[Path]:
    if path.is_file():
        return [path]
    return sorted(file for file in path.rglob("*") if file.is_file())


def database(script: Path, target: Path) -> Path:
    """A new database at the target, made by the SQL."""
    target.parent.mkdir(parents=True, exist_ok=True)
    target.unlink(missing_ok=True)
    with closing(sqlite3.connect(target)) as made:
        # Each statement is a transaction, and need not wait for the disk.
        made.executescript("PRAGMA synchronous = OFF; PRAGMA journal_mode = MEMORY;")
        made.executescript(script.read_text(encoding="utf-8"))
    return target


def zipped(folder: Path, target: Path) -> Path:
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                info = zipfile.ZipInfo(path.relative_to(folder).as_posix(), (2026, 1, 1, 0, 0, 0))
                archive.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return target


class Outcome(NamedTuple):
    """What reading gave."""

    versions: list[str]
    readers: list[str]
    items: list[Item]
    notes: Notes


def outcome(location: Path, reader: str | None = None) -> Outcome:
    """Read everything; an input that is refused whole counts as nothing read."""
    notes = Notes()
    units: list[pipeline.Unit] = []
    items: list[Item] = []
    try:
        for unit in pipeline.units(str(location), notes, reader):
            units.append(unit)
            items.extend(pipeline.read_unit(unit, notes))
    except AgentJournalError as error:
        notes.add(Kind.UNREADABLE_FILE, str(location), "", str(error))
    return Outcome([unit.version for unit in units], [unit.reader.INFO.name for unit in units], items, notes)


def as_golden(result: Outcome, base: Path) -> dict[str, Any]:
    """The outcome as the golden file states it: without hashes and without this machine's paths."""
    distinct = sorted(set(result.versions))
    untimed = {note.where for note in result.notes.collected if note.detail == pipeline.FILE_TIME}
    return {
        "version": distinct[0] if len(distinct) == 1 else distinct,
        "conversations": [
            _anywhere(as_json(_without_file_time(item, untimed)), base) for item in result.items
        ],
        "notes": [str(note).replace(str(base), "").lstrip("/") for note in result.notes.collected],
    }


def _without_file_time(item: Item, untimed: set[str]) -> Item:
    """An item as its file states it; the time of the file is this machine's."""
    if isinstance(item, Conversation) and item.id in untimed:
        item = replace(item, updated_at=None)
    return replace(item, origin=None)


def _anywhere(item: dict[str, Any], base: Path) -> dict[str, Any]:
    """An item whose folder, if it is that of its file, is told from there."""
    folder = Path(item.get("cwd") or ".")
    return item | {"cwd": folder.relative_to(base).as_posix()} if folder.is_relative_to(base) else item


def as_json(value: Any) -> Any:
    return json.loads(msgspec.json.encode(value))


def leaves(value: Any, key: str = "") -> list[tuple[str, str]]:
    """Every string in a JSON value, with the name of the key it is under."""
    found: list[tuple[str, str]] = []
    pending: list[tuple[str, Any]] = [(key, value)]
    while pending:
        name, current = pending.pop()
        if isinstance(current, str):
            found.append((name, current))
        elif isinstance(current, dict):
            pending.extend(current.items())
        elif isinstance(current, list):
            pending.extend((name, element) for element in current)
    return found


def database_leaves(script: Path) -> list[tuple[str, str]]:
    """Every string in a database: in the JSON that a column holds by its key, else by the column's name."""
    found: list[tuple[str, str]] = []
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(script.read_text(encoding="utf-8"))
        tables = made.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            rows = made.execute(f'SELECT * FROM "{table}"')  # noqa: S608 (a name of the case's own)
            columns = [column for column, *_ in rows.description]
            for row in rows:
                for column, value in zip(columns, row, strict=True):
                    found += leaves(_decoded(value), column)
    return found


def _decoded(value: Any) -> Any:
    """What a column says: the JSON in it, else its text; bytes that are no text say nothing."""
    try:
        text = value.decode() if isinstance(value, bytes) else value
        return json.loads(text) if isinstance(text, str) and text[:1] in {"{", "["} else text
    except ValueError:
        return value if isinstance(value, str) else None
