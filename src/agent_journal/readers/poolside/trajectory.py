"""A file of events as a conversation. The events of one request of the model share the id of a step."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str
from agent_journal.model import (
    Conversation,
    Event,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    tree,
)
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.poolside import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.model import Role
    from agent_journal.notes import Notes

_NAME = re.compile(r"trajectory-([^_]*)_(.+)\.ndjson")
_KNOWN = frozenset({"session.start", "session.exit", "session.error", "tool_call.inference.end"})
# They only say that what ends later has begun.
_STARTS = frozenset({"thought.start", "assistant_message.start"})


class _Events:
    """Collects the events of a session."""

    def __init__(self, log: SessionLog) -> None:
        self.facts: dict[str, Any] = {}
        self.log = log
        self._models: dict[str, str] = {}
        self._usages: dict[str, Usage] = {}
        self._steps: dict[str, str] = {}
        self._names: dict[str, str] = {}

    def add(self, line: Fields) -> None:
        """Add an event."""
        kind = line.take("type")
        at, own_id = line.timestamp("timestamp"), line.text("id") or ""
        step = nonempty_str(line.view("step_id"))
        name = kind.replace(".", "_") if kind.__class__ is str else ""
        body = line.nested(name) if line.view(name).__class__ is dict else None
        if body is None:
            text = line.view(name)
            body = Fields({name: text} if text is not None else {}, line.note, line.where)
        match kind:
            case "tool_call.inference.start":
                request = body.view("chat_completion_request")
                model = request.get("model") if request.__class__ is dict else None
                if step and nonempty_str(model):
                    self._models[step] = str(model)
            case "tool_call.inference.end":
                if step:
                    self._usages[step] = _usage(body, f"{self.log.session}:{step}")
                else:
                    self.log.add_event(kind, line.rest(), line.where, at=at, entry_id=own_id)
            case "session.input" if body.view("prompt").__class__ is str:
                self._add(own_id, "user", at, [Text(text=body.take("prompt"))], line)
            case "thought.end" if body.view("thought").__class__ is str:
                self._add(own_id, "assistant", at, [Reasoning(text=body.take("thought"))], line)
            case "assistant_message.end" if body.view("assistant_message").__class__ is str:
                self._add(own_id, "assistant", at, [Text(text=body.take("assistant_message"))], line)
            case "tool_call.parsed":
                self._add(own_id, "assistant", at, [self._call(body)], line)
            case "tool_call.result":
                self._add(own_id, "tool", at, [self._result(body)], line)
            case _:
                if kind == "session.start" and not self.facts:
                    self.facts = dict(body.rest())
                if kind not in _STARTS or body.rest():
                    self.log.add_event(kind, line.rest(), line.where, at=at, entry_id=own_id)

    def _add(self, own_id: str, role: Role, at: str | None, parts: list[Part], line: Fields) -> None:
        step = line.text("step_id")
        message = Message(
            id=own_id,
            role=role,
            at=at,
            response_id=step if role == "assistant" else None,
            parts=parts,
            extra=line.rest() | ({"step_id": step} if step and role != "assistant" else {}),
        )
        self.log.add(message, line.where)

    def _call(self, body: Fields) -> Part:
        name, call_id = body.text("name") or "", body.text("id")
        if call_id:
            self._names[call_id] = name
        return ToolCall(
            call_id=call_id, name=name, input=body.take("args"), kind=TOOL_KINDS.get(name), extra=body.rest()
        )

    def _result(self, body: Fields) -> Part:
        observation = body.take("observation")
        call_id = body.text("id")
        name = body.text("tool_name") or self._names.get(call_id or "")
        output: Any = (
            observation if observation.__class__ is str else [Other(data=observation)] if observation else ""
        )
        is_error = body.flag("is_error")
        return ToolResult(call_id=call_id, name=name, output=output, is_error=is_error)

    def finish(self) -> list[Message | Event]:
        """Return the entries, with the model and, once, the tokens of their step."""
        entries: list[Message | Event] = []
        for entry in self.log.entries:
            if isinstance(entry, Message) and entry.role == "assistant":
                step = entry.response_id or ""
                entries.append(
                    replace(entry, model=self._models.get(step), usage=self._usages.pop(step, None))
                )
            else:
                entries.append(entry)
        for step, usage in self._usages.items():
            entries.append(
                Message(
                    id=f"{self.log.session}:{step}:usage",
                    made_id=True,
                    role="assistant",
                    model=self._models.get(step),
                    hidden=True,
                    usage=usage,
                )
            )
        return entries


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    named = _NAME.fullmatch(source.name)
    session = named[2] if named else ""
    events = _Events(SessionLog(session, note, _KNOWN.__contains__))
    for number, line in json_stream.lines(source, note):
        if not events.log.session:
            events.log.session = ids.made(name, line)
        if line.__class__ is dict:
            events.add(Fields(line, note, number))
        else:
            events.log.add_value(line, number)
    entries = events.finish()
    first, last = tree.span(entries)
    folders = events.facts.get("working_directories")
    folder = folders[0] if folders.__class__ is list and folders else events.facts.get("workspace")
    return Conversation(
        id=events.log.session,
        made_id=not session,
        source=name,
        started_at=first,
        updated_at=last,
        model=first_model(entries),
        cwd=nonempty_str(folder),
        tags=[named[1]] if named and named[1] else [],
        shape="list",
        timeline=entries,
    )


def _usage(body: Fields, key: str) -> Usage:
    """Return the tokens of a request, whose input does not include what a cache had."""
    raw = dict(body.rest())
    counts = (
        counted(raw.get(name))
        for name in ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_write_input_tokens")
    )
    sent, output, read, written = counts
    return Usage(key=key, input=sent, output=output, cache_read=read, cache_write=written, extra=raw)
