"""The lines of one session as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Link, Message, Summary, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.session_log import Entry, SessionLog, first_model, head_of
from agent_journal.readers.pi import messages, names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.notes import Notes


class Session:
    """Collects the lines of a session; `fallback_id` is the id if no line states it."""

    def __init__(self, note: Notes, name: str, fallback_id: str | None) -> None:
        self._note = note
        self._name = name
        self._header: Fields | None = None
        self._fallback_id = fallback_id
        self._log = SessionLog(fallback_id or "", note, names.EVENTS.__contains__)
        self._calls: dict[str, str | None] = {}
        self._slot_title: str | None = None
        self._title: str | None = None
        self._model: str | None = None
        self._summaries: list[tuple[Summary, str | None]] = []
        self._usages: dict[str, Fields] = {}
        self._has_ids = False
        self.has_known_lines = False

    @property
    def id(self) -> str:
        """The id that the first line states, else that of the file's name."""
        return self._log.session

    def is_begun_by(self, mark: str) -> bool:
        """Whether the first message of the user has a word in it."""
        first = next((entry for entry in self._log.entries if _is_prompt(entry)), None)
        return first is not None and mark in tree.plain_text(first).lower()

    def add_all(self, lines: Iterable[tuple[int | str, Any]]) -> None:
        """Add lines with their locations."""
        for location, line in lines:
            if line.__class__ is dict:
                self._add(Fields(line, self._note, location))
            else:
                self._log.add_value(line, location)

    def _add(self, line: Fields) -> None:
        kind = line.take("type")
        if kind == names.HEADER and self._header is None:
            self._begin(line)
        elif kind == names.TITLE and not self._log.entries:
            # A line of fixed width, which the app rewrites in place.
            self._slot_title = nonempty_str(line.view("title"))
            self._log.add_event(kind, line.rest(), line.where, at=line.timestamp("updatedAt"))
        else:
            self._add_entry(kind, line)

    def _begin(self, header: Fields) -> None:
        self.has_known_lines = True
        self._header = header
        self._log.session = nonempty_str(header.view("id")) or self._fallback_id or ""
        self._title = self._title or nonempty_str(header.view("title"))

    def _add_entry(self, kind: Any, line: Fields) -> None:
        at = line.timestamp("timestamp")
        body = line.nested("message") if kind == names.MESSAGE else None
        if not self._has_ids:
            self._has_ids = nonempty_str(line.view("id")) is not None
        if not self.has_known_lines:
            self.has_known_lines = body is not None or kind in names.EVENTS
        if body is not None:
            message = messages.convert(line, body, at)
            if message.role == "assistant":
                self._calls |= {call.call_id: message.id for call in tree.calls_in(message) if call.call_id}
            self._log.add(message, line.where)
        elif kind == names.CUSTOM_MESSAGE:
            self._log.add(messages.convert_custom(line, at), line.where)
        elif kind == names.MODEL_USAGE:
            self._log.add(_usage_only(line, at), line.where)
        else:
            self._add_event(kind, line, at)

    def _add_event(self, kind: Any, line: Fields, at: str | None) -> None:
        if kind in (names.SESSION_INFO, names.TITLE_CHANGE):
            self._title = nonempty_str(line.view("name")) or nonempty_str(line.view("title")) or self._title
        elif kind == names.MODEL_CHANGE:
            self._model = (
                self._model or nonempty_str(line.view("modelId")) or nonempty_str(line.view("model"))
            )
        elif kind in (names.COMPACTION, names.BRANCH_SUMMARY):
            self._add_summary(line, at)
        elif kind == names.CHILD_USAGE and (target := nonempty_str(line.view("targetId"))):
            usage = line.view("aggregateUsage")
            self._usages[target] = Fields({"usage": usage}, self._note, line.where)
        entry_id, parent_id = line.text("id"), line.text("parentId")
        self._log.add_event(kind, line.rest(), line.where, at=at, entry_id=entry_id, parent_id=parent_id)

    def _add_summary(self, line: Fields, at: str | None) -> None:
        text = nonempty_str(line.view("summary"))
        if text is not None:
            first_retained = nonempty_str(line.view("firstKeptEntryId"))
            covered = nonempty_str(line.view("fromId")) or nonempty_str(line.view("parentId"))
            self._summaries.append(
                (Summary(text=text, kind="system", at=at, message_id=covered), first_retained)
            )

    def conversation(self, facts: dict[str, Any], product: str | None = None) -> Conversation:
        """Make the conversation; `facts` are fields of it that other files state."""
        header = self._header or Fields({}, self._note, "")
        stated = header.text("id") or self._fallback_id
        if self._header is None:
            self._note(Kind.MISSING_FIELD, "", "the first line, which has the id and folder, is missing")
        entries = [self._with_child_usage(entry) for entry in self._log.entries]
        self._log.entries = entries
        summaries = [self._resolved(*summary) for summary in self._summaries]
        session = stated or ids.made(self._name, *(entry.at for entry in entries[:1]))
        if self._has_ids:
            last = entries[-1].id if entries else None
            entries = self._log.link({**self._calls, session: None})
            head = head_of(entries, last)
        else:
            head = None
        started_at = header.timestamp("timestamp")
        first, last_at = tree.span(entries)
        return Conversation(
            **{
                "title": self._slot_title or self._title,
                "link": _link(header),
                "cwd": header.text("cwd") or None,
                **facts,
            },
            id=session,
            made_id=stated is None,
            source=self._name,
            started_at=started_at or first,
            updated_at=last_at or started_at,
            model=first_model(entries) or self._model,
            shape="tree" if self._has_ids else "list",
            head_id=head,
            timeline=entries,
            summaries=summaries,
            platform={} if product is None else {"product": product},
            extra=header.rest(),
        )

    def _with_child_usage(self, entry: Entry) -> Entry:
        """Return an answer with the tokens that include those of the subagents it started."""
        fields = self._usages.get(entry.id)
        if fields is None or not isinstance(entry, Message):
            return entry
        usage = messages.take_usage(fields, entry.model)
        own_key = entry.usage.key if entry.usage is not None else None
        return entry if usage is None else replace(entry, usage=replace(usage, key=own_key))

    def _resolved(self, summary: Summary, first_retained: str | None) -> Summary:
        """Return a summary with the last message that it covers: the one before the first that stays."""
        retained = next((entry for entry in self._log.entries if entry.id == first_retained), None)
        message = self._log.find_message(summary.message_id if retained is None else retained.parent_id)
        return replace(summary, message_id=None if message is None else message.id)


def _is_prompt(entry: Entry) -> TypeGuard[Message]:
    return isinstance(entry, Message) and entry.role == "user" and not entry.hidden


def _usage_only(line: Fields, at: str | None) -> Message:
    """Convert the tokens of a request outside of the conversation, such as one for a title."""
    model = line.text("model")
    return Message(
        id=line.text("id") or "",
        role="assistant",
        parent_id=line.text("parentId"),
        at=at,
        model=model,
        stop_reason=line.text("stopReason"),
        hidden=True,
        usage=messages.take_usage(line, model),
        extra=line.rest(),
    )


def _link(header: Fields) -> Link | None:
    """Link to the session that this one is a copy of: its file, or its id in Oh My Pi."""
    origin = nonempty_str(header.view("parentSession")) or nonempty_str(header.view("branchedFrom"))
    return None if origin is None else Link(conversation_id=id_in_name(origin), relation="fork")


def id_in_name(path: str) -> str:
    """Return the session id in the path of a file: `<time>_<id>.jsonl`, or `<id>.jsonl`."""
    return path.replace("\\", "/").rpartition("/")[2].partition(".jsonl")[0].rpartition("_")[2]
