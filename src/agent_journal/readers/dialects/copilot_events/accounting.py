"""The token usage of a session: each API response is counted once, in whatever form a version states it.

* A record states the usage of one response; it belongs to the messages of the response.
* `session.shutdown` and `session.usage_checkpoint` state totals by model: of the process, or since about
  1.0.7x of the whole session, including earlier totals and records. The rest belongs to the messages since
  the previous totals that have no record: those of one model share a key, and the last one gets the usage.
* Without either, a message states only its output tokens.
* `session.compaction_complete` states the usage of a summary: as of 1.0.102 no record and no total has it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.model import Event, Message, ids
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events import records, tokens
from agent_journal.readers.dialects.copilot_events.chain import following
from agent_journal.readers.dialects.copilot_events.events import text_in
from agent_journal.readers.dialects.copilot_events.records import Records
from agent_journal.readers.dialects.copilot_events.tokens import Tokens

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry

_START_EVENTS = frozenset({"session.start", "session.resume"})
_SHUTDOWN = "session.shutdown"
_TOTALS_EVENTS = frozenset({_SHUTDOWN, "session.usage_checkpoint"})
_COMPACTION = "session.compaction_complete"
_ACCOUNTING_EVENTS = _START_EVENTS | _TOTALS_EVENTS | {_COMPACTION}


def assign_usage(entries: list[Entry], note: Notes) -> list[Entry]:
    """Assign usage to the messages that it belongs to; insert an empty message where there is none."""
    answers: list[int] = []
    points: list[int] = []
    record_indexes: list[int] = []
    for index, entry in enumerate(entries):
        if entry.__class__ is Event:
            name = entry.name
            if name in _ACCOUNTING_EVENTS:
                points.append(index)
            elif name in records.NAMES:
                record_indexes.append(index)
        elif entry.role == "assistant":  # type: ignore[union-attr] # no event, so a message
            answers.append(index)
    stated = Records(note)
    if record_indexes:
        stated.add_all(entries, sorted([*answers, *record_indexes]))
        stated.find_answers(entries, answers)
        records.assign(entries, stated)
    return _Accounting(entries, note, stated).assign(answers, points)


class _Accounting:
    """Goes through a session and divides its totals among its messages."""

    def __init__(self, entries: list[Entry], note: Notes, records_: Records) -> None:
        self._entries = entries
        self._note = note
        self._records = {record.index: record for record in records_}
        self._counts_without_answer = {record.tokens[:2] for record in records_ if not record.indexes}
        self._recorded = {index for record in records_ for index in record.indexes}
        self._counted_tokens: dict[str, Tokens] = {}
        self._counted_before_process: dict[str, Tokens] = {}
        self._unassigned: list[int] = []
        self._compactions: list[int] = []
        self._has_records = False
        self._uncounted = 0
        self._inserted: dict[int, list[Message]] = {}

    def assign(self, answers: list[int], points: list[int]) -> list[Entry]:
        """Return all entries, including inserted messages."""
        if self._records:
            answers = [index for index in answers if index not in self._recorded]
        for index in sorted([*answers, *points, *self._records]):
            if index in self._records:
                self._count_record(index)
            elif isinstance(entry := self._entries[index], Message):
                self._unassigned.append(index)
            elif entry.name in _TOTALS_EVENTS:
                self._count_totals(entry, index)
            elif entry.name == _COMPACTION:
                self._compactions.append(index)
            elif entry.data.get("sessionWasActive") is not True:
                self._start_process()
        self._start_process()
        if self._uncounted:
            self._note(Kind.PARTIAL_USAGE, "", f"messages whose input is not counted: {self._uncounted}")
        return self._with_inserted()

    def _count_record(self, index: int) -> None:
        record = self._records[index]
        self._has_records = True
        self._count(record.model or "", record.tokens)

    def _count(self, model: str, more: Tokens) -> None:
        self._counted_tokens[model] = self._counted_tokens.get(model, Tokens()).plus(more)

    def _start_process(self) -> None:
        """Finish messages that no totals cover; those of the next process do not include them."""
        self._uncounted += sum(self._stated_output(index) is not None for index in self._unassigned)
        for index in self._compactions:
            self._count_compaction(index, {})
        self._unassigned, self._compactions, self._has_records = [], [], False
        self._counted_before_process = dict(self._counted_tokens)

    def _count_compaction(self, index: int, remainders: dict[str, Tokens]) -> None:
        """Count the usage of a compaction, unless a record or the `remainders` of the totals has it."""
        event = self._entries[index]
        if not isinstance(event, Event):
            return
        usage = event.data.get("compactionTokensUsed")
        counts = tokens.stated(usage, self._note, event.id)
        model = text_in(usage, "model") or self._last_model(index)
        if counts.is_stated and counts[:2] not in self._counts_without_answer:
            message_tokens = Tokens(output=self._output_of(self._unassigned))
            if not any(remainder.minus(message_tokens).covers(counts) for remainder in remainders.values()):
                self._insert(index, event, model, counts, "compaction")

    def _last_model(self, index: int) -> str | None:
        """Get the model of the answer before an entry."""
        earlier = (self._entries[each] for each in reversed(self._unassigned) if each < index)
        return next((entry.model for entry in earlier if isinstance(entry, Message)), None)

    def _count_totals(self, event: Event, index: int) -> None:
        """Assign the uncounted remainder of totals to the messages without usage."""
        totals = tokens.by_model(event, self._note)
        covers_session = tokens.covers_session(event) or self._includes_earlier_totals(totals)
        remainders: dict[str, Tokens] = {}
        for model, stated in totals.items():
            total = (
                stated if covers_session else self._counted_before_process.get(model, Tokens()).plus(stated)
            )
            remainders[model] = total.minus(self._counted_tokens.get(model, Tokens()))
            self._count(model, remainders[model])
        if totals:
            for compaction in self._compactions:
                self._count_compaction(compaction, remainders)
            self._compactions = []
        self._assign_remainders(event, index, remainders)
        if event.name == _SHUTDOWN:
            self._start_process()

    def _includes_earlier_totals(self, totals: dict[str, Tokens]) -> bool:
        """Whether totals that should cover only the process include those of earlier processes.

        Then they are larger, and closer to the output of the messages after subtracting the earlier ones.
        """
        if not self._counted_before_process or not all(
            model in totals and totals[model].covers(earlier)
            for model, earlier in self._counted_before_process.items()
        ):
            return False
        outputs = [self._stated_output(index) for index in self._unassigned]
        if outputs and all(output is None for output in outputs):
            return False
        message_output = self._output_of(self._unassigned)
        total = sum(stated.output or 0 for stated in totals.values())
        earlier_output = sum(counts.output or 0 for counts in self._counted_before_process.values())
        return abs(total - earlier_output - message_output) < abs(total - message_output)

    def _stated_output(self, index: int) -> int | None:
        entry = self._entries[index]
        return entry.usage.output if isinstance(entry, Message) and entry.usage is not None else None

    def _output_of(self, indexes: list[int]) -> int:
        """Add up the output tokens that messages state, counting the pieces of a response once."""
        outputs: dict[object, int] = {}
        for index in indexes:
            entry = self._entries[index]
            if isinstance(entry, Message) and entry.usage is not None:
                outputs[entry.usage.key or entry.id] = entry.usage.output or 0
        return sum(outputs.values())

    def _assign_remainders(self, event: Event, index: int, remainders: dict[str, Tokens]) -> None:
        groups = self._groups(event, remainders)
        assigned: set[int] = set()
        for model, remainder in remainders.items():
            group = groups.get(model)
            # If there are records, a message without one that gets no remainder is counted elsewhere.
            if group and (any(remainder) or self._has_records):
                usage = remainder.usage(f"{event.id}:{model}", {_source(event): event.id})
                # With several models, the model of a message would be a guess.
                records.share(self._entries, group, usage, model if len(remainders) == 1 else None)
                assigned.update(group)
            elif any(remainder):
                self._insert(index, event, model, remainder, _source(event))
        self._unassigned = [index for index in self._unassigned if index not in assigned]

    def _groups(self, event: Event, remainders: dict[str, Tokens]) -> dict[str, list[int]]:
        """Group the messages without usage by the model whose totals include them."""
        default_model = text_in(event.data, "currentModel")
        if default_model not in remainders:
            default_model = next(iter(remainders), None)
        groups: dict[str, list[int]] = {}
        for index in self._unassigned:
            entry = self._entries[index]
            if isinstance(entry, Message) and (model := entry.model or default_model) is not None:
                groups.setdefault(model, []).append(index)
        # A model may have another name in the totals than in its messages.
        others = [model for model in groups if model not in remainders]
        unnamed = [model for model, remainder in remainders.items() if model not in groups and any(remainder)]
        for other, model in zip(others, unnamed, strict=False):
            groups[model] = groups.pop(other)
        return groups

    def _insert(self, index: int, event: Event, model: str | None, counts: Tokens, source: str) -> None:
        """Insert an empty message before an event, for requests that have no message."""
        key = f"{event.id}:{model or ''}"
        message = Message(
            id=ids.made(event.id, model or ""),
            made_id=True,
            role="assistant",
            at=event.at,
            model=model,
            hidden=True,
            usage=counts.usage(key, {source: event.id}),
        )
        self._inserted.setdefault(index, []).append(message)

    def _with_inserted(self) -> list[Entry]:
        if not self._inserted:
            return self._entries
        entries: list[Entry] = []
        for index, entry in enumerate(self._entries):
            parent = entry.parent_id
            for message in self._inserted.get(index, ()):
                entries.append(replace(message, parent_id=parent))
                parent = message.id
            entries.append(entry if parent == entry.parent_id else following(entry, parent))
        return entries


def _source(event: Event) -> str:
    """Get the kind of totals for the usage key."""
    return "shutdown" if event.name == _SHUTDOWN else "checkpoint"
