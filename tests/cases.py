"""The cases of the readers: folders with an input, what is expected of it, and what it is for."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_journal import pipeline
from agent_journal.errors import AgentJournalError
from agent_journal.model import Item
from agent_journal.notes import Kind, Notes

HERE = Path(__file__).parent
READERS = HERE / "readers"
NOT_INPUT = {"expected.json", "ABOUT.md"}


class Case(NamedTuple):
    """One folder."""

    reader: str
    name: str
    folder: Path

    def __str__(self) -> str:
        return f"{self.reader}/{self.name}"

    @property
    def input(self) -> Path:
        """The file or folder to read, before zipping."""
        if (self.folder / "input").is_dir():
            return self.folder / "input"
        (found,) = [path for path in self.folder.iterdir() if path.name not in NOT_INPUT]
        return found

    @property
    def is_zip(self) -> bool:
        return self.name.endswith("_zip")

    def location(self, scratch: Path) -> Path:
        """What to give to the program."""
        return zipped(self.input, scratch / "input.zip") if self.is_zip else self.input


def all_cases() -> list[Case]:
    return [
        Case(reader.name, case.name, case)
        for reader in sorted(READERS.iterdir())
        if reader.is_dir()
        for case in sorted(reader.iterdir())
        if case.is_dir()
    ]


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
    return {
        "version": distinct[0] if len(distinct) == 1 else distinct,
        "conversations": [as_json(replace(item, origin=None)) for item in result.items],
        "notes": [str(note).replace(str(base), "").lstrip("/") for note in result.notes.kept],
    }


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
