"""Make a conversation of a session's record and its messages."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.opencode import message, store_v2
from agent_journal.readers.opencode.forks import Forks

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.notes import Notes
    from agent_journal.readers.opencode.message import Entry, Record
    from agent_journal.readers.opencode.parts import SubagentCalls

# The app's title of a session, or of a fork of it, until the model or the user sets one.
_DEFAULT_TITLE = re.compile(
    r"(?:New|Child) session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?: \(fork #\d+\))?", re.ASCII
)


class Sessions:
    """Makes the conversations of one unit; remembers which calls started which sessions."""

    def __init__(self, note: Notes, name: str) -> None:
        self._note = note
        self._name = name
        self._subagent_calls: SubagentCalls = {}
        self._forks = Forks()

    def conversation(self, info: dict[str, Any], records: Iterable[Record]) -> Conversation:
        """Make the conversation of messages with parts. All records are changed in place."""
        session = _id(info)
        entries: list[Entry] = []
        for record in records:
            entries.extend(message.convert_record(record, session, self._subagent_calls, self._note))
        return self._make_conversation(info, entries)

    def conversation_v2(
        self, info: dict[str, Any], records: Iterable[tuple[dict[str, Any], str]], before: Iterable[Record]
    ) -> Conversation:
        """Make the conversation of the second store's records (with locations) and of earlier messages."""
        session = _id(info)
        entries: list[Entry] = []
        for record in before:
            entries.extend(message.convert_record(record, session, self._subagent_calls, self._note))
        entries += [
            store_v2.convert_record(raw, session, self._subagent_calls, self._note, where)
            for raw, where in records
        ]
        return self._make_conversation(info, entries)

    def _make_conversation(self, info: dict[str, Any], entries: list[Entry]) -> Conversation:
        fields = Fields(info, self._note, f"session {_id(info)}" if _id(info) else "")
        session = fields.text("id") or None
        if session is None:
            self._note(Kind.MISSING_ID, "", "a session has no id")
        owner = session or ids.made(self._name, *(entry.id for entry in entries[:1]))
        entries = self._with_unique_ids(entries, owner)
        time = _time(fields)
        first, last = _span(entries)
        head_id = _head_after_revert(fields.view("revert"), entries)
        started_at = time.timestamp("created")
        fork_link = self._forks.add(owner, started_at, entries)
        return Conversation(
            id=owner,
            made_id=session is None,
            source=self._name,
            title=_title(fields),
            started_at=started_at or first,
            updated_at=time.timestamp("updated") or last,
            app_version=fields.text("version") or None,
            model=_model(entries, fields),
            cwd=fields.text("directory") or _folder(entries),
            archived=True if time.view("archived") else None,
            shape="list" if head_id is None else "tree",
            head_id=head_id,
            link=self._link(fields, owner) or fork_link,
            timeline=entries if head_id is None else _chain(entries),
            summaries=_summaries(entries),
            extra=_without_secrets(fields),
        )

    def _with_unique_ids(self, entries: list[Entry], owner: str) -> list[Entry]:
        used: set[str] = set()
        for index, entry in enumerate(entries):
            if entry.id in used:
                self._note(Kind.DUPLICATE_ID, "", entry.id[:60])
                # The literal is part of the ids of stored messages.
                entries[index] = _with_id(entry, ids.made(owner, "twin", index))
            used.add(entries[index].id)
        return entries

    def _link(self, fields: Fields, owner: str) -> Link | None:
        """Return the link to the session that started this one, or that it was forked from."""
        parent = fields.text("parentID") or fields.text("parent_id")
        if parent:
            message_id, call_id = self._subagent_calls.get(owner, (None, None))
            return Link(conversation_id=parent, relation="subagent", message_id=message_id, call_id=call_id)
        forked = fields.text("fork_session_id")
        if not forked:
            return None
        return Link(conversation_id=forked, relation="fork", message_id=fields.text("fork_message_id"))


def _id(info: dict[str, Any]) -> str:
    session = info.get("id")
    return session if session.__class__ is str else ""


