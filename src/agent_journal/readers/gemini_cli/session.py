"""A session: a log of lines, or one document; either way the same records make the conversation."""

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

    from agent_journal.inputs.input import Source
    from agent_journal.model import Event
    from agent_journal.notes import Notes

_MESSAGES = "messages"


def conversations(source: Source, version: str, note: Notes, name: str) -> Iterator[Conversation]:
    """The one conversation of a session; none if the same session lies beside it in its newer form."""
    if version == DOCUMENT and source.name.endswith(".json") and source.companion(f"{source.name}l"):
        note(Kind.IGNORED_FILE, "", "the session was resumed and goes on in the .jsonl beside it")
        return
    replay = Replay(note)
    if version == DOCUMENT:
        _read_document(source, replay, note)
    else:
        for number, record in json_stream.lines(source, note):
            replay.add(record, number)
    if not replay.is_one:
        raise UnreadableSource(source.label, "no line in it is a line of a session")
    yield _conversation(source, replay, note, name)


def _read_document(source: Source, replay: Replay, note: Notes) -> None:
    """Take a whole session; of a damaged one, the facts and messages that are left."""
    whole = json_stream.load(source, note)
    if isinstance(whole, dict):
        replay.begin(whole, "")
        return
    head: dict[str, Any] = {_MESSAGES: []}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            head[key] = value
        elif key == _MESSAGES:
            head[key].append(value)
    replay.begin(head, "")


def _conversation(source: Source, replay: Replay, note: Notes, name: str) -> Conversation:
    cwd = project.folder(source, replay.head, note)
    head = Fields(replay.head, note, "")
    session = head.text("sessionId") or _id_in_name(source)
    if not session:
        note(Kind.MISSING_ID, "", "no sessionId")
    owner = session or ids.made(name, source.name)
    summary = head.text("summary")
    timeline = replay.timeline(owner)
    spot = project.spot(source)
    if spot is not None:
        companions.restore(timeline, source, spot, note)
    first, last = _span(timeline)
    return Conversation(
        id=owner,
        made_id=not session,
        source=name,
        title=summary or None,
        started_at=head.moment("startTime") or first,
        updated_at=head.moment("lastUpdated") or last,
        model=next((entry.model for entry in timeline if isinstance(entry, Message) and entry.model), None),
        cwd=cwd,
        shape="tree" if replay.is_tree else "list",
        head_id=replay.head_id(timeline) or tree.newest_leaf(timeline) if replay.is_tree else None,
        link=_link(source, spot, owner),
        timeline=timeline,
        summaries=[*([Summary(text=summary)] if summary else ()), *_snapshots(timeline)],
        extra=head.rest(),
    )


def _snapshots(timeline: Sequence[Message | Event]) -> Iterator[Summary]:
    """The summaries that took the place of a history, each with the last message before it."""
    before: str | None = None
    for entry in timeline:
        if isinstance(entry, Message):
            if text := snapshot(entry):
                yield Summary(text=text, kind="system", at=entry.at, message_id=before)
            before = entry.id


def _id_in_name(source: Source) -> str | None:
    """A sub-agent's file is called by its session."""
    stem = source.name.removesuffix(".jsonl")
    return stem if ids.is_uuid(stem) else None


def _link(source: Source, spot: project.Spot | None, session: str) -> Link | None:
    """The session that started this one: sub-agents' sessions lie in a folder called by it."""
    parent = None if spot is None else spot.parent
    if parent is None or parent == session:
        return None
    message, call = companions.started_by(source, parent, session)
    return Link(conversation_id=parent, relation="subagent", message_id=message, call_id=call)


def _span(timeline: Sequence[Message | Event]) -> tuple[str | None, str | None]:
    """The first and the last time that the timeline has, for sessions whose head is missing."""
    moments = [entry.at for entry in timeline if entry.at is not None]
    return (moments[0], moments[-1]) if moments else (None, None)
