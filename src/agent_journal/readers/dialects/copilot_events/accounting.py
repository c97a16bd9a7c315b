"""What a session used: each API response is counted once, whatever a version writes about it.

* A record states one response, and its messages have it.
* `session.shutdown` and `session.usage_checkpoint` state sums by model: of the process, or since about 1.0.7x
  of the whole session, with all that is in earlier sums and in records. What they state beyond that is of the
  messages since the sums before that have no record: those of one model share a key, and the last has it.
* Without either, a message states only what came out.
* `session.compaction_complete` states what a summary took: as of 1.0.102 that is in no record and in no sum.
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

_BEGINNINGS = frozenset({"session.start", "session.resume"})
_END = "session.shutdown"
_SUMS = frozenset({_END, "session.usage_checkpoint"})
_COMPACTION = "session.compaction_complete"
_TURNING_POINTS = _BEGINNINGS | _SUMS | {_COMPACTION}


def settle(entries: list[Entry], note: Notes) -> list[Entry]:
    """Put what was used into the messages it is about; where there is none, an empty one is put in."""
    answers: list[int] = []
    points: list[int] = []
    recorded: list[int] = []
    for place, entry in enumerate(entries):
        if entry.__class__ is Event:
            name = entry.name
            if name in _TURNING_POINTS:
                points.append(place)
            elif name in records.NAMES:
                recorded.append(place)
        elif entry.role == "assistant":  # type: ignore[union-attr] # no event, so a message
            answers.append(place)
    stated = Records(note)
    if recorded:
        stated.add_all(entries, sorted([*answers, *recorded]))
        stated.find_answers(entries, answers)
        records.settle(entries, stated)
    return _Accounting(entries, note, stated).settled(answers, points)


class _Accounting:
    """Goes through a session and takes apart what its sums state."""

    def __init__(self, entries: list[Entry], note: Notes, stated: Records) -> None:
        self._entries = entries
        self._note = note
        self._records = {record.place: record for record in stated}
        self._traceless = {record.tokens[:2] for record in stated if not record.places}
        self._recorded = {place for record in stated for place in record.places}
        self._counted: dict[str, Tokens] = {}
        self._before: dict[str, Tokens] = {}
        self._open: list[int] = []
        self._compactions: list[int] = []
        self._has_records = False
        self._uncounted = 0
        self._added: dict[int, list[Message]] = {}

    def settled(self, answers: list[int], points: list[int]) -> list[Entry]:
        """All entries, with the messages that had to be put in."""
        if self._records:
            answers = [place for place in answers if place not in self._recorded]
        for place in sorted([*answers, *points, *self._records]):
            if place in self._records:
                self._count_record(place)
            elif isinstance(entry := self._entries[place], Message):
                self._open.append(place)
            elif entry.name in _SUMS:
                self._count_sums(entry, place)
            elif entry.name == _COMPACTION:
                self._compactions.append(place)
            elif entry.data.get("sessionWasActive") is not True:
                self._begin_process()
        self._begin_process()
        if self._uncounted:
            self._note(Kind.PARTIAL_USAGE, "", f"messages whose input is not counted: {self._uncounted}")
        return self._with_added()

    def _count_record(self, place: int) -> None:
        record = self._records[place]
        self._has_records = True
        self._count(record.model or "", record.tokens)

    def _count(self, model: str, more: Tokens) -> None:
        self._counted[model] = self._counted.get(model, Tokens()).plus(more)

    def _begin_process(self) -> None:
        """Leave what no sums cover: the next process's are not about it."""
        self._uncounted += sum(self._own_output(place) is not None for place in self._open)
        for place in self._compactions:
            self._count_compaction(place, {})
        self._open, self._compactions, self._has_records = [], [], False
        self._before = dict(self._counted)

    def _count_compaction(self, place: int, beyond: dict[str, Tokens]) -> None:
        """Count what a compaction used, unless a record or what sums state `beyond` those has it."""
        event = self._entries[place]
        if not isinstance(event, Event):
            return
        used = event.data.get("compactionTokensUsed")
        spent = tokens.stated(used, self._note, event.id)
        model = text_in(used, "model") or self._last_model(place)
        if spent.is_stated and spent[:2] not in self._traceless:
            own = Tokens(output=self._output_of(self._open))
            if not any(stated.minus(own).covers(spent) for stated in beyond.values()):
                self._add(place, event, model, spent, "compaction")

    def _last_model(self, place: int) -> str | None:
        """The model of the answer before an entry."""
        before = (self._entries[at] for at in reversed(self._open) if at < place)
        return next((entry.model for entry in before if isinstance(entry, Message)), None)

    def _count_sums(self, event: Event, place: int) -> None:
        """Give what sums state beyond what is counted to the messages that have no counts yet."""
        sums = tokens.by_model(event, self._note)
        by_session = tokens.is_of_the_session(event) or self._repeats_what_was_before(sums)
        beyond: dict[str, Tokens] = {}
        for model, stated in sums.items():
            total = stated if by_session else self._before.get(model, Tokens()).plus(stated)
            beyond[model] = total.minus(self._counted.get(model, Tokens()))
            self._count(model, beyond[model])
        if sums:
            for at in self._compactions:
                self._count_compaction(at, beyond)
            self._compactions = []
        self._give(event, place, beyond)
        if event.name == _END:
            self._begin_process()

    def _repeats_what_was_before(self, sums: dict[str, Tokens]) -> bool:
        """Whether sums of a form that is of the process contain those of earlier ones all the same.

        Then they are larger, and closer to what messages state if the earlier ones are taken off.
        """
        if not self._before or not all(
            model in sums and sums[model].covers(had) for model, had in self._before.items()
        ):
            return False
        own = {place: self._own_output(place) for place in self._open}
        if own and all(output is None for output in own.values()):
            return False
        came_out = self._output_of(self._open)
        total = sum(stated.output or 0 for stated in sums.values())
        earlier = sum(had.output or 0 for had in self._before.values())
        return abs(total - earlier - came_out) < abs(total - came_out)

    def _own_output(self, place: int) -> int | None:
        entry = self._entries[place]
        return entry.usage.output if isinstance(entry, Message) and entry.usage is not None else None

    def _output_of(self, places: list[int]) -> int:
        """What came out by what messages state, the pieces of a response once."""
        found: dict[object, int] = {}
        for place in places:
            entry = self._entries[place]
            if isinstance(entry, Message) and entry.usage is not None:
                found[entry.usage.key or entry.id] = entry.usage.output or 0
        return sum(found.values())

    def _give(self, event: Event, place: int, beyond: dict[str, Tokens]) -> None:
        groups = self._groups(event, beyond)
        given: set[int] = set()
        for model, spent in beyond.items():
            group = groups.get(model)
            # Where there are records, a message without one that sums leave nothing for is counted elsewhere.
            if group and (any(spent) or self._has_records):
                usage = spent.usage(f"{event.id}:{model}", {_source(event): event.id})
                # Of several models, which one a message is of would be a guess.
                records.share(self._entries, group, usage, model if len(beyond) == 1 else None)
                given.update(group)
            elif any(spent):
                self._add(place, event, model, spent, _source(event))
        self._open = [at for at in self._open if at not in given]

    def _groups(self, event: Event, beyond: dict[str, Tokens]) -> dict[str, list[int]]:
        """The messages without counts, by the model whose sums they are in."""
        usual = text_in(event.data, "currentModel")
        if usual not in beyond:
            usual = next(iter(beyond), None)
        groups: dict[str, list[int]] = {}
        for place in self._open:
            entry = self._entries[place]
            if isinstance(entry, Message) and (model := entry.model or usual) is not None:
                groups.setdefault(model, []).append(place)
        # A model may have another name in the sums than in its messages.
        others = [model for model in groups if model not in beyond]
        unnamed = [model for model, spent in beyond.items() if model not in groups and any(spent)]
        for other, model in zip(others, unnamed, strict=False):
            groups[model] = groups.pop(other)
        return groups

    def _add(self, place: int, event: Event, model: str | None, spent: Tokens, source: str) -> None:
        """Put an empty message before an event: requests were made that left nothing else."""
        key = f"{event.id}:{model or ''}"
        message = Message(
            id=ids.made(event.id, model or ""),
            made_id=True,
            role="assistant",
            at=event.at,
            model=model,
            hidden=True,
            usage=spent.usage(key, {source: event.id}),
        )
        self._added.setdefault(place, []).append(message)

    def _with_added(self) -> list[Entry]:
        if not self._added:
            return self._entries
        entries: list[Entry] = []
        for place, entry in enumerate(self._entries):
            parent = entry.parent_id
            for message in self._added.get(place, ()):
                entries.append(replace(message, parent_id=parent))
                parent = message.id
            entries.append(entry if parent == entry.parent_id else following(entry, parent))
        return entries


def _source(event: Event) -> str:
    """What states sums, in a word."""
    return "shutdown" if event.name == _END else "checkpoint"
