"""Conversations in the documented form: messages or a prompt, context, configuration.

`{"sessionId": …, "version": …, "ide": …, "models": [{"model": …}], "context": {"workspaceDir": …,
"gitBranch": …, "providers": [{"name": …, "query": …}], "codebaseContext": …}, "messages": […]}`
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
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

    from agent_journal.inputs.input import Input
    from agent_journal.model import Bag, Item
    from agent_journal.notes import Notes

_ID_KEYS = ("sessionId", "session_id", "threadId", "thread_id", "id")
_VERSION_KEYS = ("extensionVersion", "extension_version", "version")
_EDITOR_KEYS = ("ide", "editor")
_START_KEYS = ("createdAt", "created_at", "dateCreated", "date_created", "timestamp")
_END_KEYS = ("updatedAt", "updated_at")
_FOLDER_KEYS = ("workspaceDir", "workspaceDirectory", "workspace_directory")
_BRANCH_KEYS = ("gitBranch", "git_branch")
_PROMPT_KEYS = ("prompt", "template", "text")


def read_documents(source: Input, note: Notes) -> Iterator[Item]:
    """Yield each conversation of a file: one object, or a list or lines of them."""
    has_conversation = False
    for where, value in json_stream.values(source, note):
        if value.__class__ is dict:
            has_conversation = True
            yield _conversation(Fields(value, note, where))
        else:
            note(Kind.BAD_RECORD, where, f"a conversation is {type(value).__name__}")
    if not has_conversation:
        raise UnreadableSource(source.label, "it contains no conversation")


def _conversation(fields: Fields) -> Conversation:
    made_id = ids.made(SOURCE, {key: fields.view(key) for key in (*_ID_KEYS, "messages", *_PROMPT_KEYS)})
    stated = _first(fields, _ID_KEYS)
    if stated is None:
        fields.note(Kind.MISSING_ID, fields.where, "no session or thread id")
    session_id = stated or made_id
    context = fields.nested("context") or Fields({}, fields.note, fields.where)
    models = _models(fields)
    timeline = _timeline(fields, session_id, models)
    tokens.reconcile(timeline, fields.view("usage"), session_id, fields.note)
    return Conversation(
        id=session_id,
        made_id=stated is None,
        source=SOURCE,
        title=title_of(fields, {}),
        started_at=_first_time(fields, _START_KEYS),
        updated_at=_first_time(fields, _END_KEYS),
        app_version=_first(fields, _VERSION_KEYS),
        model=_model(fields, models),
        cwd=_folder(context) or _folder(fields),
        git_branch=_first(context, _BRANCH_KEYS) or _first(fields, _BRANCH_KEYS),
        editor=_editor(fields) or _editor(context),
        shape="list",
        timeline=timeline,
        platform={"models": [model.as_bag() for model in models.configured]} if models.configured else {},
        context=_context(context, fields),
        extra=fields.rest(),
    )


def _first(fields: Fields, names: tuple[str, ...]) -> str | None:
    """Take the first text under one of the names; the others stay."""
    for name in names:
        if nonempty_str(fields.view(name)) is not None:
            return fields.text(name)
    return None


def _first_time(fields: Fields, names: tuple[str, ...]) -> str | None:
    for name in names:
        if fields.view(name) is not None and (at := fields.timestamp(name)) is not None:
            return at
    return None


def _models(fields: Fields) -> config.Models:
    """Return the models of the configuration, which stays in the fields."""
    for holder in (fields, fields.nested("config")):
        if holder is not None and (models := config.models_in({"models": holder.view("models")})).configured:
            return models
    return config.Models([])


def _model(fields: Fields, models: config.Models) -> str | None:
    return models.id_of(_first(fields, ("model", "chatModelTitle"))) or models.default


def _folder(fields: Fields) -> str | None:
    folder = _first(fields, _FOLDER_KEYS)
    return None if folder is None else path_of(folder)


def _editor(fields: Fields) -> str | None:
    """Return the name of the editor: a string, or in an object."""
    if (name := _first(fields, _EDITOR_KEYS)) is not None:
        return name
    for key in _EDITOR_KEYS:
        inner = fields.nested(key) if fields.view(key).__class__ is dict else None
        if inner is not None and nonempty_str(inner.view("name")):
            return inner.text("name")
    return None


def _context(context: Fields, fields: Fields) -> Bag:
    """Return the providers and the codebase, which are in the context or at the top level."""
    providers, codebase = (
        (context if context.has(name) else fields).take(name) for name in ("providers", "codebaseContext")
    )
    bag = {"context_providers": providers, "codebase_context": codebase}
    return {name: value for name, value in bag.items() if value is not None}


def _timeline(fields: Fields, session_id: str, models: config.Models) -> list[Message | Event]:
    """Return the listed messages, else the messages of a prompt and its answer."""
    listed = fields.take("messages")
    if listed.__class__ is list:
        entries = [_message(raw, index, session_id, models, fields) for index, raw in enumerate(listed)]
        return _with_unique_ids(entries, session_id, fields)
    turns: list[chat_templates.Turn] = []
    for name, text in (("messages", listed), *((name, fields.view(name)) for name in _PROMPT_KEYS)):
        if text.__class__ is str and text:
            fields.drop(name)
            turns = _turns(text)
            break
        if text is not None and name == "messages":
            fields.note(Kind.WRONG_TYPE, fields.where, f"messages is {type(text).__name__}")
            fields.keep(name, text)
    if (answer := nonempty_str(fields.view("completion"))) is not None:
        fields.drop("completion")
        turns.append(chat_templates.Turn("assistant", "", answer))
    return [
        Message(
            id=ids.made(SOURCE, session_id, index, turn.role, turn.text),
            made_id=True,
            role=turn.role,
            parts=[Text(text=turn.text)],
        )
        for index, turn in enumerate(turns)
    ]


def _turns(text: str) -> list[chat_templates.Turn]:
    parsed = chat_templates.parse_dialogue(text)
    return parsed.turns if parsed is not None else [chat_templates.Turn("user", "", text)]


def _with_unique_ids(
    entries: list[Message | Event], session_id: str, fields: Fields
) -> list[Message | Event]:
    used: set[str] = set()
    for index, entry in enumerate(entries):
        if isinstance(entry, Message) and entry.id in used:
            fields.note(Kind.DUPLICATE_ID, f"{fields.where} messages[{index}]".strip(), entry.id[:60])
            made_id = ids.made(SOURCE, session_id, index, entry.id)
            entries[index] = replace(entry, id=made_id, made_id=True, extra={"id": entry.id, **entry.extra})
        used.add(entries[index].id)
    return entries


def _message(raw: Any, index: int, session_id: str, models: config.Models, fields: Fields) -> Message | Event:
    made_id = ids.made(SOURCE, session_id, index, raw)
    where = f"{fields.where} messages[{index}]".strip()
    if raw.__class__ is not dict:
        fields.note(Kind.WRONG_TYPE, where, f"a message is {type(raw).__name__}")
        return Event(id=made_id, made_id=True, name="message", data={"value": raw})
    parsed = openai.parse_message(raw, fields.note, where)
    rest = Fields(parsed.extra, fields.note, where)
    stated = _first(rest, ("id", "message_id", "messageId"))
    usage = tokens.usage(rest.view("usage"), stated or made_id)
    if usage is not None:
        rest.drop("usage")
    return Message(
        id=stated or made_id,
        made_id=stated is None,
        role=parsed.role,
        at=_first_time(rest, _START_KEYS),
        model=models.id_of(_first(rest, ("model",))),
        parts=parsed.parts,
        usage=usage,
        extra=rest.rest(),
    )
