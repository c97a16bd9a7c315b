"""A session: the history, what the file says about the whole, and what lies beside it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, objects, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Message, ids, timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.continue_dev import tokens
from agent_journal.readers.continue_dev.history import History
from agent_journal.readers.continue_dev.names import INDEX, SOURCE
from agent_journal.readers.continue_dev.session_logs import Logged
from agent_journal.readers.continue_dev.values import path_of, title_of

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Event
    from agent_journal.readers.continue_dev.companions import Beside

# "vscode/1.104.0 (Continue/1.2.11)"
_AGENT = re.compile(r"([^/]{1,80})/(\S{1,80}) \(Continue/([^)]{1,80})\)")
_UNKNOWN = "Unknown"


def load(source: Source, note: Notes) -> Bag | None:
    """The object that a file is; of a damaged one, the members and items that are left."""
    quiet = Notes(keep=0)
    whole = json_stream.load(source, quiet)
    if whole.__class__ is dict and not quiet.counts:
        return whole
    found: Bag = {}
    for key, index, value in json_stream.members(source, note):
        if index is None:
            found[key] = value
        else:
            listed = found.setdefault(key, [])
            if listed.__class__ is list:
                listed.append(value)
    return found or None


def conversation(document: Bag, source: Source, beside: Beside, note: Notes) -> Conversation:
    """The conversation that a session is."""
    fields = Fields(document, note, "")
    session_id = id_of(document, source)
    if session_id is not None and fields.look("sessionId") == session_id:
        fields.drop("sessionId")
    if session_id is None:
        note(Kind.MISSING_ID, "", "no sessionId")
    entry = beside.entry(session_id)
    items = fields.items("history") or []
    known_as = session_id or ids.made(SOURCE, items)
    origin, copied = _origin(items, fields.look("usage"), source)
    logged = Logged(beside.logs, known_as, items)
    asked = _prompts(items) if logged.has_feedback else []
    history = History(known_as, items, beside.models, logged, note)
    timeline = [*history.timeline, *logged.left(known_as)]
    tokens.settle(timeline, fields.look("usage"), known_as, note, copied)
    editor, app_version = agent_of(logged.agent)
    started_at = _began(entry, timeline)
    ended_at = max((entry.at for entry in timeline if entry.at), key=_moment, default=None)
    if started_at is None:
        ended_at = _of_file(source, note)
    return Conversation(
        id=known_as,
        made_id=session_id is None,
        source=SOURCE,
        title=title_of(fields, entry),
        started_at=started_at,
        updated_at=ended_at,
        app_version=app_version,
        model=_model(fields, timeline, logged, beside),
        cwd=_place(fields, entry),
        editor=editor,
        shape="list",
        link=None if origin is None else Link(conversation_id=origin, relation="fork"),
        timeline=timeline,
        summaries=history.summaries,
        feedback=logged.feedback(_by_message(asked, timeline)),
        tools=history.tools.offered,
        platform=beside.configured(),
        context=history.context.told(),
        extra=_extra(fields, entry, logged.agent),
    )


def id_of(document: Bag, source: Source) -> str | None:
    """The file's name, which counts for the application, if it is an id; else what the file says."""
    called = source.name.removesuffix(".json")
    return called if ids.is_uuid(called) else words(document.get("sessionId"))


def _origin(items: list[Any], usage: Any, source: Source) -> tuple[str | None, int]:
    """The session that a fork began as a copy of, and how many answers with tokens it copied.

    A fork names no original and has no ids, but one of the files beside it begins with the same items.
    """
    copied, last = tokens.stated_before(items, usage)
    if not copied:
        return None, 0
    beginning = items[: last + 1]
    for file in source.companions():
        if file.name != source.name and file.name.endswith(".json") and file.name != INDEX:
            other = _quietly(file)
            history = other.get("history")
            if history.__class__ is list and history[: last + 1] == beginning:
                return id_of(other, file), copied
    return None, 0


def _quietly(file: Source) -> Bag:
    try:
        whole = json_stream.load(file, Notes(keep=0))
    except UnreadableSource:
        return {}
    return whole if isinstance(whole, dict) else {}


def _prompts(items: list[Any]) -> list[list[Bag]]:
    """The prompts of each item, before they are taken."""
    return [[*objects(item.get("promptLogs"))] if item.__class__ is dict else [] for item in items]


def _by_message(asked: list[list[Bag]], timeline: Iterable[Message | Event]) -> dict[str, list[Bag]]:
    return {entry.id: prompts for entry, prompts in zip(timeline, asked, strict=False) if prompts}


def agent_of(agent: str | None) -> tuple[str | None, str | None]:
    """Editor and version of the extension, as a log names them."""
    found = _AGENT.fullmatch(agent) if agent is not None else None
    if found is None:
        return None, None
    return tuple(None if name == _UNKNOWN else name for name in found.group(1, 3))  # type: ignore[return-value] # two


def _began(entry: Bag, timeline: Iterable[Message | Event]) -> str | None:
    stated = timestamps.moment(entry.get("dateCreated")) or timestamps.moment(entry.get("date_created"))
    return stated or min((each.at for each in timeline if each.at), key=_moment, default=None)


def _moment(at: str) -> int:
    return timestamps.epoch_ms(at) or 0


def _of_file(source: Source, note: Notes) -> str | None:
    """When the file was written, where nothing tells a time: it is rewritten with each answer."""
    if source.modified_at is None:
        return None
    note(Kind.MISSING_TIME, "", "the time of the file stands in")
    return timestamps.from_epoch(int(source.modified_at))


def _place(fields: Fields, entry: Bag) -> str | None:
    """The folder, which editors call by an address; the address stays."""
    stated = fields.look("workspaceDirectory")
    place = words(stated)
    if stated == "" or (place is not None and path_of(place) == place):
        fields.drop("workspaceDirectory")
    place = place or words(entry.get("workspaceDirectory")) or words(entry.get("workspace_directory"))
    return None if place is None else path_of(place)


def _model(fields: Fields, timeline: Iterable[Message | Event], logged: Logged, beside: Beside) -> str | None:
    """The model that answered first, else the one that was chosen, or would be."""
    answered = (entry.model for entry in timeline if isinstance(entry, Message) and entry.model)
    chosen = beside.models.id_of(words(fields.look("chatModelTitle")))
    return next(answered, None) or chosen or beside.models.id_of(logged.model) or beside.models.usual


def _extra(fields: Fields, entry: Bag, agent: str | None) -> Bag:
    """What the file says and the model has no field for, and the index; each thing once."""
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
