"""A file of lines as a conversation.

The lines of one answer are snapshots of it that overlap: each has the calls that were open when it was
written. Their parents are no branches; the order of the lines is that of the conversation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding import json_stream
from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Conversation,
    Link,
    Message,
    Part,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    roles,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_blocks, parse_usage
from agent_journal.readers.dialects.injected_text import HARNESS_TAGS, Tags, mark_injected_parts
from agent_journal.readers.dialects.session_log import SessionLog, first_model
from agent_journal.readers.iflow import PREFIX, TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

_TAGS = Tags(HARNESS_TAGS)
# Fields that each line repeats.
_CONSTANT = ("cwd", "gitBranch", "version", "userType", "sessionId")


class _Session:
    """Collects the lines of a session."""

    def __init__(self, log: SessionLog, note: Notes) -> None:
        self.log = log
        self.facts: dict[str, str | None] = {}
        self.summaries: list[Summary] = []
        self._note = note
        self._calls: set[str] = set()
        self._answer: str | None = None
        self._texts: list[str] = []

    def add(self, line: Fields) -> None:
        """Add a line."""
        for field in _CONSTANT:
            value = nonempty_str(line.view(field))
            known = self.facts.setdefault(field, value) if value is not None else None
            if value == known:
                line.drop(field)
        kind, at = line.view("type"), line.timestamp("timestamp")
        own_id = line.text("uuid") or ""
        line.drop("parentUuid")
        body = line.nested("message")
        if body is None:
            line.drop("type")
            self.log.add_event(kind, line.rest(), line.where, at=at, entry_id=own_id)
            return
        line.drop("type")
        label = body.view("role") or kind
        role = roles.role(label)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, line.where, f"role {str(label)[:40]!r}")
        else:
            body.drop("role")
        parts = parse_blocks(body.take("content"), self._note, line.where, TOOL_KINDS)
        if role == "assistant":
            self._add_answer(Message(id=own_id, role=role, at=at, parts=parts), body, line)
        else:
            self._answer = None
            self._add_other(Message(id=own_id, role=role or "user", at=at, parts=parts), line)

    def _add_answer(self, envelope: Message, body: Fields, line: Fields) -> None:
        response = body.text("id")
        if self._answer is None:
            self._answer, self._texts = response or envelope.id, []
        parts = [part for part in envelope.parts if self._is_new(part)]
        for field in ("type", "stop_sequence"):
            body.drop(field)
        usage = parse_usage(body.take("usage"), self._answer)
        if usage is not None and not (usage.input or usage.output or usage.cache_read):
            usage = None
        if envelope.parts and not parts and usage is None:
            return  # a snapshot without anything new
        message = replace(
            envelope,
            model=body.text("model"),
            stop_reason=body.text("stop_reason"),
            response_id=self._answer,
            parts=parts,
            usage=usage,
            sidechain=line.take("isSidechain") is True,
            extra=line.rest(),
        )
        self.log.add(message, line.where)

    def _is_new(self, part: Part) -> bool:
        """Whether an earlier snapshot does not have a part."""
        if isinstance(part, ToolCall) and part.call_id:
            is_new = part.call_id not in self._calls
            self._calls.add(part.call_id)
            return is_new
        if isinstance(part, Text):
            is_new = part.text not in self._texts
            self._texts.append(part.text)
            return is_new
        return True

    def _add_other(self, envelope: Message, line: Fields) -> None:
        parts = [_with_output(part) if isinstance(part, ToolResult) else part for part in envelope.parts]
        is_meta, is_summary = line.take("isMeta") is True, line.view("isCompactSummary") is True
        sidechain = line.take("isSidechain") is True
        hidden = is_meta or is_summary
        if envelope.role == "user" and not hidden:
            parts, hidden = mark_injected_parts(parts, _TAGS.is_all)
        if is_summary:
            text = "\n".join(part.text for part in parts if isinstance(part, Text))
            covered = self.log.entries[-1].id if self.log.entries else None
            self.summaries.append(Summary(text=text, at=envelope.at, message_id=covered))
        message = replace(envelope, hidden=hidden, sidechain=sidechain, parts=parts, extra=line.rest())
        self.log.add(message, line.where)


def conversation(source: Input, note: Notes, name: str) -> Conversation:
    """Make the conversation of a file."""
    own_name = source.name.removesuffix(".jsonl")
    session = _Session(SessionLog(own_name, note, lambda _: False), note)
    for number, line in json_stream.lines(source, note):
        if line.__class__ is dict:
            if not own_name.startswith(PREFIX):
                own_name = session.log.session = nonempty_str(line.get("sessionId")) or own_name
            session.add(Fields(line, note, number))
        else:
            session.log.add_value(line, number)
    entries = session.log.entries
    facts = session.facts
    first, last = tree.span(entries)
    stated = facts.get("sessionId")
    return Conversation(
        id=own_name,
        source=name,
        started_at=first,
        updated_at=last,
        app_version=facts.get("version"),
        model=first_model(entries),
        cwd=facts.get("cwd"),
        git_branch=facts.get("gitBranch"),
        shape="list",
        link=Link(conversation_id=stated, relation="continues") if stated and stated != own_name else None,
        timeline=entries,
        summaries=session.summaries,
    )


def _with_output(result: ToolResult) -> ToolResult:
    """Return a result with the text of its response, which is inside of an object."""
    raw: Any = result.output[0].data if result.output.__class__ is list and result.output else None  # type: ignore[union-attr] # an object
    response: Any = raw.get("responseParts") if raw.__class__ is dict else None
    response = response.get("functionResponse") if response.__class__ is dict else None
    answer = response.get("response") if response.__class__ is dict else None
    if answer.__class__ is not dict:
        return result
    field = "error" if "error" in answer and "output" not in answer else "output"
    if answer.get(field).__class__ is not str:
        return result
    rest = {name: value for name, value in raw.items() if name not in ("callId", "responseParts")}
    more = {name: value for name, value in answer.items() if name != field}
    return replace(
        result,
        output=answer[field],
        name=nonempty_str(response.get("name")) or result.name,
        is_error=True if field == "error" else result.is_error,
        extra=result.extra | rest | ({"response": more} if more else {}),
    )
