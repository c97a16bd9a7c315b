"""One conversation from two places: what is new, what is another version, and in which order it all stands.

Nothing that was once there goes away. An entry is known by its id; where two have one id and differ, the
newer is shown and the older is kept as an earlier version, unless one merely says more of the same.
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

# An entry by its id, and the how manieth of that id it is: sources do not all keep ids apart.
Name = tuple[str, int]


class Stored(NamedTuple):
    """An entry that is in the archive: its key, its place, which version it is (0 is the current one)."""

    key: int
    id: str
    version: int
    hash: bytes
    position: int
    given_by: int | None = None
    """The source it came from, if that is known."""
    at: str | None = None


class Plan(NamedTuple):
    """What changes: entries by their place in the incoming timeline, stored ones by key."""

    added: list[tuple[int, Row]]
    """Current entries and their positions."""
    earlier: list[tuple[int, Row, int]]
    """Incoming entries that are older than what is stored: position, row, version."""
    superseded: list[tuple[int, int]]
    """Stored entries that become an earlier version: key, version."""
    replaced: list[tuple[int, Row]]
    """Stored entries, by key, that the incoming one contains."""
    moved: list[tuple[int, int]]
    """Stored entries that stand elsewhere now: key, position."""
    given: list[int]
    """Stored entries, by key, of which the incoming ones say nothing new."""

    leaves: bool
    """Whether something stored is not in what comes in: then what it came from tells more than this."""


class Says(NamedTuple):
    """What an incoming row and a stored entry say of each other."""

    all_of_the_stored: bool
    no_more_than_the_stored: bool


def planned(
    stored: Sequence[Stored],
    rows: Sequence[Row],
    *,
    is_newer: bool,
    compare: Callable[[int, Row], Says],
    same: Mapping[int, int] | None = None,
    again: int | None = None,
) -> Plan:
    """How to bring a timeline into the stored one.

    `is_newer` tells which of two versions is shown, `compare(key, row)` whether one says all that the other
    says. `same` are incoming rows, by their place, that are stored under another id, by its key. `again` is
    the source if it is read once more: what is shown by the word of another came later, and stays.
    """
    same = same or {}
    shown = [entry for entry in stored if not entry.version]
    current = dict(zip(_named(entry.id for entry in shown), shown, strict=True))
    incoming = _incoming(rows, {entry.key: name for name, entry in current.items()}, same)
    there, now = list(current), list(incoming)

    def moment(name: Name) -> int | None:
        return timestamps.epoch_ms((incoming.get(name) or current[name]).at)

    order = _merged(there, now, moment) if is_newer else _merged(now, there, moment)
    versions = _Versions(stored)
    plan = Plan([], [], [], [], [], [], leaves=False)
    leaves = not current.keys() <= incoming.keys()
    for name, row in incoming.items():
        old = current.get(name)
        known = old.key if old is not None and old.hash == row.hash else versions.key_of(row)
        if known is not None:
            plan.given.append(known)
            continue
        if old is None:
            plan.added.append((order[name], row))
            continue
        is_anothers = again is not None and old.given_by not in (None, again)
        is_shown = is_newer and not is_anothers
        says_less = _settle(plan, (order[name], row), old, compare(old.key, row), versions, is_shown=is_shown)
        leaves = leaves or says_less
    gone = {key for key, _ in (*plan.replaced, *plan.superseded)}
    plan.moved.extend(
        (entry.key, order[name])
        for name, entry in current.items()
        if entry.position != order[name] and entry.key not in gone
    )
    return plan._replace(leaves=leaves or bool(plan.superseded))


def _settle(
    plan: Plan, placed: tuple[int, Row], old: Stored, says: Says, versions: _Versions, *, is_shown: bool
) -> bool:
    """Plan for a row that differs from what is stored; whether it only says less, and so leaves something."""
    place, row = placed
    if says.all_of_the_stored and (is_shown or not (says.no_more_than_the_stored or old.id != row.id)):
        plan.replaced.append((old.key, row))
        plan.added.append(placed)
    elif is_shown:
        plan.superseded.append((old.key, versions.next(old.id)))
        plan.added.append(placed)
    elif not says.no_more_than_the_stored:
        plan.earlier.append((place, row, versions.next(row.id)))
    else:
        plan.given.append(old.key)
        return True
    return False


def _named(ids: Iterable[str]) -> Iterator[Name]:
    seen: dict[str, int] = {}
    for id_ in ids:
        seen[id_] = number = seen.get(id_, -1) + 1
        yield id_, number


def _incoming(rows: Sequence[Row], names: Mapping[int, Name], same: Mapping[int, int]) -> dict[Name, Row]:
    """The rows by their names; one that is stored under another id by the name it has there."""
    found = {}
    for place, (name, row) in enumerate(zip(_named(row.id for row in rows), rows, strict=True)):
        found[names[same[place]] if place in same else name] = row
    return found


class _Versions:
    """The earlier versions of entries."""

    def __init__(self, stored: Sequence[Stored]) -> None:
        earlier = [entry for entry in stored if entry.version]
        self._keys = {(entry.id, entry.hash): entry.key for entry in earlier}
        self._last: dict[str, int] = {}
        for entry in earlier:
            self._last[entry.id] = max(entry.version, self._last.get(entry.id, 0))

    def key_of(self, row: Row) -> int | None:
        """The key of the earlier version that a row is, if it is one."""
        return self._keys.get((row.id, row.hash)) if self._keys else None

    def next(self, id_: str) -> int:
        self._last[id_] = self._last.get(id_, 0) + 1
        return self._last[id_]


def _merged(before: list[Name], now: list[Name], moment: Callable[[Name], int | None]) -> dict[Name, int]:
    """The position of every entry: the order of now; what only was there before follows what it followed.

    What followed nothing that is there now, as one of several parts does, has its place by its time.
    """
    if now[: len(before)] == before:
        return {name: position for position, name in enumerate(now)}
    there = set(now)
    followers: dict[Name | None, list[Name]] = {}
    last: Name | None = None
    for name in before:
        if name in there:
            last = name
        else:
            followers.setdefault(last, []).append(name)
    if first := followers.get(None):
        anchor = _last_before(first[0], now, moment)
        if anchor is not None:
            followers[anchor] = [*followers.get(anchor, ()), *followers.pop(None)]
    merged = list(followers.get(None, ()))
    for name in now:
        merged.append(name)
        merged.extend(followers.get(name, ()))
    return {name: position for position, name in enumerate(merged)}


def _last_before(name: Name, among: Iterable[Name], moment: Callable[[Name], int | None]) -> Name | None:
    """The last entry that is earlier than one; what has no time is as early as the one before it."""
    at = moment(name)
    if at is None:
        return None
    found = last = None
    for other in among:
        last = moment(other) or last
        if last is not None and last < at:
            found = other
    return found


def preference(origin: Origin | None, reader: str | None, version: str | None) -> int:
    """Whether what comes from this origin is shown rather than what that version of a reader gave.

    More than 0 if it is, less if it is not, 0 if their times decide. A source may tell one conversation in
    several forms; its reader names first the one that tells most.
    """
    if origin is None or origin.reader != reader or origin.version == version:
        return 0
    known = readers.discover().get(reader)
    versions = known.INFO.versions if known else ()
    if origin.version not in versions or version not in versions:
        return 0
    return versions.index(version) - versions.index(origin.version)


def merged_detail(newer: Conversation, older: Conversation) -> Conversation:
    """What is known of a conversation: the newer's word, and where it is silent the older's."""
    changes: dict[str, Any] = {}
    for field, theirs in msgspec.structs.asdict(older).items():
        ours = getattr(newer, field)
        # A list has no branches, and so none that is shown.
        if field in _TOGETHER or ours == theirs or (field == "head_id" and newer.shape == "list"):
            continue
        if ours is None:
            changes[field] = theirs
        elif isinstance(ours, list):
            changes[field] = _union(ours, theirs)
        elif isinstance(ours, dict):
            changes[field] = {**theirs, **ours}
    started = [time for time in (newer.started_at, older.started_at) if time]
    if started and (first := min(started, key=_moment)) != newer.started_at:
        changes["started_at"] = first
    if older.requests or older.tools:
        changes |= _requests(newer, older)
    return replace(newer, **changes) if changes else newer


# The timeline is merged entry by entry; a request names tools by their places.
_TOGETHER = {"timeline", "tools", "requests"}


def _moment(at: str) -> float:
    moment = timestamps.epoch_ms(at)
    return float("inf") if moment is None else moment


def _union(ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    known = {encoded.encode(item) for item in ours}
    return [*ours, *(item for item in theirs if encoded.encode(item) not in known)]


def _requests(newer: Conversation, older: Conversation) -> dict[str, Any]:
    """Requests and tools of both. A request with one id is one: the newer's word holds."""
    tools = _union(newer.tools, older.tools)
    encoded = [msgspec.msgpack.encode(tool) for tool in tools]
    # Two tools may be the same: one that stands where it stood is that one.
    moved = {
        place: place if encoded[place : place + 1] == [tool] else encoded.index(tool)
        for place, tool in enumerate(map(msgspec.msgpack.encode, older.tools))
    }
    known = {request.id for request in newer.requests if request.id is not None}
    others = [
        replace(request, tools=[moved.get(place, place) for place in request.tools])
        for request in older.requests
        if request.id not in known
    ]
    return {"tools": tools, "requests": _union(newer.requests, others)}
