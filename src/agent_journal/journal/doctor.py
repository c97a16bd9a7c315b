"""Find problems with a journal and its sources, and what to do about each."""

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
from agent_journal.journal import embeddings, index_upkeep, inventory
from agent_journal.journal.erasing import finish_forgetting
from agent_journal.journal.upkeep import disk_usage
from agent_journal.model import timestamps
from agent_journal.text.humanize import count, missing_files, size, unread_files

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

    from agent_journal.archive import Archive
    from agent_journal.config import Config
    from agent_journal.journal.inventory import Inventory, SourceInventory
    from agent_journal.readers import Retention

_NS_PER_DAY = 86_400 * 10**9
_WARN_BEFORE_DAYS = 7  # a tool deletes something that is not archived
# A tool that stores sessions for this long is not asked to store them longer.
_PERMANENT_DAYS = 3650
_MIN_FREE_BYTES = 256 << 20
_MAX_NAMES = 3
_FOLDERS = (archive.VAULT, "index", "index.vectors", "index.sentences")  # whose files are the user's alone
# Checks read all of the vault within a month.
_REMIND_AFTER_DAYS = 60
_BROKEN = "see docs/archive.md, 'Troubleshooting'"
# Programs that copy single files between machines, even while they are being written.
_SYNC_PROGRAMS = (
    "dropbox",
    "onedrive",
    "google drive",
    "googledrive",
    "icloud",
    "mobile documents",
    "nextcloud",
)


class Finding(msgspec.Struct, kw_only=True):
    """The result of one check."""

    topic: str
    says: str
    act: str = ""
    """What the user should do; empty if there is no problem."""
    data: dict[str, Any] = {}

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return {
            "topic": self.topic,
            "ok": not self.act,
            "says": self.says,
            "act": self.act or None,
            **({"data": self.data} if self.data else {}),
        }


def findings(home: Path, environ: Mapping[str, str], here: str | None, now_ns: int) -> Iterator[Finding]:
    """Yield the results of all checks, the most important to the user first."""
    try:
        config = load(home, environ)
        yield _config(home)
    except BadConfig as error:
        yield Finding(topic="config", says=str(error), act="correct it; until then most commands cannot run")
        config = defaults(home, environ)
    unfinished = _finish_forgetting(config)
    opened, problem = _open(home)
    refusal = machine.write_refusal(home, opened.store) if opened is not None else ""
    if refusal:
        yield Finding(topic="place", says=f"{home} is assigned to another machine", act=refusal)
    try:
        on_disk = inventory.take_inventory(config, environ, here, opened)
        yield from _sources(on_disk)
        yield from _retention(on_disk, environ, now_ns)
        if problem is not None:
            yield problem
        if opened is not None:
            yield from _parts(opened, config)
        if unfinished is not None:
            yield unfinished
        yield from _crash_reports(home)
        yield from _around(config, on_disk)
    finally:
        if opened is not None:
            opened.close()


def adopt(home: Path) -> None:
    """Assign a journal that another machine used to this one."""
    archive.open_to_read(home).close()  # raises if there is no journal
    archive.open_to_write(home, create=False, adopt=True).close()


def _config(home: Path) -> Finding:
    path = home / FILE_NAME
    return Finding(topic="config", says=f"{path}" if path.exists() else "default settings")


def _finish_forgetting(config: Config) -> Finding | None:
    """Finish an interrupted `aj forget`, and report that."""
    if not archive.exists(config.home):
        return None
    try:
        finished = finish_forgetting(config)
        if finished is not None:
            says = ["finished an earlier 'aj forget' that was interrupted", *finished.replaced]
            return Finding(topic="forget", says="; ".join(says))
    except ArchiveInUse:
        return Finding(topic="forget", says="another aj is erasing forgotten conversations")
    except UnfinishedErasure as error:
        return Finding(topic="forget", says=str(error), act="solve that problem, then run 'aj sync'")
    except AgentJournalError:
        return None  # the journal cannot be opened, which is reported elsewhere
    return None


def _open(home: Path) -> tuple[Archive | None, Finding | None]:
    if not archive.exists(home):
        says = f"there is no journal in {home} yet"
        return None, Finding(topic="journal", says=f"{says}; {archive.HOW_TO_START}")
    try:
        return archive.open_without_migrating(home), None
    except AgentJournalError as error:
        return None, Finding(topic="journal", says=str(error), act=_BROKEN)


