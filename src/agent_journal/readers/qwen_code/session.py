"""The records of one file, a session or a subagent of it, as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import Conversation, Event, Link, Message, Summary, Text, ToolResult, Usage, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.google_parts import parse_parts
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, mark_injected_parts
from agent_journal.readers.dialects.session_log import Entry, SessionLog, first_model, head_of, with_new_id
from agent_journal.readers.qwen_code import names, tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.inputs.input import Input
    from agent_journal.model import Part, Role
    from agent_journal.notes import Notes

_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant", "tool_result": "tool"}
_TAGS = Tags(HARNESS_TAGS)
# What a hook adds to a prompt or to the beginning of a session.
_HOOK_TAG = "<qwen:"
# Written for the list of sessions; the conversation does not continue below them.
_SIDE_EVENTS = ("session_artifact_snapshot", "session_artifact_event")


class Session:
    """Collects the records of a file."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._log = SessionLog("", note, names.EVENTS.__contains__)
        self._measured: list[Message] = []
        # By id, the last entry with it.
        self._latest: dict[str, str] = {}
        self._title: str | None = None
        self._summaries: list[Summary] = []
        self._facts: dict[str, str] = {}
        self._link: Link | None = None
        self.agent: str | None = None
        self.id: str | None = None

    def add_all(self, records: Iterable[tuple[int, Any]]) -> None:
        """Add records with their locations."""
        for number, record in records:
            if record.__class__ is dict:
                self._add(Fields(record, self._note, number))
            else:
                self._log.add_value(record, number)

    def _add(self, record: Fields) -> None:
        self._read_envelope(record)
        kind, at = record.take("type"), record.timestamp("timestamp")
        body = record.nested("message") if kind in _ROLES else None
        entry_id, parent = record.text("uuid") or "", record.text("parentUuid")
        parent = self._latest.get(parent or "", parent)
        if body is None:
            event = Event(id=entry_id, name="", parent_id=parent, at=at)
            self._add_event(kind, event, record)
        else:
            self._add_message(Message(id=entry_id, role=_ROLES[kind], parent_id=parent, at=at), body, record)

    def _read_envelope(self, record: Fields) -> None:
        """Remember what every record states: session, folder, version, branch."""
        if self.id is None and (session := nonempty_str(record.view("sessionId"))):
            self.id = self._log.session = session
            self.agent = nonempty_str(record.view("agentId")) if record.view("isSidechain") is True else None
        if record.view("sessionId") == self.id:
            record.drop("sessionId")
        for name in ("cwd", "version", "gitBranch"):
            if value := nonempty_str(record.view(name)):
                self._facts.setdefault(name, value)
                if self._facts[name] == value:
                    record.drop(name)
        origin = record.view("forkedFrom")
        if origin.__class__ is dict and (session := nonempty_str(origin.get("sessionId"))):
            self._link = Link(
                conversation_id=session, relation="fork", message_id=nonempty_str(origin.get("messageUuid"))
            )

    def _add_event(self, kind: Any, event: Event, record: Fields) -> None:
        subtype, payload = nonempty_str(record.view("subtype")), record.view("systemPayload")
        name = subtype if kind == names.SYSTEM and subtype else kind
        if kind == names.SYSTEM:
            record.drop("subtype")
        if payload.__class__ is dict:
            self._read_payload(name, payload, event)
        measured = tokens.measured_usage(payload, event.id) if name == names.TELEMETRY else None
        if measured is not None:
            usage, model = measured
            self._measured.append(_hidden_answer(event, usage, nonempty_str(model)))
        self._log.add_event(
            name, record.rest(), record.where, at=event.at, entry_id=event.id, parent_id=event.parent_id
        )

    def _read_payload(self, name: Any, payload: dict[str, Any], event: Event) -> None:
        if name == names.TITLE:
            self._title = nonempty_str(payload.get("customTitle")) or self._title
        elif name == names.PARENT and (parent := nonempty_str(payload.get("parentSessionId"))):
            self._link = Link(conversation_id=parent, relation="subagent")
        elif name == names.COMPRESSION and (text := self._summary(payload)):
            self._summaries.append(Summary(text=text, kind="system", at=event.at, message_id=event.parent_id))

    def _summary(self, payload: dict[str, Any]) -> str:
        """Return the summary that a compression replaced the conversation by: its first text."""
        history = payload.get("compressedHistory")
        for content in history if history.__class__ is list else ():
            parts = content.get("parts") if content.__class__ is dict else None
            for part in parse_parts(parts, self._note, names.COMPRESSION, names.kind_of):
                if isinstance(part, Text) and part.text.strip():
                    return part.text
        return ""

    def _add_message(self, message: Message, body: Fields, record: Fields) -> None:
        parts = parse_parts(body.take("parts"), self._note, record.where, names.kind_of)
        is_answer = message.role == "assistant"
        hidden = message.role == "user" and self._is_program(record)
        if message.role == "user" and not hidden:
            parts, hidden = mark_injected_parts(parts, _is_injected)
        elif message.role == "tool":
            parts = _with_status(parts, record)
        body.drop("role")
        message = replace(
            message,
            model=record.text("model") if is_answer else None,
            hidden=hidden,
            parts=parts,
            usage=tokens.usage_of(record.view("usageMetadata"), _original_id(record, message.id))
            if is_answer
            else None,
            extra={},
        )
        if message.usage is not None:
            record.drop("usageMetadata")
        self._add_part(replace(message, extra=record.rest()), record.where)

    def _add_part(self, message: Message, location: int | str) -> None:
        """Add a message; the next parts of an answer may be in a record of the same id."""
        own_id = message.id
        if own_id in self._latest and not self._log.is_repeated(message):
            message = with_new_id(replace(message, parent_id=self._latest[own_id]), f"{own_id}:{location}")
        self._log.add(message, location)
        if own_id:
            self._latest[own_id] = message.id

    def _is_program(self, record: Fields) -> bool:
        """Whether the app wrote a message in the user's name."""
        return record.view("subtype") in names.NOTIFICATIONS or record.view("provenance") == names.SYSTEM

    def conversation(self, source: Input, name: str) -> Conversation:
        """Make the conversation."""
        if self.id is None:
            raise UnreadableSource(source.label, "no record in it states the session")
        entries = self._log.link({})
        answers = (entry.usage for entry in entries if isinstance(entry, Message))
        entries += tokens.without_stated(self._measured, answers)
        meta = _meta(source, self._note) if self.agent is not None else None
        first, last = tree.span(entries)
        return Conversation(
            id=self.id if self.agent is None else f"{self.id}:{self.agent}",
            source=name,
            title=self._title if meta is None else nonempty_str(meta.view("description")),
            started_at=first,
            updated_at=last,
            app_version=self._facts.get("version"),
            model=first_model(entries) or (None if meta is None else nonempty_str(meta.view("model"))),
            cwd=self._facts.get("cwd"),
            git_branch=self._facts.get("gitBranch"),
            head_id=head_of(entries, self._last_on_branch()),
            link=self._link if meta is None else self._link_to_parent(meta),
            timeline=entries,
            summaries=[self._placed(summary) for summary in self._summaries],
            extra={} if meta is None or not meta.rest() else {"meta": meta.rest()},
        )

    def _last_on_branch(self) -> str | None:
        return next((entry.id for entry in reversed(self._log.entries) if not _is_off_branch(entry)), None)

    def _link_to_parent(self, meta: Fields) -> Link:
        """Link a subagent to the session, or to the subagent, that started it."""
        session, agent = (
            nonempty_str(meta.view("parentSessionId")) or self.id or "",
            nonempty_str(meta.view("parentAgentId")),
        )
        return Link(
            conversation_id=session if agent is None else f"{session}:{agent}",
            relation="subagent",
            call_id=nonempty_str(meta.view("toolUseId")),
        )

    def _placed(self, summary: Summary) -> Summary:
        message = self._log.find_message(summary.message_id)
        return replace(summary, message_id=None if message is None else message.id)


