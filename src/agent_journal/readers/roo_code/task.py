"""Read a task: merge its histories into one timeline and build the conversation."""

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
from agent_journal.readers.roo_code.fastpath import CommonMessage
from agent_journal.readers.roo_code.files import CONTEXT, Files
from agent_journal.readers.roo_code.history import DatedMessage, History
from agent_journal.readers.roo_code.names import PRODUCTS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from agent_journal.inputs.input import Input
    from agent_journal.model import Event, Usage
    from agent_journal.readers.roo_code.ui_messages import Record


def read_task(source: Input, note: Notes, name: str) -> Conversation:
    """Read a task as a conversation."""
    files = Files(source, note)
    known = facts.Facts(files, note)
    raw_messages, raw_records = files.history(API), files.history(UI)
    if not (raw_messages or raw_records or known.task or known.files_in_context):
        raise UnreadableSource(source.label, "it contains no messages of a task")
    records = ui_messages.parse_records(raw_records, files.note_of(UI))
    task_id = known.task_id or _made_id(name, records, raw_messages)
    if known.task_id is None:
        note(Kind.MISSING_ID, "", "the task is not in a folder named after its id")
    history = History(task_id, files.note_of(API), [record.id for record in records])
    messages = [
        message for index, record in raw_messages if (message := history.parse(record, index)) is not None
    ]
    models = known.models()
    builder = TimelineBuilder(records, messages, models, files.note_of(UI))
    timeline = builder.build()
    _add_task_usage(timeline, known.usage(f"{task_id}:total"))
    _note_positional_links(history.positional_links + builder.positional_links, note)
    known.context_history = [record for _, record in files.history(CONTEXT)]
    known.add_history_facts(history.modes or _modes_in_records(records), history.folder, records)
    if known.model is None and len({model for _, model in models}) == 1:
        known.model = models[0][1]
    return _conversation(name, task_id, known, timeline)


def _made_id(name: str, records: Sequence[Record], raw: list[tuple[int, Any]]) -> str:
    """Make an id for a task without one, from its start time and its first texts."""
    if records:
        return ids.made(name, records[0].id, records[0].text)
    texts: list[str | None] = []
    for _, value in raw[:2]:
        record = value.as_record() if isinstance(value, CommonMessage) else value
        content = Fields(record, Notes(), "").view("content") if record.__class__ is dict else None
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
        product=PRODUCTS.get(known.extension or ""),
        title=known.title(first),
        started_at=started_at or known.started_at(),
        updated_at=updated_at or known.updated_at(),
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


def _modes_in_records(records: Sequence[Record]) -> list[str]:
    modes = (record.model_info("mode") for record in records)
    return list(dict.fromkeys(mode for mode in modes if mode is not None))


