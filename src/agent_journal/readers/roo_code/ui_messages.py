"""The UI records: `ui_messages.json`, where the extension addresses the user by a `say` or an `ask`.

Each record is an event, and also a message if the API history does not have it.
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
# Records that state the cost of requests: until 2024 at their end; of deleted requests the total.
COSTS = frozenset(
    (REQUEST, "say:api_req_finished", "say:deleted_api_reqs", "say:api_req_deleted", "say:subagent_usage")
)
FEEDBACK, REASONING = "say:user_feedback", "say:reasoning"
# The first record of a task is its description.
FIRST = ("say:text", "say:task")
# Records with the model's question or answer in JSON, and the key of its text.
_JSON_TEXT_KEYS = {
    "ask:followup": "question",
    "ask:plan_mode_respond": "response",
    "ask:act_mode_respond": "response",
    "say:plan_completion_result": "response",
}
# Records that may be messages even in a turn whose answer is in the API history.
BETWEEN = frozenset((FEEDBACK, REASONING))
_ANSWERS = ("say:text", "say:completion_result", "ask:completion_result", *_JSON_TEXT_KEYS)


@final
class Record(Struct, gc=False):
    """One UI record, and the values that later steps need."""

    index: int
    name: str
    ts: int | None
    at: str | None
    data: Bag
    id: str
    made_id: bool

    @property
    def history_index(self) -> int | None:
        """The index of the API message after which it was shown, as Cline states it."""
        index = self.data.get("conversationHistoryIndex")
        return index if index.__class__ is int and index >= -1 else None

    @property
    def text(self) -> str | None:
        """Its text, if not empty."""
        text = self.data.get("text")
        return text if text.__class__ is str and text else None

    @property
    def is_partial(self) -> bool:
        """Whether it was still being written."""
        return self.data.get("partial") is True

    def value(self) -> Any:
        """Decode its text as JSON; None if it is not JSON."""
        text = self.text
        if text is None or text[:1] not in ("{", "["):
            return None
        value = json_stream.decode(text.encode("utf-8", "replace"), _NO_NOTES, "")
        return None if value is json_stream.BAD else value

    def usage(self, note: Notes) -> Usage | None:
        """Return the usage of the requests that it reports."""
        if self.name not in COSTS:
            return self._condense_usage()
        if (
            self.text is not None
            and (fast := request_costs.fast_usage(self.text, self.id, self.ts)) is not None
        ):
            return fast
        value = self.value()
        if value.__class__ is not dict:
            return None
        return request_costs.request_usage(Fields(value, note, f"[{self.index}]"), self.id, self.ts)

    def _condense_usage(self) -> Usage | None:
        """Return the cost of having the model condense the context."""
        condensed = self.data.get("contextCondense")
        cost = condensed.get("cost") if condensed.__class__ is dict else None
        is_price = cost.__class__ in (int, float) and cost >= 0
        return Usage(key=self.id, cost_usd=cost) if is_price else None

    def event(self) -> Event:
        """Convert it to an event."""
        return Event(id=self.id, made_id=self.made_id, name=self.name, at=self.at, data=self.data)

    def model_info(self, name: str) -> str | None:
        """Return a value of Cline's information about the model and the mode."""
        info = self.data.get("modelInfo")
        value = info.get(name) if info.__class__ is dict else None
        return value if value.__class__ is str and value else None


_NO_NOTES = Notes(keep=0)


def parse_records(raw: list[tuple[int, Any]], note: Notes) -> list[Record]:
    """Parse the records; the id of each is its timestamp, which is also how the extensions identify it."""
    records: list[Record] = []
    id_counts: dict[str, int] = {}
    for index, value in raw:
        if value.__class__ is not dict:
            note(Kind.BAD_RECORD, f"[{index}]", f"it is {type(value).__name__}, not an object")
            continue
        record = parse_common(value, index) or parse_any(value, index, note)
        if record.id in id_counts:
            count = id_counts[record.id] = id_counts[record.id] + 1
            record.id, record.made_id = f"{record.id}-{count}", True
        else:
            id_counts[record.id] = 1
        records.append(record)
    return records


def parse_common(raw: dict[str, Any], index: int) -> Record | None:
    """Parse a record of the common shape (the fast path); None if it has another shape."""
    kind, ts = raw.get("type"), raw.get("ts")
    if (kind != "say" and kind != "ask") or ts.__class__ is not int:  # noqa: PLR1714 (it may be anything)
        return None
    subtype, at = raw.get(kind), timestamps.from_epoch(ts)
    if subtype.__class__ is not str or at is None:
        return None
    del raw["ts"], raw["type"], raw[kind]
    return Record(index, f"{kind}:{subtype}", ts, at, raw, str(ts), made_id=False)


