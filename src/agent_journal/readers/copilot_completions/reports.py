"""GitHub's metrics: the rows of its reports as events, by day, without any messages.

A report nests its counts (editors, then models, then languages) or lists them separately. Each level becomes
a row of its own, with the names of the levels around it.
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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Message
    from agent_journal.notes import Notes

_DATES = ("date", "day", "report_day")
# Fields that identify a row, and all rows nested in it.
_KEYS = ("date", "day", "user_id", "user_login", "login")
_OWNER_FIELDS = ("organization_id", "enterprise_id")
# The key for the `name` of an element, by the name of its list.
_SINGULAR = {"editors": "editor", "models": "model", "languages": "language", "repositories": "repository"}
_INHERITED = (*_KEYS, *_SINGULAR.values())
_NESTED_TYPES = frozenset({list, dict, type(None)})
# No report nests deeper than four levels.
_MAX_DEPTH = 8


class _Row(NamedTuple):
    name: str
    keys: Bag
    values: Bag
    depth: int


def days(source: Input, version: str, note: Notes) -> Iterator[Conversation]:
    """Yield the counts of each day, or of the whole period if a report does not distinguish days."""
    grouped = Grouped()
    for where, record, head in _records(source, note):
        try:
            grouped.add(_period(record) or _period(head) or "", None, [record, head])
        except RecursionError:
            note(Kind.BAD_RECORD, where, "nested too deeply")
    for period, values in grouped.groups():
        yield _conversation(period, version, values)


def _records(source: Input, note: Notes) -> Iterator[tuple[str, Bag, Bag]]:
    """Yield each record with the fields around the list that contains it."""
    for where, value in json_stream.values(source, note):
        if value.__class__ is not dict:
            note(Kind.BAD_RECORD, where, f"a record is {type(value).__name__}")
            continue
        list_names = [name for name in (DAYS, USERS) if value.get(name).__class__ is list]
        head = {name: each for name, each in value.items() if name not in list_names}
        if LINKS in value:
            note(Kind.IGNORED_FILE, where, "it only links to reports")
        elif not list_names:
            yield where, value, {}
        for name in list_names:
            for index, record in enumerate(value[name]):
                if record.__class__ is dict:
                    yield where, record, head
                else:
                    note(Kind.BAD_RECORD, f"{name}[{index}]", f"a record is {type(record).__name__}")


def _period(record: Bag) -> str | None:
    """Get the day of a record, else its first and last day."""
    for name in _DATES:
        if isinstance(day := record.get(name), str):
            return day
    span = [record.get(name) for name in ("report_start_day", "report_end_day")]
    return "/".join(day for day in span if isinstance(day, str)) or None


def _conversation(period: str, version: str, values: list[list[Bag]]) -> Conversation:
    conversation_id = ids.made(SOURCE, version, period, *_owner(values))
    first, _, last = period.partition("/")
    started_at = _start_of_day(first)
    return Conversation(
        id=conversation_id,
        made_id=True,
        source=SOURCE,
        started_at=started_at,
        updated_at=_start_of_day(last or first),
        shape="list",
        timeline=_events(conversation_id, version, started_at, [record for record, _ in values]),
        extra=_heads(values),
    )


def _owner(values: list[list[Bag]]) -> list[Any]:
    """Identify the owner, which all files of a report share; older reports are identified by content."""
    record, head = values[0]
    owner = [record.get(name) or head.get(name) for name in _OWNER_FIELDS]
    is_by_user = not record.keys().isdisjoint({"user_id", "user_login", "login"})
    return [*owner, is_by_user] if any(owner) else [values]


def _heads(values: list[list[Bag]]) -> Bag:
    """Get the fields around the records; mostly there is one report."""
    heads: list[Bag] = []
    for _, head in values:
        if head and head not in heads[-1:]:
            heads.append(head)
    return {} if not heads else heads[0] if len(heads) == 1 else {"reports": heads}


def _start_of_day(day: str) -> str | None:
    """Get the start of a day; GitHub's days are in UTC."""
    start = f"{day}T00:00:00Z"
    return start if timestamps.is_timestamp(start) and timestamps.parse(start) else None


def _events(conversation_id: str, version: str, at: str | None, records: list[Bag]) -> list[Message | Event]:
    events: list[Message | Event] = []
    id_counts: Counter[str] = Counter()
    for record in records:
        record_id = ids.made(conversation_id, record)
        id_counts[record_id] += 1
        if id_counts[record_id] > 1:
            record_id = ids.made(record_id, id_counts[record_id])
        events += [
            Event(id=f"{record_id}-{index}", made_id=True, name=name, at=at, data=data)
            for index, (name, data) in enumerate(_rows(version, record))
        ]
    return events


def _rows(name: str, record: Bag) -> Iterator[tuple[str, Bag]]:
    """Yield the rows of a record: its own values first, then those of each nested level, in order."""
    pending = [_Row(name, {}, record, 0)]
    while pending:
        row = pending.pop()
        own, nested = _split(row)
        if own:
            yield row.name, row.keys | own
        if nested:
            keys = row.keys | {name: own[name] for name in _INHERITED if name in own}
            pending += [
                _Row(f"{row.name}.{name}", keys, _with_named_key(name, values), row.depth + 1)
                for name, values in reversed(nested)
            ]


def _split(row: _Row) -> tuple[Bag, list[tuple[str, Bag]]]:
    """Split a level into its own values and the nested levels."""
    if _NESTED_TYPES.isdisjoint(map(type, row.values.values())):
        return row.values, []
    own: Bag = {}
    nested: list[tuple[str, Bag]] = []
    for name, value in row.values.items():
        if row.depth == _MAX_DEPTH:
            own[name] = value
        elif value.__class__ is dict and value and name.startswith("copilot_"):
            nested.append((name, value))
        elif value.__class__ is list and value and all(each.__class__ is dict for each in value):
            nested += [(name, each) for each in value]
        elif value is not None:
            own[name] = value
    return own, nested


def _with_named_key(name: str, values: Bag) -> Bag:
    """Rename the key `name` of a level to the kind for its kind."""
    kind = _SINGULAR.get(name)
    if kind is None or "name" not in values or kind in values:
        return values
    return {kind if key == "name" else key: value for key, value in values.items()}