class TimelineBuilder:
    """Merges the histories: each message occurs once, and has the usage of its request."""

    def __init__(
        self,
        records: list[Record],
        messages: list[DatedMessage],
        models: list[tuple[int, str]],
        note: Notes,
    ) -> None:
        self._models = deque(sorted(models))
        self._has_only_records = not messages
        self._merged = merging.merge_histories(records, messages)
        self._turns = merging.Turns(self._merged)
        self._first = records[0] if records else None
        self._message_maker = ui_messages.MessageMaker(self._first)
        self._note = note
        self._pending_usage: Usage | None = None
        self._model: str | None = None
        self._last_answer: int | None = None
        self._entries: list[Message | Event] = []
        self._untimed = 0

    @property
    def positional_links(self) -> int:
        """How many results in UI records were linked to the previous call."""
        return self._message_maker.positional_links

    def build(self) -> list[Message | Event]:
        """Return all messages and events."""
        at: str | None = None
        answered, entries = self._turns.answered, self._entries
        for index, entry in enumerate(self._merged):
            if type(entry) is DatedMessage:
                message = entry.message
                if message.role == "assistant" or message.at is None:
                    self._append(self._completed(message, at), takes_usage=not message.hidden)
                else:
                    entries.append(message)
                continue
            at = entry.at or at
            name, data = entry.name, entry.data
            if self._models and entry.ts is not None:
                self._update_model(entry.ts)
            if "modelInfo" in data:
                self._model = entry.model_info("modelId") or self._model
            if name in ui_messages.COSTS or "contextCondense" in data:
                self._add_usage(entry)
            is_answered = answered[index]
            if is_answered and name not in ui_messages.BETWEEN and index:
                entries.append(entry.event())
                continue
            if name == ui_messages.REQUEST and self._has_only_records:
                entries.extend(self._message_maker.results_in_request(entry))
            shown_message = self._message_of(entry, index)
            self._append(
                entry.event() if shown_message is None else shown_message, takes_usage=not is_answered
            )
        self._finish()
        return entries

    def _update_model(self, ts: int) -> None:
        """Set the model in use at a timestamp."""
        while self._models and self._models[0][0] <= ts:
            self._model = self._models.popleft()[1]

    def _add_usage(self, record: Record) -> None:
        """Remember the usage of requests until they are answered."""
        if (usage := record.usage(self._note)) is not None:
            self._pending_usage = request_costs.add_usage(self._pending_usage, usage)

    def _completed(self, message: Message, at: str | None) -> Message:
        """Add the time and the model of the previous UI records to a message without them."""
        if message.at is None and at is not None:
            message = replace(message, at=at)
            self._untimed += 1
        if message.model is None and self._model is not None and message.role == "assistant":
            message = replace(message, model=self._model)
        return message

    def _message_of(self, record: Record, index: int) -> Message | None:
        """Convert a record to a message, if the API history does not have it."""
        if record.name == ui_messages.REASONING and self._turns.has_reasoning(index):
            return None
        message = self._message_maker.message(record)
        if message is not None and message.role == "user":
            return None if self._turns.is_in_next_prompt(index, record.text) else message
        if message is None or self._is_superseded(record, index):
            return None
        return self._completed(message, record.at)

    def _is_superseded(self, record: Record, index: int) -> bool:
        """Whether a partial record is followed by the complete one."""
        following = self._merged[index + 1] if index + 1 < len(self._merged) else None
        if not record.is_partial or following is None or isinstance(following, DatedMessage):
            return False
        return following.name == record.name and (following.text or "").startswith(
            (record.text or "").rstrip(".")
        )

    def _append(self, entry: Message | Event, *, takes_usage: bool) -> None:
        """Append an entry; an answer gets the usage of the requests before it."""
        if takes_usage and entry.__class__ is Message and entry.role == "assistant":
            if self._pending_usage is not None:
                entry, self._pending_usage = replace(entry, usage=self._pending_usage), None
            self._last_answer = len(self._entries)
        self._entries.append(entry)

    def _finish(self) -> None:
        """Add the usage of unanswered requests at the end to the last answer."""
        if self._untimed:
            detail = f"messages without a time have the time of the previous UI record: {self._untimed}"
            self._note(Kind.MISSING_TIME, "", detail)
        if self._pending_usage is None:
            return
        if self._last_answer is None:
            self._note(Kind.PARTIAL_USAGE, "", "unanswered requests are not counted")
            return
        answer = self._entries[self._last_answer]
        if isinstance(answer, Message):
            self._entries[self._last_answer] = replace(
                answer, usage=request_costs.add_usage(answer.usage, self._pending_usage)
            )


def _add_task_usage(timeline: list[Message | Event], total: Usage | None) -> None:
    """If no request states its usage, give the last answer the total usage of the task."""
    if total is None:
        return
    last: tuple[int, Message] | None = None
    for index, entry in enumerate(timeline):
        if entry.__class__ is Message and entry.role == "assistant":
            if entry.usage is not None:
                return
            last = index, entry
    if last is not None:
        timeline[last[0]] = replace(last[1], usage=total)


def _note_positional_links(count: int, note: Notes) -> None:
    if count:
        note(Kind.GUESSED_LINK, "", f"results linked to calls by position: {count}")