def parse_any(raw: dict[str, Any], index: int, note: Notes) -> Record:
    """Parse any record; unexpected values are noted and preserved."""
    fields = Fields(raw, note, f"[{index}]")
    ts, kind, name = fields.view("ts"), fields.view("type"), "unknown"
    subtype = fields.view(kind) if kind in ("ask", "say") else None
    if subtype.__class__ is str:
        fields.drop("type", kind)
        name = f"{kind}:{subtype}"
    else:
        note(Kind.UNKNOWN_TYPE, fields.where, f"neither a say nor an ask: {str(kind)[:40]!r}")
    at = fields.timestamp("ts")
    if ts.__class__ is not int or at is None:
        return Record(index, name, None, at, fields.rest(), f"[{index}]", made_id=True)
    return Record(index, name, ts, at, fields.rest(), str(ts), made_id=False)


class MessageMaker:
    """Converts records to messages; results are linked to the previous call in the same turn."""

    def __init__(self, first: Record | None) -> None:
        self._first = first
        self._call: ToolCall | None = None
        self._calls: list[ToolCall] = []
        self._answered_calls: set[str | None] = set()
        self.positional_links = 0
        self._converters: dict[str, Callable[[Record], Message | None]] = {
            **dict.fromkeys(_ANSWERS, self._answer),
            "say:task": self._prompt,
            FEEDBACK: self._prompt,
            REASONING: self._reasoning,
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
        """Convert a record to a message; None if it is not one."""
        if record.name == REQUEST:
            self._call = None
        if record is self._first and record.name in FIRST:
            return self._prompt(record)
        make = self._converters.get(record.name)
        return None if make is None else make(record)

    def results_in_request(self, record: Record) -> list[Message]:
        """Return the results of the previous turn's calls: only the request has the results."""
        calls, self._calls = self._calls, []
        value = record.value() if calls else None
        request = value.get("request") if value.__class__ is dict else None
        outputs = markup.tool_outputs(request) if request.__class__ is str else []
        if len(outputs) != len(calls):
            return []
        parts: list[Part] = [
            ToolResult(
                call_id=call.call_id, name=call.name, output=output, is_error=markup.is_failure(output)
            )
            for call, output in zip(calls, outputs, strict=True)
            if call.call_id not in self._answered_calls
        ]
        self.positional_links += len(parts)
        message_id = f"{record.id}-results"
        return [Message(id=message_id, made_id=True, role="tool", at=record.at, parts=parts)] if parts else []

    def _prompt(self, record: Record) -> Message | None:
        return _message(record, "user", _text(record))

    def _answer(self, record: Record) -> Message | None:
        key = _JSON_TEXT_KEYS.get(record.name)
        value = record.value() if key is not None else None
        if key is not None and value.__class__ is dict and value.get(key).__class__ is str:
            extra = {name: other for name, other in value.items() if name != key}
            return _message(record, "assistant", [Text(text=value[key], extra=extra)])
        return _message(record, "assistant", _text(record))

    def _reasoning(self, record: Record) -> Message | None:
        return _message(record, "assistant", [Reasoning(text=record.text)] if record.text else [])

    def _tool(self, record: Record) -> Message | None:
        value = record.value()
        name = value.pop("tool", None) if value.__class__ is dict else None
        if name.__class__ is not str:
            return None
        return self._call_message(record, name, value)

    def _command(self, record: Record) -> Message | None:
        return (
            self._call_message(record, "execute_command", {"command": record.text}) if record.text else None
        )

    def _browser(self, record: Record) -> Message | None:
        value = record.value()
        tool_input = value if value.__class__ is dict else {"action": "launch", "url": record.text}
        return self._call_message(record, "browser_action", tool_input) if record.text else None

    def _mcp(self, record: Record) -> Message | None:
        value = record.value()
        name = value.get("type") if value.__class__ is dict else None
        return self._call_message(record, name, value) if name.__class__ is str else None

    def _call_message(self, record: Record, name: str, tool_input: Bag) -> Message | None:
        self._call = ToolCall(name=name, call_id=record.id, input=tool_input, kind=TOOL_KINDS.get(name))
        self._calls.append(self._call)
        return _message(record, "assistant", [self._call])

    def _result(self, record: Record) -> Message | None:
        call = self._call
        value = record.value() if record.name == "say:browser_action_result" else None
        output: Any = record.text or ""
        extra: Bag = {}
        if (
            value.__class__ is dict
            and (image := contents.image_from_uri(value.pop("screenshot", None))) is not None
        ):
            output, extra = [image], value
        if not output:
            return None
        if call is not None:
            self.positional_links += 1
            self._answered_calls.add(call.call_id)
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
    """Make a message of these parts and the record's images; None if it would be empty."""
    images = record.data.get("images")
    media = [contents.image_from_uri(image) for image in images] if images.__class__ is list else []
    all_parts: list[Part] = [*parts, *(image for image in media if image is not None)]
    if not all_parts:
        return None
    remaining = {name: value for name, value in record.data.items() if name != "text"}
    if images.__class__ is list and None not in media:
        remaining.pop("images", None)
    return Message(
        id=record.id,
        made_id=record.made_id,
        role=role,
        at=record.at,
        model=record.model_info("modelId") if role == "assistant" else None,
        parts=all_parts,
        extra={record.name.partition(":")[0]: record.name.partition(":")[2], **remaining},
    )
