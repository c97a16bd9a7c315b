"""A whole session: its events become a timeline, and the conversation they are is told."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import words
from agent_journal.model import Conversation, Event, Link, Message, Reasoning, Summary, ids, timestamps, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.copilot_events import accounting, history, workspace
from agent_journal.readers.dialects.copilot_events.chain import Chain
from agent_journal.readers.dialects.copilot_events.events import Events, decode_usual, text_in
from agent_journal.readers.dialects.copilot_events.names import KNOWN_TYPES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.copilot_events.events import Entry

_IMPORT = "session.import_legacy"
_EVENTS_FILE = "events.jsonl"
# Events with a summary, and the field it is in.
_SUMMARIES = {"session.compaction_complete": "summaryContent", "session.task_complete": "summary"}
_PLACES = ("session.start", "session.resume", "session.context_changed")
_TELLING = frozenset(
    {*_PLACES, *_SUMMARIES, _IMPORT, "session.title_changed", "session.info", "assistant.reasoning"}
)
_TRUSTED = re.compile(r"Folder (.+) has been added to trusted folders")


class Session:
    """Takes the lines of one file, then tells the conversation they are."""

    def __init__(self, source: Source, note: Notes) -> None:
        self._source = source
        self._note = note
        self._events = Events(note)
        self._chain = Chain(note)

    def read(self) -> None:
        """Take the lines of the file."""
        usual, add = self._events.usual, self._chain.add
        for number, line, is_whole in json_stream.raw_lines(self._source, self._note):
            try:
                entry = usual(decode_usual(line), number)
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
    def is_one(self) -> bool:
        """Whether anything in the file was known to be of a session."""
        return any(isinstance(entry, Message) or entry.name in KNOWN_TYPES for entry in self._chain)

    def _with_history(self, event: Event, location: int, line: bytes) -> Event:
        """Put what an import brings before it: that was said earlier, and what follows names the import."""
        parent = event.parent_id
        for message in history.imported(event.data, event.id, self._note, location):
            self._chain.add(replace(message, parent_id=parent), location, line)
            parent = message.id
        return replace(event, parent_id=parent) if parent != event.parent_id else event

    def conversation(self, name: str) -> Conversation:
        """What all events together are."""
        self._events.assets.give_back()
        entries = self._chain.settled()
        facts = Facts(entries)
        if facts.has("assistant.reasoning"):
            _say_thoughts_once(entries)
        entries = accounting.settle(entries, self._note)
        self._note_unlinked()
        known, extra = self._workspace()
        session_id = self._id(facts) or words(known.get("id"))
        if session_id is None:
            self._note(Kind.MISSING_ID, "", "no event has a sessionId")
        first, last = tree.span(entries)
        summary = _own_summary(words(known.get("summary")), entries)
        return Conversation(
            id=session_id or ids.made(name, entries[0].id),
            made_id=session_id is None,
            source=name,
            title=words(known.get("name")) or facts.title() or summary,
            started_at=timestamps.moment(facts.began()) or first,
            updated_at=last,
            app_version=facts.said("session.start", "copilotVersion"),
            model=self._model(facts, entries),
            cwd=facts.place("cwd") or words(known.get("cwd")) or facts.trusted_folder(),
            git_branch=facts.place("branch") or words(known.get("branch")),
            git_commit=facts.place("headCommit"),
            head_id=self._head(entries),
            link=_link(facts),
            timeline=entries,
            summaries=[
                *(_summaries(entries) if facts.has(*_SUMMARIES) else ()),
                *_summary(summary, words(known.get("updated_at"))),
            ],
            extra=extra,
        )

    def _workspace(self) -> tuple[Bag, Bag]:
        """What the files beside the events say: values, and all that is to be kept of them."""
        if self._source.name != _EVENTS_FILE:
            return {}, {}  # files of sessions that have no folder of their own lie side by side
        known, text = workspace.values_and_text(self._source, "workspace.yaml", self._note)
        plan = workspace.text_beside(self._source, "plan.md", self._note)
        kept = {"workspace": known or None, "workspace.yaml": text, "plan.md": plan}
        return known, {name: value for name, value in kept.items() if value is not None}

    def _head(self, entries: Sequence[Entry]) -> str | None:
        if not self._chain.is_straight:
            return tree.newest_leaf(entries)
        return next((entry.id for entry in reversed(entries) if isinstance(entry, Message)), None)

    def _id(self, facts: Facts) -> str | None:
        """What the first event says, else what the folder or the file is called."""
        said = facts.said("session.start", "sessionId") or facts.imported("sessionId")
        if said:
            return said
        steps = self._source.label.replace("\\", "/").split("/")
        called = steps[-2] if self._source.name == _EVENTS_FILE and len(steps) > 1 else steps[-1]
        called = called.removesuffix(".jsonl")
        return called if ids.is_uuid(called) else None

    def _model(self, facts: Facts, entries: Sequence[Entry]) -> str | None:
        """The model that answered first, else the one that was chosen."""
        answered = (entry.model for entry in entries if isinstance(entry, Message) and not entry.sidechain)
        return next(filter(None, answered), None) or self._events.model or facts.imported("selectedModel")

    def _note_unlinked(self) -> None:
        for call_id, location in self._events.open_results:
            if call_id is None or call_id not in self._events.calls:
                self._note(Kind.UNLINKED_RESULT, location, call_id or "it names no call")


class Facts:
    """What events say about the session as a whole."""

    def __init__(self, entries: Sequence[Entry]) -> None:
        self._data: dict[str, list[Bag]] = {}
        for entry in entries:
            # Asking a message whether it is an event takes much longer than looking at its class.
            if entry.__class__ is Event and entry.name in _TELLING:
                self._data.setdefault(entry.name, []).append(entry.data)

    def has(self, *names: str) -> bool:
        """Whether there is an event of any of these kinds."""
        return any(name in self._data for name in names)

    def said(self, name: str, key: str) -> str | None:
        """A text in the first event of a kind that has it."""
        return _first_text(self._data.get(name, ()), key)

    def began(self) -> str | None:
        """When the session began, also if that was in an older form."""
        return self.said("session.start", "startTime") or self.imported("startTime")

    def title(self) -> str | None:
        """The last title."""
        return _first_text(reversed(self._data.get("session.title_changed", [])), "title")

    def place(self, key: str) -> str | None:
        """Where the session began, or was resumed if its beginning does not tell."""
        found = (data for name in _PLACES for data in self._data.get(name, ()))
        return _first_text((data.get("context", data) for data in found), key)

    def imported(self, key: str) -> str | None:
        """What a session of an older form said, that this one goes on with."""
        return _first_text((data.get("legacySession") for data in self._data.get(_IMPORT, ())), key)

    def trusted_folder(self) -> str | None:
        """The folder that the person said may be worked in: the first versions name it nowhere else."""
        for data in self._data.get("session.info", ()):
            message = text_in(data, "message")
            if message and data.get("infoType") == "folder_trust" and (found := _TRUSTED.search(message)):
                return found[1]
        return None


def _link(facts: Facts) -> Link | None:
    """The session that this one goes on with, without the person."""
    parent = facts.said("session.start", "detachedFromSpawningParentSessionId")
    return None if parent is None else Link(conversation_id=parent, relation="continues")


def _first_text(bags: Iterable[Any], key: str) -> str | None:
    return next(filter(None, (text_in(bag, key) for bag in bags)), None)


def _say_thoughts_once(entries: list[Entry]) -> None:
    """Thoughts that stand alone become messages, unless the answer repeats them; then they stay events."""
    told = {
        part.text
        for entry in entries
        if isinstance(entry, Message)
        for part in entry.parts
        if isinstance(part, Reasoning)
    }
    for place, entry in enumerate(entries):
        if entry.__class__ is Event and entry.name == "assistant.reasoning":
            text = entry.data.get("content")
            if isinstance(text, str) and text not in told:
                entries[place] = _thought(entry, text)


def _thought(event: Event, text: str) -> Message:
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
    """Summaries that took the place of what came before, and those of tasks."""
    found: list[Summary] = []
    last: str | None = None
    for entry in entries:
        if isinstance(entry, Message):
            last = entry.id if entry.parts or not entry.hidden else last
        elif entry.name in _SUMMARIES and (text := text_in(entry.data, _SUMMARIES[entry.name])):
            kind: Literal["system", "automatic"] = (
                "system" if entry.name == "session.compaction_complete" else "automatic"
            )
            found.append(Summary(text=text, kind=kind, at=entry.at, message_id=last))
    return found


def _own_summary(text: str | None, entries: Sequence[Entry]) -> str | None:
    """What stands beside a session as its summary, unless that is how its first prompt begins."""
    if text is None:
        return None
    prompts = (tree.plain_text(entry) for entry in entries if isinstance(entry, Message) and _is_typed(entry))
    beginning = " ".join(text.removesuffix("...").split())
    is_prompt = " ".join(next(prompts, "")[: 2 * len(text)].split()).startswith(beginning)
    return None if is_prompt else text


def _is_typed(message: Message) -> bool:
    return message.role == "user" and not message.hidden and not message.sidechain


def _summary(text: str | None, at: str | None) -> list[Summary]:
    """What the app calls the whole session's summary, as of when it was last touched."""
    return [Summary(text=text, at=timestamps.moment(at))] if text else []
