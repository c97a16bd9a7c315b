"""Reads a conversation: `{conversation: {…}, responses: […]}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.response import raw_event, read_response, requested_model, unwrap
from agent_journal.readers.grok.values import JsonObject, take_id

if TYPE_CHECKING:
    from agent_journal.model import Event
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets


def is_entry(value: Any) -> bool:
    """Whether a value is a conversation in its wrapper, or a part of one."""
    return value.__class__ is dict and ("conversation" in value or "responses" in value)


def read_entry(entry: JsonObject, location: str, assets: Assets, note: Notes) -> Conversation:
    """Read a conversation with its messages in order."""
    wrapper = Fields(entry, note, location)
    details = Fields(wrapper.bag("conversation") or {}, note, location)
    responses = wrapper.items("responses") or []
    stated = take_id(details, "id", "conversation_id")
    if stated is None:
        note(Kind.MISSING_ID, location, "no id and no conversation_id")
    conversation_id = stated or ids.made(
        SOURCE, details.view("title"), details.view("create_time"), responses[:1]
    )
    timeline = _Timeline(conversation_id, location, assets, note)
    for index, response in enumerate(responses):
        timeline.add(response, f"{location} responses[{index}]")
    entries = timeline.in_order()
    for name, value in wrapper.rest().items():
        details.keep(name if not details.has(name) else f"wrapper.{name}", value)
    return Conversation(
        id=conversation_id,
        made_id=stated is None,
        source=SOURCE,
        title=details.text("title"),
        started_at=details.timestamp("create_time"),
        updated_at=details.timestamp("modify_time"),
        account_id=details.text("user_id"),
        model=_model(entries),
        tags=["starred"] if details.view("starred") is True else [],
        shape="tree" if timeline.has_parents or len(entries) < 2 else "list",  # noqa: PLR2004 (one message has no order)
        head_id=timeline.head(details, entries),
        timeline=entries,
        summaries=_summaries(details),
        extra=details.rest(),
    )


def _summaries(details: Fields) -> list[Summary]:
    text = nonempty_str(details.view("summary"))
    if text is not None:
        details.drop("summary")
    return [] if text is None else [Summary(text=text)]


def _model(entries: list[Message | Event]) -> str | None:
    """Get the model of the last answer that names one, else the last one that was requested."""
    messages = [entry for entry in reversed(entries) if isinstance(entry, Message)]
    named = next((message.model for message in messages if message.model), None)
    if named is not None:
        return named
    return next(
        (model for message in messages if (model := requested_model(message.extra.get("metadata")))), None
    )


class _Timeline:
    """Collects responses: each id once, parents before children."""

    def __init__(self, conversation_id: str, location: str, assets: Assets, note: Notes) -> None:
        self.has_parents = False
        self._conversation_id = conversation_id
        self._location = location
        self._assets = assets
        self._note = note
        self._entries: list[Message | Event] = []
        self._by_id: dict[str, Message] = {}
        self._is_chain = self._is_ordered = True

    def add(self, value: Any, location: str) -> None:
        """Add one element of `responses`."""
        record = unwrap(value)
        if record is not None:
            self._add_message(
                read_response(record, location, self._conversation_id, self._assets, self._note)
            )
        else:
            description = ", ".join(sorted(value)[:8]) if value.__class__ is dict else type(value).__name__
            self._note(Kind.UNKNOWN_TYPE, location, f"expected a response, got {description or 'nothing'}")
            self._entries.append(raw_event(value, location, self._conversation_id))

    def _add_message(self, message: Message) -> None:
        earlier = self._by_id.get(message.id)
        if earlier is not None:
            if earlier == message and not message.made_id:
                self._note(Kind.REPEATED_RECORD, self._location, message.id)
                return
            message = self._with_new_id(message)
        parent = message.parent_id
        if parent is not None:
            self.has_parents = True
            if parent not in self._by_id:
                self._is_ordered = self._is_chain = False
        if self._entries and parent != self._entries[-1].id:
            self._is_chain = False
        self._by_id[message.id] = message
        self._entries.append(message)

    def _with_new_id(self, message: Message) -> Message:
        """Give a message a new id; the id that it shares with another one stays in `extra`."""
        if not message.made_id:
            self._note(Kind.DUPLICATE_ID, self._location, message.id)
            message.extra["_id"] = message.id
        new_id = ids.made(SOURCE, self._conversation_id, message.id, len(self._entries))
        return replace(message, id=new_id, made_id=True)

    def in_order(self) -> list[Message | Event]:
        """Get all entries; their order changes only if a child comes before its parent."""
        if self._is_ordered:
            return self._entries
        for message in self._by_id.values():
            if message.parent_id is not None and message.parent_id not in self._by_id:
                self._note(
                    Kind.DANGLING_PARENT, f"{self._location} {message.id}", f"parent {message.parent_id}"
                )
        entries, cut = tree.in_order(self._entries)
        return [self._without_parent(entry) if entry.id in cut else entry for entry in entries]

    def _without_parent(self, entry: Message | Event) -> Message | Event:
        """Remove the parent of an entry of a cycle; the parent's id stays in `extra`."""
        if not isinstance(entry, Message):
            return entry
        self._note(Kind.CYCLE, f"{self._location} {entry.id}", f"parent {entry.parent_id}")
        entry.extra["parent_response_id"] = entry.parent_id
        return replace(entry, parent_id=None)

    def head(self, details: Fields, entries: list[Message | Event]) -> str | None:
        """Get the leaf on display; often the export names none, or one that it does not have."""
        if not self.has_parents:
            return None
        leaf = nonempty_str(details.view("leaf_response_id"))
        if leaf is not None and leaf in self._by_id:
            details.drop("leaf_response_id")
            return leaf
        return entries[-1].id if self._is_chain else tree.newest_leaf(entries)
