"""Kimi CLI's files: the wire file has what was sent to its user interface; older ones have the context."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Event, Message, Part, ToolCall, roles
from agent_journal.readers.kimi import names
from agent_journal.readers.kimi.content import parse_call, parse_content, parse_part, result_of, usage_of
from agent_journal.readers.kimi.steps import Step, Timeline

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_STEP_BEGIN, _STATUS, _SUBAGENT = "StepBegin", "StatusUpdate", "SubagentEvent"


class CliWire:
    """Collects the records of a wire file.

    Until 2026 a subagent had no file of its own: its records are in those of its call, and become messages
    of a side chain.
    """

    def __init__(self, note: Notes, agents_with_files: frozenset[str]) -> None:
        self._note = note
        self._agents_with_files = agents_with_files
        self._timeline = Timeline(note)
        self._subagent_steps: dict[str, Step] = {}
        self.is_known = False

    def add(self, record: Fields) -> None:
        """Add a record: the metadata, or a message to the user interface."""
        body = record.nested("message")
        if body is None:
            self.is_known = self.is_known or record.view("type") == names.METADATA
            self._timeline.add(_event(record.take("type"), record.rest(), None), record.where)
            return
        self.is_known = True
        at = record.timestamp("timestamp")
        payload = body.bag("payload")
        if payload is None:
            self._timeline.add(_event(body.view("type"), record.rest(), at), record.where)
            return
        self._add_payload(body.take("type"), Fields(payload, self._note, record.where), at)

    def add_value(self, value: Any, location: int | str) -> None:
        """Add a record that is no object."""
        self._timeline.add_value(value, location)

    def write(self, log: SessionLog) -> None:
        """Add everything to a log."""
        self._timeline.write(log)

    def _add_payload(self, kind: Any, payload: Fields, at: str | None) -> None:
        where = payload.where
        match kind:
            case "TurnBegin" | "SteerInput":
                parts = parse_content(payload.take("user_input"), self._note, where)
                self._timeline.add(
                    Message(id="", role="user", at=at, parts=parts, extra=payload.rest()), where
                )
            case "StepBegin":
                self._timeline.begin(Step("", at, {"step": payload.rest()}), where)
            case "ContentPart":
                self._timeline.add_part(parse_part(payload.rest(), self._note, where), at, where)
            case "ToolCall":
                self._timeline.add_part(parse_call(payload.rest(), self._note, where), at, where)
            case "ToolCallPart" if self._extend_call(payload):
                pass
            case "ToolResult":
                value = Fields(payload.bag("return_value") or {}, self._note, where)
                result = result_of(payload.text("tool_call_id"), value)
                self._timeline.add_result(result, at, payload.rest(), where)
            case "SubagentEvent" if self._add_subagent_event(payload, at):
                pass
            case _:
                if kind == _STATUS:
                    self._add_usage(payload, at)
                self._timeline.add(_event(kind, payload.rest(), at), where)

    def _extend_call(self, payload: Fields) -> bool:
        """Add a piece of its arguments to the last call."""
        step, piece = self._timeline.step, nonempty_str(payload.view("arguments_part"))
        last = step.parts[-1] if step is not None and step.parts else None
        if piece is None or step is None or not isinstance(last, ToolCall):
            return False
        step.parts[-1] = replace(last, input=(last.input or "") + piece) if _is_text(last.input) else last
        return _is_text(last.input)

    def _add_usage(self, status: Fields, at: str | None) -> None:
        """Give a step the tokens that the status after it states."""
        usage, step = (
            usage_of(status.view("token_usage"), nonempty_str(status.view("message_id"))),
            self._timeline.step,
        )
        if usage is None:
            return
        if step is not None and step.usage is None:
            step.usage = usage
        else:
            self._timeline.add_usage(usage, None, at, status.where)

    def _add_subagent_event(self, payload: Fields, at: str | None) -> bool:
        """Add a record of a subagent that has no file of its own."""
        event = payload.view("event")
        call = nonempty_str(payload.view("parent_tool_call_id")) or nonempty_str(
            payload.view("task_tool_call_id")
        )
        has_file = nonempty_str(payload.view("agent_id")) in self._agents_with_files
        if has_file or event.__class__ is not dict or event.get("payload").__class__ is not dict:
            return False
        own_step = self._timeline.step
        self._timeline.step = self._subagent_steps.get(call or "")
        if self._timeline.step is None or event.get("type") == _STEP_BEGIN:
            extra = {name: value for name, value in payload.rest().items() if name != "event"}
            step = self._timeline.begin(Step("", at, extra), payload.where)
            step.is_sidechain = True
            self._subagent_steps[call or ""] = step
        if event.get("type") != _STEP_BEGIN:
            self._add_payload(event["type"], Fields(event["payload"], self._note, payload.where), at)
        self._timeline.step = own_step
        return True


class Context:
    """Collects the messages of a context file; records between them state the tokens so far."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._timeline = Timeline(note)
        self.is_known = True

    def add(self, record: Fields) -> None:
        """Add a message, or a record between messages."""
        name = record.view("role")
        role = "system" if name == "_system_prompt" else roles.role(name)
        if role is None:
            self._timeline.add(_event(record.take("role"), record.rest(), None), record.where)
            return
        if role == name:
            record.drop("role")
        if role == "tool":
            output = Fields({"output": record.take("content")}, self._note, record.where)
            parts: list[Part] = [result_of(record.text("tool_call_id"), output)]
        else:
            parts = parse_content(record.take("content"), self._note, record.where)
        parts += [parse_call(raw, self._note, record.where) for raw in record.items("tool_calls") or ()]
        self._timeline.add(Message(id="", role=role, parts=parts, extra=record.rest()), record.where)

    def add_value(self, value: Any, location: int | str) -> None:
        """Add a record that is no object."""
        self._timeline.add_value(value, location)

    def write(self, log: SessionLog) -> None:
        """Add everything to a log."""
        self._timeline.write(log)


def _event(kind: Any, data: dict[str, Any], at: str | None) -> Event:
    return Event(id="", name=kind if kind.__class__ is str and kind else "unknown", at=at, data=data)


def _is_text(value: Any) -> bool:
    return value is None or value.__class__ is str
