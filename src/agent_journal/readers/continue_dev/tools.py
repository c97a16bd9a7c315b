"""Tool calls, the states they went through, and what came of them.

What a tool gave is told twice: with the state of its call, and in a message that follows. It is kept once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.decoding.fields import Fields, words
from agent_journal.model import Other, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import context
from agent_journal.readers.continue_dev.names import TOOL_KINDS
from agent_journal.readers.continue_dev.values import same
from agent_journal.readers.dialects import openai_messages as openai

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, Tool, ToolKind
    from agent_journal.notes import Notes

_FAILED = {"done": False, "errored": True, "canceled": True}
_PREFIX = "builtin_"


class State:
    """How a call ended, which the message with its result needs."""

    def __init__(self, name: str, status: Any, output: Any) -> None:
        self.name = name
        self.is_error = _FAILED.get(status) if status.__class__ is str else None
        self.output = output


class Tools:
    """The calls of a session: each with its state, and the tools that were offered."""

    def __init__(self, answered: set[str]) -> None:
        self.offered: list[Tool] = []
        self._seen: dict[str, list[Bag]] = {}
        self._answered = answered
        self._states: dict[str, State] = {}

    def parts(self, message: Fields, item: Fields) -> list[Part]:
        """The calls of a message, and those results that no message tells."""
        states = self._listed_states(item)
        if not states and not message.has("toolCalls"):
            return []
        parts: list[Part] = []
        for raw in message.items("toolCalls") or ():
            state = _state_of(raw, states)
            if state is not None:
                states.remove(state)
            parts.append(self._call(raw, state, message))
        for state in states:
            if state.look("toolCall").__class__ is dict:
                parts.append(self._call(state.take("toolCall"), state, message))
            else:
                parts.append(Other(data=state.rest(), name="toolCallState"))
        return parts + self._untold_results(parts)

    def usual_parts(self, calls: Any, states: Any, note: Notes, where: str) -> list[Part] | None:
        """The same where each call has its state beside it, as is usual; else None, and nothing is done."""
        if calls.__class__ is not list or states.__class__ is not list or len(calls) != len(states):
            return None
        taken: list[tuple[str, str, Any, Bag]] = []
        for raw, state in zip(calls, states, strict=True):
            call = _usual(raw) if raw.__class__ is dict and state.__class__ is dict else None
            if call is None or not call[0] or state.get("toolCallId") != call[0]:
                return None
            taken.append(call)
        parts: list[Part] = []
        for (call_id, name, arguments, _), raw, state in zip(taken, calls, states, strict=True):
            kind = kind_of(name)
            if state.get("tool").__class__ is dict:
                kind = self._offer(state.pop("tool"), note, where) or kind
            del state["toolCallId"]
            self._states[call_id] = State(name, state.get("status"), state.pop("output", None))
            if "parsedArgs" in state and same(state["parsedArgs"], _decoded(arguments)):
                del state["parsedArgs"]
            if state.get("toolCall").__class__ is dict and same(state["toolCall"], raw):
                del state["toolCall"]
            parts.append(ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=state))
        return parts + self._untold_results(parts)

    def usual_result(self, content: str, call_id: str) -> ToolResult | None:
        """What a message of a tool tells whose call is known; else None."""
        state = self._states.get(call_id)
        if state is None:
            return None
        return ToolResult(
            call_id=call_id,
            name=state.name or None,
            output=content,
            is_error=state.is_error,
            extra=_left_of(state.output, content),
        )

    def _listed_states(self, item: Fields) -> list[Fields]:
        """The states of an item's calls; until mid-2025 there was one, under another name."""
        raw, only = item.take("toolCallStates"), item.take("toolCallState")
        if raw is None and only is None:
            return []
        found: list[Fields] = []
        for name, value in (("toolCallStates", raw), ("toolCallState", [only] if only is not None else None)):
            listed = value if value.__class__ is list else []
            found += [Fields(state, item.note, item.where) for state in listed if state.__class__ is dict]
            odd = [state for state in listed if state.__class__ is not dict]
            if odd or (value is not None and value.__class__ is not list):
                item.note(Kind.WRONG_TYPE, item.where, f"{name} holds something else than objects")
                item.keep(name, odd or value)
        return found

    def _call(self, raw: Any, state: Fields | None, message: Fields) -> Part:
        if raw.__class__ is not dict:
            message.note(Kind.WRONG_TYPE, message.where, f"a tool call is {type(raw).__name__}")
            return Other(data=raw, name="toolCall")
        call_id, name, arguments, extra = _usual(raw) or _taken_apart(raw, message)
        kind = kind_of(name)
        if state is not None:
            call_id = call_id or words(state.look("toolCallId"))
            if state.look("tool").__class__ is dict:
                kind = self._offer(state.take("tool"), state.note, state.where) or kind
            extra = {**extra, **self._settled(state, call_id, name, arguments)}
        return ToolCall(name=name, call_id=call_id, input=arguments, kind=kind, extra=extra)

    def _settled(self, state: Fields, call_id: str | None, name: str, arguments: Any) -> Bag:
        """Remember how a call ended; what the call does not tell already."""
        if call_id is not None:
            if state.look("toolCallId") == call_id:
                state.drop("toolCallId")
            self._states[call_id] = State(name, state.look("status"), state.take("output"))
        if state.has("parsedArgs") and same(state.look("parsedArgs"), _decoded(arguments)):
            state.drop("parsedArgs")
        again = state.look("toolCall")
        if again.__class__ is dict and _is_told(again, call_id, name, arguments):
            state.drop("toolCall")
        return state.rest()

    def _offer(self, raw: Bag, note: Notes, where: int | str) -> ToolKind | None:
        """Take the definition of a tool, told with each call of it; what it says about the kind."""
        function = raw.get("function")
        name = words(function.get("name")) if function.__class__ is dict else None
        seen = self._seen.setdefault(name or "", [])
        if not any(same(raw, each) for each in seen):
            seen.append(raw)
            self.offered.append(openai.tool(raw, note, where))
        uri = words(raw.get("uri"))
        return "mcp" if uri is not None and uri.startswith("mcp:") else None

    def _untold_results(self, parts: list[Part]) -> list[Part]:
        """Results of calls that no message answers: what they gave, or only that they failed."""
        found: list[Part] = []
        for part in parts:
            if part.__class__ is not ToolCall or part.call_id is None or part.call_id in self._answered:
                continue
            state = self._states.get(part.call_id)
            if state is None or (state.output is None and not state.is_error):
                continue
            text, rest = context.output(state.output) if state.output is not None else ("", [])
            found.append(
                ToolResult(
                    call_id=part.call_id,
                    name=part.name or None,
                    output=text,
                    is_error=state.is_error,
                    extra={"output": rest} if rest else {},
                )
            )
        return found

    def result(self, content: Any, message: Fields) -> ToolResult:
        """What a message of a tool tells, with how its call ended."""
        call_id = message.text("toolCallId")
        state = self._states.get(call_id) if call_id is not None else None
        if state is None:
            message.note(Kind.UNLINKED_RESULT, message.where, call_id or "it names no call")
        text: Any = "" if content is None else content
        if text.__class__ is not str:
            text = openai.content_parts(content, message.note, message.where)
        return ToolResult(
            call_id=call_id,
            name=(state.name or None) if state is not None else None,
            output=text,
            is_error=state.is_error if state is not None else None,
            extra=_left_of(state.output, content) if state is not None else {},
        )


