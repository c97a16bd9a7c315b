"""What histories lie on this machine, by a look at names, sizes and times alone.

Only what a source that is left out shares with another is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from agent_journal import readers
from agent_journal.archive.candidates import Stat
from agent_journal.archive.syncing import Scan, located, projects_of
from agent_journal.config import source_key
from agent_journal.discovery import usual_homes
from agent_journal.notes import Note, Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from agent_journal.archive import Archive
    from agent_journal.archive.candidates import Found
    from agent_journal.config import Config
    from agent_journal.readers import ReaderInfo


class Histories(msgspec.Struct, kw_only=True):
    """What a source has on this machine. Times are nanoseconds since 1970."""

    source: str
    """Empty for files that several sources look for."""
    title: str
    homes: list[str] = []
    """The patterns that found something."""
    moved_by: list[str] = []
    """What says that it lies elsewhere than usual: lines of the configuration, environment variables."""
    files: int = 0
    bytes: int = 0
    newest: int = 0
    new_files: int = 0
    new_bytes: int = 0
    oldest_new: int = 0
    """When the file was last touched that waits longest to be archived."""


class Survey(msgspec.Struct):
    """What lies where, and what could not be looked at."""

    by_source: dict[str, Histories]
    """What several sources look for is by all of their titles."""
    notes: list[Note]

    @property
    def new_files(self) -> int:
        """How many files the journal does not have as they are now."""
        return sum(each.new_files for each in self.by_source.values())

    @property
    def new_bytes(self) -> int:
        """How large those are."""
        return sum(each.new_bytes for each in self.by_source.values())


def taken(config: Config, environ: Mapping[str, str], here: str | None, kept: Archive | None) -> Survey:
    """A look at every home; without a journal everything is new."""
    infos = [reader.INFO for reader in readers.discover().values()]
    note = Notes()
    found = {info.name: Histories(source=info.name, title=info.title) for info in infos}
    for info in infos:
        found[info.name].moved_by = list(_movers(config, environ, info))
    projects = projects_of(kept) if kept else []
    there = list(located(config, infos, environ, here, projects=projects, note=note))
    for each in there:
        whose = _whose(each, infos)
        known = found.setdefault(whose, Histories(source="", title=whose))
        _count(known, each, each.stat or Stat())
    for each in Scan(kept, "").changed(there) if kept else there:
        _count_new(found[_whose(each, infos)], each.stat or Stat())
    return Survey(found, note.kept)


def _whose(found: Found, infos: list[ReaderInfo]) -> str:
    """The source that looks there; the titles of several, as only the content tells whose it is."""
    several = (info.title for info in infos if found.home in usual_homes(info))
    return found.reader or " or ".join(several) or "claimed by several"


def _movers(config: Config, environ: Mapping[str, str], info: ReaderInfo) -> Iterator[str]:
    key = source_key(info)
    if key in config.storage.sources:
        yield str(config.origin(f"storage.sources.{key}"))
    else:
        yield from (name for name in info.env if environ.get(name))


def _count(whose: Histories, found: Found, stat: Stat) -> None:
    whose.files += 1
    whose.bytes += stat.size
    whose.newest = max(whose.newest, stat.mtime_ns)
    if found.home not in whose.homes:
        whose.homes.append(found.home)


def _count_new(whose: Histories, stat: Stat) -> None:
    whose.new_files += 1
    whose.new_bytes += stat.size
    whose.oldest_new = min(whose.oldest_new or stat.mtime_ns, stat.mtime_ns)
