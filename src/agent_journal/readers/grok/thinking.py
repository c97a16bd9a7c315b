"""What a model thought and did before it answered: thinking traces, and the steps of its tool use.

Both have calls as `<xai:tool_usage_card>` in their text. The raw fields stay in `extra`: these parts are a
reading of them. A step is `{tagged_text: {tag: text}, tag_order, tool_usage_results, web_search_results}`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import objects, words
from agent_journal.model import Other, Reasoning, Text, ToolCall, ToolResult
from agent_journal.notes import Kind
from agent_journal.readers.grok.citations import page
from agent_journal.readers.grok.names import TOOL_KINDS
from agent_journal.readers.grok.values import Bag, enclosed

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Part

_OPENING, _CLOSING = "<xai:tool_usage_card>", "</xai:tool_usage_card>"
# Tags of a step whose text is not a thought.
_CALLS, _RESULT = "tool_usage_card", "raw_function_result"


class Thinking:
    """The parts that come before an answer; each call is told once, however often it is written down."""

    def __init__(self, fields: Fields) -> None:
        self.parts: list[Part] = []
        self._fields = fields
        self._calls: dict[str, ToolCall] = {}
        self._thoughts = ""
        """All that the traces tell, which steps may say again."""

    def read(self) -> list[Part]:
        """The thoughts, calls and results of a response."""
        look = self._fields.look
        traces: list[str] = []
        if trace := words(look("thinking_trace")):
            traces.append(trace)
            self._trace(trace, {})
        for agent in objects(look("agent_thinking_traces")):
            trace = words(agent.get("thinking_trace"))
            if trace and trace != look("thinking_trace"):
                traces.append(trace)
                self._trace(trace, {"agent_id": agent["agent_id"]} if "agent_id" in agent else {})
        self._thoughts = "\n".join(traces)
        for step in objects(look("steps")):
            self._step(step)
        return self.parts

    def _trace(self, text: str, extra: Bag) -> list[ToolCall]:
        """Add the thoughts and calls in a text, in their order; the calls in it."""
        end = 0
        calls: list[ToolCall] = []
        for start, stop, card in enclosed(text, _OPENING, _CLOSING):
            self._thought(text[end:start], extra)
            calls += self._call(card)
            end = stop
        self._thought(text[end:], extra)
        return calls

    def _thought(self, text: str, extra: Bag) -> None:
        if (thought := text.strip()) and thought not in self._thoughts:
            self.parts.append(Reasoning(text=thought, extra=dict(extra)))

    def _call(self, card: str) -> Iterator[ToolCall]:
        name, call_id = _stated(card, "tool_name"), _stated(card, "tool_usage_card_id")
        if not name:
            self.parts.append(Other(data=card, name=_CALLS))
            return
        call = self._calls.get(call_id or card)
        if call is None:
            call = ToolCall(name=name, call_id=call_id, input=_arguments(card), kind=TOOL_KINDS.get(name))
            self.parts.append(call)
            self._calls[call_id or card] = call
        yield call

    def _step(self, step: Bag) -> None:
        tagged = step.get("tagged_text")
        if tagged.__class__ is str:
            tagged = {"": tagged}
        texts: Bag = tagged if tagged.__class__ is dict else {}
        calls: list[ToolCall] = []
        answers: list[str] = []
        for tag in _ordered(texts, step.get("tag_order")):
            body = words(texts[tag])
            if body is None:
                continue
            if tag == _RESULT:
                answers.append(body)
            elif _OPENING in body or tag == _CALLS:
                calls += self._trace(body, {}) if tag != _CALLS else self._cards(body)
            else:
                self._thought(body, {"tag": tag} if tag else {})
        self._results(step, calls, answers)

    def _cards(self, body: str) -> Iterator[ToolCall]:
        for _, _, card in enclosed(body, _OPENING, _CLOSING):
            yield from self._call(card)

    def _results(self, step: Bag, calls: list[ToolCall], answers: list[str]) -> None:
        """Add what the tools of a step answered, each to its call."""
        answered: set[str | None] = set()
        for result in objects(step.get("tool_usage_results")):
            call_id = words(result.get("tool_usage_card_id"))
            answered.add(call_id)
            call = self._calls.get(call_id or "")
            if call is None:
                self._note(Kind.UNLINKED_RESULT, f"a tool result names {call_id or 'no call'}")
            self._result(call, call_id, _output(result))
        only = calls[0] if len(calls) == 1 and calls[0].call_id not in answered else None
        for answer in answers:
            self._by_place(only, answer)
        pages = [*objects(step.get("web_search_results"))]
        if pages and only is not None and only.kind == "web" and not answers:
            found = [page(each) for each in pages]
            self._result(only, only.call_id, [Text(text=_shown(each), citations=[each]) for each in found])

    def _by_place(self, call: ToolCall | None, output: str) -> None:
        if call is None:
            self._note(Kind.UNLINKED_RESULT, "a tool result without the id of a call")
        elif call.call_id:
            self._note(Kind.GUESSED_LINK, f"a result in the step of {call.call_id}")
        self._result(call, call.call_id if call else None, output)

    def _result(self, call: ToolCall | None, call_id: str | None, output: str | list[Any]) -> None:
        self.parts.append(ToolResult(call_id=call_id, name=call.name if call else None, output=output))

    def _note(self, kind: Kind, detail: str) -> None:
        self._fields.note(kind, self._fields.where, detail)


def _ordered(texts: Bag, order: Any) -> list[str]:
    """The tags of a step as it orders them, then those that it does not."""
    named = order if isinstance(order, list) else []
    return [*dict.fromkeys([*(tag for tag in named if isinstance(tag, str) and tag in texts), *texts])]


def _stated(card: str, name: str) -> str | None:
    """What a card says under a name."""
    inside = next(enclosed(card, f"<xai:{name}>", f"</xai:{name}>"), None)
    return None if inside is None else inside[2].strip() or None


def _arguments(card: str) -> str | None:
    """The arguments as they stand between the brackets of CDATA."""
    stated = _stated(card, "tool_args")
    return None if stated is None else stated.removeprefix("<![CDATA[").removesuffix("]]>")


def _output(result: Bag) -> str | list[Any]:
    """A result that is one text as that text, else all of it."""
    told = {name: value for name, value in result.items() if name != "tool_usage_card_id" and value}
    only = next(iter(told.values())) if len(told) == 1 else None
    return only if only.__class__ is str else [Other(data=told, name="tool_usage_result")]


def _shown(found: Any) -> str:
    return found.text or found.title or found.url or ""