def _parts(opened: Archive, config: Config) -> Iterator[Finding]:
    """Check the parts of a journal; a damaged one does not prevent the checks of the others."""
    checks = {"journal": _journal, "vault": _vault, "index": _index, "meaning": _vectors}
    for topic, check in checks.items():
        try:
            yield check(opened, config)
        except AgentJournalError as error:
            yield Finding(topic=topic, says=str(error), act=_BROKEN)


def _sources(on_disk: Inventory) -> Iterator[Finding]:
    for each in on_disk.by_source.values():
        if each.files or each.moved_by:
            yield Finding(topic="source", says=_describe_source(each), data=msgspec.to_builtins(each))
    if not any(each.files for each in on_disk.by_source.values()):
        yield Finding(
            topic="source", says="no conversations found on this machine; 'aj formats' lists the known tools"
        )
    for encrypted in on_disk.encrypted:
        yield Finding(topic="source", says=str(encrypted), data=encrypted._asdict())
    for note in on_disk.notes[:_MAX_NAMES]:
        yield Finding(topic="source", says=str(note))


def _describe_source(each: SourceInventory) -> str:
    moved = f" (location set by {', '.join(each.moved_by)})" if each.moved_by else ""
    if not each.files:
        return f"{each.title}: nothing found{moved}"
    new = f", {each.new_files:,} new or changed since the last sync" if each.new_files else ""
    homes = ", ".join(each.homes)
    return f"{each.title}: {_files(each.files)}, {size(each.bytes)} in {homes}{moved}{new}"


def _files(count: int) -> str:
    return "1 file" if count == 1 else f"{count:,} files"


def _retention(on_disk: Inventory, environ: Mapping[str, str], now_ns: int) -> Iterator[Finding]:
    for name, reader in readers.discover().items():
        rule, each = reader.INFO.retention, on_disk.by_source[name]
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
    if holds.most is not None or (holds.days or 0) < _PERMANENT_DAYS:
        says += f"; set {rule.advice} in {holds.file} to keep them"
    return Finding(topic="retention", says=says, data=data, act=_in_danger(each, holds.days, now_ns))


def _in_danger(each: SourceInventory, days: float | None, now_ns: int) -> str:
    """Return what to do if files that are not archived are about to be deleted."""
    if days is None or not each.new_files:
        return ""
    left = days - (now_ns - each.oldest_new) / _NS_PER_DAY
    if left > _WARN_BEFORE_DAYS:
        return ""
    return f"{_files(each.new_files)} not archived, and the oldest may be deleted any day: run 'aj sync'"


def _journal(opened: Archive, config: Config) -> Finding:
    counts = opened.store.counts()
    says = f"{config.home}: {counts.messages:,} messages from {_files(counts.sources)}"
    if counts.missing:
        says += f", {missing_files(counts.missing)}"
    if unread := unread_files(counts.partly, counts.unread):
        says += f"; {unread} ('aj status --problems' lists them)"
    return Finding(topic="journal", says=says, data={"home": str(config.home)})


def _vault(opened: Archive, _config: Config) -> Finding:
    damage = checking.vault_damage(opened)
    read = checking.vault_read_at(opened)
    data: dict[str, Any] = {"read_at": read}
    last_read = f"last read completely on {read[:10]}" if read else "'aj check' has not read all of it yet"
    if not damage:
        late = (
            bool(read)
            and time.time() - _REMIND_AFTER_DAYS * vault_checks.SECONDS_PER_DAY
            > (timestamps.epoch_ms(read) or 0) / 1000
        )
        act = "run 'aj check'" if late else ""
        return Finding(topic="vault", says=f"no known damage; {last_read}", act=act, data=data)
    packs = list(dict.fromkeys(each.where for each in damage))
    act = "run 'aj repair'; with --from BACKUP, it also looks in a backup"
    pieces = count(len(damage), "piece is", "pieces are")
    says = f"{pieces} damaged or missing, in {_some_of(packs)}; {last_read}"
    data |= {"packs": packs, "damaged": [each.blob.hex() for each in damage]}
    return Finding(topic="vault", says=says, act=act, data=data)


def _index(opened: Archive, config: Config) -> Finding:
    state = index_upkeep.read_state(opened, config)
    if state["whole"]:
        return Finding(
            topic="index", says=f"up to date ({count(state['entries'], 'entry', 'entries')})", data=state
        )
    if state["problem"]:
        return Finding(topic="index", says=state["problem"], act="run 'aj reindex'", data=state)
    return Finding(topic="index", says="the newest entries are missing", act="run 'aj sync'", data=state)


