"""A chat as conversations: messages with blocks, of which those of a subagent have blocks of their own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Conversation,
    Link,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Text,
    ToolCall,
    ToolResult,
    ids,
    timestamps,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.codebuff import TOOL_KINDS
from agent_journal.readers.dialects.documents import load_companion
from agent_journal.readers.dialects.session_log import SessionLog, steps_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_FOLDER_TIME = re.compile(r"(\d{4}-\d\d-\d\dT\d\d)-(\d\d)-(\d\d(?:\.\d+)?Z)")
_ROLES: dict[str, Role] = {"user": "user", "ai": "assistant", "agent": "assistant", "error": "system"}
_ATTACHED = ("attachments", "textAttachments", "fileAttachments")


class _Subagent(NamedTuple):
    """The block of a subagent, and the message and call that it belongs to."""

    block: dict[str, Any]
    session: str
    message_id: str
    call_id: str


def conversations(source: Input, note: Notes, name: str) -> Iterator[Conversation]:
    """Yield the conversation of a file, then those of its subagents."""
    steps = steps_of(source.label)
    folder_name = steps[-2] if len(steps) > 1 else ""
    started = _FOLDER_TIME.fullmatch(folder_name)
    records = [*json_stream.elements(source, note)]
    has_project = len(steps) > 3  # noqa: PLR2004 (project, chats, chat, file)
    session = (
        ids.made(name, folder_name, steps[-4]) if started and has_project else ids.made(name, records[:1])
    )
    chat = _Chat(session, note)
    for index, raw in records:
        if raw.__class__ is dict:
            chat.add(Fields(raw, note, f"[{index}]"))
        else:
            chat.log.add_value(raw, f"[{index}]")
    state = load_companion(source.companion("run-state.json"), note, "run-state.json")
    folder, agent = _facts(state.view("sessionState"))
    entries = chat.log.entries
    first, last = tree.span(entries)
    started_at = f"{started[1]}:{started[2]}:{started[3]}" if started else None
    yield Conversation(
        id=session,
        made_id=True,
        source=name,
        started_at=started_at or first,
        updated_at=last or started_at,
        cwd=folder or chat.folder,
        shape="list",
        timeline=entries,
        extra={"agentType": agent} if agent else {},
    )
    pending = chat.subagents
    while pending:
        found_agent = pending.pop(0)
        inner = _Chat(f"{found_agent.session}:{found_agent.call_id}", note)
        inner.add_agent(found_agent)
        pending += inner.subagents
        yield Conversation(
            id=inner.log.session,
            made_id=True,
            source=name,
            title=nonempty_str(found_agent.block.get("agentName")),
            started_at=started_at,
            cwd=folder or chat.folder,
            shape="list",
            link=Link(
                conversation_id=found_agent.session,
                relation="subagent",
                message_id=found_agent.message_id,
                call_id=found_agent.call_id,
            ),
            timeline=inner.log.entries,
        )


def _facts(state: Any) -> tuple[str | None, str | None]:
    """Return the folder and the kind of agent that the state of the last run has."""
    state = state if state.__class__ is dict else {}
    files, agent = state.get("fileContext"), state.get("mainAgentState")
    folder = files.get("cwd") if files.__class__ is dict else None
    return nonempty_str(folder), nonempty_str(agent.get("agentType")) if agent.__class__ is dict else None


class _Chat:
    """Collects the messages of one agent."""

    def __init__(self, session: str, note: Notes) -> None:
        self.log = SessionLog(session, note, lambda _: True)
        self.subagents: list[_Subagent] = []
        self.folder: str | None = None
        self._note = note

    def add(self, message: Fields) -> None:
        """Add a message of the chat."""
        variant = message.view("variant")
        role = _ROLES.get(variant) if variant.__class__ is str else None
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, message.where, f"variant {str(variant)[:40]!r}")
        elif variant != "error":
            message.drop("variant")
        own_id = message.text("id") or f"{self.log.session}:{message.where}"
        at = (
            timestamps.parse_timestamp(message.view("timestamp"))
            if _is_full(message.view("timestamp"))
            else None
        )
        if at is not None:
            message.drop("timestamp")
        metadata = message.view("metadata")
        if metadata.__class__ is dict:
            self.folder = self.folder or nonempty_str(metadata.get("bashCwd"))
        content = message.text("content") or ""
        parts = self._parts(message.items("blocks") or [], own_id)
        if content and not any(isinstance(part, Text) and content in part.text for part in parts):
            parts.insert(0, Text(text=content))
        for name in _ATTACHED:
            parts += [_attachment(raw, self._note) for raw in message.items(name) or ()]
        if message.view("isComplete") is True:
            message.drop("isComplete")
        self.log.add(
            Message(id=own_id, role=role or "user", at=at, parts=parts, extra=message.rest()), message.where
        )

    def add_agent(self, agent: _Subagent) -> None:
        """Add the messages of a subagent: its prompt and its blocks."""
        if prompt := nonempty_str(agent.block.get("initialPrompt")):
            self.log.add(Message(id="", role="user", parts=[Text(text=prompt)]), "prompt")
        own_id = f"{self.log.session}:answer"
        blocks = agent.block.get("blocks")
        parts = self._parts(blocks if blocks.__class__ is list else [], own_id)
        content = nonempty_str(agent.block.get("content"))
        if content and not any(isinstance(part, Text) and content in part.text for part in parts):
            parts.append(Text(text=content))
        if parts:
            self.log.add(Message(id=own_id, made_id=True, role="assistant", parts=parts), "answer")

    def _parts(self, blocks: list[Any], message_id: str) -> list[Part]:
        parts: list[Part] = []
        for raw in blocks:
            parts += self._block(raw, message_id)
        return parts

    def _block(self, raw: Any, message_id: str) -> list[Part]:
        kind = raw.get("type") if raw.__class__ is dict else None
        fields = Fields(dict(raw) if raw.__class__ is dict else {}, self._note, message_id[:60])
        fields.drop("type")
        match kind:
            case "text" if fields.view("content").__class__ is str:
                text, form = fields.take("content"), fields.take("textType")
                fields.drop("thinkingId")
                return [
                    Reasoning(text=text, extra=fields.rest())
                    if form == "reasoning"
                    else Text(text=text, extra=fields.rest())
                ]
            case "plan" if fields.view("content").__class__ is str:
                return [Text(text=fields.take("content"), extra={"type": "plan", **fields.rest()})]
            case "tool":
                return self._call(fields)
            case "agent":
                return [self._agent(raw, fields, message_id)]
            case "image":
                mime, data = fields.text("mediaType"), fields.text("image")
                return [
                    Media(
                        kind="image", mime=mime, name=fields.text("filename"), data=data, extra=fields.rest()
                    )
                ]
            case "ask-user":
                call_id, questions = fields.text("toolCallId"), fields.take("questions")
                call = ToolCall(call_id=call_id, name="ask_user", input={"questions": questions})
                answers = fields.take("answers")
                return (
                    [call, ToolResult(call_id=call_id, output=[Other(data=answers)])] if answers else [call]
                )
        if kind not in ("mode-divider", "agent-list", "gate-state", "html"):
            self._note(Kind.UNKNOWN_TYPE, message_id[:60], f"block {str(kind)[:40]!r}")
        return [Other(data=raw, name=nonempty_str(kind))]

    def _call(self, fields: Fields) -> list[Part]:
        name, call_id = fields.text("toolName") or "", fields.text("toolCallId")
        call_input, output = fields.take("input"), fields.text("output")
        raw = fields.take("outputRaw")
        rest = fields.rest()
        call = ToolCall(call_id=call_id, name=name, input=call_input, kind=TOOL_KINDS.get(name), extra=rest)
        if output is None and raw is None:
            return [call]
        more = {"outputRaw": raw} if raw is not None and raw != output else {}
        return [call, ToolResult(call_id=call_id, name=name, output=output or "", extra=more)]

    def _agent(self, raw: dict[str, Any], fields: Fields, message_id: str) -> Part:
        call_id = fields.text("spawnToolCallId") or fields.text("agentId") or f"{len(self.subagents)}"
        self.subagents.append(_Subagent(raw, self.log.session, message_id, call_id))
        name = fields.text("agentName") or fields.text("agentType") or "agent"
        call_input = {"prompt": fields.take("initialPrompt"), "params": fields.take("params")}
        fields.drop("blocks", "content")
        return ToolCall(call_id=call_id, name=name, input=call_input, kind="agent", extra=fields.rest())


def _is_full(value: Any) -> bool:
    """Whether a time has a date; that of most messages is only for people."""
    return value.__class__ is not str or "T" in value


def _attachment(raw: Any, note: Notes) -> Part:
    if raw.__class__ is not dict:
        return Other(data=raw, name="attachment")
    fields = Fields(dict(raw), note, "attachment")
    name, path, text = fields.text("filename"), fields.text("path"), fields.text("content")
    return Media(kind="file", name=name, ref=path, text=text, extra=fields.rest())
