"""The events of a session. What the agent shows are blocks, which are sent again whenever they change."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.model import Event, Message, Part, Reasoning, Text, ToolCall, ToolResult, Usage, ids
from agent_journal.readers.dialects.injected_text import with_typed_text
from agent_journal.readers.junie import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

# The agent's memory, and the environment with its secrets: neither is read.
_OMITTED = frozenset({"AgentStateUpdatedEvent", "EnvironmentVariablesUpdatedEvent"})
_ANSWER = "<!-- ANSWER -->"
_DROPPED = ("UserMessagesDroppedFromHistory", "UserMessagesFailedInHistory")


class Events:
    """Collects the events of a session, by the names of what they change."""

    def __init__(self, session: str, note: Notes) -> None:
        self.title: str | None = None
        self.model: str | None = None
        self.session = session
        self._note = note
        self._entries: dict[str, Message | Event] = {}
        self._seen: set[str] = set()
        self._dropped: set[str] = set()

    def finish(self) -> list[Message | Event]:
        """Return the entries; prompts that the agent dropped are hidden."""
        return [
            replace(entry, hidden=True) if isinstance(entry, Message) and entry.id in self._dropped else entry
            for entry in self._entries.values()
        ]

    def add(self, line: Fields) -> None:
        """Add an event."""
        kind = line.take("kind")
        at = line.timestamp("timestampMs") or line.timestamp("timestamp")
        match kind:
            case "UserPromptEvent" | "UserResponseEvent":
                self._add_prompt(line, at)
            case "SessionTitleSetEvent" if nonempty_str(line.view("name")):
                self.title = line.text("name")
            case "SessionA2uxEvent" if line.view("event").__class__ is dict:
                self._add_agent_event(line, at)
            case _:
                if kind in _DROPPED and line.view("userMessageIds").__class__ is list:
                    self._dropped.update(one for one in line.view("userMessageIds") if one.__class__ is str)
                self._add_event(kind, line.rest(), line.where, at)

    def add_value(self, value: Any, where: int | str) -> None:
        """Add a line that is no object."""
        self._add_event("unknown", {"value": value}, where, None)

    def _add_event(self, kind: Any, data: dict[str, Any], where: int | str, at: str | None) -> None:
        own_id = f"{self.session}:{where}"
        name = kind if kind.__class__ is str and kind else "unknown"
        self._entries[own_id] = Event(id=own_id, made_id=True, name=name, at=at, data=data)

    def _add_prompt(self, line: Fields, at: str | None) -> None:
        own_id = line.text("requestId") or f"{self.session}:{line.where}"
        sent, shown = line.text("prompt") or "", line.text("presentablePrompt")
        part = Text(text=sent)
        if shown is not None and shown != sent:
            part = with_typed_text(part, shown)
        before = self._entries.get(own_id)
        message = Message(
            id=own_id,
            role="user",
            at=(before.at if before is not None else None) or at,
            hidden=line.view("delivery") == "Failed",
            parts=[part],
            extra=line.rest(),
        )
        self._entries[own_id] = message

    def _add_agent_event(self, line: Fields, at: str | None) -> None:
        event = line.nested("event")
        agent = event.nested("agentEvent") if event is not None else None
        if event is None or agent is None:
            self._add_event("SessionA2uxEvent", line.rest(), line.where, at)
            return
        kind = agent.take("kind")
        name = kind if kind.__class__ is str else "unknown"
        if name in _OMITTED:
            self._add_event(name, {}, line.where, at)
            return
        if name == "LlmResponseMetadataEvent":
            self._add_usage(agent, line.where, at)
            return
        event.drop("state")
        line.drop("taskId")
        parts = self._parts(name, agent)
        if parts is None:
            self._add_event(name, line.rest(), line.where, at)
            return
        step = agent.text("stepId")
        own_id = f"{self.session}:{step}" if step else f"{self.session}:{line.where}"
        before = self._entries.get(own_id)
        for index, part in enumerate(parts):
            part_id = own_id if index == 0 else f"{own_id}:result"
            self._entries[part_id] = Message(
                id=part_id,
                made_id=True,
                role="assistant" if index == 0 else "tool",
                at=(before.at if before is not None and index == 0 else None) or at,
                parts=[part],
                extra=line.rest() if index == 0 else {},
            )

    def _parts(self, name: str, agent: Fields) -> list[Part] | None:
        """Return the parts of a block, a call and its result apart; None if it is no block."""
        step = nonempty_str(agent.view("stepId"))
        match name:
            case "MarkdownBlockUpdatedEvent" if agent.view("text").__class__ is str:
                return [Text(text=agent.take("text"))]
            case "ResultBlockUpdatedEvent" if agent.view("result").__class__ is str:
                return [Text(text=agent.take("result").removeprefix(_ANSWER).lstrip("\n"))]
            case "TerminalBlockUpdatedEvent":
                call = {"command": agent.take("command")}
                output = agent.text("output")
                result: list[Part] = [ToolResult(call_id=step, output=output)] if output is not None else []
                return [ToolCall(call_id=step, name="terminal", input=call, kind="shell"), *result]
            case "ToolBlockUpdatedEvent":
                return [ToolCall(call_id=step, name="tool", input={"text": agent.take("text")})]
            case "McpBlockUpdatedEvent":
                return [
                    ToolCall(call_id=step, name="mcp", input=agent.take("details"), kind=TOOL_KINDS["mcp"])
                ]
            case "CustomAgentBlockUpdatedEvent":
                return [
                    ToolCall(call_id=step, name="agent", input={"name": agent.take("name")}, kind="agent")
                ]
            case str() if name.startswith("AgentThoughtBlock") and agent.view("text").__class__ is str:
                return [Reasoning(text=agent.take("text"))]
        return None

    def _add_usage(self, agent: Fields, where: int | str, at: str | None) -> None:
        """Add the tokens of a response; an equal event is the same one, sent again."""
        usages = [*objects(agent.view("modelUsage"))]
        digest = ids.made(self.session, at, agent.rest())
        if digest in self._seen:
            return
        self._seen.add(digest)
        for index, raw in enumerate(usages):
            own_id = f"{self.session}:{where}:usage:{index}"
            model, cost = nonempty_str(raw.get("model")), raw.get("cost")
            self.model = self.model or model
            usage = Usage(
                key=own_id,
                input=counted(raw.get("inputTokens")),
                output=counted(raw.get("outputTokens")),
                cache_read=counted(raw.get("cacheInputTokens")),
                cache_write=counted(raw.get("cacheCreateTokens")),
                reasoning=counted(raw.get("reasoningTokens")),
                cost_usd=float(cost) if cost.__class__ in (int, float) else None,
                extra=raw,
            )
            self._entries[own_id] = Message(
                id=own_id, made_id=True, role="assistant", at=at, model=model, hidden=True, usage=usage
            )
