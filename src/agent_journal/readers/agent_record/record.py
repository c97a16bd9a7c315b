"""Converts records to conversations: the session, its agent and its environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal import readers
from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.text_encoding import utf8
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, ids, timestamps, tree
from agent_journal.model.leftovers import leftover_fields
from agent_journal.notes import Kind, Notes
from agent_journal.readers.agent_record.detect import is_record
from agent_journal.readers.agent_record.entries import EntryConverter
from agent_journal.readers.agent_record.own_fields import ConversationOwnFields, take_conversation_fields
from agent_journal.records.forms import UNKNOWN, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model.tree import Entry

# Fields of our own records that only repeat others.
_REDUNDANT_FIELDS = ("version", "id", "created", "recording-agent", "file-attribution")
_BLOCK_BYTES = 1 << 20


def conversations(source: Input, name: str, note: Notes) -> Iterator[Conversation]:
    """Yield the conversation of each record in a file; a truncated record is read as far as possible."""
    has_record = False
    for where, value in json_stream.values(source, note):
        if value.__class__ is dict and is_record(value):
            has_record = True
            yield conversation(value, where, name, note)
        else:
            note(Kind.BAD_RECORD, where, "it is no agent record")
    if not has_record:
        yield _truncated_conversation(source, name, note)


def _truncated_conversation(source: Input, name: str, note: Notes) -> Conversation:
    value = json_stream.decode(json_stream.repaired(_text(source)), Notes(keep=0), "")
    if value.__class__ is not dict or not is_record(value):
        raise UnreadableSource(source.label, "no record in it is one of an agent")
    note(Kind.TRUNCATED, "", "the record breaks off; what is before that was read")
    return conversation(value, "", name, note)


def _text(source: Input) -> bytes:
    data = bytearray()
    with utf8(source) as stream:
        while len(data) < json_stream.MAX_RECORD_BYTES and (block := stream.read(_BLOCK_BYTES)):
            data += block
    return bytes(data).lstrip()


def conversation(raw: dict[str, Any], where: str, name: str, note: Notes) -> Conversation:
    """Convert a record, which is changed in place."""
    fields = Fields(raw, note, where)
    own_fields = take_conversation_fields(fields)
    session = fields.nested("session") or Fields({}, note, where)
    agent = session.nested("agent-meta") or Fields({}, note, where)
    source = _source(agent, name) if own_fields is None else own_fields.source
    stated_id = _id(fields, session, note) if own_fields is None else session.text("session-id")
    if stated_id is None:
        conversation_id = ids.made(name, where, session.view("session-start"), len(str(raw)))
    else:
        conversation_id = stated_id
    model = _model(agent, is_own_record=own_fields is not None)
    kinds = readers.get(source).INFO.tool_kinds if own_fields is None and source in readers.discover() else {}
    converter = EntryConverter(conversation_id, kinds, note, is_own_record=own_fields is not None)
    timeline = converter.timeline(session.items("entries") or [])
    values = {
        "id": conversation_id,
        "source": source,
        "started_at": session.timestamp("session-start"),
        "updated_at": session.timestamp("session-end"),
        "app_version": agent.text("cli-version"),
        "model": model,
        "timeline": timeline,
        **_environment(fields, session),
    }
    if own_fields is None:
        return _converted(values, fields, timeline, has_generated_id=stated_id is None)
    return _restored(values, fields, session, own_fields)


def _converted(
    values: dict[str, Any], fields: Fields, timeline: list[Entry], *, has_generated_id: bool
) -> Conversation:
    if values["started_at"] is None:
        values["started_at"] = fields.timestamp("created")
    elif timestamps.parse_timestamp(fields.view("created")) == values["started_at"]:
        fields.drop("created")
    is_tree = any(entry.parent_id is not None for entry in timeline)
    return Conversation(
        **values,
        made_id=has_generated_id,
        shape="tree" if is_tree else "list",
        head_id=tree.newest_leaf(timeline) if is_tree else None,
        extra=fields.rest(),
    )


def _restored(
    values: dict[str, Any], fields: Fields, session: Fields, own_fields: ConversationOwnFields
) -> Conversation:
    fields.drop(*_REDUNDANT_FIELDS)
    session.drop("format")
    rest = fields.rest()
    rest.pop("session", None)
    values["extra"] = rest | session.rest() | own_fields.extra
    return Conversation(**values | leftover_fields(own_fields))


def _id(fields: Fields, session: Fields, note: Notes) -> str | None:
    """Get the session's id, else the record's."""
    identity = session.text("session-id") or None
    if identity is None:
        identity = fields.text("id") or None
    elif fields.view("id") == identity:
        fields.drop("id")
    if identity is None:
        note(Kind.MISSING_ID, fields.where, "a record has no id")
    return identity


def _source(agent: Fields, name: str) -> str:
    """Get the name of the reader for the agent's own sessions, if there is one; else `name`."""
    stated = agent.view("cli-name")
    for reader in readers.discover().values():
        if stated.__class__ is str and stated in (reader.INFO.names.get("record"), reader.INFO.name):
            agent.drop("cli-name")
            return reader.INFO.name
    return name


def _model(agent: Fields, *, is_own_record: bool) -> str | None:
    model = agent.text("model-id")
    if is_own_record:
        agent.drop("model-provider", "models", "cli-name")
    elif model is not None and agent.view("model-provider") == provider_of(model):
        agent.drop("model-provider")
    return None if model == UNKNOWN else model


def _environment(fields: Fields, session: Fields) -> dict[str, Any]:
    """Get the folder, branch and commit of the session."""
    environment = session.nested("environment") or Fields({}, fields.note, fields.where)
    values: dict[str, Any] = {"cwd": environment.text("working-dir")}
    for owner in (fields, environment):
        stated = owner.view("vcs")
        if stated.__class__ is dict and stated.get("type") in (None, "git"):
            vcs = owner.nested("vcs") or owner
            branch, commit = vcs.text("branch"), vcs.text("revision")
            vcs.drop("type")
            values = {"git_branch": branch, "git_commit": commit} | values
    return values