def _usual(raw: Bag) -> tuple[str, str, Any, Bag] | None:
    """Id, name, arguments and rest of a call that is as nearly all of them are; else None."""
    function = raw.get("function")
    if len(raw) != 3 or function.__class__ is not dict or len(function) != 2:  # noqa: PLR2004 (fields of a call)
        return None
    call_id, name = raw.get("id"), function.get("name")
    if raw.get("type") != "function" or call_id.__class__ is not str or name.__class__ is not str:
        return None
    return (call_id, name, function["arguments"], {}) if "arguments" in function else None


def _taken_apart(raw: Bag, message: Fields) -> tuple[str | None, str, Any, Bag]:
    """The same of any call."""
    call = Fields(raw, message.note, message.where)
    call_id = call.text("id")
    if call.look("type") == "function":
        call.drop("type")
    inner = call.nested("function")
    name = (inner.text("name") if inner is not None else None) or ""
    return call_id, name, inner.take("arguments") if inner is not None else None, call.rest()


def _state_of(raw: Any, states: list[Fields]) -> Fields | None:
    call_id = words(raw.get("id")) if raw.__class__ is dict else None
    return next((state for state in states if call_id and state.look("toolCallId") == call_id), None)


def kind_of(name: str) -> ToolKind | None:
    """What a tool does, by its name."""
    return TOOL_KINDS.get(name.removeprefix(_PREFIX))


def _left_of(output: Any, content: Any) -> Bag:
    """What the items with a result say beside the text that the message repeats."""
    if output is None:
        return {}
    if output.__class__ is list and len(output) == 1 and output[0].__class__ is dict:
        return _left_of_one(output, content)
    if context.as_text(output) != content:
        return {"output": output}
    _, rest = context.output(output)
    items = rest or [{key: item[key] for key in item if key != "content"} for item in output]
    return {"output": items} if any(items) else {}


def _left_of_one(output: list[Bag], content: Any) -> Bag:
    """The same of one item, as nearly all results are."""
    text = output[0].get("content")
    if text.__class__ is not str or text != content:
        return {"output": output}
    left = {key: value for key, value in output[0].items() if key != "content"}
    return {"output": [left]} if left else {}


def _decoded(arguments: Any) -> Any:
    if arguments.__class__ is not str:
        return arguments
    try:
        return msgspec.json.decode(arguments)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return None


def _is_told(again: Bag, call_id: str | None, name: str, arguments: Any) -> bool:
    told = {"id": call_id, "type": "function", "function": {"name": name, "arguments": arguments}}
    return same(again, told)
