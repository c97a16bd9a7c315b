"""Sessions of Cline since 2026: a folder with one file of messages for each agent, and a manifest."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, words
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Link, Summary, tree
from agent_journal.notes import Kind
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import facts, subagents
from agent_journal.readers.roo_code.history import History, is_summary
from agent_journal.readers.roo_code.names import CLINE, SESSION_SUFFIX

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Source
    from agent_journal.model import Message
    from agent_journal.notes import Notes

_COMPACTION_SUFFIX = ".compaction.json"


def conversations(source: Source, note: Notes, name: str) -> Iterator[Conversation]:
    """One conversation of each agent of a session."""
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


def _conversation(file: Source, note: Notes, name: str, parents: subagents.Parents) -> Conversation:
    whole, records = _parts(file, note)
    stem = file.name.removesuffix(SESSION_SUFFIX)
    session_id = whole.text("sessionId") or stem
    manifest = _manifest(file, session_id, note)
    root = _root(file, session_id, manifest)
    history = History(session_id, note, is_native=True)
    said = [one.message for index, record in records if (one := history.said(record, index)) is not None]
    if not said and not manifest.rest():
        raise UnreadableSource(file.label, "no message in it could be read")
    agent = whole.text("agent")
    started_at, updated_at = tree.span(said)
    stated = manifest.nested("metadata") or Fields({}, note, "manifest")
    title = stated.text("title") or tree.title_from(
        filter(None, (_said(words(manifest.look("prompt"))), _first(said)))
    )
    modes = history.modes or list(filter(None, [words(stated.look("mode"))]))
    condensed, compaction = _compaction(file, session_id, said, note)
    extra = whole.rest() | compaction
    return Conversation(
        id=session_id,
        source=name,
        title=title,
        started_at=manifest.moment("started_at") or manifest.moment("created_at") or started_at,
        updated_at=updated_at or whole.moment("updated_at"),
        model=next((one.model for one in said if one.model), None) or manifest.text("model"),
        cwd=manifest.text("cwd") or (None if root is None else _manifest(file, root, note).text("cwd")),
        shape="list",
        link=_fork(stated) if root is None else _link(root, file, said, parents),
        timeline=list(said),
        summaries=[*facts.summaries(said), *condensed],
        platform={"extension": CLINE, **({} if agent is None else {"agent": agent}), **_modes(modes)},
        extra=extra | ({"manifest": left} if (left := manifest.rest()) else {}),
    )


def _parts(file: Source, note: Notes) -> tuple[Fields, list[tuple[int, Any]]]:
    """What a file says, and its messages; of a damaged one those that are left."""
    records: list[tuple[int, Any]] = []
    whole: dict[str, Any] = {}
    for key, index, value in json_stream.members(file, note):
        if key == "messages" and index is not None:
            records.append((index, value))
        elif index is None:
            whole[key] = value
        else:
            whole.setdefault(key, []).append(value)
    whole.pop("version", None)
    return Fields(whole, note, ""), records


def _manifest(file: Source, session_id: str, note: Notes) -> Fields:
    """What is known of the whole session; only its first agent's file has one."""
    beside = file.companion(f"{session_id}.json")
    value: Any = None
    if beside is not None:
        try:
            value = json_stream.load(beside, note.about(beside.label))
        except UnreadableSource as error:
            note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
    fields = Fields(value if value.__class__ is dict else {}, note, "manifest")
    if fields.look("session_id") == session_id:
        fields.drop("session_id")
    return fields


def _root(file: Source, session_id: str, manifest: Fields) -> str | None:
    """The session that an agent works for: the one that its folder is called by."""
    steps = file.label.replace("\\", "/").split("/")
    folder = steps[-2] if len(steps) > 1 else ""
    if manifest.rest() or not folder or folder == session_id:
        return None
    return folder if file.companion(f"{folder}{SESSION_SUFFIX}") is not None else None


def _link(root: str, file: Source, said: list[Message], parents: subagents.Parents) -> Link | None:
    """The session that an agent works for, and the call of it that began the agent."""
    of_root = file.companion(f"{root}{SESSION_SUFFIX}")
    answer = next(
        (text for one in reversed(said) if one.role == "assistant" and (text := tree.plain_text(one))), None
    )
    return None if of_root is None else parents.link(root, of_root, _first(said), answer)


def _fork(stated: Fields) -> Link | None:
    """The session that this one began as a copy of."""
    fork = stated.nested("fork")
    origin = None if fork is None else fork.text("forkedFromSessionId")
    return Link(conversation_id=origin, relation="fork") if origin else None


def _modes(modes: list[str]) -> dict[str, Any]:
    """The mode the session is in, and those it was in."""
    if not modes:
        return {}
    return {"mode": modes[-1], "active_mode": modes[-1], "available_modes": list(dict.fromkeys(modes))}


def _compaction(
    file: Source, session_id: str, said: list[Message], note: Notes
) -> tuple[list[Summary], dict[str, Any]]:
    """What stood in for the messages so far when they became too many, and what else the file of it says.

    Its other messages repeat those of the session, whole or cut.
    """
    beside = file.companion(f"{session_id}{_COMPACTION_SUFFIX}")
    if beside is None:
        return [], {}
    try:
        whole, records = _parts(beside, note.about(beside.label))
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, error.where, "", error.reason)
        return [], {}
    covered = whole.look("source_message_count")
    is_known = covered.__class__ is int and 0 < covered <= len(said)
    last = said[covered - 1].id if is_known else None
    found: list[Summary] = []
    for _, record in records:
        metadata = record.get("metadata") if record.__class__ is dict and is_summary(record.get) else None
        told = Fields(metadata if metadata.__class__ is dict else {}, note.about(beside.label), "summary")
        if text := told.text("summary"):
            at = told.moment("generatedAt")
            found.append(Summary(text=text, kind="system", at=at, message_id=last, extra=told.rest()))
    return found, {"compaction": left} if (left := whole.rest()) else {}


def _said(prompt: str | None) -> str | None:
    return None if prompt is None else contents.words(prompt, None).text


def _first(said: list[Message]) -> str | None:
    return next((tree.plain_text(one) for one in said if one.role == "user"), None)
