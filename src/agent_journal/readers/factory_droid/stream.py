"""The events that `droid exec --output-format stream-json` prints, as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Conversation, Event, Message, Part, Text, ToolCall, ToolResult, ids, tree
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_usage
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags
from agent_journal.readers.dialects.program_output import printed_texts
from agent_journal.readers.dialects.session_log import SessionLog
from agent_journal.readers.factory_droid import names

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Role
    from agent_journal.notes import Notes

_TAGS = Tags(HARNESS_TAGS)
_ROLES: dict[str, Role] = {"user": "user", "assistant": "assistant"}


class Stream:
    """Collects the events of one run."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._log = SessionLog("", note, names.STREAM_EVENTS.__contains__)
        self._session: str | None = None
        self._model: str | None = None
        self._cwd: str | None = None
        self._texts: set[str] = set()

    def add_all(self, events: Iterable[tuple[int, Any]]) -> None:
        """Add events with their locations."""
        for number, event in events:
            if event.__class__ is dict:
                self._add(Fields(event, self._note, number))
            else:
                self._log.add_value(event, number)

    def _add(self, event: Fields) -> None:
        session = event.text("session_id") or event.text("sessionId")
        if self._session is None and session:
            self._session = self._log.session = session
        at, kind = event.timestamp("timestamp"), event.take("type")
        match kind:
            case "message":
                self._add_message(event, at)
            case "tool_call":
                self._add_call(event, at)
            case "tool_result":
                self._add_result(event, at)
            case _:
                self._add_other(kind, event, at)

    def _add_message(self, event: Fields, at: str | None) -> None:
        name, text = event.view("role"), event.text("text") or ""
        role = _ROLES.get(name) if name.__class__ is str else None
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, event.where, f"role {str(name)[:40]!r}")
        else:
            event.drop("role")
        self._texts.add(text)
        parts: list[Part] = [Text(text=text)]
        if role == "user":
            before, typed = _TAGS.split(text)
            if before and typed:
                parts = [Text(text=before, injected=True), Text(text=typed)]
        self._add_entry(event, Message(id="", role=role or "user", at=at, parts=parts))

    def _add_call(self, event: Fields, at: str | None) -> None:
        name = event.text("toolName") or ""
        call_id = event.text("toolCallId") or nonempty_str(event.view("id"))
        call = ToolCall(
            name=name, call_id=call_id, input=event.take("parameters"), kind=names.TOOL_KINDS.get(name)
        )
        # Later versions use the id of the call as that of the event, and again for its result.
        self._add_entry(event, Message(id="", role="assistant", at=at, parts=[call]), has_own_id=False)

    def _add_result(self, event: Fields, at: str | None) -> None:
        value, call_id = event.take("value"), event.text("toolCallId") or nonempty_str(event.view("id"))
        output: Any = value if value.__class__ is str else ""
        extra: dict[str, Any] = {}
        if value.__class__ is dict:
            texts = printed_texts(value)
            output, extra = ([*texts], {}) if texts else ("", value)
        elif value is not None and value.__class__ is not str:
            extra = {"value": value}
        result = ToolResult(call_id=call_id, output=output, is_error=event.flag("isError"), extra=extra)
        self._add_entry(event, Message(id="", role="tool", at=at, parts=[result]), has_own_id=False)

    def _add_entry(self, event: Fields, message: Message, *, has_own_id: bool = True) -> None:
        own_id = event.text("id") if has_own_id else None
        self._log.add(
            Message(
                id=own_id or "",
                role=message.role,
                at=message.at,
                model=self._model if message.role == "assistant" else None,
                parts=message.parts,
                extra=event.rest(),
            ),
            event.where,
        )

    def _add_other(self, kind: Any, event: Fields, at: str | None) -> None:
        """Add the beginning, the end, or an error; the end states the last answer and all tokens."""
        if kind == names.INIT:
            self._model = nonempty_str(event.view("model")) or self._model
            self._cwd = nonempty_str(event.view("cwd")) or self._cwd
        text = nonempty_str(event.view("finalText")) if kind == names.COMPLETION else None
        if kind != names.COMPLETION:
            own_id = event.text("id")
            self._log.add(Event(id=own_id or "", name=str(kind), at=at, data=event.rest()), event.where)
            return
        usage = parse_usage(event.view("usage"), self._session)
        if usage is not None:
            event.drop("usage")
        is_new = text is not None and text not in self._texts
        if is_new:
            event.drop("finalText")
        message = Message(
            id=event.text("id") or "",
            role="assistant",
            at=at,
            model=self._model,
            hidden=not is_new,
            parts=[Text(text=text)] if is_new and text is not None else [],
            usage=usage,
            extra=event.rest(),
        )
        self._log.add(message, event.where)

    def conversation(self, name: str) -> Conversation:
        """Make the conversation."""
        entries = self._log.entries
        first, last = tree.span(entries)
        return Conversation(
            # The same session's file has other ids for the messages.
            id=f"{self._session}:stream" if self._session else ids.made(name, first),
            made_id=self._session is None,
            source=name,
            started_at=first,
            updated_at=last,
            model=self._model,
            cwd=self._cwd,
            shape="list",
            timeline=entries,
        )
