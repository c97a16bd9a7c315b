"""Finds problems with a journal and its sources, and what to do about each."""

from __future__ import annotations

import os
import shutil
import stat
import time
from shlex import quote
from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal import archive, crash_reports, readers
from agent_journal.archive import checking, machine, vault_checks
from agent_journal.archive.lock import Lock
from agent_journal.archive.sqlite import engine
from agent_journal.config import FILE_NAME, defaults, load
from agent_journal.discovery.retention import deleting
from agent_journal.errors import AgentJournalError, ArchiveInUse, BadConfig, UnfinishedErasure
from agent_journal.journal import embeddings, facade, index_upkeep, inventory
from agent_journal.model import timestamps
from agent_journal.text.humanize import count, missing_files, size, unread_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.journal.inventory import Inventory, SourceInventory
    from agent_journal.readers import Retention

_DAY_NS = 86_400 * 10**9
# So many days before a tool deletes something that is not archived, a person should act.
_IN_TIME = 7
# Who keeps histories for so many days keeps them.
_FOR_GOOD = 3650
# Less free space than this is trouble, whatever is to be imported.
_LEAST_FREE = 256 << 20
_MOST_NAMED = 3
# Checks read all of the vault within a month; who runs none for longer is reminded.
_LATE_DAYS = 60
_BROKEN = "see docs/archive.md, 'Troubleshooting'"
# Programs that copy single files of a folder to other machines while they are written, and bring others back.
_CARRIERS = ("dropbox", "onedrive", "google drive", "googledrive", "icloud", "mobile documents", "nextcloud")


class Finding(msgspec.Struct, kw_only=True):
    """Something that was looked at."""

    topic: str
    says: str
    act: str = ""
    """What a person should do; empty if all is well."""
    data: dict[str, Any] = {}


def findings(home: Path, environ: Mapping[str, str], here: str | None, now_ns: int) -> Iterator[Finding]:
    """Everything that was looked at, in the order in which a person wants to know it."""
    try:
        config = load(home, environ)
        yield _config(home)
    except BadConfig as error:
        yield Finding(topic="config", says=str(error), act="correct it; until then most commands cannot run")
        config = defaults(home, environ)
    unfinished = _finish_forgetting(config)
    kept, trouble = _opened(home)
    shared = machine.write_refusal(home, kept.store) if kept is not None else ""
    if shared:
        yield Finding(topic="place", says=f"{home} is assigned to another machine", act=shared)
    try:
        seen = inventory.take_inventory(config, environ, here, kept)
        yield from _sources(seen)
        yield from _retention(seen, environ, now_ns)
        if trouble is not None:
            yield trouble
        if kept is not None:
            yield from _parts(kept, config)
        if unfinished is not None:
            yield unfinished
        yield from _crash_reports(home)
        yield from _around(config, seen)
    finally:
        if kept is not None:
            kept.close()


def _config(home: Path) -> Finding:
    path = home / FILE_NAME
    return Finding(topic="config", says=f"{path}" if path.exists() else "default settings")


def _finish_forgetting(config: Config) -> Finding | None:
    """Finish what an earlier `aj forget` could not; what there is to say of it."""
    if not archive.exists(config.home):
        return None
    try:
        finished = facade.finish_forgetting(config)
        if finished is not None:
            says = ["finished an earlier 'aj forget' that was interrupted", *finished.replaced]
            return Finding(topic="forget", says="; ".join(says))
    except ArchiveInUse:
        return Finding(topic="forget", says="another aj is erasing forgotten conversations")
    except UnfinishedErasure as error:
        return Finding(topic="forget", says=str(error), act="solve that problem, then run 'aj sync'")
    except AgentJournalError:
        return None  # the journal cannot be opened, which is told otherwise
    return None


def _opened(home: Path) -> tuple[Archive | None, Finding | None]:
    if not archive.exists(home):
        says = f"there is no journal in {home} yet"
        return None, Finding(topic="journal", says=f"{says}; {archive.HOW_TO_START}")
    try:
        return archive.open_without_migrating(home), None
    except AgentJournalError as error:
        return None, Finding(topic="journal", says=str(error), act=_BROKEN)


def _parts(kept: Archive, config: Config) -> Iterator[Finding]:
    """What a journal consists of. One part that is damaged is told, and the others are looked at."""
    looks = {"journal": _journal, "vault": _vault, "index": _index, "meaning": _vectors}
    for topic, look in looks.items():
        try:
            yield look(kept, config)
        except AgentJournalError as error:
            yield Finding(topic=topic, says=str(error), act=_BROKEN)