def _title(fields: Fields) -> str | None:
    """Return the title of a session; a default title stays in the fields."""
    title = fields.text("title")
    if title and _DEFAULT_TITLE.fullmatch(title):
        fields.keep("title", title)
        return None
    return title or None


def _time(fields: Fields) -> Fields:
    """Return the times of a session; the database has a column for each."""
    time = fields.nested("time") if fields.view("time").__class__ is dict else None
    if time is not None:
        return time
    columns = {
        name: fields.take(f"time_{name}")
        for name in ("created", "updated", "archived", "compacting")
        if fields.view(f"time_{name}") is not None
    }
    if columns and fields.view("time") is None:
        fields.keep("time", columns)
        return fields.nested("time") or Fields({}, fields.note, fields.where)
    return Fields({}, fields.note, fields.where)


def _with_id(entry: Entry, new_id: str) -> Entry:
    original = {"id": entry.id}
    if isinstance(entry, Message):
        return replace(entry, id=new_id, made_id=True, extra=original | entry.extra)
    return replace(entry, id=new_id, made_id=True, data=original | entry.data)


def _span(entries: list[Entry]) -> tuple[str | None, str | None]:
    """Return the first and last time of the messages, for sessions without stated times."""
    all_times = [entry.at for entry in entries if entry.at is not None]
    return (all_times[0], all_times[-1]) if all_times else (None, None)


def _model(entries: list[Entry], fields: Fields) -> str | None:
    """Return the first model that answered, else the chosen one."""
    for entry in entries:
        if isinstance(entry, Message) and entry.model:
            return entry.model
    chosen = fields.view("model")
    name = chosen.get("id", chosen.get("modelID")) if chosen.__class__ is dict else None
    return name if name.__class__ is str else None


def _folder(entries: list[Entry]) -> str | None:
    """Return the working directory of the first answer, for sessions that do not state theirs."""
    for entry in entries:
        if isinstance(entry, Message):
            old = _object_in(_object_in(entry.extra, "metadata"), "assistant")
            path = _object_in(entry.extra, "path") or _object_in(old, "path")
            if path.get("cwd").__class__ is str:
                return str(path["cwd"])
    return None


def _object_in(bag: dict[str, Any], name: str) -> dict[str, Any]:
    value = bag.get(name)
    return value if isinstance(value, dict) else {}


def _head_after_revert(revert: Any, entries: list[Entry]) -> str | None:
    """Return the last message that the user did not revert; None if nothing was reverted.

    Reverted messages are stored until the next prompt.
    """
    first = revert.get("messageID") if revert.__class__ is dict else None
    if first.__class__ is not str:
        return None
    # If only some parts of a message were reverted, the message itself remains.
    is_message = not revert.get("partID")
    last_id: str | None = None
    for entry in entries:
        if entry.id == first:
            return last_id if is_message else first
        if isinstance(entry, Message):
            last_id = entry.id
    return None


def _chain(entries: list[Entry]) -> list[Entry]:
    parents = [None, *(entry.id for entry in entries)]
    return [replace(entry, parent_id=parent) for entry, parent in zip(entries, parents, strict=False)]


def _summaries(entries: list[Entry]) -> list[Summary]:
    """Return the summaries that replaced earlier messages."""
    summaries: list[Summary] = []
    last_id: str | None = None
    for entry in entries:
        if isinstance(entry, Event):
            text = entry.data.get("summary") if entry.name == "compaction" else None
        else:
            text = tree.plain_text(entry) if entry.extra.get("summary") is True else None
        if text.__class__ is str and text:
            summaries.append(Summary(text=text, kind="system", at=entry.at, message_id=last_id))
        if isinstance(entry, Message):
            last_id = entry.id
    return summaries


def _without_secrets(fields: Fields) -> dict[str, Any]:
    """Return the remaining fields without the secret of a shared session, which allows to change it."""
    share = fields.nested("share") if fields.view("share").__class__ is dict else None
    if share is not None:
        share.drop("secret")
    return fields.rest()
