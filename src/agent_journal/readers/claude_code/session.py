"""A session file as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding import json_stream
from agent_journal.model import Conversation, Link, Message, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.claude_code import facts, fastpath, surplus
from agent_journal.readers.claude_code.companions import Companions, stem
from agent_journal.readers.claude_code.lines import Lines
from agent_journal.readers.claude_code.names import KNOWN_TYPES
from agent_journal.readers.claude_code.timeline import Timeline

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes
    from agent_journal.readers.claude_code.lines import Entry


class Session:
    """Collects the lines of one file and turns them into a conversation."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._stem = stem(source)
        self._is_agent = self._stem.startswith("agent-")
        self._note = note
        self._companions = Companions(source, note)
        self._lines = Lines(self._stem if ids.is_uuid(self._stem) else None, self._companions, note)
        self._timeline = Timeline(note)

    def read(self, source: Input) -> None:
        """Add the lines of a file."""
        fast_message, add = self._lines.fast_message, self._timeline.add
        misses = 0
        for number, line, is_whole in json_stream.raw_lines(source, self._note):
            entry: Entry | None = None
            if misses < fastpath.MAX_CONSECUTIVE_MISSES:
                try:
                    entry = fast_message(fastpath.decode(line), number)
                    misses = 0
                except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                    misses += 1
            if entry is not None:
                add(entry, number, line)
                continue
            try:
                record = json_stream.ANY.one(line)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                self._add_damaged(line, number, Kind.BAD_RECORD if is_whole else Kind.TORN_TAIL)
            else:
                add(self._lines.entry(record, number, line), number, line)

    def _add_damaged(self, line: bytes, number: int, kind: Kind) -> None:
        """Add what can be decoded of a line that is not valid JSON."""
        for piece in json_stream.apart(line):
            record = json_stream.decode(piece, self._note, number, kind)
            if record is not json_stream.BAD:
                self._timeline.add(self._lines.entry(record, number, piece), number, piece)

    def add(self, record: Any, location: str) -> None:
        """Add a line that is already decoded."""
        line = msgspec.json.encode(record)
        self._timeline.add(self._lines.entry(record, location, line), location, line)

    @property
    def has_known_lines(self) -> bool:
        """Whether any line of the file is known to belong to a session."""
        return any(isinstance(entry, Message) or entry.name in KNOWN_TYPES for entry in self._timeline)

    def conversation(self, source: str, extra: dict[str, Any]) -> Conversation:
        """Make the conversation of all lines."""
        entries, common = self._timeline.finish(), self._lines.common
        messages = [entry for entry in entries if isinstance(entry, Message)]
        # `isinstance(message, Event)` takes ten times as long as the other way round.
        events = [entry for entry in entries if not isinstance(entry, Message)]
        self._note_counts(messages)
        meta = self._companions.meta() if self._is_agent else None
        custom_title = None if self._is_agent else self._companions.custom_title()
        desktop = None if self._is_agent else self._companions.desktop_session()
        folder, companion_fields = common["cwd"], {"meta": meta, "custom-title": custom_title}
        if desktop is not None:
            companion_fields |= {"desktop-session": desktop, "session-cwd": folder}
            folder = facts.first_folder(desktop) or folder
        started_at, updated_at = tree.span(messages or events)
        is_list = len(messages) > 1 and all(entry.parent_id is None for entry in entries)
        conversation_id = self._id()
        conversation = Conversation(
            id=conversation_id or ids.made(source, entries[0].id),
            made_id=conversation_id is None,
            source=source,
            title=facts.text_in(desktop, "title")
            or facts.text_in(custom_title, "customTitle")
            or facts.title(events, self._timeline)
            or facts.text_in(meta, "description"),
            started_at=started_at,
            updated_at=updated_at,
            app_version=common["version"],
            model=next((message.model for message in messages if message.model), None),
            cwd=folder,
            git_branch=common["gitBranch"],
            tags=facts.tags(events),
            shape="list" if is_list else "tree",
            head_id=None if is_list else facts.head(entries, messages, updated_at),
            link=self._link(messages, meta),
            timeline=entries,
            summaries=facts.summaries(entries),
            extra=extra | {name: value for name, value in companion_fields.items() if value is not None},
        )
        if self._is_agent or not surplus.has_totals(events):
            return conversation
        return surplus.add_surplus(conversation, self._companions, self._note)

    def _id(self) -> str | None:
        """Get the stem if it is a UUID, else the session of the lines; a subagent's lines name its parent."""
        session = self._lines.common["sessionId"]
        if self._is_agent:
            return f"{session}/{self._stem}" if session else self._stem
        if session is None:
            self._note(Kind.MISSING_ID, "", "no line has a sessionId")
        return session

    def _link(self, messages: list[Message], meta: Any) -> Link | None:
        session = self._lines.common["sessionId"]
        if not self._is_agent or session is None:
            return facts.origin_link(messages)
        call = facts.text_in(meta, "toolUseId") or self._companions.starting_call(
            self._stem.removeprefix("agent-"), session
        )
        return Link(conversation_id=session, relation="subagent", call_id=call)

    def _note_counts(self, messages: list[Message]) -> None:
        """Note once what many lines have in common."""
        if self._lines.undercounted:
            count = len(self._lines.undercounted)
            self._note(Kind.PARTIAL_USAGE, "", f"responses that state only their first tokens: {count}")
        without_uuid = [message for message in messages if message.made_id and "uuid" not in message.extra]
        if without_uuid:
            self._note(Kind.MISSING_ID, "", f"messages without a uuid: {len(without_uuid)}")