def _sources(seen: Inventory) -> Iterator[Finding]:
    for each in seen.by_source.values():
        if each.files or each.moved_by:
            yield Finding(topic="source", says=_said(each), data=msgspec.to_builtins(each))
    if not any(each.files for each in seen.by_source.values()):
        yield Finding(
            topic="source", says="no conversations found on this machine; 'aj formats' lists the known tools"
        )
    for note in seen.notes[:_MOST_NAMED]:
        yield Finding(topic="source", says=str(note))


def _said(each: SourceInventory) -> str:
    moved = f" (location set by {', '.join(each.moved_by)})" if each.moved_by else ""
    if not each.files:
        return f"{each.title}: nothing found{moved}"
    new = f", {each.new_files:,} new or changed since the last sync" if each.new_files else ""
    homes = ", ".join(each.homes)
    return f"{each.title}: {_files(each.files)}, {size(each.bytes)} in {homes}{moved}{new}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _retention(seen: Inventory, environ: Mapping[str, str], now_ns: int) -> Iterator[Finding]:
    for name, reader in readers.discover().items():
        rule, each = reader.INFO.retention, seen.by_source[name]
        if rule is not None and each.files:
            yield _one_retention(reader.INFO.title, rule, each, environ, now_ns)


def _one_retention(
    title: str, rule: Retention, each: SourceInventory, environ: Mapping[str, str], now_ns: int
) -> Finding:
    holds = deleting(rule, environ)
    data = {**holds._asdict(), "source": each.source, "key": rule.key, "advice": rule.advice}
    by = f"set by {rule.key}" if holds.is_settled else "default"
    if holds.trouble:
        says = f"{title}: cannot read {holds.file} ({holds.trouble}), so the tool may delete as by default"
        return Finding(topic="retention", says=says, data=data, act=f"correct {holds.file}")
    if holds.days is None and holds.most is None:
        return Finding(topic="retention", says=f"{title} deletes nothing ({by})", data=data)
    if not holds.days and holds.most is None:
        act = f"set {rule.advice} in {holds.file}"
        return Finding(
            topic="retention", says=f"{title} does not store its sessions ({by})", data=data, act=act
        )
    limits = [
        f"after {holds.days:,g} days" if holds.days is not None else "",
        f"except for the newest {holds.most:,}" if holds.most is not None else "",
    ]
    says = f"{title} deletes its sessions {', '.join(filter(None, limits))} ({by})"
    if holds.most is not None or (holds.days or 0) < _FOR_GOOD:
        says += f"; set {rule.advice} in {holds.file} to keep them"
    return Finding(topic="retention", says=says, data=data, act=_in_danger(each, holds.days, now_ns))


def _in_danger(each: SourceInventory, days: float | None, now_ns: int) -> str:
    """What to do if something that is not archived is about to be deleted."""
    if days is None or not each.new_files:
        return ""
    left = days - (now_ns - each.oldest_new) / _DAY_NS
    if left > _IN_TIME:
        return ""
    return f"{_files(each.new_files)} not archived, and the oldest may be deleted any day: run 'aj sync'"


def _journal(kept: Archive, config: Config) -> Finding:
    counts = kept.store.counts()
    says = f"{config.home}: {counts.messages:,} messages from {_files(counts.sources)}"
    if counts.missing:
        says += f", {missing_files(counts.missing)}"
    if unread := unread_files(counts.partly, counts.unread):
        says += f"; {unread} ('aj status --problems' lists them)"
    return Finding(topic="journal", says=says, data={"home": str(config.home)})


def _vault(kept: Archive, _config: Config) -> Finding:
    damage = checking.vault_damage(kept)
    read = checking.vault_read_at(kept)
    data: dict[str, Any] = {"read_at": read}
    told = f"last read completely on {read[:10]}" if read else "'aj check' has not read all of it yet"
    if not damage:
        late = (
            bool(read)
            and time.time() - _LATE_DAYS * vault_checks.SECONDS_PER_DAY
            > (timestamps.epoch_ms(read) or 0) / 1000
        )
        act = "run 'aj check'" if late else ""
        return Finding(topic="vault", says=f"no known damage; {told}", act=act, data=data)
    packs = list(dict.fromkeys(each.where for each in damage))
    act = "run 'aj repair'; with --from BACKUP, it also looks in a backup"
    pieces = count(len(damage), "piece is", "pieces are")
    says = f"{pieces} damaged or missing, in {_some_of(packs)}; {told}"
    data |= {"packs": packs, "damaged": [each.blob.hex() for each in damage]}
    return Finding(topic="vault", says=says, act=act, data=data)


def _index(kept: Archive, config: Config) -> Finding:
    state = index_upkeep.read_state(kept, config)
    if state["whole"]:
        return Finding(
            topic="index", says=f"up to date ({count(state['entries'], 'entry', 'entries')})", data=state
        )
    if state["problem"]:
        return Finding(topic="index", says=state["problem"], act="run 'aj reindex'", data=state)
    return Finding(topic="index", says="the newest entries are missing", act="run 'aj sync'", data=state)


