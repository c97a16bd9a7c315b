"""What the person was shown: `ui_messages.json`, records that the extension says or asks.

Each is an event. Where no other history tells it, it is also the message that it stands for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from msgspec import Struct

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields
from agent_journal.model import Bag, Event, Message, Reasoning, Text, ToolCall, ToolResult, Usage, timestamps
from agent_journal.notes import Kind, Notes
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import markup, request_costs
from agent_journal.readers.roo_code.names import TOOL_KINDS

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Part, Role

REQUEST = "say:api_req_started"
# Records that state what requests cost: until 2024 when they ended, of those that were deleted in sum.
COSTS = frozenset(
    (REQUEST, "say:api_req_finished", "say:deleted_api_reqs", "say:api_req_deleted", "say:subagent_usage")
)
FEEDBACK, REASONING = "say:user_feedback", "say:reasoning"
# How a task begins: with what it is.
FIRST = ("say:text", "say:task")
# What the model asks, in JSON, and under which name.
_QUESTIONS = {
    "ask:followup": "question",
    "ask:plan_mode_respond": "response",
    "ask:act_mode_respond": "response",
    "say:plan_completion_result": "response",
}
# What may have to be told also where the other history tells what the model said.
BETWEEN = frozenset((FEEDBACK, REASONING))
_SAID = ("say:text", "say:completion_result", "ask:completion_result", *_QUESTIONS)


@final
class Record(Struct, gc=False):
    """One record, and what later steps need to know of it."""

    place: int
    name: str
    ts: int | None
    at: str | None
    data: Bag
    id: str
    made_id: bool

    @property
    def index(self) -> int | None:
        """Behind which message of the other history it was shown, as Cline states it."""
        index = self.data.get("conversationHistoryIndex")
        return index if index.__class__ is int and index >= -1 else None

    @property
    def text(self) -> str | None:
        """Its text, if it has any."""
        text = self.data.get("text")
        return text if text.__class__ is str and text else None

    @property
    def is_partial(self) -> bool:
        """Whether it was still being written."""
        return self.data.get("partial") is True

    def value(self) -> Any:
        """What its text says in JSON; None if it does not."""
        text = self.text
        if text is None or text[:1] not in ("{", "["):
            return None
        value = json_stream.decode(text.encode("utf-8", "replace"), _QUIET, "")
        return None if value is json_stream.BAD else value

    def usage(self, note: Notes) -> Usage | None:
        """What the requests that it tells of cost."""
        if self.name not in COSTS:
            return self._condensing()
        if self.text is not None and (usual := request_costs.usual(self.text, self.id, self.ts)) is not None:
            return usual
        value = self.value()
        if value.__class__ is not dict:
            return None
        return request_costs.usage(Fields(value, note, f"[{self.place}]"), self.id, self.ts)

    def _condensing(self) -> Usage | None:
        """What it cost to have the model condense what was said."""
        told = self.data.get("contextCondense")
        cost = told.get("cost") if told.__class__ is dict else None
        is_price = cost.__class__ in (int, float) and cost >= 0
        return Usage(key=self.id, cost_usd=cost) if is_price else None

    def event(self) -> Event:
        """The event that it is."""
        return Event(id=self.id, made_id=self.made_id, name=self.name, at=self.at, data=self.data)

    def model_info(self, name: str) -> str | None:
        """What Cline says of the model or the mode that a record is of."""
        info = self.data.get("modelInfo")
        value = info.get(name) if info.__class__ is dict else None
        return value if value.__class__ is str and value else None


_QUIET = Notes(keep=0)


def records(raw: list[tuple[int, Any]], note: Notes) -> list[Record]:
    """The records, each with an id: the moment it was first shown, by which the extensions know it too."""
    found: list[Record] = []
    seen: dict[str, int] = {}
    for place, value in raw:
        if value.__class__ is not dict:
            note(Kind.BAD_RECORD, f"[{place}]", f"it is {type(value).__name__}, not an object")
            continue
        record = usual(value, place) or careful(value, place, note)
        if record.id in seen:
            again = seen[record.id] = seen[record.id] + 1
            record.id, record.made_id = f"{record.id}-{again}", True
        else:
            seen[record.id] = 1
        found.append(record)
    return found


def usual(raw: dict[str, Any], place: int) -> Record | None:
    """A record as nearly all are, taken apart quickly; None if it must be done with care."""
    kind, ts = raw.get("type"), raw.get("ts")
    if (kind != "say" and kind != "ask") or ts.__class__ is not int:  # noqa: PLR1714 (it may be anything)
        return None
    word, at = raw.get(kind), timestamps.from_epoch(ts)
    if word.__class__ is not str or at is None:
        return None
    del raw["ts"], raw["type"], raw[kind]
    return Record(place, f"{kind}:{word}", ts, at, raw, str(ts), made_id=False)


def careful(raw: dict[str, Any], place: int, note: Notes) -> Record:
    """Any record; what is odd about it is noted and kept."""
    fields = Fields(raw, note, f"[{place}]")
    ts, kind, name = fields.look("ts"), fields.look("type"), "unknown"
    word = fields.look(kind) if kind in ("ask", "say") else None
    if word.__class__ is str:
        fields.drop("type", kind)
        name = f"{kind}:{word}"
    else:
        note(Kind.UNKNOWN_TYPE, fields.where, f"neither said nor asked: {str(kind)[:40]!r}")
    at = fields.moment("ts")
    if ts.__class__ is not int or at is None:
        return Record(place, name, None, at, fields.rest(), f"[{place}]", made_id=True)
    return Record(place, name, ts, at, fields.rest(), str(ts), made_id=False)


class Speaker:
    """Makes messages of records; results are linked to the call before them in the same turn."""

    def __init__(self, first: Record | None) -> None:
        self._first = first
        self._call: ToolCall | None = None
        self._calls: list[ToolCall] = []
        self._has_result: set[str | None] = set()
        self.by_place = 0
        self._makers: dict[str, Callable[[Record], Message | None]] = {
            **dict.fromkeys(_SAID, self._answer),
            "say:task": self._prompt,
            FEEDBACK: self._prompt,
            REASONING: self._thought,
            **dict.fromkeys(("ask:tool", "say:tool"), self._tool),
            **dict.fromkeys(("ask:command", "say:command"), self._command),
            **dict.fromkeys(("ask:use_mcp_server", "say:use_mcp_server"), self._mcp),
            **dict.fromkeys(("say:browser_action", "ask:browser_action_launch"), self._browser),
            **dict.fromkeys(
                (
                    *("say:command_output", "ask:command_output", "say:mcp_server_response"),
                    *("say:browser_action_result", "say:subtask_result", "say:codebase_search_result"),
                ),
                self._result,
            ),
        }

    def message(self, record: Record) -> Message | None:
        """The message that a record stands for; None if nobody said it."""
        if record.name == REQUEST:
            self._call = None
        if record is self._first and record.name in FIRST:
            return self._prompt(record)
        make = self._makers.get(record.name)
        return None if make is None else make(record)

    def given(self, record: Record) -> list[Message]:
        """What the calls of the turn before a request gave: it tells the model, the person saw the calls."""
        calls, self._calls = self._calls, []
        value = record.value() if calls else None
        told = value.get("request") if value.__class__ is dict else None
        outputs = markup.results_in(told) if told.__class__ is str else []
        if len(outputs) != len(calls):
            return []
        parts: list[Part] = [
            ToolResult(
                call_id=call.call_id, name=call.name, output=output, is_error=markup.is_failure(output)
            )
            for call, output in zip(calls, outputs, strict=True)
            if call.call_id not in self._has_result
        ]
        self.by_place += len(parts)
        made = f"{record.id}-results"
        return [Message(id=made, made_id=True, role="tool", at=record.at, parts=parts)] if parts else []

    def _prompt(self, record: Record) -> Message | None:
        return _message(record, "user", _text(record))

    def _answer(self, record: Record) -> Message | None:
        key = _QUESTIONS.get(record.name)
        value = record.value() if key is not None else None
        if key is not None and value.__class__ is dict and value.get(key).__class__ is str:
            extra = {name: said for name, said in value.items() if name != key}
            return _message(record, "assistant", [Text(text=value[key], extra=extra)])
        return _message(record, "assistant", _text(record))

    def _thought(self, record: Record) -> Message | None:
        return _message(record, "assistant", [Reasoning(text=record.text)] if record.text else [])

    def _tool(self, record: Record) -> Message | None:
        value = record.value()
        name = value.pop("tool", None) if value.__class__ is dict else None
        if name.__class__ is not str:
            return None
        return self._called(record, name, value)

    def _command(self, record: Record) -> Message | None:
        return self._called(record, "execute_command", {"command": record.text}) if record.text else None

    def _browser(self, record: Record) -> Message | None:
        value = record.value()
        given = value if value.__class__ is dict else {"action": "launch", "url": record.text}
        return self._called(record, "browser_action", given) if record.text else None

    def _mcp(self, record: Record) -> Message | None:
        value = record.value()
        name = value.get("type") if value.__class__ is dict else None
        return self._called(record, name, value) if name.__class__ is str else None

    def _called(self, record: Record, name: str, given: Bag) -> Message | None:
        self._call = ToolCall(name=name, call_id=record.id, input=given, kind=TOOL_KINDS.get(name))
        self._calls.append(self._call)
        return _message(record, "assistant", [self._call])

    def _result(self, record: Record) -> Message | None:
        call = self._call
        value = record.value() if record.name == "say:browser_action_result" else None
        output: Any = record.text or ""
        extra: Bag = {}
        if (
            value.__class__ is dict
            and (picture := contents.data_uri(value.pop("screenshot", None))) is not None
        ):
            output, extra = [picture], value
        if not output:
            return None
        if call is not None:
            self.by_place += 1
            self._has_result.add(call.call_id)
        result = ToolResult(
            call_id=None if call is None else call.call_id,
            name=None if call is None else call.name,
            output=output,
            extra=extra,
        )
        return _message(record, "tool", [result])


def _text(record: Record) -> list[Part]:
    return [] if record.text is None else [Text(text=record.text)]


def _message(record: Record, role: Role, parts: list[Part]) -> Message | None:
    """A message of these parts and the record's pictures; None if there is nothing in it."""
    images = record.data.get("images")
    pictures = [contents.data_uri(image) for image in images] if images.__class__ is list else []
    found: list[Part] = [*parts, *(picture for picture in pictures if picture is not None)]
    if not found:
        return None
    left = {name: value for name, value in record.data.items() if name != "text"}
    if images.__class__ is list and None not in pictures:
        left.pop("images", None)
    return Message(
        id=record.id,
        made_id=record.made_id,
        role=role,
        at=record.at,
        model=record.model_info("modelId") if role == "assistant" else None,
        parts=found,
        extra={record.name.partition(":")[0]: record.name.partition(":")[2], **left},
    )
