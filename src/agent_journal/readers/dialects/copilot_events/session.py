"""Reads a whole session: its events become a timeline and a conversation."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import nonempty_str
from agent_journal.model import Conversation, Event, Link, Message, Reasoning, Summary, ids, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events import accounting, history, workspace
from agent_journal.readers.dialects.copilot_events.chain import Chain
from agent_journal.readers.dialects.copilot_events.events import Events, decode_common, text_in
from agent_journal.readers.dialects.copilot_events.names import KNOWN_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry

_IMPORT = "session.import_legacy"
_EVENTS_FILE = "events.jsonl"
# Events with a summary, and the field that has it.
_SUMMARIES = {"session.compaction_complete": "summaryContent", "session.task_complete": "summary"}
_CONTEXT_EVENTS = ("session.start", "session.resume", "session.context_changed")
_FACT_EVENTS = frozenset(
    {*_CONTEXT_EVENTS, *_SUMMARIES, _IMPORT, "session.title_changed", "session.info", "assistant.reasoning"}
)
_TRUSTED = re.compile(r"Folder (.+) has been added to trusted folders")


class Session:
    """Reads the lines of one file and converts them to a conversation."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._note = note
        self._events = Events(note)
        self._chain = Chain(note)

    def read(self) -> None:
        """Read the lines of the file."""
        convert_common, add = self._events.common_entry, self._chain.add
        for number, line, is_whole in json_stream.raw_lines(self._source, self._note):
            try:
                entry = convert_common(decode_common(line), number)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                entry = None
            if entry is None:
                kind = Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL
                record = json_stream.decode(line, self._note, number, kind)
                if record is json_stream.BAD:
                    continue
                entry = self._events.entry(record, number, line)
            if entry.__class__ is Event and entry.name == _IMPORT:
                entry = self._with_history(entry, number, line)
            add(entry, number, line)

    @property
    def has_known_entries(self) -> bool:
        """Whether the file has any message or event that belongs to a session."""
        return any(isinstance(entry, Message) or entry.name in KNOWN_TYPES for entry in self._chain)

    def _with_history(self, event: Event, location: int, line: bytes) -> Event:
        """Put imported messages before the import event, which later entries name as their parent."""
        parent = event.parent_id
        for message in history.imported(event.data, event.id, self._note, location):
            self._chain.add(replace(message, parent_id=parent), location, line)
            parent = message.id
        return replace(event, parent_id=parent) if parent != event.parent_id else event

    def conversation(self, name: str) -> Conversation:
        """Build the conversation from all events."""
        self._events.assets.restore_shared()
        entries = self._chain.ordered_entries()
        facts = Facts(entries)
        if facts.has("assistant.reasoning"):
            _convert_separate_reasoning(entries)
        entries = accounting.assign_usage(entries, self._note)
        self._note_unlinked()
        workspace_values, extra = self._workspace()
        session_id = self._id(facts) or nonempty_str(workspace_values.get("id"))
        if session_id is None:
            self._note(Kind.MISSING_ID, "", "no event has a sessionId")
        first, last = tree.span(entries)
        summary = _own_summary(nonempty_str(workspace_values.get("summary")), entries)
        return Conversation(
            id=session_id or ids.made(name, entries[0].id),
            made_id=session_id is None,
            source=name,
            title=nonempty_str(workspace_values.get("name")) or facts.title() or summary,
            started_at=timestamps.parse_timestamp(facts.start_time()) or first,
            updated_at=last,
            app_version=facts.text("session.start", "copilotVersion"),
            model=self._model(facts, entries),
            cwd=facts.context("cwd") or nonempty_str(workspace_values.get("cwd")) or facts.trusted_folder(),
            git_branch=facts.context("branch") or nonempty_str(workspace_values.get("branch")),
            git_commit=facts.context("headCommit"),
            head_id=self._head(entries),
            link=_link(facts),
            timeline=entries,
            summaries=[
                *(_summaries(entries) if facts.has(*_SUMMARIES) else ()),
                *_summary(summary, nonempty_str(workspace_values.get("updated_at"))),
            ],
            extra=extra,
        )

    def _workspace(self) -> tuple[Bag, Bag]:
        """Read the companion files; return the values of the workspace, and the fields for `extra`."""
        if self._source.name != _EVENTS_FILE:
            return {}, {}  # sessions without a folder of their own share one
        values, text = workspace.values_and_text(self._source, "workspace.yaml", self._note)
        plan = workspace.companion_text(self._source, "plan.md", self._note)
        files = {"workspace": values or None, "workspace.yaml": text, "plan.md": plan}
        return values, {name: value for name, value in files.items() if value is not None}

    def _head(self, entries: Sequence[Entry]) -> str | None:
        if not self._chain.is_straight:
            return tree.newest_leaf(entries)
        return next((entry.id for entry in reversed(entries) if isinstance(entry, Message)), None)

    def _id(self, facts: Facts) -> str | None:
        """Get the id that the first event states, else the name of the folder or file."""
        stated = facts.text("session.start", "sessionId") or facts.imported("sessionId")
        if stated:
            return stated
        steps = self._source.label.replace("\\", "/").split("/")
        name = steps[-2] if self._source.name == _EVENTS_FILE and len(steps) > 1 else steps[-1]
        name = name.removesuffix(".jsonl")
        return name if ids.is_uuid(name) else None

    def _model(self, facts: Facts, entries: Sequence[Entry]) -> str | None:
        """Get the model of the first answer, else the selected one."""
        answer_models = (
            entry.model for entry in entries if isinstance(entry, Message) and not entry.sidechain
        )
        return (
            next(filter(None, answer_models), None) or self._events.model or facts.imported("selectedModel")
        )

    def _note_unlinked(self) -> None:
        for call_id, location in self._events.open_results:
            if call_id is None or call_id not in self._events.calls:
                self._note(Kind.UNLINKED_RESULT, location, call_id or "it names no call")


