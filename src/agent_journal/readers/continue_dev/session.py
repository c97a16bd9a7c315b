"""A session: its history, its metadata, and its companions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Message, ids, timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.continue_dev import tokens
from agent_journal.readers.continue_dev.history import History
from agent_journal.readers.continue_dev.names import INDEX, SOURCE
from agent_journal.readers.continue_dev.session_logs import SessionLogs
from agent_journal.readers.continue_dev.values import path_of, title_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Event
    from agent_journal.readers.continue_dev.companions import Companions

# "vscode/1.104.0 (Continue/1.2.11)"
_AGENT = re.compile(r"([^/]{1,80})/(\S{1,80}) \(Continue/([^)]{1,80})\)")
_UNKNOWN = "Unknown"


def load(source: Input, note: Notes) -> Bag | None:
    """Load the object of a file; from a damaged file, the members and items that can be read."""
    no_notes = Notes(keep=0)
    document = json_stream.load(source, no_notes)
    if document.__class__ is dict and not no_notes.counts:
        return document
    salvaged: Bag = {}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            salvaged[key] = value
        else:
            listed = salvaged.setdefault(key, [])
            if listed.__class__ is list:
                listed.append(value)
    return salvaged or None


def make_conversation(document: Bag, source: Input, companions: Companions, note: Notes) -> Conversation:
    """Make the conversation of a session."""
    fields = Fields(document, note, "")
    stated_id = id_of(document, source)
    if stated_id is not None and fields.view("sessionId") == stated_id:
        fields.drop("sessionId")
    if stated_id is None:
        note(Kind.MISSING_ID, "", "no sessionId")
    entry = companions.entry(stated_id)
    items = fields.items("history") or []
    session_id = stated_id or ids.made(SOURCE, items)
    origin, copied = _find_origin(items, fields.view("usage"), source)
    session_logs = SessionLogs(companions.logs, session_id, items)
    prompts = _prompts(items) if session_logs.has_feedback else []
    history = History(session_id, items, companions.models, session_logs, note)
    timeline = [*history.timeline, *session_logs.unmatched_events(session_id)]
    tokens.reconcile(timeline, fields.view("usage"), session_id, note, copied)
    editor, app_version = parse_agent(session_logs.agent)
    started_at = _started_at(entry, timeline)
    ended_at = max((entry.at for entry in timeline if entry.at), key=_epoch_ms, default=None)
    if started_at is None:
        ended_at = _modified_at(source, note)
    return Conversation(
        id=session_id,
        made_id=stated_id is None,
        source=SOURCE,
        title=title_of(fields, entry),
        started_at=started_at,
        updated_at=ended_at,
        app_version=app_version,
        model=_model(fields, timeline, session_logs, companions),
        cwd=_folder(fields, entry),
        editor=editor,
        shape="list",
        link=None if origin is None else Link(conversation_id=origin, relation="fork"),
        timeline=timeline,
        summaries=history.summaries,
        feedback=session_logs.feedback(_by_message(prompts, timeline)),
        tools=history.tools.offered,
        platform=companions.configured(),
        context=history.context.as_bag(),
        extra=_extra(fields, entry, session_logs.agent),
    )


def id_of(document: Bag, source: Input) -> str | None:
    """Return the file's name if it is an id, as the application does; else the stated id."""
    stem = source.name.removesuffix(".json")
    return stem if ids.is_uuid(stem) else nonempty_str(document.get("sessionId"))


def _find_origin(items: list[Any], usage: Any, source: Input) -> tuple[str | None, int]:
    """Find the session that a fork is a copy of, and how many answers with tokens were copied.

    A fork does not name its origin and has no ids, but a file next to it begins with the same items.
    """
    copied, last = tokens.find_copied_answers(items, usage)
    if not copied:
        return None, 0
    beginning = items[: last + 1]
    for file in source.companions():
        if file.name != source.name and file.name.endswith(".json") and file.name != INDEX:
            other = _load_without_notes(file)
            history = other.get("history")
            if history.__class__ is list and history[: last + 1] == beginning:
                return id_of(other, file), copied
    return None, 0


def _load_without_notes(file: Input) -> Bag:
    try:
        document = json_stream.load(file, Notes(keep=0))
    except UnreadableSource:
        return {}
    return document if isinstance(document, dict) else {}


def _prompts(items: list[Any]) -> list[list[Bag]]:
    """Return the prompts of each item, before they are moved out."""
    return [[*objects(item.get("promptLogs"))] if item.__class__ is dict else [] for item in items]


def _by_message(all_prompts: list[list[Bag]], timeline: Iterable[Message | Event]) -> dict[str, list[Bag]]:
    return {entry.id: prompts for entry, prompts in zip(timeline, all_prompts, strict=False) if prompts}


def parse_agent(agent: str | None) -> tuple[str | None, str | None]:
    """Return the editor and the version of the extension from a log's user agent."""
    match = _AGENT.fullmatch(agent) if agent is not None else None
    if match is None:
        return None, None
    return tuple(None if name == _UNKNOWN else name for name in match.group(1, 3))  # type: ignore[return-value] # two


def _started_at(entry: Bag, timeline: Iterable[Message | Event]) -> str | None:
    stated = timestamps.parse_timestamp(entry.get("dateCreated")) or timestamps.parse_timestamp(
        entry.get("date_created")
    )
    return stated or min((entry.at for entry in timeline if entry.at), key=_epoch_ms, default=None)


def _epoch_ms(at: str) -> int:
    return timestamps.epoch_ms(at) or 0


def _modified_at(source: Input, note: Notes) -> str | None:
    """Return when the file was written, if there is no other time: it is rewritten with each answer."""
    if source.modified_at is None:
        return None
    note(Kind.MISSING_TIME, "", "the time of the file stands in")
    return timestamps.from_epoch(int(source.modified_at))


def _folder(fields: Fields, entry: Bag) -> str | None:
    """Return the working directory; editors write it as a URI, which stays in the fields."""
    stated = fields.view("workspaceDirectory")
    folder = nonempty_str(stated)
    if stated == "" or (folder is not None and path_of(folder) == folder):
        fields.drop("workspaceDirectory")
    folder = (
        folder
        or nonempty_str(entry.get("workspaceDirectory"))
        or nonempty_str(entry.get("workspace_directory"))
    )
    return None if folder is None else path_of(folder)


def _model(
    fields: Fields, timeline: Iterable[Message | Event], session_logs: SessionLogs, companions: Companions
) -> str | None:
    """Return the first model that answered, else the chosen one, else the default."""
    answered = (entry.model for entry in timeline if isinstance(entry, Message) and entry.model)
    chosen = companions.models.id_of(nonempty_str(fields.view("chatModelTitle")))
    return (
        next(answered, None)
        or chosen
        or companions.models.id_of(session_logs.model)
        or companions.models.default
    )


def _extra(fields: Fields, entry: Bag, agent: str | None) -> Bag:
    """Return the remaining fields, and those of the index that do not repeat others."""
    extra = fields.rest()
    index = {
        name: value
        for name, value in entry.items()
        if name not in {"sessionId", "session_id", "title", "dateCreated", "date_created"}
        and not name.startswith("workspace")
    }
    if index:
        extra["index"] = index
    if agent is not None:
        extra["userAgent"] = agent
    return extra
