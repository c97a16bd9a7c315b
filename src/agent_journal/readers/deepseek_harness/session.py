"""A file of events as a conversation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, counted, nonempty_str, objects
from agent_journal.model import (
    Conversation,
    Link,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Summary,
    Text,
    Tool,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.deepseek_harness import TOOL_KINDS
from agent_journal.readers.deepseek_harness.answers import PendingAnswer
from agent_journal.readers.dialects.openai_messages import parse_tool
from agent_journal.readers.dialects.session_log import SessionLog, first_model, steps_of

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_PACKED = ("text-chunks", "reasoning-chunks", "tool-call-chunks")
# They only say that a request begins or ends.
_STEPS = ("step/start", "step/end")
_EVENTS = frozenset(
    {
        *(
            "turn/start",
            "turn/end",
            "subagent/descriptor",
            "agent-preset/selected",
            "todo/write",
            "llm/retry",
        ),
        *("plan/mode", "compaction/summary", "session/title", "request/header"),
    }
)
# Areas of the harness whose events are no part of the conversation.
_AREAS = (
    *("agent/", "approval/", "command/", "hook/", "llm/", "permission/", "request/", "sandbox/"),
    *("tool/", "tool-workflow/"),
)


class _Session:
    """Collects the events of a session."""

    def __init__(self, note: Notes) -> None:
        self.header = Fields({}, note, "header")
        self.log = SessionLog("", note, lambda name: name in _EVENTS or name.startswith(_AREAS))
        self.title: str | None = None
        self.model: str | None = None
        self.tools: list[Tool] = []
        self.summaries: list[Summary] = []
        self._note = note
        self._system: str | None = None
        self._pending: dict[tuple[Any, Any], PendingAnswer] = {}
        self._calls: dict[str, str] = {}
        self._position = 0
        self._seed: tuple[str, int] | None = None

    def begin(self, line: Fields) -> None:
        """Take the first line."""
        line.drop("type", "version")
        self.header = line
        self.log.session = line.text("id") or self.log.session
        parent, length = nonempty_str(line.view("parentSession")), line.view("seedLength")
        if parent and length.__class__ is int:
            self._seed = (parent, length)

    def add(self, line: Fields) -> None:
        """Add an event."""
        kind = line.view("type")
        data = line.nested("data") or Fields({}, self._note, line.where)
        sequence = line.view("seq")
        at = line.timestamp("time")
        # Copies of events of the parent have its names, so that their tokens are counted once.
        owner = self.log.session
        if self._seed is not None and self._position < self._seed[1]:
            owner = self._seed[0]
        key = f"{owner}:{sequence if sequence.__class__ is int else self._position}"
        self._position += 1
        if kind in _STEPS:
            return
        if kind in ("assistant/chunk", *_PACKED):
            self._add_chunk(str(kind), data)
            return
        line.drop("type", "seq", "sourceEventSeqs", "surfaceOp")
        envelope = Message(id=key, made_id=True, role="user", at=at)
        match kind:
            case "user/message":
                self._add_prompt(data, line, envelope)
            case "assistant/message":
                self._add_answer(data, line, envelope)
            case "tool/call":
                self._add_call(data, line, envelope)
            case "tool/result":
                self._add_result(data, line, envelope)
            case _:
                self._add_event(kind, data, line, envelope)

    def _add_chunk(self, kind: str, data: Fields) -> None:
        answer = self._pending.setdefault((data.view("turn"), data.view("step")), PendingAnswer())
        if kind in _PACKED:
            answer.add_packed(kind, data.rest())
        elif data.view("chunk").__class__ is dict:
            answer.add_chunk(data.view("chunk"))

    def _add_prompt(self, data: Fields, line: Fields, envelope: Message) -> None:
        source = data.view("source")
        is_injected = source.__class__ is dict and source.get("kind") not in ("user", None)
        parts = self._blocks(data.take("content"), line.where)
        message = Message(
            id=envelope.id,
            made_id=True,
            role="user",
            at=envelope.at,
            hidden=is_injected,
            parts=parts,
            extra=line.rest(),
        )
        self.log.add(message, line.where)

    def _add_answer(self, data: Fields, line: Fields, envelope: Message) -> None:
        turn, step = data.take("turn"), data.take("step")
        self._pending.pop((turn, step), None)
        provenance = data.nested("provenance")
        model = provenance.text("model") if provenance is not None else None
        usage = _usage(data.view("usage"), envelope.id)
        if usage is not None:
            data.drop("usage")
        parts = self._blocks(data.take("content"), line.where)
        message = Message(
            id=envelope.id,
            made_id=True,
            role="assistant",
            at=envelope.at,
            model=model or self.model,
            response_id=f"{turn}.{step}" if turn is not None else None,
            parts=parts,
            usage=usage,
            extra=line.rest(),
        )
        self.log.add(message, line.where)

    def _add_call(self, data: Fields, line: Fields, envelope: Message) -> None:
        """Add a call that no answer has; the others repeat it."""
        call_id = data.text("callId")
        if call_id in self._calls:
            return
        call = self._call(call_id, data.text("name") or "", data.take("arguments"))
        data.drop("turn", "step")
        self.log.add(
            Message(
                id=envelope.id,
                made_id=True,
                role="assistant",
                at=envelope.at,
                parts=[call],
                extra=line.rest(),
            ),
            line.where,
        )

    def _add_result(self, data: Fields, line: Fields, envelope: Message) -> None:
        call_id = data.text("callId")
        parts = self._blocks(data.take("content"), line.where)
        only = parts[0] if len(parts) == 1 else None
        data.drop("turn", "step")
        output: Any = only.text if isinstance(only, Text) and not only.extra else parts
        result = ToolResult(
            call_id=call_id,
            name=self._calls.get(call_id or ""),
            output=output or "",
            is_error=data.flag("isError"),
        )
        self.log.add(
            Message(
                id=envelope.id, made_id=True, role="tool", at=envelope.at, parts=[result], extra=line.rest()
            ),
            line.where,
        )

    def _add_event(self, kind: Any, data: Fields, line: Fields, envelope: Message) -> None:
        if kind == "session/title" and nonempty_str(data.view("title")):
            self.title = data.view("title")
        elif kind == "request/header":
            self._take_header(data, envelope)
        elif kind == "compaction/summary" and nonempty_str(data.view("summary")):
            covered = self.log.entries[-1].id if self.log.entries else None
            self.summaries.append(Summary(text=data.view("summary"), at=envelope.at, message_id=covered))
            usage = _usage(data.view("usage"), envelope.id)
            if usage is not None:
                own_id = f"{envelope.id}:usage"
                model = nonempty_str(data.view("model"))
                self.log.add(
                    Message(
                        id=own_id,
                        made_id=True,
                        role="assistant",
                        at=envelope.at,
                        model=model,
                        hidden=True,
                        usage=usage,
                    ),
                    line.where,
                )
        self.log.add_event(kind, line.rest(), line.where, at=envelope.at, entry_id=envelope.id)

    def _take_header(self, data: Fields, envelope: Message) -> None:
        """Take the model, instructions and tools of requests, which change rarely."""
        header = data.nested("header")
        if header is None:
            return
        config = header.view("config")
        if config.__class__ is dict:
            self.model = nonempty_str(config.get("model")) or self.model
        system = header.text("system") if header.view("system").__class__ is str else None
        if system and system != self._system:
            self._system = system
            own_id = f"{envelope.id}:system"
            parts: list[Part] = [Text(text=system)]
            self.log.add(Message(id=own_id, made_id=True, role="system", at=envelope.at, parts=parts), own_id)
        tools = header.view("tools")
        if tools.__class__ is list and tools and len([*objects(tools)]) == len(tools):
            header.drop("tools")
            self.tools = self.tools or [parse_tool(tool, self._note, "tools") for tool in tools]

    def finish(self) -> None:
        """Add answers that broke off."""
        for (turn, step), answer in self._pending.items():
            parts = self._blocks(answer.content(), f"turn {turn} step {step}")
            own_id = f"{self.log.session}:{turn}.{step}"
            usage = _usage(answer.usage, own_id)
            if parts or usage is not None:
                self.log.add(
                    Message(
                        id=own_id, made_id=True, role="assistant", model=self.model, parts=parts, usage=usage
                    ),
                    own_id,
                )

    def _blocks(self, content: Any, where: int | str) -> list[Part]:
        if content.__class__ is str:
            return [Text(text=content)]
        return [self._block(raw, where) for raw in (content if content.__class__ is list else [])]

    def _block(self, raw: Any, where: int | str) -> Part:
        fields = Fields(dict(raw) if raw.__class__ is dict else {}, self._note, where)
        kind = fields.take("type")
        match kind:
            case "text" if fields.view("text").__class__ is str:
                return Text(text=fields.take("text"), extra=fields.rest())
            case "reasoning" if fields.view("text").__class__ is str:
                return Reasoning(text=fields.take("text"), extra=fields.rest())
            case "tool-call":
                return self._call(fields.text("id"), fields.text("name") or "", fields.take("arguments"))
            case "image":
                return Media(kind="image", extra=fields.rest())
        self._note(Kind.UNKNOWN_TYPE, where, f"block {str(kind)[:40]!r}")
        return Other(data=raw, name=nonempty_str(kind))

    def _call(self, call_id: str | None, name: str, call_input: Any) -> ToolCall:
        if call_id:
            self._calls[call_id] = name
        return ToolCall(call_id=call_id, name=name, input=call_input, kind=TOOL_KINDS.get(name))


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    session = _Session(note)
    steps = steps_of(source.label)
    is_made = False
    for number, line in json_stream.lines(source, note):
        if line.__class__ is dict and line.get("type") == "session" and not session.log.session:
            session.begin(Fields(line, note, number))
            continue
        if not session.log.session:
            is_made = True
            session.log.session = ids.made(name, steps[-2:-1], line)
            note(Kind.MISSING_FIELD, "", "the first line, which has the id, is missing")
        if line.__class__ is dict:
            session.add(Fields(line, note, number))
        else:
            session.log.add_value(line, number)
    session.finish()
    entries, header = session.log.entries, session.header
    first, last = tree.span(entries)
    parent, origin = header.text("parentSession"), header.take("origin")
    relation = "subagent" if origin == "subagent" else "fork"
    created_at = header.timestamp("createdAt")
    if origin not in ("subagent", None):
        header.keep("origin", origin)
    return Conversation(
        id=session.log.session,
        made_id=is_made,
        source=name,
        title=session.title,
        started_at=created_at or first,
        updated_at=last or created_at,
        model=first_model(entries) or session.model,
        cwd=header.text("cwd") or None,
        shape="list",
        link=Link(conversation_id=parent, relation=relation) if parent else None,  # type: ignore[arg-type] # one of two
        timeline=entries,
        summaries=session.summaries,
        tools=session.tools,
        extra=header.rest(),
    )


def _usage(raw: Any, key: str) -> Usage | None:
    """Return tokens, whose input does not include what a cache had, and whose output includes reasoning."""
    if raw.__class__ is not dict:
        return None
    sent, output, read, written, reasoning = (
        counted(raw.get(f"{name}Tokens"))
        for name in ("input", "output", "cacheRead", "cacheWrite", "reasoning")
    )
    return Usage(
        key=key,
        input=sent,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=reasoning,
        extra=raw,
    )
