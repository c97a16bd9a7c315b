"""Merge a conversation with the stored one: find new entries, other versions, and the order of all.

Nothing that was stored goes away. Entries are identified by their ids. Where two entries with one id differ,
the newer is shown and the older becomes an earlier version, unless one of them contains the other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec
from msgspec.structs import replace

from agent_journal import readers
from agent_journal.archive import encoded
from agent_journal.model import timestamps

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from agent_journal.archive.rows import Row
    from agent_journal.model import Conversation, Origin

# An entry's id, and how many entries before it have the same id: not all sources have unique ids.
EntryName = tuple[str, int]


class StoredEntry(NamedTuple):
    """A stored entry: its key, its position, and its version (0 is the current one)."""

    key: int
    id: str
    version: int
    hash: bytes
    position: int
    given_by: int | None = None
    """The source it came from, if known."""
    at: str | None = None


class MergePlan(NamedTuple):
    """The changes to make: incoming entries by their position, stored ones by key."""

    added: list[tuple[int, Row]]
    """Current entries and their positions."""
    earlier: list[tuple[int, Row, int]]
    """Incoming entries that are older than the stored ones: position, row, version."""
    superseded: list[tuple[int, int]]
    """Stored entries that become earlier versions: key, version."""
    replaced: list[tuple[int, Row]]
    """Stored entries, by key, whose content the incoming one includes."""
    moved: list[tuple[int, int]]
    """Stored entries that change their position: key, position."""
    unchanged: list[int]
    """Stored entries, by key, to which the incoming ones add nothing."""

    misses_entries: bool
    """Whether stored entries are missing in the incoming conversation, so that their source has more."""


class Comparison(NamedTuple):
    """How the content of an incoming row compares with that of a stored entry."""

    covers_stored: bool
    is_covered_by_stored: bool


def plan_merge(
    stored: Sequence[StoredEntry],
    rows: Sequence[Row],
    *,
    is_newer: bool,
    compare: Callable[[int, Row], Comparison],
    same_entries: Mapping[int, int] | None = None,
    reimported_source: int | None = None,
) -> MergePlan:
    """Plan how to merge a timeline into the stored one.

    `is_newer` decides which of two versions is shown, and `compare(key, row)` whether one includes the other.
    `same_entries` maps positions of incoming rows to the keys of stored entries with another id.
    `reimported_source` is the source if this is a re-import: an entry that another source gave stays shown.
    """
    same_entries = same_entries or {}
    current_entries = [entry for entry in stored if not entry.version]
    current = dict(zip(_entry_names(entry.id for entry in current_entries), current_entries, strict=True))
    incoming = _incoming(rows, {entry.key: name for name, entry in current.items()}, same_entries)
    stored_names, incoming_names = list(current), list(incoming)

    def epoch_ms_of(name: EntryName) -> int | None:
        return timestamps.epoch_ms((incoming.get(name) or current[name]).at)

    order = (
        _merge_order(stored_names, incoming_names, epoch_ms_of)
        if is_newer
        else _merge_order(incoming_names, stored_names, epoch_ms_of)
    )
    versions = _Versions(stored)
    plan = MergePlan([], [], [], [], [], [], misses_entries=False)
    misses_entries = not current.keys() <= incoming.keys()
    for name, row in incoming.items():
        old = current.get(name)
        known_key = old.key if old is not None and old.hash == row.hash else versions.key_of(row)
        if known_key is not None:
            plan.unchanged.append(known_key)
            continue
        if old is None:
            plan.added.append((order[name], row))
            continue
        is_from_other_source = reimported_source is not None and old.given_by not in (None, reimported_source)
        is_shown = is_newer and not is_from_other_source
        is_shorter = _plan_changed(
            plan, (order[name], row), old, compare(old.key, row), versions, is_shown=is_shown
        )
        misses_entries = misses_entries or is_shorter
    removed_keys = {key for key, _ in (*plan.replaced, *plan.superseded)}
    plan.moved.extend(
        (entry.key, order[name])
        for name, entry in current.items()
        if entry.position != order[name] and entry.key not in removed_keys
    )
    return plan._replace(misses_entries=misses_entries or bool(plan.superseded))


def _plan_changed(
    plan: MergePlan,
    positioned: tuple[int, Row],
    old: StoredEntry,
    comparison: Comparison,
    versions: _Versions,
    *,
    is_shown: bool,
) -> bool:
    """Plan the change for a row that differs from the stored entry; return whether it only has less."""
    position, row = positioned
    if comparison.covers_stored and (is_shown or not (comparison.is_covered_by_stored or old.id != row.id)):
        plan.replaced.append((old.key, row))
        plan.added.append(positioned)
    elif is_shown:
        plan.superseded.append((old.key, versions.next(old.id)))
        plan.added.append(positioned)
    elif not comparison.is_covered_by_stored:
        plan.earlier.append((position, row, versions.next(row.id)))
    else:
        plan.unchanged.append(old.key)
        return True
    return False


def _entry_names(ids: Iterable[str]) -> Iterator[EntryName]:
    counts: dict[str, int] = {}
    for id_ in ids:
        counts[id_] = number = counts.get(id_, -1) + 1
        yield id_, number


def _incoming(
    rows: Sequence[Row], names: Mapping[int, EntryName], same: Mapping[int, int]
) -> dict[EntryName, Row]:
    """Return the rows by name; a row that is stored under another id gets the name of the stored entry."""
    incoming = {}
    for position, (name, row) in enumerate(zip(_entry_names(row.id for row in rows), rows, strict=True)):
        incoming[names[same[position]] if position in same else name] = row
    return incoming


class _Versions:
    """The earlier versions of entries."""

    def __init__(self, stored: Sequence[StoredEntry]) -> None:
        earlier = [entry for entry in stored if entry.version]
        self._keys = {(entry.id, entry.hash): entry.key for entry in earlier}
        self._last: dict[str, int] = {}
        for entry in earlier:
            self._last[entry.id] = max(entry.version, self._last.get(entry.id, 0))

    def key_of(self, row: Row) -> int | None:
        """Return the key of the earlier version that equals a row, if any."""
        return self._keys.get((row.id, row.hash)) if self._keys else None

    def next(self, id_: str) -> int:
        self._last[id_] = self._last.get(id_, 0) + 1
        return self._last[id_]


def _merge_order(
    stored: list[EntryName], incoming: list[EntryName], epoch_ms_of: Callable[[EntryName], int | None]
) -> dict[EntryName, int]:
    """Return the position of every entry: the incoming order; other stored entries follow what they followed.

    Entries that followed nothing that is still there, as in one of several parts, are placed by their time.
    """
    if incoming[: len(stored)] == stored:
        return {name: position for position, name in enumerate(incoming)}
    incoming_set = set(incoming)
    followers: dict[EntryName | None, list[EntryName]] = {}
    last: EntryName | None = None
    for name in stored:
        if name in incoming_set:
            last = name
        else:
            followers.setdefault(last, []).append(name)
    if first := followers.get(None):
        anchor = _last_before(first[0], incoming, epoch_ms_of)
        if anchor is not None:
            followers[anchor] = [*followers.get(anchor, ()), *followers.pop(None)]
    merged = list(followers.get(None, ()))
    for name in incoming:
        merged.append(name)
        merged.extend(followers.get(name, ()))
    return {name: position for position, name in enumerate(merged)}


def _last_before(
    name: EntryName, names: Iterable[EntryName], epoch_ms_of: Callable[[EntryName], int | None]
) -> EntryName | None:
    """Return the last entry that is earlier than this one; one without a time counts like its predecessor."""
    at = epoch_ms_of(name)
    if at is None:
        return None
    result = last = None
    for other in names:
        last = epoch_ms_of(other) or last
        if last is not None and last < at:
            result = other
    return result


def preference(origin: Origin | None, reader: str | None, version: str | None) -> int:
    """Compare the format version of an origin with the stored one: positive if the origin's is shown.

    Negative if the stored one is shown, 0 if their times decide. A source may have one conversation in
    several formats; its reader lists the most complete one first.
    """
    if origin is None or origin.reader != reader or origin.version == version:
        return 0
    known = readers.discover().get(reader)
    versions = known.INFO.versions if known else ()
    if origin.version not in versions or version not in versions:
        return 0
    return versions.index(version) - versions.index(origin.version)


def merge_detail(newer: Conversation, older: Conversation) -> Conversation:
    """Merge the details of a conversation: the newer values, and the older ones where those are missing."""
    changes: dict[str, Any] = {}
    for field, older_value in msgspec.structs.asdict(older).items():
        newer_value = getattr(newer, field)
        # A list has no branches, so no branch is shown.
        if (
            field in _MERGED_SEPARATELY
            or newer_value == older_value
            or (field == "head_id" and newer.shape == "list")
        ):
            continue
        if newer_value is None:
            changes[field] = older_value
        elif isinstance(newer_value, list):
            changes[field] = _union(newer_value, older_value)
        elif isinstance(newer_value, dict):
            changes[field] = {**older_value, **newer_value}
    started = [time for time in (newer.started_at, older.started_at) if time]
    if started and (first := min(started, key=_epoch_ms_or_never)) != newer.started_at:
        changes["started_at"] = first
    if older.requests or older.tools:
        changes |= _requests(newer, older)
    return replace(newer, **changes) if changes else newer


# The timeline is merged entry by entry; requests refer to tools by index.
_MERGED_SEPARATELY = {"timeline", "tools", "requests"}


def _epoch_ms_or_never(at: str) -> float:
    epoch_ms = timestamps.epoch_ms(at)
    return float("inf") if epoch_ms is None else epoch_ms


def _union(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    known = {encoded.encode(item) for item in first}
    return [*first, *(item for item in second if encoded.encode(item) not in known)]


def _requests(newer: Conversation, older: Conversation) -> dict[str, Any]:
    """Merge requests and tools; of two requests with one id, the newer is used."""
    tools = _union(newer.tools, older.tools)
    encoded_tools = [msgspec.msgpack.encode(tool) for tool in tools]
    # Two tools may be equal: prefer the one at the same index.
    moved = {
        index: index if encoded_tools[index : index + 1] == [tool] else encoded_tools.index(tool)
        for index, tool in enumerate(map(msgspec.msgpack.encode, older.tools))
    }
    known = {request.id for request in newer.requests if request.id is not None}
    others = [
        replace(request, tools=[moved.get(index, index) for index in request.tools])
        for request in older.requests
        if request.id not in known
    ]
    return {"tools": tools, "requests": _union(newer.requests, others)}
