"""Tool calls, their states and their results.

A result is recorded twice, with the state of its call and in a later message; it is converted once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import Other, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import context
from agent_journal.readers.continue_dev.names import TOOL_KINDS
from agent_journal.readers.continue_dev.values import is_equal
from agent_journal.readers.dialects import openai_messages as openai

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, Tool, ToolKind
    from agent_journal.notes import Notes

_IS_ERROR = {"done": False, "errored": True, "canceled": True}
_PREFIX = "builtin_"


class State:
    """The end state of a call, for the message with its result."""

    def __init__(self, name: str, status: Any, output: Any) -> None:
        self.name = name
        self.is_error = _IS_ERROR.get(status) if status.__class__ is str else None
        self.output = output


class Tools:
    """The calls of a session with their states, and the tools that were offered."""

    def __init__(self, answered: set[str]) -> None:
        self.offered: list[Tool] = []
        self._definitions: dict[str, list[Bag]] = {}
        self._answered = answered
        self._states: dict[str, State] = {}

    def parts(self, message: Fields, item: Fields) -> list[Part]:
        """Return the calls of a message, and the results that no message has."""
        states = self._listed_states(item)
        if not states and not message.has("toolCalls"):
            return []
        parts: list[Part] = []
        for raw in message.items("toolCalls") or ():
            state = _find_state(raw, states)
            if state is not None:
                states.remove(state)
            parts.append(self._call(raw, state, message))
        for state in states:
            if state.view("toolCall").__class__ is dict:
                parts.append(self._call(state.take("toolCall"), state, message))
            else:
                parts.append(Other(data=state.rest(), name="toolCallState"))
        return parts + self._results_without_message(parts)

    def common_parts(self, calls: Any, states: Any, note: Notes, where: str) -> list[Part] | None:
        """Do the same if each call has its state, as is common (the fast path); else return None."""
        if calls.__class__ is not list or states.__class__ is not list or len(calls) != len(states):
            return None
        split_calls: list[tuple[str, str, Any, Bag]] = []
        for raw, state in zip(calls, states, strict=True):
            call = _split_common_call(raw) if raw.__class__ is dict and state.__class__ is dict else None
            if call is None or not call[0] or state.get("toolCallId") != call[0]:
                return None
            split_calls.append(call)
        parts: list[Part] = []
        for (call_id, name, arguments, _), raw, state in zip(split_calls, calls, states, strict=True):
            kind = tool_kind(name)
            if state.get("tool").__class__ is dict:
                kind = self._offer(state.pop("tool"), note, where) or kind
            del state["toolCallId"]
            self._states[call_id] = State(name, state.get("status"), state.pop("output", None))
            if "parsedArgs" in state and is_equal(state["parsedArgs"], _decoded(arguments)):
                del state["parsedArgs"]
            if state.get("toolCall").__class__ is dict and is_equal(state["toolCall"], raw):
                del state["toolCall"]
            parts.append(ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=state))
        return parts + self._results_without_message(parts)

    def common_result(self, content: str, call_id: str) -> ToolResult | None:
        """Convert a result message whose call is known; else return None."""
        state = self._states.get(call_id)
        if state is None:
            return None
        return ToolResult(
            call_id=call_id,
            name=state.name or None,
            output=content,
            is_error=state.is_error,
            extra=_output_extra(state.output, content),
        )

    def _listed_states(self, item: Fields) -> list[Fields]:
        """Take the states of an item's calls; until mid-2025 there was one, under another name."""
        raw, only = item.take("toolCallStates"), item.take("toolCallState")
        if raw is None and only is None:
            return []
        states: list[Fields] = []
        for name, value in (("toolCallStates", raw), ("toolCallState", [only] if only is not None else None)):
            listed = value if value.__class__ is list else []
            states += [Fields(state, item.note, item.where) for state in listed if state.__class__ is dict]
            others = [state for state in listed if state.__class__ is not dict]
            if others or (value is not None and value.__class__ is not list):
                item.note(Kind.WRONG_TYPE, item.where, f"{name} contains values that are not objects")
                item.keep(name, others or value)
        return states

    def _call(self, raw: Any, state: Fields | None, message: Fields) -> Part:
        if raw.__class__ is not dict:
            message.note(Kind.WRONG_TYPE, message.where, f"a tool call is {type(raw).__name__}")
            return Other(data=raw, name="toolCall")
        call_id, name, arguments, extra = _split_common_call(raw) or _split_call(raw, message)
        kind = tool_kind(name)
        if state is not None:
            call_id = call_id or nonempty_str(state.view("toolCallId"))
            if state.view("tool").__class__ is dict:
                kind = self._offer(state.take("tool"), state.note, state.where) or kind
            extra = {**extra, **self._take_state(state, call_id, name, arguments)}
        return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=extra)

    def _take_state(self, state: Fields, call_id: str | None, name: str, arguments: Any) -> Bag:
        """Remember the end state of a call; return the fields that do not repeat the call."""
        if call_id is not None:
            if state.view("toolCallId") == call_id:
                state.drop("toolCallId")
            self._states[call_id] = State(name, state.view("status"), state.take("output"))
        if state.has("parsedArgs") and is_equal(state.view("parsedArgs"), _decoded(arguments)):
            state.drop("parsedArgs")
        copy = state.view("toolCall")
        if copy.__class__ is dict and _is_same_call(copy, call_id, name, arguments):
            state.drop("toolCall")
        return state.rest()

    def _offer(self, raw: Bag, note: Notes, where: int | str) -> ToolKind | None:
        """Add the definition of a tool, which is repeated with each call; return the kind it implies."""
        function = raw.get("function")
        name = nonempty_str(function.get("name")) if function.__class__ is dict else None
        definitions = self._definitions.setdefault(name or "", [])
        if not any(is_equal(raw, definition) for definition in definitions):
            definitions.append(raw)
            self.offered.append(openai.parse_tool(raw, note, where))
        uri = nonempty_str(raw.get("uri"))
        return "mcp" if uri is not None and uri.startswith("mcp:") else None

    def _results_without_message(self, parts: list[Part]) -> list[Part]:
        """Return the results of calls without a result message: their output, or only that they failed."""
        results: list[Part] = []
        for part in parts:
            if part.__class__ is not ToolCall or part.call_id is None or part.call_id in self._answered:
                continue
            state = self._states.get(part.call_id)
            if state is None or (state.output is None and not state.is_error):
                continue
            text, rest = context.convert_output(state.output) if state.output is not None else ("", [])
            results.append(
                ToolResult(
                    call_id=part.call_id,
                    name=part.name or None,
                    output=text,
                    is_error=state.is_error,
                    extra={"output": rest} if rest else {},
                )
            )
        return results

    def result(self, content: Any, message: Fields) -> ToolResult:
        """Convert a result message, with the end state of its call."""
        call_id = message.text("toolCallId")
        state = self._states.get(call_id) if call_id is not None else None
        if state is None:
            message.note(Kind.UNLINKED_RESULT, message.where, call_id or "it names no call")
        text: Any = "" if content is None else content
        if text.__class__ is not str:
            text = openai.parse_content(content, message.note, message.where)
        return ToolResult(
            call_id=call_id,
            name=(state.name or None) if state is not None else None,
            output=text,
            is_error=state.is_error if state is not None else None,
            extra=_output_extra(state.output, content) if state is not None else {},
        )