def _is_injected(text: str) -> bool:
    return _TAGS.is_all(text) or text.startswith(_HOOK_TAG)


def _with_status(parts: list[Part], record: Fields) -> list[Part]:
    """Return the result of a call, which the record says has failed or not."""
    stated = record.view("toolCallResult")
    status = stated.get("status") if stated.__class__ is dict else None
    if status not in ("success", "error"):
        return parts
    failed = status == "error"
    return [replace(part, is_error=failed) if isinstance(part, ToolResult) else part for part in parts]


def _original_id(record: Fields, own_id: str) -> str:
    """Return the id that an answer has in the session that it was copied from."""
    origin = record.view("forkedFrom")
    original = nonempty_str(origin.get("messageUuid")) if origin.__class__ is dict else None
    return original or own_id


def _hidden_answer(event: Event, usage: Usage, model: str | None) -> Message:
    return Message(
        id=f"{event.id}:usage",
        made_id=True,
        role="assistant",
        parent_id=event.id or None,
        at=event.at,
        model=model,
        hidden=True,
        usage=usage,
    )


def _is_off_branch(entry: Entry) -> bool:
    return isinstance(entry, Event) and entry.name in _SIDE_EVENTS


def _meta(source: Input, note: Notes) -> Fields:
    """Return what the file next to a subagent's states."""
    file = source.companion(source.name.removesuffix(".jsonl") + ".meta.json")
    value: Any = {}
    if file is not None:
        about = note.about(file.label)
        try:
            value = json_stream.load(file, about)
        except UnreadableSource as error:
            about(Kind.UNREADABLE_FILE, "", error.reason)
    return Fields(value if value.__class__ is dict else {}, note, "")
