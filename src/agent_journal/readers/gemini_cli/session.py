"""Reads a session, a log of lines or one document, whose records are the same."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.gemini_cli import companions, project
from agent_journal.readers.gemini_cli.detect import DOCUMENT
from agent_journal.readers.gemini_cli.message import snapshot
from agent_journal.readers.gemini_cli.replay import Replay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.inputs.input import Input
    from agent_journal.model import Event
    from agent_journal.notes import Notes

_MESSAGES = "messages"


def conversations(source: Input, version: str, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the conversation of a session; none if the same session is next to it in its newer form."""
    if version == DOCUMENT and source.name.endswith(".json") and source.companion(f"{source.name}l"):
        note(Kind.IGNORED_FILE, "", "the session was resumed and continues in the .jsonl next to it")
        return
    replay = Replay(note)
    if version == DOCUMENT:
        _read_document(source, replay, note)
    else:
        for number, record in json_stream.lines(source, note):
            replay.add(record, number)
    if not replay.has_known_records:
        raise UnreadableSource(source.label, "none of its lines belongs to a session")
    yield _conversation(source, replay, note, name)


def _read_document(source: Input, replay: Replay, note: Notes) -> None:
    """Read a session; of a damaged one, the fields and messages that can be read."""
    document = json_stream.load(source, note)
    if isinstance(document, dict):
        replay.begin(document, "")
        return
    head: dict[str, Any] = {_MESSAGES: []}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            head[key] = value
        elif key == _MESSAGES:
            head[key].append(value)
    replay.begin(head, "")


def _conversation(source: Input, replay: Replay, note: Notes, name: str) -> Conversation:
    cwd = project.find_folder(source, replay.head, note)
    head = Fields(replay.head, note, "")
    session = head.text("sessionId") or _id_in_name(source)
    if not session:
        note(Kind.MISSING_ID, "", "no sessionId")
    owner = session or ids.made(name, source.name)
    summary = head.text("summary")
    timeline = replay.timeline(owner)
    location = project.locate(source)
    if location is not None:
        companions.restore(timeline, source, location, note)
    first, last = _span(timeline)
    return Conversation(
        id=owner,
        made_id=not session,
        source=name,
        title=summary or None,
        started_at=head.timestamp("startTime") or first,
        updated_at=head.timestamp("lastUpdated") or last,
        model=next((entry.model for entry in timeline if isinstance(entry, Message) and entry.model), None),
        cwd=cwd,
        shape="tree" if replay.is_tree else "list",
        head_id=replay.head_id(timeline) or tree.newest_leaf(timeline) if replay.is_tree else None,
        link=_link(source, location, owner),
        timeline=timeline,
        summaries=[*([Summary(text=summary)] if summary else ()), *_snapshots(timeline)],
        extra=head.rest(),
    )


def _snapshots(timeline: Sequence[Message | Event]) -> Iterator[Summary]:
    """Yield the summaries that replaced a history, each with the last message before it."""
    previous: str | None = None
    for entry in timeline:
        if isinstance(entry, Message):
            if text := snapshot(entry):
                yield Summary(text=text, kind="system", at=entry.at, message_id=previous)
            previous = entry.id


def _id_in_name(source: Input) -> str | None:
    """Get the session of a subagent's file, which is its name."""
    stem = source.name.removesuffix(".jsonl")
    return stem if ids.is_uuid(stem) else None


def _link(source: Input, location: project.ProjectLocation | None, session: str) -> Link | None:
    """Link to the session that started this one: subagents' sessions are in a folder named after it."""
    parent = None if location is None else location.parent
    if parent is None or parent == session:
        return None
    message, call = companions.find_starting_call(source, parent, session)
    return Link(conversation_id=parent, relation="subagent", message_id=message, call_id=call)


def _span(timeline: Sequence[Message | Event]) -> tuple[str | None, str | None]:
    """Get the first and the last time of the timeline, for sessions without a head."""
    times = [entry.at for entry in timeline if entry.at is not None]
    return (times[0], times[-1]) if times else (None, None)