def _split_common_call(raw: Bag) -> tuple[str, str, Any, Bag] | None:
    """Return id, name, arguments and rest of a call of the common shape; else None."""
    function = raw.get("function")
    if len(raw) != 3 or function.__class__ is not dict or len(function) != 2:  # noqa: PLR2004 (fields of a call)
        return None
    call_id, name = raw.get("id"), function.get("name")
    if raw.get("type") != "function" or call_id.__class__ is not str or name.__class__ is not str:
        return None
    return (call_id, name, function["arguments"], {}) if "arguments" in function else None


def _split_call(raw: Bag, message: Fields) -> tuple[str | None, str, Any, Bag]:
    """Return id, name, arguments and rest of any call."""
    call = Fields(raw, message.note, message.where)
    call_id = call.text("id")
    if call.view("type") == "function":
        call.drop("type")
    inner = call.nested("function")
    name = (inner.text("name") if inner is not None else None) or ""
    return call_id, name, inner.take("arguments") if inner is not None else None, call.rest()


def _find_state(raw: Any, states: list[Fields]) -> Fields | None:
    call_id = nonempty_str(raw.get("id")) if raw.__class__ is dict else None
    return next((state for state in states if call_id and state.view("toolCallId") == call_id), None)


def tool_kind(name: str) -> ToolKind | None:
    """Return the kind of a tool."""
    return TOOL_KINDS.get(name.removeprefix(_PREFIX))


def _output_extra(output: Any, content: Any) -> Bag:
    """Return the fields of output items other than the text that the message repeats."""
    if output is None:
        return {}
    if output.__class__ is list and len(output) == 1 and output[0].__class__ is dict:
        return _single_output_extra(output, content)
    if context.as_text(output) != content:
        return {"output": output}
    _, rest = context.convert_output(output)
    items = rest or [{key: item[key] for key in item if key != "content"} for item in output]
    return {"output": items} if any(items) else {}


def _single_output_extra(output: list[Bag], content: Any) -> Bag:
    """Do the same for a single item, as in nearly all results."""
    text = output[0].get("content")
    if text.__class__ is not str or text != content:
        return {"output": output}
    extra = {key: value for key, value in output[0].items() if key != "content"}
    return {"output": [extra]} if extra else {}


def _decoded(arguments: Any) -> Any:
    if arguments.__class__ is not str:
        return arguments
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _is_same_call(copy: Bag, call_id: str | None, name: str, arguments: Any) -> bool:
    call = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return is_equal(copy, call)
