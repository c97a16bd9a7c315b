"""A whole task: its histories become one timeline, and the conversation they are is told."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Message, ids, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import facts, merging, request_costs, ui_messages
from agent_journal.readers.roo_code.detect import API, UI
from agent_journal.readers.roo_code.fastpath import Usual
from agent_journal.readers.roo_code.files import CONTEXT, Files
from agent_journal.readers.roo_code.history import History, Said

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agent_journal.inputs.input import Source
    from agent_journal.model import Event, Usage
    from agent_journal.readers.roo_code.ui_messages import Record


def conversation(source: Source, note: Notes, name: str) -> Conversation:
    """The conversation that a task is."""
    files = Files(source, note)
    known = facts.Facts(files, note)
    raw_said, raw_shown = files.history(API), files.history(UI)
    if not (raw_said or raw_shown or known.task or known.files_in_context):
        raise UnreadableSource(source.label, "nothing in it was said in a task")
    records = ui_messages.records(raw_shown, files.note_of(UI))
    task_id = known.task_id or _made_id(name, records, raw_said)
    if known.task_id is None:
        note(Kind.MISSING_ID, "", "the task lies in no folder that is called by its id")
    history = History(task_id, files.note_of(API), [record.id for record in records])
    said = [one for index, record in raw_said if (one := history.said(record, index)) is not None]
    models = known.models()
    merged = Timeline(records, said, models, files.note_of(UI))
    timeline = merged.entries()
    _count_totals(timeline, known.total(f"{task_id}:total"))
    _note_guesses(history.by_place + merged.by_place, note)
    known.context_history = [record for _, record in files.history(CONTEXT)]
    known.learn(history.modes or _modes_shown(records), history.folder, records)
    if known.model is None and len({model for _, model in models}) == 1:
        known.model = models[0][1]
    return _conversation(name, task_id, known, timeline)


def _made_id(name: str, records: Sequence[Record], raw: list[tuple[int, Any]]) -> str:
    """An id for a task of which none is known: of when it began and of its first words."""
    if records:
        return ids.made(name, records[0].id, records[0].text)
    texts: list[str | None] = []
    for _, value in raw[:2]:
        record = value.as_record() if isinstance(value, Usual) else value
        content = Fields(record, Notes(), "").look("content") if record.__class__ is dict else None
        texts += [contents.text_of(block) for block in contents.blocks_of(content)]
    return ids.made(name, texts)


def _conversation(
    name: str, task_id: str, known: facts.Facts, timeline: list[Message | Event]
) -> Conversation:
    messages = [entry for entry in timeline if entry.__class__ is Message]
    first = next((message for message in messages if message.role == "user"), None)
    started_at, updated_at = tree.span(timeline)
    environment = known.environment()
    return Conversation(
        id=task_id,
        made_id=known.task_id is None,
        source=name,
        title=known.title(first),
        started_at=started_at or known.began_at(),
        updated_at=updated_at or known.touched_at(),
        app_version=environment.get("cline_version"),
        model=next((message.model for message in messages if message.model), None) or known.model,
        cwd=known.folder,
        editor=environment.get("host_name"),
        os=environment.get("os_name"),
        shape="list",
        link=known.link(),
        timeline=timeline,
        summaries=facts.summaries(timeline),
        platform=known.platform(),
        context=known.context(),
        extra=known.rest(),
    )


def _modes_shown(records: Sequence[Record]) -> list[str]:
    modes = (record.model_info("mode") for record in records)
    return list(dict.fromkeys(mode for mode in modes if mode is not None))


class Timeline:
    """Puts the histories together: each thing is said once, and what a request cost is with its answer."""

    def __init__(
        self, records: list[Record], said: list[Said], models: list[tuple[int, str]], note: Notes
    ) -> None:
        self._models = deque(sorted(models))
        self._is_shown_alone = not said
        self._merged = merging.together(records, said)
        self._turns = merging.Turns(self._merged)
        self._first = records[0] if records else None
        self._speaker = ui_messages.Speaker(self._first)
        self._note = note
        self._unpaid: Usage | None = None
        self._model: str | None = None
        self._last_answer: int | None = None
        self._entries: list[Message | Event] = []
        self._untimed = 0

    @property
    def by_place(self) -> int:
        """How many results that were shown were linked to the call before them."""
        return self._speaker.by_place

    def entries(self) -> list[Message | Event]:
        """All messages and events."""
        at: str | None = None
        answered, entries = self._turns.answered, self._entries
        for place, entry in enumerate(self._merged):
            if type(entry) is Said:
                message = entry.message
                if message.role == "assistant" or message.at is None:
                    self._add(self._completed(message, at), pays=not message.hidden)
                else:
                    entries.append(message)
                continue
            at = entry.at or at
            name, data = entry.name, entry.data
            if self._models and entry.ts is not None:
                self._ask(entry.ts)
            if "modelInfo" in data:
                self._model = entry.model_info("modelId") or self._model
            if name in ui_messages.COSTS or "contextCondense" in data:
                self._pay(entry)
            is_answered = answered[place]
            if is_answered and name not in ui_messages.BETWEEN and place:
                entries.append(entry.event())
                continue
            if name == ui_messages.REQUEST and self._is_shown_alone:
                entries.extend(self._speaker.given(entry))
            said = self._said(entry, place)
            self._add(entry.event() if said is None else said, pays=not is_answered)
        self._settle()
        return entries

    def _ask(self, ts: int) -> None:
        """Remember which model was asked at a moment."""
        while self._models and self._models[0][0] <= ts:
            self._model = self._models.popleft()[1]

    def _pay(self, record: Record) -> None:
        """Remember what requests cost until they are answered."""
        if (usage := record.usage(self._note)) is not None:
            self._unpaid = request_costs.added(self._unpaid, usage)

    def _completed(self, message: Message, at: str | None) -> Message:
        """The message with the time and the model that only what was shown before it tells."""
        if message.at is None and at is not None:
            message = replace(message, at=at)
            self._untimed += 1
        if message.model is None and self._model is not None and message.role == "assistant":
            message = replace(message, model=self._model)
        return message

    def _said(self, record: Record, place: int) -> Message | None:
        """The message that a record is, if nothing else tells what it says."""
        if record.name == ui_messages.REASONING and self._turns.has_thoughts(place):
            return None
        message = self._speaker.message(record)
        if message is not None and message.role == "user":
            return None if self._turns.is_told(place, record.text) else message
        if message is None or self._is_superseded(record, place):
            return None
        return self._completed(message, record.at)

    def _is_superseded(self, record: Record, place: int) -> bool:
        """Whether a record that was still being written is followed by one that says all of it."""
        following = self._merged[place + 1] if place + 1 < len(self._merged) else None
        if not record.is_partial or following is None or isinstance(following, Said):
            return False
        return following.name == record.name and (following.text or "").startswith(
            (record.text or "").rstrip(".")
        )

    def _add(self, entry: Message | Event, *, pays: bool) -> None:
        """Put an entry at the end; to an answer what the requests before it cost."""
        if pays and entry.__class__ is Message and entry.role == "assistant":
            if self._unpaid is not None:
                entry, self._unpaid = replace(entry, usage=self._unpaid), None
            self._last_answer = len(self._entries)
        self._entries.append(entry)

    def _settle(self) -> None:
        """Put what requests at the end cost, that were never answered, to the last answer."""
        if self._untimed:
            detail = f"messages without a time have that of what was shown before: {self._untimed}"
            self._note(Kind.MISSING_TIME, "", detail)
        if self._unpaid is None:
            return
        if self._last_answer is None:
            self._note(Kind.PARTIAL_USAGE, "", "requests that were not answered are not counted")
            return
        answer = self._entries[self._last_answer]
        if isinstance(answer, Message):
            self._entries[self._last_answer] = replace(
                answer, usage=request_costs.added(answer.usage, self._unpaid)
            )


def _count_totals(timeline: list[Message | Event], total: Usage | None) -> None:
    """Where no request tells what it cost, the last answer has the sums of the task."""
    if total is None:
        return
    last: tuple[int, Message] | None = None
    for place, entry in enumerate(timeline):
        if entry.__class__ is Message and entry.role == "assistant":
            if entry.usage is not None:
                return
            last = place, entry
    if last is not None:
        timeline[last[0]] = replace(last[1], usage=total)


def _note_guesses(count: int, note: Notes) -> None:
    if count:
        note(Kind.GUESSED_LINK, "", f"results linked to calls by where they stand: {count}")
