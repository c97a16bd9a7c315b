"""A whole rollout: its lines become a timeline, and the conversation they are is told."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Summary, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.codex import meta as metas
from agent_journal.readers.codex import subagents
from agent_journal.readers.codex.display_events import Told, shown_as
from agent_journal.readers.codex.items import Items, Said
from agent_journal.readers.codex.names import KNOWN_KINDS
from agent_journal.readers.codex.tokens import Counts
from agent_journal.readers.codex.turns import as_tree

if TYPE_CHECKING:
    from agent_journal.inputs.input import Source
    from agent_journal.model import Usage
    from agent_journal.notes import Notes

Entry: TypeAlias = Message | Event

_ITEM, _EVENT, _META, _TURN, _COMPACTED = (
    "response_item",
    "event_msg",
    "session_meta",
    "turn_context",
    "compacted",
)
# What one agent wrote to another, before such letters became items.
_LETTER = "inter_agent_communication"
# The verifiable agent records have this word for it.
_COUNT, _COUNTED = "token_count", "token-count"
_USAGE = "token_usage_record"
_ENVELOPE = ("type", "payload")
_USUAL = len(_ENVELOPE)
_PAGINATED = "paginated"
_ROLLED_BACK = "thread_rolled_back"
_TURN_BEGINS = frozenset({"task_started", "turn_started"})


class Rollout:
    """Takes the lines of one file, then tells the conversation they are."""

    def __init__(self, source: Source, note: Notes) -> None:
        self._source = source
        self._note = note
        self._meta: metas.Meta | None = None
        self._session = metas.id_in_name(source) or ""
        self._own = metas.own_id_in_name(source)
        self._file = self._own or self._session
        self._beside: dict[str, Any] = {}
        self._entries: list[Entry] = []
        self._items = Items(note)
        self._counts = Counts(self._session)
        self._told = Told()
        self._model: str | None = None
        self._first_model: str | None = None
        self._cwd: str | None = None
        self._name: str | None = None
        # Places of the messages of the response that is coming in.
        self._response: list[int] = []
        self._seen: set[str] = set()
        self._made: dict[str, int] = {}
        self._copied: str | None = None
        self._last_at: str | None = None
        self._unknown: set[str] = set()
        self._summaries: list[Summary] = []
        self._was_rolled_back = False
        self.is_one = False

    def begin(self, session: dict[str, Any], beside: dict[str, Any]) -> None:
        """Take what the first line of a rollout says, or the head of a document; `beside` is kept."""
        self._meta = found = metas.meta(session, self._note, "", goes_on=self._own is not None)
        self._session = found.id or self._session
        self._file = self._own or self._session
        self._beside = beside
        copied_from = found.counts_of
        if copied_from and found.extra.get("history_mode") == _PAGINATED:
            # A migration leaves out the first lines of the copied rollouts, which name the oldest.
            copied_from = subagents.oldest(self._source, copied_from, self._session)
        self._counts.belongs_to(copied_from or self._session)
        if found.counts_of is None and found.link is not None and found.link.relation == "subagent":
            self._counts.spawned(found.link.conversation_id, found.at)
        self.is_one = True

    def add(self, record: Any, where: int | str) -> None:
        """Take a line or an item."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, where, f"the line is {type(record).__name__}, not an object")
            self._entries.append(self._event("unknown", None, {"value": record}, where))
            return
        # Looked at without Fields, for speed: a line stays whole but for what is moved out of it here.
        payload = record.get("payload")
        if payload.__class__ is dict:
            self.is_one = True
            self._enveloped(record, payload, where)
        else:
            self._bare(Fields(record, self._note, where), record)

    def _enveloped(self, record: dict[str, Any], payload: dict[str, Any], where: int | str) -> None:
        kind, at = record.get("type"), record.get("timestamp")
        # Lines that were written together have one time.
        if at.__class__ is str and (at == self._last_at or timestamps.is_moment(at)):
            del record["timestamp"]
            self._last_at = at
        else:
            at = Fields(record, self._note, where).moment("timestamp")
        if kind in (_ITEM, _LETTER):
            item = Fields(payload, self._note, where)
            said = self._items.said(item) if kind == _ITEM else self._items.from_agent(item)
            if said is not None:
                identity = item.text("id") or None
                extra = {"payload": payload} if payload else {}
                if len(record) > _USUAL:
                    extra = {name: value for name, value in record.items() if name not in _ENVELOPE} | extra
                self._add_message(said, identity, at, extra, where)
                return
        elif kind == _EVENT:
            if payload.get("type") == _COUNT:
                self._count(self._counts.usage(payload.get("info"), at), None, at, where)
        elif kind == _USAGE:
            self._count(self._counts.recorded(payload, at), _text(payload, "response_id"), at, where)
        elif kind == _META and self._meta is None and self._is_own(payload, where):
            del record["type"], record["payload"]
            self.begin(payload, {})
            self._entries.append(self._event(_META, at, record, where))
            return
        self._happened(kind, payload, at, record, where)

    def _is_own(self, payload: dict[str, Any], where: int | str) -> bool:
        """Whether a session's facts are this one's: the first line's are, later ones may be copied."""
        return where == 1 or self._session in ("", payload.get("id"))

    def _bare(self, fields: Fields, record: dict[str, Any]) -> None:
        """Take a line of mid-2025, which has no envelope: the first one, a mark or an item."""
        said = self._items.said(fields)
        if said is not None:
            self.is_one = True
            identity, at = fields.text("id") or None, fields.moment("timestamp")
            self._add_message(said, identity, at, fields.rest(), fields.where)
        elif self._meta is None and fields.has("instructions") and not fields.has("type"):
            self.begin(record, {})
        else:
            mark = fields.take("record_type")
            kind = fields.look("type") if mark is None else mark
            self._happened(kind, {}, fields.moment("timestamp"), fields.rest(), fields.where)

    def _add_message(
        self, said: Said, identity: str | None, at: str | None, extra: dict[str, Any], where: int | str
    ) -> None:
        message_id = identity
        if identity is None or identity in self._seen:
            if identity is not None:
                self._note(Kind.DUPLICATE_ID, where, identity[:60])
                extra["id"] = identity
            message_id = self._made_id(_kind_of(said), at, where)
        else:
            self._seen.add(identity)
        is_answer = said.role == "assistant"
        if is_answer:
            self._response.append(len(self._entries))
        elif said.role == "user":
            self._response.clear()
        self._entries.append(
            Message(
                id=message_id or "",
                made_id=message_id != identity,
                role=said.role,
                at=at,
                model=self._model if is_answer else None,
                hidden=said.hidden,
                parts=said.parts,
                native=said.native,
                extra=extra,
            )
        )

    def _happened(
        self, kind: Any, payload: dict[str, Any], at: str | None, data: dict[str, Any], where: int | str
    ) -> None:
        """Take a line that nobody said."""
        inner = payload.get("type") if kind in (_EVENT, _ITEM) else kind
        name = inner if inner.__class__ is str and inner else "unknown"
        if name not in KNOWN_KINDS and name not in self._unknown:
            self._unknown.add(name)
            self._note(Kind.UNKNOWN_TYPE, where, f"{str(kind)[:40]} {name[:40]!r}")
        if kind == _TURN:
            self._turn(payload)
        elif kind == _META:
            self._take_copied(payload)
        elif kind == _COMPACTED:
            self._summarise(payload, at)
        elif name == "thread_name_updated":
            self._name = _text(payload, "thread_name") or self._name
        elif name == _ROLLED_BACK:
            self._was_rolled_back = True
        elif kind == _EVENT:
            if name in _TURN_BEGINS:
                self._counts.turn(payload.get("turn_id"))
            self._told.shown(name, payload, len(self._entries), self._model)
        self._entries.append(
            Event(
                id=self._made_id(shown_as(name, payload) or name, at, where),
                made_id=True,
                name=_COUNTED if name == _COUNT else name,
                at=at,
                data=data,
            )
        )

    def _take_copied(self, payload: dict[str, Any]) -> None:
        """Take the first line of another rollout, which this one holds a copy of.

        Right behind this one's own first line it tells what it was forked from: until 2026 nothing else did.
        """
        session = _text(payload, "id") or _text(payload, "session_id")
        self._counts.belongs_to(session)
        if len(self._entries) == 1 and session != self._session:
            self._copied = session

    def _turn(self, payload: dict[str, Any]) -> None:
        self._counts.turn(payload.get("turn_id"))
        self._model = _text(payload, "model") or self._model
        self._first_model = self._first_model or self._model
        self._cwd = self._cwd or _text(payload, "cwd")

    def _summarise(self, payload: dict[str, Any], at: str | None) -> None:
        """Take the summary that stands for what came before; some compactions are encrypted and have none."""
        if text := _text(payload, "message"):
            said = (e for e in reversed(self._entries) if isinstance(e, Message) and e.parts)
            covered = next((message.id for message in said), None)
            self._summaries.append(Summary(text=text, kind="system", at=at, message_id=covered))

    def _count(self, usage: Usage | None, response: str | None, at: str | None, where: int | str) -> None:
        """Give the tokens of a response to its last message; one that left none gets an empty one."""
        if usage is None:
            return
        response = response or usage.key
        if not self._response:
            self._entries.append(
                Message(
                    id=self._made_id("usage", at, where),
                    made_id=True,
                    role="assistant",
                    at=at,
                    model=self._model,
                    hidden=True,
                    response_id=response,
                    usage=usage,
                )
            )
            return
        last = self._response[-1]
        for place in self._response:
            self._entries[place] = replace(
                self._entries[place],
                response_id=response,
                usage=usage if place == last else None,
            )
        self._response.clear()

    def _link(self, found: metas.Meta) -> Link | None:
        """Where the session came from; a sub-agent also from which call."""
        if found.link is None or found.link.relation != "subagent" or not self._session:
            return found.link or self._forked_from()
        call = subagents.call_of(self._source, found.link.conversation_id, self._session, self._note)
        return found.link if call is None else replace(found.link, call_id=call)

    def _forked_from(self) -> Link | None:
        return None if self._copied is None else Link(conversation_id=self._copied, relation="fork")

    def _event(self, name: str, at: str | None, data: dict[str, Any], where: int | str) -> Event:
        return Event(id=self._made_id(name, at, where), made_id=True, name=name, at=at, data=data)

    def _made_id(self, kind: str, at: str | None, where: int | str) -> str:
        """An id for what has none: by its time, else by its place.

        A migration to paginated history (`codex migrate-rollouts`) rewrites the file: it keeps the times, but
        adds lines, replaces those of the second track and removes turns that were rolled back.
        """
        if at is None:
            return f"{self._file}:{where}"
        made = f"{self._file}:{at}:{kind}"
        count = self._made[made] = self._made.get(made, 0) + 1
        return made if count == 1 else f"{made}:{count}"

    def conversation(self, source: str) -> Conversation:
        """What all lines together are."""
        self._items.note_unlinked()
        found = self._meta or metas.Meta()
        entries, head = self._told.completed(self._entries), None
        if self._was_rolled_back:
            entries, head = as_tree(entries)
        moments = [entry.at for entry in entries if entry.at is not None]
        if not self._session:
            self._note(Kind.MISSING_ID, "", "neither the first line nor the file's name tells the session")
        index = metas.indexed(self._source, self._session, self._note) if self._session else []
        beside = {**self._beside, "session_index": index} if index else self._beside
        return Conversation(
            id=self._session or ids.made(source, self._source.name, moments[:1]),
            made_id=not self._session,
            source=source,
            title=metas.title(index) or self._name,
            started_at=found.at or next(iter(moments), None),
            updated_at=moments[-1] if moments else found.at,
            app_version=found.app_version,
            model=self._first_model,
            cwd=found.cwd or self._cwd,
            git_branch=found.git_branch,
            git_commit=found.git_commit,
            editor=found.editor,
            archived=True if metas.is_archived(self._source) else None,
            shape="tree" if self._was_rolled_back else "list",
            head_id=head,
            link=self._link(found),
            timeline=entries,
            summaries=self._summaries,
            extra={**beside, **found.extra},
        )


def _kind_of(said: Said) -> str:
    return f"{said.role}-{said.parts[0].__class__.__name__.lower()}" if said.parts else said.role


def _text(bag: dict[str, Any], name: str) -> str | None:
    value = bag.get(name)
    return value if value.__class__ is str and value else None
