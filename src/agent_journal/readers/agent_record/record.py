"""A record as a conversation: what it says of the session, its agent and its place."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from agent_journal import readers
from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.decoding.text_encoding import utf8
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, ids, timestamps, tree
from agent_journal.notes import Kind, Notes
from agent_journal.readers.agent_record.detect import is_record
from agent_journal.readers.agent_record.entries import Entries
from agent_journal.readers.agent_record.own_fields import OfConversation, of_conversation
from agent_journal.records.forms import UNKNOWN, provider_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model.tree import Entry

# What a record that was written here says once more.
_AGAIN = ("version", "id", "created", "recording-agent", "file-attribution")
_BLOCK = 1 << 20


def conversations(source: Source, name: str, note: Notes) -> Iterator[Conversation]:
    """The conversation of each record in a file; of one record that is cut, what is left of it."""
    is_any = False
    for where, value in json_stream.values(source, note):
        if value.__class__ is dict and is_record(value):
            is_any = True
            yield conversation(value, where, name, note)
        else:
            note(Kind.BAD_RECORD, where, "it is no agent record")
    if not is_any:
        yield _salvaged(source, name, note)


def _salvaged(source: Source, name: str, note: Notes) -> Conversation:
    value = json_stream.decode(json_stream.mended(_text(source)), Notes(keep=0), "")
    if value.__class__ is not dict or not is_record(value):
        raise UnreadableSource(source.label, "no record in it is one of an agent")
    note(Kind.TRUNCATED, "", "the record breaks off; what is before that was read")
    return conversation(value, "", name, note)


def _text(source: Source) -> bytes:
    data = bytearray()
    with utf8(source) as stream:
        while len(data) < json_stream.MAX_RECORD_BYTES and (block := stream.read(_BLOCK)):
            data += block
    return bytes(data).lstrip()


def conversation(raw: dict[str, Any], where: str, name: str, note: Notes) -> Conversation:
    """The conversation that a record tells. It is changed in place."""
    fields = Fields(raw, note, where)
    ours = of_conversation(fields)
    session = fields.nested("session") or Fields({}, note, where)
    agent = session.nested("agent-meta") or Fields({}, note, where)
    source = _source(agent, name) if ours is None else ours.source
    identity = _id(fields, session, note)
    owner = identity or ids.made(name, where, session.look("session-start"), len(str(raw)))
    model = _model(agent, is_ours=ours is not None)
    kinds = readers.get(source).INFO.tool_kinds if ours is None and source in readers.discover() else {}
    timeline = Entries(owner, kinds, note, is_ours=ours is not None).told(session.items("entries") or [])
    facts = {
        "id": owner,
        "source": source,
        "started_at": session.moment("session-start"),
        "updated_at": session.moment("session-end"),
        "app_version": agent.text("cli-version"),
        "model": model,
        "timeline": timeline,
        **_place(fields, session),
    }
    if ours is None:
        return _of_others(facts, fields, timeline, made=identity is None)
    return _of_ours(facts, fields, session, ours)


def _of_others(facts: dict[str, Any], fields: Fields, timeline: list[Entry], *, made: bool) -> Conversation:
    if facts["started_at"] is None:
        facts["started_at"] = fields.moment("created")
    elif timestamps.moment(fields.look("created")) == facts["started_at"]:
        fields.drop("created")
    is_tree = any(entry.parent_id is not None for entry in timeline)
    return Conversation(
        **facts,
        made_id=made,
        shape="tree" if is_tree else "list",
        head_id=tree.newest_leaf(timeline) if is_tree else None,
        extra=fields.rest(),
    )


def _of_ours(facts: dict[str, Any], fields: Fields, session: Fields, ours: OfConversation) -> Conversation:
    fields.drop(*_AGAIN)
    session.drop("format")
    stated = {name: getattr(ours, name) for name in ours.__struct_fields__}
    extra = stated.pop("extra")
    facts |= {name: value for name, value in stated.items() if value is not UNSET}
    rest = fields.rest()
    rest.pop("session", None)
    return Conversation(**facts, extra=rest | session.rest() | extra)


def _id(fields: Fields, session: Fields, note: Notes) -> str | None:
    """The session's id, else the record's."""
    identity = session.text("session-id") or None
    if identity is None:
        identity = fields.text("id") or None
    elif fields.look("id") == identity:
        fields.drop("id")
    if identity is None:
        note(Kind.MISSING_ID, fields.where, "a record has no id")
    return identity


def _source(agent: Fields, name: str) -> str:
    """The reader of the agent's own histories, if there is one: what it knows of them holds here too."""
    stated = agent.look("cli-name")
    for reader in readers.discover().values():
        if stated.__class__ is str and stated in (reader.INFO.names.get("record"), reader.INFO.name):
            agent.drop("cli-name")
            return reader.INFO.name
    return name


def _model(agent: Fields, *, is_ours: bool) -> str | None:
    model = agent.text("model-id")
    if is_ours:
        agent.drop("model-provider", "models", "cli-name")
    elif model is not None and agent.look("model-provider") == provider_of(model):
        agent.drop("model-provider")
    return None if model == UNKNOWN else model


def _place(fields: Fields, session: Fields) -> dict[str, Any]:
    """Where the session took place: folder, branch and commit."""
    environment = session.nested("environment") or Fields({}, fields.note, fields.where)
    found: dict[str, Any] = {"cwd": environment.text("working-dir")}
    for holder in (fields, environment):
        stated = holder.look("vcs")
        if stated.__class__ is dict and stated.get("type") in (None, "git"):
            vcs = holder.nested("vcs") or holder
            branch, commit = vcs.text("branch"), vcs.text("revision")
            vcs.drop("type")
            found = {"git_branch": branch, "git_commit": commit} | found
    return found
