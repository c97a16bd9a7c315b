"""What GitHub counts: the rows of its reports as events, by day. Nobody speaks in them.

A report nests its counts (editors, in them models, in them languages) or lists them side by side. Each level
becomes a row of its own, with the names of those it lies in.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.decoding.spill import Grouped
from agent_journal.model import Bag, Conversation, Event, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.copilot_completions.names import DAYS, LINKS, SOURCE, USERS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Message
    from agent_journal.notes import Notes

_DATES = ("date", "day", "report_day")
# What rows say about where they belong, and all rows below them belong as well.
_KEYS = ("date", "day", "user_id", "user_login", "login")
_WHOSE = ("organization_id", "enterprise_id")
# What the elements of a list are called by their `name`.
_SINGULAR = {"editors": "editor", "models": "model", "languages": "language", "repositories": "repository"}
_INHERITED = (*_KEYS, *_SINGULAR.values())
_NESTS = frozenset({list, dict, type(None)})
# No report nests deeper than four levels.
_DEEPEST = 8


class _Row(NamedTuple):
    name: str
    keys: Bag
    values: Bag
    depth: int


def days(source: Source, version: str, note: Notes) -> Iterator[Conversation]:
    """The counts of each day, or of the whole time of a report that does not tell days apart."""
    grouped = Grouped()
    for where, record, head in _records(source, note):
        try:
            grouped.add(_period(record) or _period(head) or "", None, [record, head])
        except RecursionError:
            note(Kind.BAD_RECORD, where, "nested too deeply")
    for period, values in grouped.groups():
        yield _conversation(period, version, values)


def _records(source: Source, note: Notes) -> Iterator[tuple[str, Bag, Bag]]:
    """Each record, with what stands around the list it is in."""
    for where, value in json_stream.values(source, note):
        if value.__class__ is not dict:
            note(Kind.BAD_RECORD, where, f"a record is {type(value).__name__}")
            continue
        listed = [name for name in (DAYS, USERS) if value.get(name).__class__ is list]
        head = {name: each for name, each in value.items() if name not in listed}
        if LINKS in value:
            note(Kind.IGNORED_FILE, where, "it only links to reports")
        elif not listed:
            yield where, value, {}
        for name in listed:
            for place, record in enumerate(value[name]):
                if record.__class__ is dict:
                    yield where, record, head
                else:
                    note(Kind.BAD_RECORD, f"{name}[{place}]", f"a record is {type(record).__name__}")


def _period(record: Bag) -> str | None:
    """The day of a record, else the days that it spans."""
    for name in _DATES:
        if isinstance(day := record.get(name), str):
            return day
    span = [record.get(name) for name in ("report_start_day", "report_end_day")]
    return "/".join(day for day in span if isinstance(day, str)) or None


def _conversation(period: str, version: str, values: list[list[Bag]]) -> Conversation:
    made = ids.made(SOURCE, version, period, *_whose(values))
    first, _, last = period.partition("/")
    started_at = _begin(first)
    return Conversation(
        id=made,
        made_id=True,
        source=SOURCE,
        started_at=started_at,
        updated_at=_begin(last or first),
        shape="list",
        timeline=_events(made, version, started_at, [record for record, _ in values]),
        extra=_heads(values),
    )


def _whose(values: list[list[Bag]]) -> list[Any]:
    """Whose counts they are, which is the same in all files of a report; in older ones all that they say."""
    record, head = values[0]
    whose = [record.get(name) or head.get(name) for name in _WHOSE]
    is_by_user = not record.keys().isdisjoint({"user_id", "user_login", "login"})
    return [*whose, is_by_user] if any(whose) else [values]


def _heads(values: list[list[Bag]]) -> Bag:
    """What stands around the records: mostly of one report."""
    heads: list[Bag] = []
    for _, head in values:
        if head and head not in heads[-1:]:
            heads.append(head)
    return {} if not heads else heads[0] if len(heads) == 1 else {"reports": heads}


def _begin(day: str) -> str | None:
    """When a day begins; GitHub counts by days in UTC."""
    begin = f"{day}T00:00:00Z"
    return begin if timestamps.is_moment(begin) and timestamps.parse(begin) else None


def _events(made: str, version: str, at: str | None, records: list[Bag]) -> list[Message | Event]:
    events: list[Message | Event] = []
    told: Counter[str] = Counter()
    for record in records:
        record_id = ids.made(made, record)
        told[record_id] += 1
        if told[record_id] > 1:
            record_id = ids.made(record_id, told[record_id])
        events += [
            Event(id=f"{record_id}-{place}", made_id=True, name=name, at=at, data=data)
            for place, (name, data) in enumerate(_rows(version, record))
        ]
    return events


def _rows(name: str, record: Bag) -> Iterator[tuple[str, Bag]]:
    """A record as rows: its own values first, then those of each level below it, in their order."""
    pending = [_Row(name, {}, record, 0)]
    while pending:
        row = pending.pop()
        own, below = _split(row)
        if own:
            yield row.name, row.keys | own
        if below:
            keys = row.keys | {name: own[name] for name in _INHERITED if name in own}
            pending += [
                _Row(f"{row.name}.{name}", keys, _named(name, values), row.depth + 1)
                for name, values in reversed(below)
            ]


def _split(row: _Row) -> tuple[Bag, list[tuple[str, Bag]]]:
    """What a level says itself, and the levels below it."""
    if _NESTS.isdisjoint(map(type, row.values.values())):
        return row.values, []
    own: Bag = {}
    below: list[tuple[str, Bag]] = []
    for name, value in row.values.items():
        if row.depth == _DEEPEST:
            own[name] = value
        elif value.__class__ is dict and value and name.startswith("copilot_"):
            below.append((name, value))
        elif value.__class__ is list and value and all(each.__class__ is dict for each in value):
            below += [(name, each) for each in value]
        elif value is not None:
            own[name] = value
    return own, below


def _named(name: str, values: Bag) -> Bag:
    """A level that is called by its name under the word for what it is."""
    word = _SINGULAR.get(name)
    if word is None or "name" not in values or word in values:
        return values
    return {word if key == "name" else key: value for key, value in values.items()}
