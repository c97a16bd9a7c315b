"""Take an inventory of conversations on this machine, by names, sizes and times of files alone.

Only files that a disabled source shares with another are opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import readers
from agent_journal.archive.candidates import Stat
from agent_journal.archive.syncing import Scan, existing_projects, locate_candidates
from agent_journal.config import source_key
from agent_journal.discovery import EncryptedFiles, default_homes, encrypted_files
from agent_journal.notes import Note, Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import ImportCandidate
    from agent_journal.config import Config
    from agent_journal.readers import ReaderInfo


class SourceInventory(msgspec.Struct, kw_only=True):
    """The files of a source on this machine. Times are nanoseconds since 1970."""

    source: str
    """Empty for files that several sources claim."""
    title: str
    homes: list[str] = []
    """The patterns that matched."""
    moved_by: list[str] = []
    """What changes the default location: settings or environment variables."""
    files: int = 0
    bytes: int = 0
    newest: int = 0
    new_files: int = 0
    new_bytes: int = 0
    oldest_new: int = 0
    """The modification time of the oldest file that is not archived."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


class Inventory(msgspec.Struct):
    """The files by source, and what could not be read."""

    by_source: dict[str, SourceInventory]
    """Files that several sources claim are listed by all of their titles."""
    notes: list[Note]
    encrypted: list[EncryptedFiles] = []
    """Files that cannot be read."""

    @property
    def new_files(self) -> int:
        """The number of files that are new or changed since they were archived."""
        return sum(each.new_files for each in self.by_source.values())

    @property
    def new_bytes(self) -> int:
        """The size of those files."""
        return sum(each.new_bytes for each in self.by_source.values())

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        values: dict[str, Any] = msgspec.to_builtins(self)
        return values


def take_inventory(
    config: Config, environ: Mapping[str, str], here: str | None, archive: Archive | None
) -> Inventory:
    """Look at every location; without a journal, all files are new."""
    infos = [reader.INFO for reader in readers.discover().values()]
    note = Notes()
    by_source = {info.name: SourceInventory(source=info.name, title=info.title) for info in infos}
    for info in infos:
        by_source[info.name].moved_by = list(_movers(config, environ, info))
    projects = existing_projects(archive) if archive else []
    candidates = list(locate_candidates(config, infos, environ, here, projects=projects, note=note))
    for candidate in candidates:
        owner = _owner(candidate, infos)
        entry = by_source.setdefault(owner, SourceInventory(source="", title=owner))
        _count(entry, candidate, candidate.stat or Stat())
    for candidate in Scan(archive, "").changed(candidates) if archive else candidates:
        _count_new(by_source[_owner(candidate, infos)], candidate.stat or Stat())
    return Inventory(by_source, note.collected, encrypted_files(config, infos, environ))


def _owner(candidate: ImportCandidate, infos: list[ReaderInfo]) -> str:
    """Return the source that looks there; the titles of several, if only the content identifies it."""
    several = (info.title for info in infos if candidate.home in default_homes(info))
    return candidate.reader or " or ".join(several) or "recognized by several readers"


def _movers(config: Config, environ: Mapping[str, str], info: ReaderInfo) -> Iterator[str]:
    key = source_key(info)
    if key in config.storage.sources:
        yield str(config.origin(f"storage.sources.{key}"))
    else:
        yield from (name for name in info.env if environ.get(name))


def _count(entry: SourceInventory, candidate: ImportCandidate, stat: Stat) -> None:
    entry.files += 1
    entry.bytes += stat.size
    entry.newest = max(entry.newest, stat.mtime_ns)
    if candidate.home not in entry.homes:
        entry.homes.append(candidate.home)


def _count_new(entry: SourceInventory, stat: Stat) -> None:
    entry.new_files += 1
    entry.new_bytes += stat.size
    entry.oldest_new = min(entry.oldest_new or stat.mtime_ns, stat.mtime_ns)
