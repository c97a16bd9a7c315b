"""The events of version 0: actions with arguments, and observations with the id of their action.

An action of the model has the whole response of the service, with its tokens; parallel actions repeat it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Event, Message, Part, Role, Summary, Text, Tool, ToolCall, ToolResult
from agent_journal.readers.dialects.openai_messages import parse_tool, parse_usage
from agent_journal.readers.openhands import names
from agent_journal.readers.openhands.content import parse_parts

if TYPE_CHECKING:
    from agent_journal.model import Usage
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog


class OldEvents:
    """Collects the events of a conversation."""

    def __init__(self, log: SessionLog, note: Notes) -> None:
        self.summaries: list[Summary] = []
        self.tools: list[Tool] = []
        self._log = log
        self._note = note
        self._calls: dict[Any, str] = {}

    def finish(self, stats: Any, model: str | None) -> list[Message | Event]:  # noqa: ARG002 (as version 1)
        """Return the entries."""
        return self._log.entries

    def add(self, event: Fields) -> None:
        """Add an event."""
        number = event.take("id")
        entry_id = f"{self._log.session}:{number}" if number.__class__ is int else ""
        at = event.timestamp("timestamp")
        action, observation = event.view("action"), event.view("observation")
        if action in names.OLD_EVENTS or observation in names.OLD_EVENTS:
            kind = event.take("action") or event.take("observation")
            self._log.add_event(kind, event.rest(), event.where, at=at, entry_id=entry_id)
        elif action.__class__ is str:
            self._add_action(
                event, action, number, Message(id=entry_id, made_id=bool(entry_id), role="user", at=at)
            )
        elif observation.__class__ is str:
            self._add_result(event, observation, entry_id, at)
        else:
            self._log.add_event(None, event.rest(), event.where, at=at, entry_id=entry_id)

    def _add_action(self, event: Fields, action: str, number: Any, envelope: Message) -> None:
        arguments = event.nested("args") or Fields({}, self._note, event.where)
        author = event.take("source")
        role: Role = "user" if author == "user" else "assistant"
        event.drop("message")  # the action in words for people
        usage, model, response = self._response(event)
        parts: list[Part] = []
        if action in ("message", "system"):
            event.drop("action")
            role = "system" if action == "system" else role
            parts = parse_parts(arguments.take("content"), self._note, event.where)
            parts += parse_parts(_images(arguments), self._note, event.where)
            self._take_tools(arguments)
        else:
            parts = self._call(event, arguments, action, number, envelope.id)
        message = Message(
            id=envelope.id,
            role=role,
            at=envelope.at,
            model=model,
            response_id=response,
            parts=parts,
            usage=usage,
            extra=event.rest(),
        )
        self._log.add(message, event.where)

    def _call(self, event: Fields, arguments: Fields, action: str, number: Any, entry_id: str) -> list[Part]:
        """Return the parts of an action: what the model thought, and the call."""
        event.drop("action")
        parts: list[Part] = []
        thoughts = () if action == "think" else ("thought", "final_thought")
        parts += [
            Text(text=arguments.take(field)) for field in thoughts if nonempty_str(arguments.view(field))
        ]
        metadata = event.nested("tool_call_metadata")
        name, call_id = action, entry_id
        if metadata is not None:
            name = metadata.text("function_name") or action
            call_id = metadata.text("tool_call_id") or entry_id
            metadata.drop("total_calls_in_response")
        if number.__class__ is int:
            self._calls[number] = call_id
        if not arguments.view("thought"):
            arguments.drop("thought")
        call_input = {field: arguments.take(field) for field in [*arguments.rest()]}
        kind = names.TOOL_KINDS.get(name) or names.TOOL_KINDS.get(action)
        parts.append(ToolCall(call_id=call_id or None, name=name, input=call_input, kind=kind))
        return parts

    def _response(self, event: Fields) -> tuple[Usage | None, str | None, str | None]:
        """Return the tokens, model and id of the response that an action is from."""
        metadata = event.view("tool_call_metadata")
        raw = metadata.get("model_response") if metadata.__class__ is dict else None
        event.drop("llm_metrics")  # the totals so far
        if raw.__class__ is not dict:
            return None, None, None
        own_id = nonempty_str(raw.get("id"))
        model = nonempty_str(raw.get("model"))
        rest = {
            name: value
            for name, value in raw.items()
            # The choice is the thought and the calls of the actions.
            if name not in ("id", "model", "usage", "choices", "object", "created") and value is not None
        }
        event.keep("tool_call_metadata", {**metadata, "model_response": rest} if rest else _without(metadata))
        return parse_usage(raw.get("usage"), own_id), model, own_id

    def _add_result(self, event: Fields, observation: str, entry_id: str, at: str | None) -> None:
        event.drop("observation", "message")
        if event.view("source") in ("agent", "environment", "user"):
            event.drop("source")
        metadata = event.nested("tool_call_metadata")
        call_id = None if metadata is None else metadata.text("tool_call_id")
        name = None if metadata is None else metadata.text("function_name")
        if metadata is not None:
            metadata.drop("total_calls_in_response", "model_response")
        cause = event.take("cause")
        if call_id is None and cause.__class__ is int:
            call_id = self._calls.get(cause)
        content = event.take("content")
        output: Any = content if content.__class__ is str else ""
        if content.__class__ not in (str, type(None)):
            event.keep("content", content)
        result = ToolResult(
            call_id=call_id,
            name=name or observation,
            output=output,
            is_error=True if observation == "error" else None,
        )
        event.drop("llm_metrics")
        message = Message(
            id=entry_id, made_id=bool(entry_id), role="tool", at=at, parts=[result], extra=event.rest()
        )
        self._log.add(message, event.where)

    def _take_tools(self, arguments: Fields) -> None:
        tools = arguments.view("tools")
        if tools.__class__ is list and tools and len([*objects(tools)]) == len(tools):
            arguments.drop("tools")
            self.tools = [parse_tool(tool, self._note, arguments.where) for tool in tools]


def _images(arguments: Fields) -> list[Any]:
    """Take the images of a message."""
    for field in ("image_urls", "images_urls"):
        urls = arguments.view(field)
        if urls.__class__ is list and all(url.__class__ is str for url in urls):
            arguments.drop(field)
            return [{"type": "image", "image_urls": urls}]
    arguments.take("image_urls")
    return []


def _without(metadata: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != "model_response"}
