"""Reads a model's reasoning and tool calls before its answer: thinking traces, and steps.

Both have calls as `<xai:tool_usage_card>` in their text. The raw fields also stay in `extra`. A step is
`{tagged_text: {tag: text}, tag_order, tool_usage_results, web_search_results}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import nonempty_str, objects
from agent_journal.model import Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.grok.citations import from_search_result
from agent_journal.readers.grok.names import TOOL_KINDS
from agent_journal.readers.grok.values import JsonObject, enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Part

_OPENING, _CLOSING = "<xai:tool_usage_card>", "</xai:tool_usage_card>"
# Tags of a step whose text is not reasoning.
_CALLS, _RESULT = "tool_usage_card", "raw_function_result"


class ThinkingReader:
    """Reads the parts before an answer; a call that is written several times is read once."""

    def __init__(self, fields: Fields) -> None:
        self.parts: list[Part] = []
        self._fields = fields
        self._calls: dict[str, ToolCall] = {}
        self._trace_text = ""
        """The text of all traces, which steps may repeat."""

    def read(self) -> list[Part]:
        """Read the reasoning, calls and results of a response."""
        view = self._fields.view
        traces: list[str] = []
        if trace := nonempty_str(view("thinking_trace")):
            traces.append(trace)
            self._add_trace(trace, {})
        for agent in objects(view("agent_thinking_traces")):
            trace = nonempty_str(agent.get("thinking_trace"))
            if trace and trace != view("thinking_trace"):
                traces.append(trace)
                self._add_trace(trace, {"agent_id": agent["agent_id"]} if "agent_id" in agent else {})
        self._trace_text = "\n".join(traces)
        for step in objects(view("steps")):
            self._add_step(step)
        return self.parts

    def _add_trace(self, text: str, extra: JsonObject) -> list[ToolCall]:
        """Add the reasoning and calls in a text in order; return the calls."""
        end = 0
        calls: list[ToolCall] = []
        for start, stop, card in enclosed(text, _OPENING, _CLOSING):
            self._add_reasoning(text[end:start], extra)
            calls += self._add_call(card)
            end = stop
        self._add_reasoning(text[end:], extra)
        return calls

    def _add_reasoning(self, text: str, extra: JsonObject) -> None:
        if (thought := text.strip()) and thought not in self._trace_text:
            self.parts.append(Reasoning(text=thought, extra=dict(extra)))

    def _add_call(self, card: str) -> Iterator[ToolCall]:
        name, call_id = _card_value(card, "tool_name"), _card_value(card, "tool_usage_card_id")
        if not name:
            self.parts.append(Other(data=card, name=_CALLS))
            return
        call = self._calls.get(call_id or card)
        if call is None:
            call = ToolCall(name=name, call_id=call_id, input=_arguments(card), kind=TOOL_KINDS.get(name))
            self.parts.append(call)
            self._calls[call_id or card] = call
        yield call

    def _add_step(self, step: JsonObject) -> None:
        tagged = step.get("tagged_text")
        if tagged.__class__ is str:
            tagged = {"": tagged}
        texts: JsonObject = tagged if tagged.__class__ is dict else {}
        calls: list[ToolCall] = []
        answers: list[str] = []
        for tag in _ordered(texts, step.get("tag_order")):
            body = nonempty_str(texts[tag])
            if body is None:
                continue
            if tag == _RESULT:
                answers.append(body)
            elif _OPENING in body or tag == _CALLS:
                calls += self._add_trace(body, {}) if tag != _CALLS else self._add_cards(body)
            else:
                self._add_reasoning(body, {"tag": tag} if tag else {})
        self._add_results(step, calls, answers)

    def _add_cards(self, body: str) -> Iterator[ToolCall]:
        for _, _, card in enclosed(body, _OPENING, _CLOSING):
            yield from self._add_call(card)

    def _add_results(self, step: JsonObject, calls: list[ToolCall], answers: list[str]) -> None:
        """Add the results of a step's tools, each for its call."""
        answered: set[str | None] = set()
        for result in objects(step.get("tool_usage_results")):
            call_id = nonempty_str(result.get("tool_usage_card_id"))
            answered.add(call_id)
            call = self._calls.get(call_id or "")
            if call is None:
                self._note(Kind.UNLINKED_RESULT, f"a tool result names {call_id or 'no call'}")
            self._add_result(call, call_id, _output(result))
        only = calls[0] if len(calls) == 1 and calls[0].call_id not in answered else None
        for answer in answers:
            self._add_unlabeled_result(only, answer)
        pages = [*objects(step.get("web_search_results"))]
        if pages and only is not None and only.kind == "web" and not answers:
            sources = [from_search_result(result) for result in pages]
            self._add_result(
                only,
                only.call_id,
                [Text(text=_display_text(source), citations=[source]) for source in sources],
            )

    def _add_unlabeled_result(self, call: ToolCall | None, output: str) -> None:
        if call is None:
            self._note(Kind.UNLINKED_RESULT, "a tool result without the id of a call")
        elif call.call_id:
            self._note(Kind.GUESSED_LINK, f"a result in the step of {call.call_id}")
        self._add_result(call, call.call_id if call else None, output)

    def _add_result(self, call: ToolCall | None, call_id: str | None, output: str | list[Any]) -> None:
        self.parts.append(ToolResult(call_id=call_id, name=call.name if call else None, output=output))

    def _note(self, kind: Kind, detail: str) -> None:
        self._fields.note(kind, self._fields.where, detail)


def _ordered(texts: JsonObject, order: Any) -> list[str]:
    """List the tags of a step in its stated order, then the others."""
    stated = order if isinstance(order, list) else []
    return [*dict.fromkeys([*(tag for tag in stated if isinstance(tag, str) and tag in texts), *texts])]


def _card_value(card: str, name: str) -> str | None:
    """Get the value of a card under a name."""
    match = next(enclosed(card, f"<xai:{name}>", f"</xai:{name}>"), None)
    return None if match is None else match[2].strip() or None


def _arguments(card: str) -> str | None:
    """Get the arguments of a card, without the brackets of CDATA."""
    stated = _card_value(card, "tool_args")
    return None if stated is None else stated.removeprefix("<![CDATA[").removesuffix("]]>")


def _output(result: JsonObject) -> str | list[Any]:
    """Get the output in a result: its only text, or else all of it."""
    values = {name: value for name, value in result.items() if name != "tool_usage_card_id" and value}
    only = next(iter(values.values())) if len(values) == 1 else None
    return only if only.__class__ is str else [Other(data=values, name="tool_usage_result")]


def _display_text(source: Any) -> str:
    return source.text or source.title or source.url or ""
