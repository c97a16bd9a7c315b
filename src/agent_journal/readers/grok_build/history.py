"""Messages as the model got them, without times: lines with a type, in old sessions chat messages."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import Message, Other, Part, Reasoning, Text, ToolCall, ToolResult
from agent_journal.readers.dialects.injected_text import Tags, with_typed_text
from agent_journal.readers.dialects.openai_messages import parse_content, parse_message
from agent_journal.readers.grok_build import names

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers.dialects.session_log import SessionLog

_TAGS = Tags(names.TAGS)
_QUERY_START, _QUERY_END = f"<{names.QUERY}>", f"</{names.QUERY}>"


class History:
    """Collects the messages of a session."""

    def __init__(self, log: SessionLog, note: Notes) -> None:
        self._log = log
        self._note = note
        self._thoughts: list[Part] = []
        self._where: int | str = ""

    def add(self, line: Fields) -> None:
        """Add a message."""
        kind = line.view("type")
        if kind is None and line.view("role").__class__ is str:
            parsed = parse_message(line.rest(), self._note, line.where)
            self._add(Message(id="", role=parsed.role, parts=parsed.parts, extra=parsed.extra), line.where)
            return
        line.drop("type")
        match kind:
            case "system":
                parts = parse_content(line.take("content"), self._note, line.where)
                self._add(Message(id="", role="system", parts=parts, extra=line.rest()), line.where)
            case "user":
                self._add_user(line)
            case "reasoning":
                self._thoughts.append(_reasoning(line))
                self._where = line.where
            case "assistant":
                self._add_answer(line)
            case "tool_result":
                call_id = line.text("tool_call_id")
                content = line.take("content")
                output: Any = (
                    content if content.__class__ is str else parse_content(content, self._note, line.where)
                )
                result = ToolResult(call_id=call_id, output=output or "")
                self._add(Message(id="", role="tool", parts=[result], extra=line.rest()), line.where)
            case "backend_tool_call":
                self._add_service_call(line)
            case _:
                self._log.add_event(kind, line.rest(), line.where)

    def _add(self, message: Message, where: int | str) -> None:
        self.close()
        self._log.add(message, where)

    def close(self) -> None:
        """Add thoughts without an answer."""
        if self._thoughts:
            thoughts, self._thoughts = self._thoughts, []
            self._log.add(Message(id="", role="assistant", parts=thoughts), f"{self._where}:reasoning")

    def _add_user(self, line: Fields) -> None:
        parts = parse_content(line.take("content"), self._note, line.where)
        reason = line.view("synthetic_reason")
        parts = [_typed(part) if isinstance(part, Text) else part for part in parts]
        texts = [part.text for part in parts if isinstance(part, Text)]
        is_injected = reason is not None and reason != names.TYPED
        hidden = bool(parts) and (is_injected or (len(texts) == len(parts) and all(map(_TAGS.is_all, texts))))
        self._add(Message(id="", role="user", hidden=hidden, parts=parts, extra=line.rest()), line.where)

    def _add_answer(self, line: Fields) -> None:
        content = parse_content(line.take("content"), self._note, line.where)
        calls = [self._call(raw, line.where) for raw in line.items("tool_calls") or ()]
        thoughts, self._thoughts = self._thoughts, []
        parts = [*thoughts, *content, *calls]
        model = line.text("model_id")
        self._add(Message(id="", role="assistant", model=model, parts=parts, extra=line.rest()), line.where)

    def _call(self, raw: Any, where: int | str) -> Part:
        if raw.__class__ is not dict:
            return Other(data=raw, name="tool_call")
        call = Fields(dict(raw), self._note, where)
        name = call.text("name") or ""
        return ToolCall(
            call_id=call.text("id"),
            name=name,
            input=call.take("arguments"),
            kind=names.TOOL_KINDS.get(name),
            extra=call.rest(),
        )

    def _add_service_call(self, line: Fields) -> None:
        """Add a call that the service itself answered."""
        raw = line.take("kind")
        call = Fields(dict(raw) if raw.__class__ is dict else {"kind": raw}, self._note, line.where)
        name = call.text("tool_type") or ""
        call_id = call.text("id")
        part = ToolCall(
            call_id=call_id,
            name=name,
            input=call.take("action") or call.take("input"),
            kind=names.TOOL_KINDS.get(name),
            extra=call.rest(),
        )
        self._add(Message(id="", role="assistant", parts=[part], extra=line.rest()), line.where)


def _typed(part: Text) -> Text:
    """Return a text with only what the user typed, if it is marked."""
    text = part.text.strip()
    if not text.endswith(_QUERY_END):
        return part
    start = text.rfind(_QUERY_START)
    if start < 0:
        return part
    typed = text[start + len(_QUERY_START) : -len(_QUERY_END)].strip("\n")
    if start == 0:
        return replace(part, text=typed)
    return with_typed_text(part, typed)


def _reasoning(line: Fields) -> Part:
    summary = line.view("summary")
    texts = [raw["text"] for raw in objects(summary) if nonempty_str(raw.get("text"))]
    if summary.__class__ is list and len(texts) == len(summary):
        line.drop("summary")
    content = line.text("content") if line.view("content").__class__ is str else None
    encrypted = line.text("encrypted") or line.text("encrypted_content")
    if not line.view("id"):
        line.drop("id")
    return Reasoning(
        text=content or None, summary="\n".join(texts) or None, encrypted=encrypted, extra=line.rest()
    )
