"""A rollout file as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Conversation, Event, Link, Message, Summary, ids, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.codex import meta as metas
from agent_journal.readers.codex import subagents
from agent_journal.readers.codex.display_events import DisplayEvents, display_kind
from agent_journal.readers.codex.items import ItemConverter, ItemMessage
from agent_journal.readers.codex.names import KNOWN_KINDS
from agent_journal.readers.codex.tokens import TokenCounts
from agent_journal.readers.dialects import undone_turns

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
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
# A message from one agent to another, before such messages became items.
_AGENT_MESSAGE = "inter_agent_communication"
# Verifiable agent records spell the name with a hyphen.
_COUNT, _COUNT_EVENT = "token_count", "token-count"
_USAGE = "token_usage_record"
_ENVELOPE = ("type", "payload")
_ENVELOPE_LENGTH = len(_ENVELOPE)
_PAGINATED = "paginated"
_ROLLED_BACK = "thread_rolled_back"
_TURN_BEGINS = frozenset({"task_started", "turn_started"})


class Rollout:
    """Collects the lines of one file and turns them into a conversation."""

    def __init__(self, source: Input, note: Notes) -> None:
        self._source = source
        self._note = note
        self._meta: metas.Meta | None = None
        self._session = metas.id_in_name(source) or ""
        self._own_file_id = metas.own_id_in_name(source)
        self._file_id = self._own_file_id or self._session
        self._document_fields: dict[str, Any] = {}
        self._entries: list[Entry] = []
        self._items = ItemConverter(note)
        self._counts = TokenCounts(self._session)
        self._display_events = DisplayEvents()
        self._model: str | None = None
        self._first_model: str | None = None
        self._cwd: str | None = None
        self._name: str | None = None
        # Indexes of the messages of the response that is being read.
        self._response_indexes: list[int] = []
        self._message_ids: set[str] = set()
        self._made_id_counts: dict[str, int] = {}
        self._copied_from: str | None = None
        self._last_at: str | None = None
        self._unknown_types: set[str] = set()
        self._summaries: list[Summary] = []
        self._was_rolled_back = False
        self.has_known_lines = False

    def begin(self, session: dict[str, Any], document_fields: dict[str, Any]) -> None:
        """Read the first line of a rollout, or the head of a document with the document's other fields."""
        self._meta = meta = metas.parse(
            session, self._note, "", is_continuation=self._own_file_id is not None
        )
        self._session = meta.id or self._session
        self._file_id = self._own_file_id or self._session
        self._document_fields = document_fields
        copied_from = meta.copied_counts_from
        if copied_from and meta.extra.get("history_mode") == _PAGINATED:
            # A migration omits the first lines of the copied rollouts, which name the oldest one.
            copied_from = subagents.oldest_origin(self._source, copied_from, self._session)
        self._counts.set_owner(copied_from or self._session)
        if meta.copied_counts_from is None and meta.link is not None and meta.link.relation == "subagent":
            self._counts.set_parent(meta.link.conversation_id, meta.at)
        self.has_known_lines = True

    def add(self, record: Any, location: int | str) -> None:
        """Add a line or an item."""
        if record.__class__ is not dict:
            self._note(Kind.UNKNOWN_TYPE, location, f"the line is {type(record).__name__}, not an object")
            self._entries.append(self._event("unknown", None, {"value": record}, location))
            return
        # For speed, without Fields: a line keeps everything but what is moved out of it here.
        payload = record.get("payload")
        if payload.__class__ is dict:
            self.has_known_lines = True
            self._add_enveloped(record, payload, location)
        else:
            self._add_bare(Fields(record, self._note, location), record)

    def _add_enveloped(self, record: dict[str, Any], payload: dict[str, Any], location: int | str) -> None:
        kind, at = record.get("type"), record.get("timestamp")
        # Lines that were written together have the same time.
        if at.__class__ is str and (at == self._last_at or timestamps.is_timestamp(at)):
            del record["timestamp"]
            self._last_at = at
        else:
            at = Fields(record, self._note, location).timestamp("timestamp")
        if kind in (_ITEM, _AGENT_MESSAGE):
            item = Fields(payload, self._note, location)
            message = self._items.convert(item) if kind == _ITEM else self._items.from_agent(item)
            if message is not None:
                identity = item.text("id") or None
                extra = {"payload": payload} if payload else {}
                if len(record) > _ENVELOPE_LENGTH:
                    extra = {name: value for name, value in record.items() if name not in _ENVELOPE} | extra
                self._add_message(message, identity, at, extra, location)
                return
        elif kind == _EVENT:
            if payload.get("type") == _COUNT:
                self._add_usage(self._counts.usage_from_count(payload.get("info"), at), None, at, location)
        elif kind == _USAGE:
            self._add_usage(
                self._counts.usage_from_record(payload, at), _text(payload, "response_id"), at, location
            )
        elif kind == _META and self._meta is None and self._is_own(payload, location):
            del record["type"], record["payload"]
            self.begin(payload, {})
            self._entries.append(self._event(_META, at, record, location))
            return
        self._add_event(kind, payload, at, record, location)

    def _is_own(self, payload: dict[str, Any], location: int | str) -> bool:
        """Whether a `session_meta` line is of this session: the first one is, later ones may be copied."""
        return location == 1 or self._session in ("", payload.get("id"))

    def _add_bare(self, fields: Fields, record: dict[str, Any]) -> None:
        """Add a line of mid-2025, which has no envelope: the first one, a mark or an item."""
        message = self._items.convert(fields)
        if message is not None:
            self.has_known_lines = True
            identity, at = fields.text("id") or None, fields.timestamp("timestamp")
            self._add_message(message, identity, at, fields.rest(), fields.where)
        elif self._meta is None and fields.has("instructions") and not fields.has("type"):
            self.begin(record, {})
        else:
            mark = fields.take("record_type")
            kind = fields.view("type") if mark is None else mark
            self._add_event(kind, {}, fields.timestamp("timestamp"), fields.rest(), fields.where)

    def _add_message(
        self,
        content: ItemMessage,
        identity: str | None,
        at: str | None,
        extra: dict[str, Any],
        location: int | str,
    ) -> None:
        message_id = identity
        if identity is None or identity in self._message_ids:
            if identity is not None:
                self._note(Kind.DUPLICATE_ID, location, identity[:60])
                extra["id"] = identity
            message_id = self._make_id(_kind_of(content), at, location)
        else:
            self._message_ids.add(identity)
        is_answer = content.role == "assistant"
        if is_answer:
            self._response_indexes.append(len(self._entries))
        elif content.role == "user":
            self._response_indexes.clear()
        self._entries.append(
            Message(
                id=message_id or "",
                made_id=message_id != identity,
                role=content.role,
                at=at,
                model=self._model if is_answer else None,
                hidden=content.hidden,
                parts=content.parts,
                native=content.native,
                extra=extra,
            )
        )

    def _add_event(
        self, kind: Any, payload: dict[str, Any], at: str | None, data: dict[str, Any], location: int | str
    ) -> None:
        """Add a line that is no message."""
        inner = payload.get("type") if kind in (_EVENT, _ITEM) else kind
        name = inner if inner.__class__ is str and inner else "unknown"
        if name not in KNOWN_KINDS and name not in self._unknown_types:
            self._unknown_types.add(name)
            self._note(Kind.UNKNOWN_TYPE, location, f"{str(kind)[:40]} {name[:40]!r}")
        if kind == _TURN:
            self._read_turn(payload)
        elif kind == _META:
            self._read_copied_meta(payload)
        elif kind == _COMPACTED:
            self._add_summary(payload, at)
        elif name == "thread_name_updated":
            self._name = _text(payload, "thread_name") or self._name
        elif name == _ROLLED_BACK:
            self._was_rolled_back = True
        elif kind == _EVENT:
            if name in _TURN_BEGINS:
                self._counts.set_turn(payload.get("turn_id"))
            self._display_events.add(name, payload, len(self._entries), self._model)
        self._entries.append(
            Event(
                id=self._make_id(display_kind(name, payload) or name, at, location),
                made_id=True,
                name=_COUNT_EVENT if name == _COUNT else name,
                at=at,
                data=data,
            )
        )

    def _read_copied_meta(self, payload: dict[str, Any]) -> None:
        """Read the first line of another rollout that was copied into this one.

        Right after this rollout's own first line, it names a fork's original: until 2026 nothing else did.
        """
        session = _text(payload, "id") or _text(payload, "session_id")
        self._counts.set_owner(session)
        if len(self._entries) == 1 and session != self._session:
            self._copied_from = session

    def _read_turn(self, payload: dict[str, Any]) -> None:
        self._counts.set_turn(payload.get("turn_id"))
        self._model = _text(payload, "model") or self._model
        self._first_model = self._first_model or self._model
        self._cwd = self._cwd or _text(payload, "cwd")

    def _add_summary(self, payload: dict[str, Any], at: str | None) -> None:
        """Add the summary that replaces earlier messages; encrypted compactions have none."""
        if text := _text(payload, "message"):
            messages = (
                entry for entry in reversed(self._entries) if isinstance(entry, Message) and entry.parts
            )
            covered = next((message.id for message in messages), None)
            self._summaries.append(Summary(text=text, kind="system", at=at, message_id=covered))

    def _add_usage(
        self, usage: Usage | None, response: str | None, at: str | None, location: int | str
    ) -> None:
        """Add the usage of a response to its last message; a response without messages gets an empty one."""
        if usage is None:
            return
        response = response or usage.key
        if not self._response_indexes:
            self._entries.append(
                Message(
                    id=self._make_id("usage", at, location),
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
        last = self._response_indexes[-1]
        for index in self._response_indexes:
            self._entries[index] = replace(
                self._entries[index],
                response_id=response,
                usage=usage if index == last else None,
            )
        self._response_indexes.clear()

    def _link(self, meta: metas.Meta) -> Link | None:
        """Link to the session that this one came from; for a subagent, also to the call."""
        if meta.link is None or meta.link.relation != "subagent" or not self._session:
            return meta.link or self._fork_link()
        call = subagents.starting_call(self._source, meta.link.conversation_id, self._session, self._note)
        return meta.link if call is None else replace(meta.link, call_id=call)

    def _fork_link(self) -> Link | None:
        return None if self._copied_from is None else Link(conversation_id=self._copied_from, relation="fork")

    def _event(self, name: str, at: str | None, data: dict[str, Any], location: int | str) -> Event:
        return Event(id=self._make_id(name, at, location), made_id=True, name=name, at=at, data=data)

    def _make_id(self, kind: str, at: str | None, location: int | str) -> str:
        """Make an id for a line without one: from its time, else from its position.

        A migration to paginated history (`codex migrate-rollouts`) rewrites the file: it keeps the times, but
        adds lines, replaces those of the second track and removes turns that were rolled back.
        """
        if at is None:
            return f"{self._file_id}:{location}"
        made = f"{self._file_id}:{at}:{kind}"
        count = self._made_id_counts[made] = self._made_id_counts.get(made, 0) + 1
        return made if count == 1 else f"{made}:{count}"

    def conversation(self, source: str) -> Conversation:
        """Make the conversation of all lines."""
        self._items.note_unlinked()
        meta = self._meta or metas.Meta()
        entries, head = self._display_events.replace_unmatched(self._entries), None
        if self._was_rolled_back:
            entries, head = undone_turns.as_tree(entries, _rolled_back_turns)
        times_seen = [entry.at for entry in entries if entry.at is not None]
        if not self._session:
            self._note(Kind.MISSING_ID, "", "neither the first line nor the file name states the session")
        index = metas.index_entries(self._source, self._session, self._note) if self._session else []
        document_fields = (
            {**self._document_fields, "session_index": index} if index else self._document_fields
        )
        return Conversation(
            id=self._session or ids.made(source, self._source.name, times_seen[:1]),
            made_id=not self._session,
            source=source,
            title=metas.title(index) or self._name,
            started_at=meta.at or next(iter(times_seen), None),
            updated_at=times_seen[-1] if times_seen else meta.at,
            app_version=meta.app_version,
            model=self._first_model,
            cwd=meta.cwd or self._cwd,
            git_branch=meta.git_branch,
            git_commit=meta.git_commit,
            editor=meta.editor,
            archived=True if metas.is_archived(self._source) else None,
            shape="tree" if self._was_rolled_back else "list",
            head_id=head,
            link=self._link(meta),
            timeline=entries,
            summaries=self._summaries,
            extra={**document_fields, **meta.extra},
        )


def _rolled_back_turns(event: Event) -> int:
    payload = event.data.get("payload") if event.name == _ROLLED_BACK else None
    count = payload.get("num_turns") if isinstance(payload, dict) else None
    return count if count.__class__ is int and count > 0 else 0


def _kind_of(content: ItemMessage) -> str:
    return f"{content.role}-{content.parts[0].__class__.__name__.lower()}" if content.parts else content.role


def _text(fields: dict[str, Any], name: str) -> str | None:
    value = fields.get(name)
    return value if value.__class__ is str and value else None
