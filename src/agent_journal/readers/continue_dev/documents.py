"""Conversations as descriptions of the format have them: messages or a prompt, context, configuration.

`{"sessionId": …, "version": …, "ide": …, "models": [{"model": …}], "context": {"workspaceDir": …,
"gitBranch": …, "providers": [{"name": …, "query": …}], "codebaseContext": …}, "messages": […]}`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, Message, Text, ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import config, tokens
from agent_journal.readers.continue_dev.names import SOURCE
from agent_journal.readers.continue_dev.values import path_of, title_of
from agent_journal.readers.dialects import chat_templates
from agent_journal.readers.dialects import openai_messages as openai

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Bag, Item
    from agent_journal.notes import Notes

_IDS = ("sessionId", "session_id", "threadId", "thread_id", "id")
_VERSIONS = ("extensionVersion", "extension_version", "version")
_EDITORS = ("ide", "editor")
_STARTS = ("createdAt", "created_at", "dateCreated", "date_created", "timestamp")
_ENDS = ("updatedAt", "updated_at")
_PLACES = ("workspaceDir", "workspaceDirectory", "workspace_directory")
_BRANCHES = ("gitBranch", "git_branch")
_PROMPTS = ("prompt", "template", "text")


def read_documents(source: Source, note: Notes) -> Iterator[Item]:
    """Each conversation of a file: it is one, or a list or lines of them."""
    found = False
    for place, value in json_stream.values(source, note):
        if value.__class__ is dict:
            found = True
            yield _conversation(Fields(value, note, place))
        else:
            note(Kind.BAD_RECORD, place, f"a conversation is {type(value).__name__}")
    if not found:
        raise UnreadableSource(source.label, "nothing in it is a conversation")


def _conversation(fields: Fields) -> Conversation:
    whole = ids.made(SOURCE, {key: fields.look(key) for key in (*_IDS, "messages", *_PROMPTS)})
    stated = _first(fields, _IDS)
    if stated is None:
        fields.note(Kind.MISSING_ID, fields.where, "no id of a session or thread")
    session_id = stated or whole
    context = fields.nested("context") or Fields({}, fields.note, fields.where)
    models = _models(fields)
    timeline = _timeline(fields, session_id, models)
    tokens.settle(timeline, fields.look("usage"), session_id, fields.note)
    return Conversation(
        id=session_id,
        made_id=stated is None,
        source=SOURCE,
        title=title_of(fields, {}),
        started_at=_first_moment(fields, _STARTS),
        updated_at=_first_moment(fields, _ENDS),
        app_version=_first(fields, _VERSIONS),
        model=_model(fields, models),
        cwd=_place(context) or _place(fields),
        git_branch=_first(context, _BRANCHES) or _first(fields, _BRANCHES),
        editor=_editor(fields) or _editor(context),
        shape="list",
        timeline=timeline,
        platform={"models": [model.told() for model in models.configured]} if models.configured else {},
        context=_context(context, fields),
        extra=fields.rest(),
    )


def _first(fields: Fields, names: tuple[str, ...]) -> str | None:
    """The first text under one of the names; the others stay."""
    for name in names:
        if words(fields.look(name)) is not None:
            return fields.text(name)
    return None


def _first_moment(fields: Fields, names: tuple[str, ...]) -> str | None:
    for name in names:
        if fields.look(name) is not None and (at := fields.moment(name)) is not None:
            return at
    return None


def _models(fields: Fields) -> config.Models:
    """The models of the configuration, which stays as it is except for them."""
    for holder in (fields, fields.nested("config")):
        if holder is not None and (found := config.of({"models": holder.look("models")})).configured:
            return found
    return config.Models([])


def _model(fields: Fields, models: config.Models) -> str | None:
    return models.id_of(_first(fields, ("model", "chatModelTitle"))) or models.usual


def _place(fields: Fields) -> str | None:
    place = _first(fields, _PLACES)
    return None if place is None else path_of(place)


def _editor(fields: Fields) -> str | None:
    """The editor by its name, which may stand alone or in an object."""
    if (name := _first(fields, _EDITORS)) is not None:
        return name
    for key in _EDITORS:
        inner = fields.nested(key) if fields.look(key).__class__ is dict else None
        if inner is not None and words(inner.look("name")):
            return inner.text("name")
    return None


def _context(context: Fields, fields: Fields) -> Bag:
    """What was offered to the model, which may stand in a context or beside the messages."""
    providers, codebase = (
        (context if context.has(name) else fields).take(name) for name in ("providers", "codebaseContext")
    )
    told = {"context_providers": providers, "codebase_context": codebase}
    return {name: value for name, value in told.items() if value is not None}


def _timeline(fields: Fields, session_id: str, models: config.Models) -> list[Message | Event]:
    """The messages as they are listed, else those in a prompt and the answer to it."""
    listed = fields.take("messages")
    if listed.__class__ is list:
        told = [_message(raw, place, session_id, models, fields) for place, raw in enumerate(listed)]
        return _told_apart(told, session_id, fields)
    turns: list[chat_templates.Turn] = []
    for name, text in (("messages", listed), *((name, fields.look(name)) for name in _PROMPTS)):
        if text.__class__ is str and text:
            fields.drop(name)
            turns = _turns(text)
            break
        if text is not None and name == "messages":
            fields.note(Kind.WRONG_TYPE, fields.where, f"messages is {type(text).__name__}")
            fields.keep(name, text)
    if (answer := words(fields.look("completion"))) is not None:
        fields.drop("completion")
        turns.append(chat_templates.Turn("assistant", "", answer))
    return [
        Message(
            id=ids.made(SOURCE, session_id, place, turn.role, turn.text),
            made_id=True,
            role=turn.role,
            parts=[Text(text=turn.text)],
        )
        for place, turn in enumerate(turns)
    ]


def _turns(text: str) -> list[chat_templates.Turn]:
    found = chat_templates.parsed(text)
    return found.turns if found is not None else [chat_templates.Turn("user", "", text)]


def _told_apart(told: list[Message | Event], session_id: str, fields: Fields) -> list[Message | Event]:
    """The messages, each with an id that no other has."""
    seen: set[str] = set()
    for place, entry in enumerate(told):
        if isinstance(entry, Message) and entry.id in seen:
            fields.note(Kind.DUPLICATE_ID, f"{fields.where} messages[{place}]".strip(), entry.id[:60])
            made = ids.made(SOURCE, session_id, place, entry.id)
            told[place] = replace(entry, id=made, made_id=True, extra={"id": entry.id, **entry.extra})
        seen.add(told[place].id)
    return told


def _message(raw: Any, place: int, session_id: str, models: config.Models, fields: Fields) -> Message | Event:
    made = ids.made(SOURCE, session_id, place, raw)
    where = f"{fields.where} messages[{place}]".strip()
    if raw.__class__ is not dict:
        fields.note(Kind.WRONG_TYPE, where, f"a message is {type(raw).__name__}")
        return Event(id=made, made_id=True, name="message", data={"value": raw})
    said = openai.said(raw, fields.note, where)
    rest = Fields(said.extra, fields.note, where)
    stated = _first(rest, ("id", "message_id", "messageId"))
    usage = tokens.usage(rest.look("usage"), stated or made)
    if usage is not None:
        rest.drop("usage")
    return Message(
        id=stated or made,
        made_id=stated is None,
        role=said.role,
        at=_first_moment(rest, _STARTS),
        model=models.id_of(_first(rest, ("model",))),
        parts=said.parts,
        usage=usage,
        extra=rest.rest(),
    )
