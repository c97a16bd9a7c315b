"""The events of version 1.

The actions of one answer share the id of the response. Tokens are in the state of the conversation, per
response; in exports there are only totals.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.model import (
    Event,
    Message,
    Part,
    Reasoning,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks
from agent_journal.readers.dialects.openai_messages import parse_tool
from agent_journal.readers.openhands import names
from agent_journal.readers.openhands.content import output_of, parse_parts

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_THINKING = ("<think>", "</think>")


class Events:
    """Collects the events of a conversation."""

    def __init__(self, log: SessionLog, note: Notes) -> None:
        self.summaries: list[Summary] = []
        self.tools: list[Tool] = []
        self._log = log
        self._note = note
        self._stats: Any = None

    def add(self, event: Fields) -> None:
        """Add an event."""
        kind = event.take("kind")
        at = event.timestamp("timestamp")
        envelope = Message(id=event.text("id") or "", role="assistant", at=at)
        match kind:
            case names.PROMPT:
                self._add_instructions(event, envelope)
            case names.MESSAGE if event.view("llm_message").__class__ is dict:
                self._add_message(event, envelope)
            case names.ACTION:
                self._add_action(event, envelope)
            case names.OBSERVATION | names.REJECTION | names.FAILURE:
                self._add_result(event, envelope)
            case _:
                self._add_event(kind, event, envelope)

    def _add_instructions(self, event: Fields, envelope: Message) -> None:
        event.drop("source")
        parts = parse_parts([event.take("system_prompt")], self._note, event.where)
        if event.view("dynamic_context").__class__ is dict:
            parts += parse_parts([event.take("dynamic_context")], self._note, event.where)
        tools = event.view("tools")
        if tools.__class__ is list:
            event.drop("tools")
            self.tools = [parse_tool(_named(tool), self._note, event.where) for tool in tools]
        message = replace(envelope, role="system", parts=parts, extra=event.rest())
        self._log.add(message, event.where)

    def _add_message(self, event: Fields, envelope: Message) -> None:
        inner = event.nested("llm_message")
        if inner is None:
            return
        label = inner.view("role")
        role = roles.role(label) or ("user" if event.view("source") == "user" else "assistant")
        if label == role:
            inner.drop("role")
        event.drop("source")
        _drop_empty(inner, "tool_calls", "tool_call_id", "name", "responses_reasoning_item")
        parts = [*_reasoning(inner, self._note), *parse_parts(inner.take("content"), self._note, event.where)]
        injected = event.items("extended_content") or []
        parts += [
            replace(part, injected=True) if isinstance(part, Text) else part
            for part in parse_parts(injected, self._note, event.where)
        ]
        _drop_empty(event, "activated_skills", "llm_response_id", "sender", "critic_result")
        response = event.text("llm_response_id")
        message = replace(envelope, role=role, response_id=response, parts=parts, extra=event.rest())
        self._log.add(message, event.where)

    def _add_action(self, event: Fields, envelope: Message) -> None:
        event.drop("source")
        parts = _reasoning(event, self._note)
        thoughts = parse_parts(event.take("thought"), self._note, event.where)
        parts += _without_repeated_thinking(thoughts, parts)
        call = event.nested("tool_call")
        name = event.text("tool_name") or ""
        call_id = event.text("tool_call_id")
        call_input: Any = None
        if call is not None:
            call_input = call.take("arguments")
            if call.view("id") == call_id:
                call.drop("id")
            if call.view("name") == name:
                call.drop("name")
            if call.view("origin") == "completion":
                call.drop("origin")
        action = event.view("action")
        if action.__class__ is dict:
            event.keep("action", _not_in(action, call_input))
            if call_input is None:
                call_input = {field: value for field, value in action.items() if field != "kind"}
        parts.append(ToolCall(call_id=call_id, name=name, input=call_input, kind=names.TOOL_KINDS.get(name)))
        _drop_empty(event, "responses_reasoning_item", "critic_result", "summary")
        response = event.text("llm_response_id")
        self._log.add(replace(envelope, response_id=response, parts=parts, extra=event.rest()), event.where)

    def _add_result(self, event: Fields, envelope: Message) -> None:
        observation = event.nested("observation")
        if observation is None:
            field = "error" if event.has("error") else "rejection_reason"
            output: Any = event.text(field) or ""
            is_error: bool | None = True
        else:
            field = "content" if observation.has("content") else "output"
            content = observation.take(field)
            output = output_of(parse_parts(content, self._note, event.where))
            is_error = observation.flag("is_error")
            command = observation.view("command")
            if command is not None and command.__class__ is str:
                observation.drop("command")  # the call has it
        result = ToolResult(
            call_id=event.text("tool_call_id"), name=event.text("tool_name"), output=output, is_error=is_error
        )
        if event.view("source") == "environment":
            event.drop("source")
        _drop_empty(event, "extended_content")
        self._log.add(replace(envelope, role="tool", parts=[result], extra=event.rest()), event.where)

    def _add_event(self, kind: Any, event: Fields, envelope: Message) -> None:
        if kind == names.UPDATE and event.view("key") == "stats":
            self._stats = event.take("value")  # each one has the totals so far
        if kind == names.CONDENSATION and (text := nonempty_str(event.view("summary"))):
            forgotten = event.view("forgotten_event_ids")
            last = forgotten[-1] if forgotten.__class__ is list and forgotten else None
            covered = self._log.find_message(nonempty_str(last))
            self.summaries.append(
                Summary(text=text, at=envelope.at, message_id=None if covered is None else covered.id)
            )
        self._log.add_event(kind, event.rest(), event.where, at=envelope.at, entry_id=envelope.id)

    def finish(self, stats: Any, model: str | None) -> list[Message | Event]:
        """Return the entries, with the tokens of each response."""
        stats = stats if stats.__class__ is dict else self._stats
        metrics = stats.get("usage_to_metrics") if stats.__class__ is dict else None
        usages: dict[str, tuple[Usage, str | None]] = {}
        for purpose, metric in (metrics if metrics.__class__ is dict else {}).items():
            if metric.__class__ is dict:
                usages |= _usages(metric, f"{self._log.session}:{purpose}")
        entries = [_with_usage(entry, usages, model) for entry in self._log.entries]
        last_at = next((entry.at for entry in reversed(entries) if entry.at), None)
        for key, (usage, used_model) in usages.items():
            entries.append(
                Message(
                    id=f"{self._log.session}:usage:{key}",
                    made_id=True,
                    role="assistant",
                    at=last_at,
                    model=used_model or model,
                    hidden=True,
                    usage=usage,
                )
            )
        return entries


def _with_usage(
    entry: Message | Event, usages: dict[str, tuple[Usage, str | None]], model: str | None
) -> Message | Event:
    """Return an answer with its model and, if it is the first one of its response, with its tokens."""
    if not isinstance(entry, Message) or entry.role != "assistant":
        return entry
    usage, used_model = usages.pop(entry.response_id or "", (None, None))
    return replace(entry, usage=usage, model=used_model or model)


def _usages(metric: dict[str, Any], key: str) -> dict[str, tuple[Usage, str | None]]:
    """Return the tokens of each response of one purpose, or their totals under a key."""
    model = nonempty_str(metric.get("model_name"))
    each = [raw for raw in objects(metric.get("token_usages")) if nonempty_str(raw.get("response_id"))]
    total = metric.get("accumulated_token_usage")
    if not each:
        usage = _usage(total, key) if total.__class__ is dict else None
        if usage is None or not (usage.input or usage.output or usage.cache_read):
            return {}
        cost = metric.get("accumulated_cost")
        return {key: (replace(usage, cost_usd=cost if cost.__class__ is float and cost else None), model)}
    costs = [raw.get("cost") for raw in objects(metric.get("costs"))]
    if len(costs) != len(each):
        costs = [None] * len(each)
    return {
        raw["response_id"]: (
            replace(_usage(raw, raw["response_id"]), cost_usd=cost if cost.__class__ is float else None),
            nonempty_str(raw.get("model")) or model,
        )
        for raw, cost in zip(each, costs, strict=True)
    }


def _usage(raw: dict[str, Any], key: str) -> Usage:
    """Return tokens, whose prompts include what was read from and written to a cache."""
    prompt, read, written = (
        counted(raw.get(name)) for name in ("prompt_tokens", "cache_read_tokens", "cache_write_tokens")
    )
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt - (read or 0) - (written or 0), 0),
        output=counted(raw.get("completion_tokens")),
        cache_read=read,
        cache_write=written,
        reasoning=counted(raw.get("reasoning_tokens")),
        extra=raw,
    )


def _reasoning(fields: Fields, note: Notes) -> list[Part]:
    """Take the thinking, which may stand in two fields."""
    blocks = fields.items("thinking_blocks") or []
    text = fields.text("reasoning_content")
    parts = parse_blocks(blocks, note, fields.where, {})
    if text and text.strip() not in {
        part.text.strip() for part in parts if isinstance(part, Reasoning) and part.text
    }:
        parts.insert(0, Reasoning(text=text))
    return parts


def _without_repeated_thinking(thoughts: list[Part], reasoning: list[Part]) -> list[Part]:
    """Drop thinking in tags that is also in a field of its own."""
    known = {part.text.strip() for part in reasoning if isinstance(part, Reasoning) and part.text}
    left: list[Part] = []
    for part in thoughts:
        if isinstance(part, Text) and part.text.startswith(_THINKING[0]):
            inner, closing, rest = part.text.removeprefix(_THINKING[0]).partition(_THINKING[1])
            if closing and inner.strip() in known:
                if rest.strip():
                    left.append(replace(part, text=rest.lstrip("\n")))
                continue
        left.append(part)
    return left


def _not_in(action: dict[str, Any], arguments: Any) -> dict[str, Any]:
    """Return the fields of an action that the arguments of its call do not have."""
    if arguments.__class__ is str:
        try:
            arguments = msgspec.json.decode(arguments)
        except (msgspec.DecodeError, RecursionError, UnicodeError):
            return action
    if arguments.__class__ is not dict:
        return {"kind": action.get("kind")} if arguments is None else action
    return {
        name: value for name, value in action.items() if name not in arguments or arguments[name] != value
    }


def _named(tool: Any) -> Any:
    """Return a tool with its name, which some have in the title."""
    if tool.__class__ is dict and "name" not in tool and "title" in tool and "function" not in tool:
        return {"name": tool["title"], **tool}
    return tool


def _drop_empty(fields: Fields, *optional: str) -> None:
    for name in optional:
        if not fields.view(name):
            fields.drop(name)
