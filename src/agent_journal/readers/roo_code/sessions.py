"""Cline's sessions since 2026: a folder with one file of messages per agent, and a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Summary, tree
from agent_journal.notes import Kind
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import facts, subagents
from agent_journal.readers.roo_code.history import History, is_summary
from agent_journal.readers.roo_code.names import CLINE, PRODUCTS, SESSION_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.model import Message
    from agent_journal.notes import Notes

_COMPACTION_SUFFIX = ".compaction.json"


def read_session(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield one conversation per agent of a session."""
    if not source.is_folder:
        yield _conversation(source, note, name, subagents.Parents())
        return
    parents = subagents.Parents()
    for file in source.children():
        if file.is_folder or not file.name.endswith(SESSION_SUFFIX):
            if file.name not in (f"{source.name}.json", f"{source.name}{_COMPACTION_SUFFIX}"):
                note.add(Kind.IGNORED_FILE, file.label, "", "a folder" if file.is_folder else "")
            continue
        try:
            yield _conversation(file, note.about(file.label), name, parents)
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)


def _conversation(file: Input, note: Notes, name: str, parents: subagents.Parents) -> Conversation:
    header, records = _read_messages_file(file, note)
    stem = file.name.removesuffix(SESSION_SUFFIX)
    session_id = header.text("sessionId") or stem
    manifest = _load_manifest(file, session_id, note)
    parent_id = _parent_id(file, session_id, manifest)
    history = History(session_id, note, is_native=True)
    messages = [
        parsed.message for index, record in records if (parsed := history.parse(record, index)) is not None
    ]
    if not messages and not manifest.rest():
        raise UnreadableSource(file.label, "no message in it could be read")
    agent = header.text("agent")
    started_at, updated_at = tree.span(messages)
    metadata = manifest.nested("metadata") or Fields({}, note, "manifest")
    title = metadata.text("title") or tree.title_from(
        filter(None, (_unwrap_prompt(nonempty_str(manifest.view("prompt"))), _first_user_text(messages)))
    )
    modes = history.modes or list(filter(None, [nonempty_str(metadata.view("mode"))]))
    condensed, compaction = _load_compaction(file, session_id, messages, note)
    extra = header.rest() | compaction
    return Conversation(
        id=session_id,
        source=name,
        product=PRODUCTS[CLINE],
        title=title,
        started_at=manifest.timestamp("started_at") or manifest.timestamp("created_at") or started_at,
        updated_at=updated_at or header.timestamp("updated_at"),
        model=next((message.model for message in messages if message.model), None) or manifest.text("model"),
        cwd=manifest.text("cwd")
        or (None if parent_id is None else _load_manifest(file, parent_id, note).text("cwd")),
        shape="list",
        link=_fork_link(metadata) if parent_id is None else _agent_link(parent_id, file, messages, parents),
        timeline=list(messages),
        summaries=[*facts.summaries(messages), *condensed],
        platform={"extension": CLINE, **({} if agent is None else {"agent": agent}), **_modes(modes)},
        extra=extra | ({"manifest": rest} if (rest := manifest.rest()) else {}),
    )


def _read_messages_file(file: Input, note: Notes) -> tuple[Fields, list[tuple[int, Any]]]:
    """Return the fields of a file and its messages; of a damaged file, those that can be read."""
    records: list[tuple[int, Any]] = []
    header: dict[str, Any] = {}
    for key, index, value in json_stream.members(file, note):
        if key == "messages" and index is not None:
            records.append((index, value))
        elif index is None:
            header[key] = value
        else:
            header.setdefault(key, []).append(value)
    header.pop("version", None)
    return Fields(header, note, ""), records


def _load_manifest(file: Input, session_id: str, note: Notes) -> Fields:
    """Load the metadata of the session; only its first agent's file has a manifest."""
    manifest = file.companion(f"{session_id}.json")
    value: Any = None
    if manifest is not None:
        try:
            value = json_stream.load(manifest, note.about(manifest.label))
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
    fields = Fields(value if value.__class__ is dict else {}, note, "manifest")
    if fields.view("session_id") == session_id:
        fields.drop("session_id")
    return fields


def _parent_id(file: Input, session_id: str, manifest: Fields) -> str | None:
    """Return the session that an agent works for: its folder is named after it."""
    path = file.label.replace("\\", "/").split("/")
    folder = path[-2] if len(path) > 1 else ""
    if manifest.rest() or not folder or folder == session_id:
        return None
    return folder if file.companion(f"{folder}{SESSION_SUFFIX}") is not None else None


def _agent_link(
    parent_id: str, file: Input, messages: list[Message], parents: subagents.Parents
) -> Link | None:
    """Return the link to the session that an agent works for, and to the call that started the agent."""
    parent_file = file.companion(f"{parent_id}{SESSION_SUFFIX}")
    answers = (message for message in reversed(messages) if message.role == "assistant")
    answer = next((text for message in answers if (text := tree.plain_text(message))), None)
    if parent_file is None:
        return None
    return parents.link(parent_id, parent_file, _first_user_text(messages), answer)


def _fork_link(metadata: Fields) -> Link | None:
    """Return the link to the session that this one is a fork of."""
    fork = metadata.nested("fork")
    origin = None if fork is None else fork.text("forkedFromSessionId")
    return Link(conversation_id=origin, relation="fork") if origin else None


def _modes(modes: list[str]) -> dict[str, Any]:
    """Return the current mode and all modes of the session."""
    if not modes:
        return {}
    return {"mode": modes[-1], "active_mode": modes[-1], "available_modes": list(dict.fromkeys(modes))}


def _load_compaction(
    file: Input, session_id: str, messages: list[Message], note: Notes
) -> tuple[list[Summary], dict[str, Any]]:
    """Load the summaries that replaced earlier messages, and the other fields of their file.

    The other messages of that file repeat those of the session, in full or truncated.
    """
    compaction = file.companion(f"{session_id}{_COMPACTION_SUFFIX}")
    if compaction is None:
        return [], {}
    try:
        header, records = _read_messages_file(compaction, note.about(compaction.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return [], {}
    covered = header.view("source_message_count")
    is_known = covered.__class__ is int and 0 < covered <= len(messages)
    last_id = messages[covered - 1].id if is_known else None
    summaries: list[Summary] = []
    for _, record in records:
        metadata = record.get("metadata") if record.__class__ is dict and is_summary(record.get) else None
        fields = Fields(
            metadata if metadata.__class__ is dict else {}, note.about(compaction.label), "summary"
        )
        if text := fields.text("summary"):
            at = fields.timestamp("generatedAt")
            summaries.append(
                Summary(text=text, kind="system", at=at, message_id=last_id, extra=fields.rest())
            )
    return summaries, {"compaction": rest} if (rest := header.rest()) else {}


def _unwrap_prompt(prompt: str | None) -> str | None:
    return None if prompt is None else contents.user_text(prompt, None).text


def _first_user_text(messages: list[Message]) -> str | None:
    return next((tree.plain_text(message) for message in messages if message.role == "user"), None)
