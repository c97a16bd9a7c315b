"""Sessions: what is known of one as a whole, and its messages, make a conversation."""

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
    from agent_journal.readers.opencode.parts import Spawned

# What the app calls a session, and a fork of it, until a model or the person has named it.
_UNNAMED = re.compile(
    r"(?:New|Child) session - \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z(?: \(fork #\d+\))?", re.ASCII
)


class Sessions:
    """Makes the conversations of one unit; it remembers which calls started which sessions."""

    def __init__(self, note: Notes, name: str) -> None:
        self._note = note
        self._name = name
        self._spawned: Spawned = {}
        self._forks = Forks()

    def conversation(self, info: dict[str, Any], records: Iterable[Record]) -> Conversation:
        """The conversation of messages with parts. All is changed in place."""
        session = _id(info)
        entries: list[Entry] = []
        for record in records:
            entries.extend(message.told(record, session, self._spawned, self._note))
        return self._told(info, entries)

    def newer(
        self, info: dict[str, Any], records: Iterable[tuple[dict[str, Any], str]], before: Iterable[Record]
    ) -> Conversation:
        """The conversation of records of the second store, each with its place, and of messages before."""
        session = _id(info)
        entries: list[Entry] = []
        for record in before:
            entries.extend(message.told(record, session, self._spawned, self._note))
        entries += [store_v2.told(raw, session, self._spawned, self._note, where) for raw, where in records]
        return self._told(info, entries)

    def _told(self, info: dict[str, Any], entries: list[Entry]) -> Conversation:
        fields = Fields(info, self._note, f"session {_id(info)}" if _id(info) else "")
        session = fields.text("id") or None
        if session is None:
            self._note(Kind.MISSING_ID, "", "a session has no id")
        owner = session or ids.made(self._name, *(entry.id for entry in entries[:1]))
        entries = self._with_own_ids(entries, owner)
        time = _time(fields)
        first, last = _span(entries)
        undone = _undone(fields.look("revert"), entries)
        started = time.moment("created")
        copied_from = self._forks.add(owner, started, entries)
        return Conversation(
            id=owner,
            made_id=session is None,
            source=self._name,
            title=_title(fields),
            started_at=started or first,
            updated_at=time.moment("updated") or last,
            app_version=fields.text("version") or None,
            model=_model(entries, fields),
            cwd=fields.text("directory") or _folder(entries),
            archived=True if time.look("archived") else None,
            shape="list" if undone is None else "tree",
            head_id=None if undone is None else undone,
            link=self._link(fields, owner) or copied_from,
            timeline=entries if undone is None else _chained(entries),
            summaries=_summaries(entries),
            extra=_without_secrets(fields),
        )

    def _with_own_ids(self, entries: list[Entry], owner: str) -> list[Entry]:
        """The entries, each with an id that no other has."""
        seen: set[str] = set()
        for place, entry in enumerate(entries):
            if entry.id in seen:
                self._note(Kind.DUPLICATE_ID, "", entry.id[:60])
                entries[place] = _renamed(entry, ids.made(owner, "twin", place))
            seen.add(entries[place].id)
        return entries

    def _link(self, fields: Fields, owner: str) -> Link | None:
        """The session that started this one, or that it was forked from."""
        parent = fields.text("parentID") or fields.text("parent_id")
        if parent:
            place = self._spawned.get(owner, (None, None))
            return Link(conversation_id=parent, relation="subagent", message_id=place[0], call_id=place[1])
        forked = fields.text("fork_session_id")
        if not forked:
            return None
        return Link(conversation_id=forked, relation="fork", message_id=fields.text("fork_message_id"))


def _id(info: dict[str, Any]) -> str:
    session = info.get("id")
    return session if session.__class__ is str else ""


def _title(fields: Fields) -> str | None:
    """The name of a session; that it has none yet stays beside it."""
    title = fields.text("title")
    if title and _UNNAMED.fullmatch(title):
        fields.keep("title", title)
        return None
    return title or None


def _time(fields: Fields) -> Fields:
    """When the session was made, used and archived; the database has a column for each."""
    time = fields.nested("time") if fields.look("time").__class__ is dict else None
    if time is not None:
        return time
    columns = {
        name: fields.take(f"time_{name}")
        for name in ("created", "updated", "archived", "compacting")
        if fields.look(f"time_{name}") is not None
    }
    if columns and fields.look("time") is None:
        fields.keep("time", columns)
        return fields.nested("time") or Fields({}, fields.note, fields.where)
    return Fields({}, fields.note, fields.where)


def _renamed(entry: Entry, made: str) -> Entry:
    said = {"id": entry.id}
    if isinstance(entry, Message):
        return replace(entry, id=made, made_id=True, extra=said | entry.extra)
    return replace(entry, id=made, made_id=True, data=said | entry.data)


def _span(entries: list[Entry]) -> tuple[str | None, str | None]:
    """The first and the last time of the messages, for sessions of which nothing else is known."""
    moments = [entry.at for entry in entries if entry.at is not None]
    return (moments[0], moments[-1]) if moments else (None, None)


def _model(entries: list[Entry], fields: Fields) -> str | None:
    """The model that answered first, else the one that was chosen."""
    for entry in entries:
        if isinstance(entry, Message) and entry.model:
            return entry.model
    chosen = fields.look("model")
    name = chosen.get("id", chosen.get("modelID")) if chosen.__class__ is dict else None
    return name if name.__class__ is str else None


def _folder(entries: list[Entry]) -> str | None:
    """Where the first answer was given, for sessions that do not say where they are."""
    for entry in entries:
        if isinstance(entry, Message):
            old = _inside(_inside(entry.extra, "metadata"), "assistant")
            path = _inside(entry.extra, "path") or _inside(old, "path")
            if path.get("cwd").__class__ is str:
                return str(path["cwd"])
    return None


def _inside(bag: dict[str, Any], name: str) -> dict[str, Any]:
    value = bag.get(name)
    return value if isinstance(value, dict) else {}


def _undone(revert: Any, entries: list[Entry]) -> str | None:
    """The last message that the person did not take back; None if she took nothing back.

    Until the next prompt, what was taken back is still there.
    """
    first = revert.get("messageID") if revert.__class__ is dict else None
    if first.__class__ is not str:
        return None
    # Where only some parts of a message were taken back, it is itself still there.
    is_whole = not revert.get("partID")
    last: str | None = None
    for entry in entries:
        if entry.id == first:
            return last if is_whole else first
        if isinstance(entry, Message):
            last = entry.id
    return None


def _chained(entries: list[Entry]) -> list[Entry]:
    parents = [None, *(entry.id for entry in entries)]
    return [replace(entry, parent_id=parent) for entry, parent in zip(entries, parents, strict=False)]


def _summaries(entries: list[Entry]) -> list[Summary]:
    """Summaries that took the place of what came before."""
    found: list[Summary] = []
    last: str | None = None
    for entry in entries:
        if isinstance(entry, Event):
            text = entry.data.get("summary") if entry.name == "compaction" else None
        else:
            text = tree.plain_text(entry) if entry.extra.get("summary") is True else None
        if text.__class__ is str and text:
            found.append(Summary(text=text, kind="system", at=entry.at, message_id=last))
        if isinstance(entry, Message):
            last = entry.id
    return found


def _without_secrets(fields: Fields) -> dict[str, Any]:
    """What is left of a session. Who has the secret of a shared one can change it."""
    share = fields.nested("share") if fields.look("share").__class__ is dict else None
    if share is not None:
        share.drop("secret")
    return fields.rest()
