"""The steps of a log as a conversation."""

from __future__ import annotations

import re
from collections import deque
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.errors import UnreadableSource
from agent_journal.model import (
    Conversation,
    Message,
    Reasoning,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    ids,
    tree,
)
from agent_journal.notes import Kind, Notes
from agent_journal.readers.antigravity import names
from agent_journal.readers.dialects.injected_text import with_typed_text
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Part

_REQUEST = re.compile(r"<USER_REQUEST>\s*(.*?)\s*</USER_REQUEST>", re.DOTALL)
_MODEL = re.compile(r"`Model Selection` from .*? to (.+?)\.?\s*(?:\n|</|$)")
# `<id>/.system_generated/logs/transcript.jsonl`
_FOLDERS, _LOG_DEPTH = [".system_generated", "logs"], 4


class Log:
    """Collects the steps of a log."""

    def __init__(self, session: str, note: Notes) -> None:
        self._note = note
        self._log = SessionLog(session, note, lambda _: True)
        self._pending: deque[str] = deque()
        self._model: str | None = None
        self.summaries: list[Summary] = []

    def add(self, record: Any, number: int) -> None:
        """Add a line with its number."""
        if record.__class__ is not dict:
            self._log.add_value(record, number)
            return
        step = Fields(record, self._note, number)
        origin, kind = nonempty_str(step.take("source")) or "", nonempty_str(step.take("type"))
        index, at = step.whole("step_index"), step.timestamp("created_at")
        own_id = "" if index is None else str(index)
        if step.view("status") == "DONE":
            step.drop("status")
        if origin.startswith(names.USER):
            self._add_prompt(step, own_id, at)
        elif origin == names.MODEL and kind in (names.ANSWER, None):
            self._add_answer(step, own_id, at)
        elif origin == names.MODEL:
            self._add_result(step, own_id, at, kind or "")
        elif kind == names.MESSAGE and step.view("content").__class__ is str:
            text = Text(text=step.text("content") or "")
            self._add(Message(id=own_id, role="system", at=at, parts=[text]), step)
        else:
            self._add_event(step, own_id, at, origin, kind)

    def _add(self, message: Message, step: Fields) -> None:
        self._log.add(replace(message, extra=step.rest()), step.where)

    def _add_prompt(self, step: Fields, own_id: str, at: str | None) -> None:
        text = step.text("content")
        parts: list[Part] = []
        if text is not None:
            if model := _MODEL.search(text):
                self._model = model[1]
            whole, requests = Text(text=text), _REQUEST.findall(text)
            parts = [with_typed_text(whole, "\n\n".join(requests)) if requests else whole]
        self._pending.clear()
        self._add(Message(id=own_id, role="user", at=at, parts=parts), step)

    def _add_answer(self, step: Fields, own_id: str, at: str | None) -> None:
        thinking, text = step.text("thinking"), step.text("content")
        parts: list[Part] = [Reasoning(text=thinking)] if thinking else []
        if text:
            parts.append(Text(text=text))
        calls = step.items("tool_calls") or []
        self._pending.clear()
        parts += [self._call(raw, f"{own_id or step.where}.{count}", step) for count, raw in enumerate(calls)]
        self._add(Message(id=own_id, role="assistant", at=at, model=self._model, parts=parts), step)

    def _call(self, raw: Any, call_id: str, step: Fields) -> Part:
        if raw.__class__ is not dict or raw.get("name").__class__ is not str:
            step.note(Kind.WRONG_TYPE, step.where, "a tool call has no name")
            return ToolCall(name="", extra={"value": raw})
        self._pending.append(call_id)
        call = Fields(dict(raw), step.note, step.where)
        name = call.text("name") or ""
        return ToolCall(
            name=name,
            call_id=call_id,
            input=_decoded(call.take("args")),
            kind=names.TOOL_KINDS.get(name),
            extra=call.rest(),
        )

    def _add_result(self, step: Fields, own_id: str, at: str | None, kind: str) -> None:
        status = step.view("status")
        result = ToolResult(
            call_id=self._pending.popleft() if self._pending else None,
            output=step.text("content") or "",
            is_error=True if status == "ERROR" else False if status is None else None,
            name=kind,
        )
        self._add(Message(id=own_id, role="tool", at=at, parts=[result]), step)

    def _add_event(self, step: Fields, own_id: str, at: str | None, origin: str, kind: str | None) -> None:
        if kind == names.CHECKPOINT and (text := nonempty_str(step.view("content"))):
            entries = self._log.entries
            covered = next((each.id for each in reversed(entries) if isinstance(each, Message)), None)
            self.summaries.append(Summary(text=text, kind="system", at=at, message_id=covered))
        if origin != names.SYSTEM:
            step.keep("source", origin)
        self._log.add_event((kind or "step").lower(), step.rest(), step.where, at=at, entry_id=own_id)

    def conversation(self, session: str, name: str, *, is_made: bool) -> Conversation:
        """Make the conversation."""
        entries = self._log.entries
        first, last = tree.span(entries)
        return Conversation(
            id=session,
            made_id=is_made,
            source=name,
            started_at=first,
            updated_at=last,
            model=first_model(entries),
            shape="list",
            timeline=entries,
            summaries=self.summaries,
        )


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a log; only its folder states the id."""
    steps = steps_of(source.label)
    session = None
    if len(steps) >= _LOG_DEPTH and steps[-3:-1] == _FOLDERS:
        session = steps[-_LOG_DEPTH]
    lines = [*json_stream.lines(source, note)]
    if not lines:
        raise UnreadableSource(source.label, "no line in it is a step")
    if session is None:
        note(Kind.MISSING_ID, "", "only the folder of a log states its id")
    own_id = session or ids.made(name, str(lines[0][1]))
    log = Log(own_id, note)
    for number, record in lines:
        log.add(record, number)
    return log.conversation(own_id, name, is_made=session is None)


def _decoded(args: Any) -> Any:
    """Decode the arguments of a call, each of which is JSON in a text."""
    if args.__class__ is not dict:
        return args
    silent = Notes(keep=0)
    decoded = {}
    for name, value in args.items():
        content = (
            json_stream.decode(value.encode("utf-8", "replace"), silent, "") if _is_json(value) else value
        )
        decoded[name] = value if content is json_stream.BAD else content
    return decoded


def _is_json(value: Any) -> bool:
    return value.__class__ is str and value[:1] in ('"', "[", "{", "t", "f", "n", "-", *"0123456789")
