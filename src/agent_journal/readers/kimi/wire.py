"""Kimi Code's wire file: each change of an agent's context, in the order in which it happened."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Event, Message, Summary, Tool, ToolCall, roles, timestamps
from agent_journal.notes import Kind
from agent_journal.readers.dialects.openai_messages import parse_tool
from agent_journal.readers.kimi import names
from agent_journal.readers.kimi.content import parse_call, parse_content, parse_part, result_of, usage_of
from agent_journal.readers.kimi.steps import Step, Timeline, text_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_USER = "user"
_TURN = "turn"


class Wire:
    """Collects the records of one agent."""

    def __init__(self, note: Notes) -> None:
        self._note = note
        self._timeline = Timeline(note)
        self._alias: str | None = None
        self._model: str | None = None
        self._steps: dict[str, Step] = {}
        self._summaries: list[Summary] = []
        self.tools: dict[str, Tool] = {}
        self.created_at: str | None = None
        self.cwd: str | None = None
        self.agent: str | None = None
        self.is_known = False

    def add(self, record: Fields) -> None:
        """Add a record."""
        kind = record.take("type")
        name = kind if kind.__class__ is str else "unknown"
        at = record.timestamp("time")
        self.agent = self.agent or nonempty_str(record.view("agentId"))
        self.is_known = self.is_known or names.is_known_type(name)
        if name == names.MESSAGE and self._add_message(record, at):
            return
        if name == names.LOOP_EVENT and self._add_loop_event(record, at):
            return
        event = Event(id="", name=name, at=at, data={})
        if name in (names.PROMPT, names.STEER):
            text = self._prompt_text(record)
            self._timeline.add_prompt(replace(event, data=record.rest()), text, record.where)
            return
        self._observe(name, record, at)
        self._timeline.add(replace(event, data=record.rest()), record.where)

    def _observe(self, name: str, record: Fields, at: str | None) -> None:
        """Remember what a record states about others."""
        match name:
            case names.METADATA:
                self.created_at = self.created_at or timestamps.parse_timestamp(record.view("created_at"))
            case names.CONFIG | names.PROFILE:
                self._configure(record)
            case names.REQUEST:
                self._set_model(record)
            case names.TOOLS:
                self._offer_tools(record)
            case names.USAGE:
                self._add_usage(record, at)
            case names.COMPACTION:
                self._add_summary(record, at)

    def add_value(self, value: Any, location: int | str) -> None:
        """Add a record that is no object."""
        self._timeline.add_value(value, location)

    def write(self, log: SessionLog) -> list[Summary]:
        """Add everything to a log; return the summaries."""
        self._timeline.write(log)
        return self._summaries

    def _configure(self, record: Fields) -> None:
        self._alias = nonempty_str(record.view("modelAlias")) or self._alias
        disclosed = record.view("environmentDisclosure")
        inner = disclosed.get("cwd") if disclosed.__class__ is dict else None
        self.cwd = self.cwd or nonempty_str(record.view("cwd")) or nonempty_str(inner)

    def _set_model(self, record: Fields) -> None:
        self._model = nonempty_str(record.view("model")) or self._model
        if self._timeline.step is not None and not self._timeline.step.parts:
            self._timeline.step.model = self._model

    def _offer_tools(self, record: Fields) -> None:
        if record.view("tools").__class__ is list:
            for raw in objects(record.take("tools")):
                tool = parse_tool(raw, self._note, record.where)
                self.tools[tool.name] = tool

    def _prompt_text(self, record: Fields) -> str:
        """Return the text of a prompt that the user wrote."""
        origin = record.view("origin")
        is_users = origin.__class__ is dict and origin.get("kind") == _USER
        return (
            text_of(parse_content(_copied(record.view("input")), self._note, record.where))
            if is_users
            else ""
        )

    def _add_message(self, record: Fields, at: str | None) -> bool:
        body = record.nested("message")
        if body is None:
            return False
        name = body.view("role")
        role = roles.role(name)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, record.where, f"role {str(name)[:40]!r}")
        elif role == name:
            body.drop("role")
        parts = parse_content(body.take("content"), self._note, record.where)
        parts += [parse_call(raw, self._note, record.where) for raw in body.items("toolCalls") or ()]
        message = Message(
            id=body.text("id") or "",
            role=role or "user",
            at=at,
            hidden=role == "user" and _is_injected(body.view("origin")),
            parts=parts,
            extra=record.rest(),
        )
        self._timeline.add_message(message, record.where)
        return True

    def _add_loop_event(self, record: Fields, at: str | None) -> bool:
        event = record.nested("event")
        kind = None if event is None else event.view("type")
        convert = _LOOP_EVENTS.get(kind) if kind.__class__ is str else None
        if event is None or convert is None:
            self._note(Kind.UNKNOWN_TYPE, record.where, f"event {str(kind)[:40]!r}")
            return False
        event.drop("type")
        convert(self, event, record, at)
        return True

    def begin_step(self, event: Fields, record: Fields, at: str | None) -> None:
        """Begin a step."""
        step = self._timeline.begin(Step(event.text("uuid") or "", at, record.rest()), record.where)
        step.model = self._alias
        self._steps[step.id] = step

    def add_part(self, event: Fields, record: Fields, at: str | None) -> None:
        """Add a part of the answer."""
        self._select_step(event)
        self._timeline.add_part(parse_part(event.take("part"), self._note, record.where), at, record.where)

    def add_call(self, event: Fields, record: Fields, at: str | None) -> None:
        """Add a call of a tool."""
        self._select_step(event)
        name = event.text("name") or ""
        call_id, arguments = event.text("toolCallId"), event.take("args")
        event.drop("turnId", "step", "stepUuid")
        extra = {key: value for key, value in event.rest().items() if key != "uuid"}
        call = ToolCall(
            name=name, call_id=call_id, input=arguments, kind=names.TOOL_KINDS.get(name), extra=extra
        )
        self._timeline.add_part(call, at, record.where)

    def _select_step(self, event: Fields) -> None:
        """Select the step that a part belongs to."""
        step = self._steps.get(nonempty_str(event.view("stepUuid")) or "")
        if step is not None:
            self._timeline.step = step

    def add_result(self, event: Fields, record: Fields, at: str | None) -> None:
        """Add the result of a call."""
        value = Fields(event.bag("result") or {}, self._note, record.where)
        result = result_of(event.text("toolCallId"), value)
        self._timeline.add_result(result, at, record.rest(), record.where)

    def end_step(self, event: Fields, record: Fields, at: str | None) -> None:
        """End a step, with its tokens."""
        step = self._steps.get(nonempty_str(event.view("uuid")) or "") or self._timeline.step
        if step is None:
            step = self._timeline.begin(Step(event.text("uuid") or "", at, {}), record.where)
        step.stop_reason = event.text("finishReason")
        step.usage = usage_of(event.view("usage"), step.id or None)
        if step.usage is not None:
            event.drop("usage")
        event.drop("uuid", "turnId", "step")
        step.extra = {**step.extra, "end": event.rest()}

    def _add_usage(self, record: Fields, at: str | None) -> None:
        usage = usage_of(record.view("usage"), None if at is None else f"{at}:{record.view('model')}")
        if usage is not None:
            is_of_turn = record.view("usageScope") == _TURN
            self._timeline.add_usage(
                usage, self._model or self._alias, at, record.where, is_of_turn=is_of_turn
            )

    def _add_summary(self, record: Fields, at: str | None) -> None:
        summary = record.view("summary")
        text = nonempty_str(summary)
        if summary.__class__ is dict:
            text = text_of(parse_content(_copied(summary.get("content")), self._note, record.where))
        text = text or nonempty_str(record.view("contextSummary"))
        if text:
            self._summaries.append(Summary(text=text, kind="system", at=at))


def _is_injected(origin: Any) -> bool:
    """Whether a message is neither the user's nor the task of a subagent, which is its first message."""
    if origin.__class__ is not dict or origin.get("kind") in (_USER, None):
        return False
    return not (origin["kind"] == "system_trigger" and origin.get("name") == "subagent")


def _copied(content: Any) -> Any:
    """Return content whose objects may be changed."""
    return (
        [dict(raw) if raw.__class__ is dict else raw for raw in content]
        if content.__class__ is list
        else content
    )


def undone_turns(event: Event) -> int:
    """Return how many turns an event takes back."""
    count = event.data.get("count") if event.name == names.UNDO else None
    return count if count.__class__ is int and count > 0 else 0


_LOOP_EVENTS: dict[str, Callable[[Wire, Fields, Fields, str | None], None]] = {
    "step.begin": Wire.begin_step,
    "content.part": Wire.add_part,
    "tool.call": Wire.add_call,
    "tool.result": Wire.add_result,
    "step.end": Wire.end_step,
}
