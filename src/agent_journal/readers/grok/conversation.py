"""A conversation: `{conversation: {…}, responses: […]}`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Conversation, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.grok.names import SOURCE
from agent_journal.readers.grok.response import kept_raw, read_response, requested_model, unwrapped
from agent_journal.readers.grok.values import Bag, take_id

if TYPE_CHECKING:
    from agent_journal.model import Event
    from agent_journal.notes import Notes
    from agent_journal.readers.grok.assets import Assets


def is_entry(value: Any) -> bool:
    """Whether a value is a conversation in its wrapper, or what is left of one."""
    return value.__class__ is dict and ("conversation" in value or "responses" in value)


def read_entry(entry: Bag, place: str, assets: Assets, note: Notes) -> Conversation:
    """The conversation with its messages in order."""
    wrapper = Fields(entry, note, place)
    about = Fields(wrapper.bag("conversation") or {}, note, place)
    responses = wrapper.items("responses") or []
    stated = take_id(about, "id", "conversation_id")
    if stated is None:
        note(Kind.MISSING_ID, place, "no id and no conversation_id")
    conversation_id = stated or ids.made(
        SOURCE, about.look("title"), about.look("create_time"), responses[:1]
    )
    timeline = _Timeline(conversation_id, place, assets, note)
    for index, response in enumerate(responses):
        timeline.add(response, f"{place} responses[{index}]")
    entries = timeline.in_order()
    for name, value in wrapper.rest().items():
        about.keep(name if not about.has(name) else f"wrapper.{name}", value)
    return Conversation(
        id=conversation_id,
        made_id=stated is None,
        source=SOURCE,
        title=about.text("title"),
        started_at=about.moment("create_time"),
        updated_at=about.moment("modify_time"),
        account_id=about.text("user_id"),
        model=_model(entries),
        tags=["starred"] if about.look("starred") is True else [],
        shape="tree" if timeline.has_parents or len(entries) < 2 else "list",  # noqa: PLR2004 (one has no order)
        head_id=timeline.head(about, entries),
        timeline=entries,
        summaries=_summaries(about),
        extra=about.rest(),
    )


def _summaries(about: Fields) -> list[Summary]:
    text = words(about.look("summary"))
    if text is not None:
        about.drop("summary")
    return [] if text is None else [Summary(text=text)]


def _model(entries: list[Message | Event]) -> str | None:
    """The model of the last answer that names one, else the one that was last asked for."""
    messages = [entry for entry in reversed(entries) if isinstance(entry, Message)]
    named = next((message.model for message in messages if message.model), None)
    if named is not None:
        return named
    return next((found for each in messages if (found := requested_model(each.extra.get("metadata")))), None)


class _Timeline:
    """Responses as they come: each id once, parents before their children."""

    def __init__(self, conversation_id: str, place: str, assets: Assets, note: Notes) -> None:
        self.has_parents = False
        self._conversation_id = conversation_id
        self._place = place
        self._assets = assets
        self._note = note
        self._entries: list[Message | Event] = []
        self._seen: dict[str, Message] = {}
        self._is_chain = self._is_ordered = True

    def add(self, value: Any, where: str) -> None:
        """Take one element of `responses`."""
        record = unwrapped(value)
        if record is not None:
            self._say(read_response(record, where, self._conversation_id, self._assets, self._note))
        else:
            named = ", ".join(sorted(value)[:8]) if value.__class__ is dict else type(value).__name__
            self._note(Kind.UNKNOWN_TYPE, where, f"in place of a response: {named or 'nothing'}")
            self._entries.append(kept_raw(value, where, self._conversation_id))

    def _say(self, message: Message) -> None:
        twin = self._seen.get(message.id)
        if twin is not None:
            if twin == message and not message.made_id:
                self._note(Kind.REPEATED_RECORD, self._place, message.id)
                return
            message = self._told_apart(message)
        parent = message.parent_id
        if parent is not None:
            self.has_parents = True
            if parent not in self._seen:
                self._is_ordered = self._is_chain = False
        if self._entries and parent != self._entries[-1].id:
            self._is_chain = False
        self._seen[message.id] = message
        self._entries.append(message)

    def _told_apart(self, message: Message) -> Message:
        """The message with an id of its own; the one it shares with another stays among the rest."""
        if not message.made_id:
            self._note(Kind.DUPLICATE_ID, self._place, message.id)
            message.extra["_id"] = message.id
        new_id = ids.made(SOURCE, self._conversation_id, message.id, len(self._entries))
        return replace(message, id=new_id, made_id=True)

    def in_order(self) -> list[Message | Event]:
        """All entries, as they came if no child comes before its parent."""
        if self._is_ordered:
            return self._entries
        for message in self._seen.values():
            if message.parent_id is not None and message.parent_id not in self._seen:
                self._note(Kind.DANGLING_PARENT, f"{self._place} {message.id}", f"parent {message.parent_id}")
        entries, cut = tree.in_order(self._entries)
        return [self._freed(entry) if entry.id in cut else entry for entry in entries]

    def _freed(self, entry: Message | Event) -> Message | Event:
        """An entry of a cycle without its parent, which stays among the rest."""
        if not isinstance(entry, Message):
            return entry
        self._note(Kind.CYCLE, f"{self._place} {entry.id}", f"parent {entry.parent_id}")
        entry.extra["parent_response_id"] = entry.parent_id
        return replace(entry, parent_id=None)

    def head(self, about: Fields, entries: list[Message | Event]) -> str | None:
        """The leaf that the person sees: often none is named, or one that the export does not have."""
        if not self.has_parents:
            return None
        leaf = words(about.look("leaf_response_id"))
        if leaf is not None and leaf in self._seen:
            about.drop("leaf_response_id")
            return leaf
        return entries[-1].id if self._is_chain else tree.newest_leaf(entries)