def _vectors(opened: Archive, config: Config) -> Finding:
    state = embeddings.read_state(opened, config)
    data = state._asdict()
    if state.problem:
        act = "" if not config.index.vector.enabled else "run 'aj embed --rebuild'"
        return Finding(topic="meaning", says=state.problem, act=act, data=data)
    says = f"{state.done:,} of {state.entries:,} entries have embeddings"
    says += f" (computing the rest{state.running})" if state.running else ""
    if not state.whole and not state.running:
        says += "; 'aj embed' computes the rest"
    return Finding(topic="meaning", says=says, data=data)


def _crash_reports(home: Path) -> Iterator[Finding]:
    """Report unexpected errors of which there are reports; the user deletes the folder after sending them."""
    reports = crash_reports.names_in(str(home / crash_reports.FOLDER))
    if reports:
        newest = reports[-1]
        says = (
            f"{count(len(reports), 'crash report')} in {home / crash_reports.FOLDER}; the newest is {newest}"
        )
        act = "attach it to a bug report (it contains no conversation text), then delete the folder"
        data = {"reports": len(reports), "newest": newest}
        yield Finding(topic="reports", says=says, act=act, data=data)


def _around(config: Config, on_disk: Inventory) -> Iterator[Finding]:
    """Check the machine: permissions, free space, other writers, the SQLite version, the location."""
    if archive.exists(config.home):
        yield _permissions(config.home)
    yield _space(config, on_disk)
    owner = Lock(config.home / archive.LOCK).owner()
    says = "no other process is writing" if owner is None else f"another aj is writing now{owner}"
    yield Finding(topic="lock", says=says)
    version, is_safe = engine()
    act = "" if is_safe else "upgrade apsw ('pip install -U apsw'): this version can damage a database"
    yield Finding(topic="sqlite", says=f"SQLite {version}", act=act, data={"version": version})
    program = next((word for word in _SYNC_PROGRAMS if word in str(config.home).lower()), None)
    if program is not None:
        says = f"the journal is in a folder that {program} may copy while it is being written"
        yield Finding(topic="place", says=says, act="move it elsewhere; share backups made with 'aj backup'")


def _permissions(home: Path) -> Finding:
    """Check that only the user can read the files, and that the user can write them."""
    if os.name == "nt":
        return Finding(topic="permissions", says="inherited from the folder")
    places = [
        home,
        *(path for name in _FOLDERS for path in (home / name).rglob("*")),
    ]
    places += [home / name for name in (archive.DATABASE, archive.LOCK, archive.VAULT, FILE_NAME)]
    inaccessible = sorted({str(path) for path in places if _is_inaccessible(path)})
    if inaccessible:  # mostly because of a `sudo aj sync`
        says = f"you cannot write to {_some_of(inaccessible)}, so 'aj sync' and other commands will fail"
        return Finding(
            topic="permissions", says=says, act=_ownership_advice(home), data={"barred": inaccessible}
        )
    loose = sorted({str(path) for path in places if _is_loose(path)})
    if loose:
        says, act = f"other users can read {_some_of(loose)}", f"chmod -R go-rwx {quote(str(home))}"
        return Finding(topic="permissions", says=says, act=act, data={"loose": loose})
    return Finding(topic="permissions", says="only you can read the journal")


def _some_of(names: list[str]) -> str:
    more = f" and {len(names) - _MAX_NAMES:,} more" if len(names) > _MAX_NAMES else ""
    return ", ".join(names[:_MAX_NAMES]) + more


def _is_inaccessible(path: Path) -> bool:
    """Whether the path exists and the user may not change it."""
    return os.access(path, os.F_OK) and not os.access(path, os.R_OK | os.W_OK)


def _ownership_advice(home: Path) -> str:
    """Return how the user can become the owner of a journal."""
    if os.statvfs(home).f_flag & os.ST_RDONLY:
        return f"{home} is on a read-only file system: 'aj backup PATH' copies it elsewhere"
    place = quote(str(home))
    return f'sudo chown -R "$(id -un)" {place}; chmod -R u+rwX,go-rwx {place}'


def _is_loose(path: Path) -> bool:
    try:
        return bool(stat.S_IMODE(path.lstat().st_mode) & (stat.S_IRWXG | stat.S_IRWXO))
    except OSError:
        return False


def _space(config: Config, on_disk: Inventory) -> Finding:
    place = config.home
    while not place.exists() and place != place.parent:
        place = place.parent
    free = shutil.disk_usage(place).free
    parts = disk_usage(config)
    needed = max(on_disk.new_bytes, _MIN_FREE_BYTES)
    says = f"the journal uses {size(sum(parts.values()))}; {size(free)} are free"
    act = f"free some space: {size(needed)} are needed" if free < needed else ""
    return Finding(topic="disk", says=says, act=act, data={"free": free, **parts})