class Facts:
    """Facts about the session as a whole, as its events state them."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._data: dict[str, list[Bag]] = {}
        for entry in entries:
            # Comparing the class is much faster than isinstance.
            if entry.__class__ is Event and entry.name in _FACT_EVENTS:
                self._data.setdefault(entry.name, []).append(entry.data)

    def has(self, *names: str) -> bool:
        """Whether there is an event of any of these kinds."""
        return any(name in self._data for name in names)

    def text(self, name: str, key: str) -> str | None:
        """Get a text from the first event of a kind that has it."""
        return _first_text(self._data.get(name, ()), key)

    def start_time(self) -> str | None:
        """Get the start of the session, also of one that was imported."""
        return self.text("session.start", "startTime") or self.imported("startTime")

    def title(self) -> str | None:
        """Get the last title."""
        return _first_text(reversed(self._data.get("session.title_changed", [])), "title")

    def context(self, key: str) -> str | None:
        """Get a context field of the start of the session, else of the next event that has it."""
        events = (data for name in _CONTEXT_EVENTS for data in self._data.get(name, ()))
        return _first_text((data.get("context", data) for data in events), key)

    def imported(self, key: str) -> str | None:
        """Get a text from the imported older session that this one continues."""
        return _first_text((data.get("legacySession") for data in self._data.get(_IMPORT, ())), key)

    def trusted_folder(self) -> str | None:
        """Get the folder that the user trusted: the first versions state it nowhere else."""
        for data in self._data.get("session.info", ()):
            message = text_in(data, "message")
            if message and data.get("infoType") == "folder_trust" and (match := _TRUSTED.search(message)):
                return match[1]
        return None


def _link(facts: Facts) -> Link | None:
    """Get the link to the session that this one continues on its own."""
    parent = facts.text("session.start", "detachedFromSpawningParentSessionId")
    return None if parent is None else Link(conversation_id=parent, relation="continues")


def _first_text(bags: Iterable[Any], key: str) -> str | None:
    return next(filter(None, (text_in(bag, key) for bag in bags)), None)


def _convert_separate_reasoning(entries: list[Entry]) -> None:
    """Turn separate reasoning events into messages, unless an answer has the same reasoning."""
    answer_texts = {
        part.text
        for entry in entries
        if isinstance(entry, Message)
        for part in entry.parts
        if isinstance(part, Reasoning)
    }
    for index, entry in enumerate(entries):
        if entry.__class__ is Event and entry.name == "assistant.reasoning":
            text = entry.data.get("content")
            if isinstance(text, str) and text not in answer_texts:
                entries[index] = _reasoning_message(entry, text)


def _reasoning_message(event: Event, text: str) -> Message:
    extra = {name: value for name, value in event.data.items() if name != "content"}
    return Message(
        id=event.id,
        made_id=event.made_id,
        role="assistant",
        parent_id=event.parent_id,
        at=event.at,
        sidechain=bool(extra.get("agentId") or extra.get("parentToolCallId")),
        parts=[Reasoning(text=text)] if text else [],
        extra=extra,
    )


def _summaries(entries: Sequence[Entry]) -> list[Summary]:
    """Get the summaries of compactions and of tasks."""
    summaries: list[Summary] = []
    last: str | None = None
    for entry in entries:
        if isinstance(entry, Message):
            last = entry.id if entry.parts or not entry.hidden else last
        elif entry.name in _SUMMARIES and (text := text_in(entry.data, _SUMMARIES[entry.name])):
            kind: Literal["system", "automatic"] = (
                "system" if entry.name == "session.compaction_complete" else "automatic"
            )
            summaries.append(Summary(text=text, kind=kind, at=entry.at, message_id=last))
    return summaries


def _own_summary(text: str | None, entries: Sequence[Entry]) -> str | None:
    """Get the summary in the workspace file, unless it is the beginning of the first prompt."""
    if text is None:
        return None
    prompts = (tree.plain_text(entry) for entry in entries if isinstance(entry, Message) and _is_typed(entry))
    beginning = " ".join(text.removesuffix("...").split())
    is_prompt = " ".join(next(prompts, "")[: 2 * len(text)].split()).startswith(beginning)
    return None if is_prompt else text


def _is_typed(message: Message) -> bool:
    return message.role == "user" and not message.hidden and not message.sidechain


def _summary(text: str | None, at: str | None) -> list[Summary]:
    """Convert the app's summary of the whole session, with the time of its last change."""
    return [Summary(text=text, at=timestamps.parse_timestamp(at))] if text else []