def _vectors(kept: Archive, config: Config) -> Finding:
    state = embeddings.read_state(kept, config)
    data = state._asdict()
    if state.problem:
        act = "" if not config.index.vector.enabled else "run 'aj embed --rebuild'"
        return Finding(topic="meaning", says=state.problem, act=act, data=data)
    says = f"{state.done:,} of {state.entries:,} entries have embeddings"
    says += f" (computing the rest{state.running})" if state.running else ""
    if not state.whole and not state.running:
        says += "; the next search, sync or 'aj embed' continues"
    return Finding(topic="meaning", says=says, data=data)


def _crash_reports(home: Path) -> Iterator[Finding]:
    """Unforeseen errors that were reported to a file; whoever has passed them on removes the folder."""
    found = crash_reports.names_in(str(home / crash_reports.FOLDER))
    if found:
        newest = found[-1]
        says = f"{count(len(found), 'crash report')} in {home / crash_reports.FOLDER}; the newest is {newest}"
        act = "attach it to a bug report (it contains no conversation text), then delete the folder"
        data = {"reports": len(found), "newest": newest}
        yield Finding(topic="reports", says=says, act=act, data=data)


def _around(config: Config, seen: Inventory) -> Iterator[Finding]:
    """The machine: who may read the files, how much room there is, who writes, and what with."""
    if archive.exists(config.home):
        yield _permissions(config.home)
    yield _space(config, seen)
    owner = Lock(config.home / archive.LOCK).owner()
    says = "no other process is writing" if owner is None else f"another aj is writing now{owner}"
    yield Finding(topic="lock", says=says)
    version, is_safe = engine()
    act = "" if is_safe else "upgrade apsw ('pip install -U apsw'): this version can damage a database"
    yield Finding(topic="sqlite", says=f"SQLite {version}", act=act, data={"version": version})
    carrier = next((word for word in _CARRIERS if word in str(config.home).lower()), None)
    if carrier is not None:
        says = f"the journal is in a folder that {carrier} may copy while it is being written"
        yield Finding(topic="place", says=says, act="move it elsewhere; share backups made with 'aj backup'")


def _permissions(home: Path) -> Finding:
    """Files are for their owner alone. On Windows the folder's owner is all that there is to say."""
    if os.name == "nt":
        return Finding(topic="permissions", says="inherited from the folder")
    places = [
        home,
        *(path for name in (archive.VAULT, "index", "index.vectors") for path in (home / name).rglob("*")),
    ]
    places += [home / name for name in (archive.DATABASE, archive.LOCK, archive.VAULT, FILE_NAME)]
    barred = sorted({str(path) for path in places if _is_barred(path)})
    if barred:  # mostly since somebody ran `sudo aj sync`
        says = f"you cannot write to {_some_of(barred)}, so 'aj sync' and other commands will fail"
        return Finding(topic="permissions", says=says, act=_given_back(home), data={"barred": barred})
    loose = sorted({str(path) for path in places if _is_loose(path)})
    if loose:
        says, act = f"other users can read {_some_of(loose)}", f"chmod -R go-rwx {quote(str(home))}"
        return Finding(topic="permissions", says=says, act=act, data={"loose": loose})
    return Finding(topic="permissions", says="only you can read the journal")


def _some_of(names: list[str]) -> str:
    more = f" and {len(names) - _MOST_NAMED:,} more" if len(names) > _MOST_NAMED else ""
    return ", ".join(names[:_MOST_NAMED]) + more


def _is_barred(path: Path) -> bool:
    """Whether something is there that this person may not change."""
    return os.access(path, os.F_OK) and not os.access(path, os.R_OK | os.W_OK)


def _given_back(home: Path) -> str:
    """How a person comes to own a journal."""
    if os.statvfs(home).f_flag & os.ST_RDONLY:
        return f"{home} is on a read-only file system: 'aj backup PATH' copies it elsewhere"
    place = quote(str(home))
    return f'sudo chown -R "$(id -un)" {place}; chmod -R u+rwX,go-rwx {place}'


def _is_loose(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.lstat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError:
        return False


def _space(config: Config, seen: Inventory) -> Finding:
    place = config.home
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    parts = facade.disk_usage(config)
    needed = max(seen.new_bytes, _LEAST_FREE)
    says = f"the journal uses {size(sum(parts.values()))}; {size(free)} are free"
    act = f"free some space: {size(needed)} are needed" if free < needed else ""
    return Finding(topic="disk", says=says, act=act, data={"free": free, **parts})
