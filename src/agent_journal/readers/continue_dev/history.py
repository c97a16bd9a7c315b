"""The items of a session's history: each has a message, its context and its tool states."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str, objects
from agent_journal.model import (
    Event,
    Media,
    Message,
    Other,
    Reasoning,
    Summary,
    Text,
    ToolResult,
    ids,
    timestamps,
)
from agent_journal.model.content_blocks import unwrapped_parts
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev import tokens
from agent_journal.readers.continue_dev.context import Context
from agent_journal.readers.continue_dev.names import SOURCE
from agent_journal.readers.continue_dev.tools import Tools
from agent_journal.readers.continue_dev.values import is_equal
from agent_journal.readers.dialects import openai_messages as openai

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, Usage
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.config import Models
    from agent_journal.readers.continue_dev.session_logs import SessionLogs

# A tuple, since a role may be an unhashable value.
_ROLES = ("user", "assistant", "system", "tool")
# Roles of tool results; `function` is the API's older name.
_TOOL_ROLES = ("tool", "function")


class History:
    """Converts the items of a session to a timeline."""

    def __init__(
        self, session_id: str, items: list[Any], models: Models, session_logs: SessionLogs, note: Notes
    ) -> None:
        self.timeline: list[Message | Event] = []
        self.summaries: list[Summary] = []
        self.context = Context()
        self.tools = Tools(_answered_calls(items))
        self._session_id = session_id
        self._models = models
        self._session_logs = session_logs
        self._note = note
        self._ids: set[str] = set()
        # How often the same content was repeated: an agent makes many calls without text.
        self._repeats: Counter[str] = Counter()
        has_no_logs = session_logs.is_empty
        for index, item in enumerate(items):
            where = f"history[{index}]"
            if not (has_no_logs and self._add_common(item, where)):
                self._add(item, where)

    def _add_common(self, raw: Any, where: str) -> bool:
        """Add an answer or a result of the common shape (the fast path); else return False and do nothing."""
        if raw.__class__ is not dict or raw.get("contextItems") != []:
            return False
        message, states = raw.get("message"), raw.get("toolCallStates")
        if message.__class__ is not dict or len(raw) != (2 if states is None else 3):
            return False
        message_id, content, role = message.get("id"), message.get("content"), message.get("role")
        if message_id.__class__ is not str or content.__class__ is not str:
            return False
        if not message_id or message_id in self._ids:
            return False
        if role == "assistant":
            return self._add_answer(message, message_id, content, states, where)
        call_id = message.get("toolCallId")
        if role != "tool" or call_id.__class__ is not str or states is not None or len(message) != 4:  # noqa: PLR2004 (fields of a result)
            return False
        result = self.tools.common_result(content, call_id)
        if result is None:
            return False
        self._ids.add(message_id)
        self.timeline.append(Message(id=message_id, role="tool", parts=[result]))
        return True

    def _add_answer(self, message: Bag, message_id: str, content: str, states: Any, where: str) -> bool:
        raw, calls = message.get("usage"), message.get("toolCalls")
        if len(message) != 3 + (raw is not None) + (calls is not None):
            return False
        usage = None if raw is None else tokens.usage(raw, message_id)
        if raw is not None and usage is None:
            return False
        parts: list[Part] = [Text(text=content)] if content else []
        if calls is not None or states is not None:
            call_parts = self.tools.common_parts(calls, states, self._note, where)
            if call_parts is None:
                return False
            parts += call_parts
        self._ids.add(message_id)
        self.timeline.append(
            Message(id=message_id, role="assistant", model=_model_of(usage), parts=parts, usage=usage)
        )
        return True

    def _add(self, raw: Any, where: str) -> None:
        if raw.__class__ is not dict or raw.get("message").__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, "an item without a message")
            item_id = self._made_id("item", raw)
            self.timeline.append(Event(id=item_id, made_id=True, name="item", data={"value": raw}))
            return
        item = Fields(raw, self._note, where)
        message = Fields(item.take("message"), self._note, where)
        message_id, made_id = self._take_id(message)
        role = message.take("role")
        parts = self._parts(role, message, item)
        at, model, log_extra = self._find_in_logs(item, parts)
        usage = self._usage(message, message_id)
        if item.has("conversationSummary"):
            self._add_summary(item, message_id, at)
        if role is not None and role not in _ROLES:
            message.keep("role", role)
        self.timeline.append(
            Message(
                id=message_id,
                made_id=made_id,
                role=_role(role),
                at=at,
                model=model or _model_of(usage),
                parts=parts,
                usage=usage,
                extra=item.rest() | message.rest() | log_extra,
            )
        )

    def _take_id(self, message: Fields) -> tuple[str, bool]:
        """Take the id of a message, or make one from its content: the CLI writes none."""
        stated = nonempty_str(message.view("id"))
        if stated is not None and stated not in self._ids:
            message.drop("id")
            self._ids.add(stated)
            return stated, False
        if stated is not None:
            self._note(Kind.DUPLICATE_ID, message.where, stated[:60])
        return self._made_id(message.view("role"), message.view("content"), message.view("toolCallId")), True

    def _made_id(self, *content: Any) -> str:
        made_id = content_id = ids.made(SOURCE, self._session_id, *content)
        while made_id in self._ids:
            self._repeats[content_id] += 1
            made_id = ids.made(SOURCE, self._session_id, self._repeats[content_id], *content)
        self._ids.add(made_id)
        return made_id

    def _parts(self, role: Any, message: Fields, item: Fields) -> list[Part]:
        """Return the parts of a message, with its context."""
        content = message.take("content")
        parts: list[Part] = []
        if role in _TOOL_ROLES:
            parts.append(self.tools.result(content, message))
        elif role == "thinking":
            parts.append(_thought(content, message))
        else:
            if role not in _ROLES:
                message.note(Kind.UNKNOWN_ROLE, message.where, f"role {str(role)[:40]!r}")
            if item.has("reasoning"):
                parts += _reasoning(item)
            parts += _content(content, message)
        if role not in _TOOL_ROLES:
            parts += self.tools.parts(message, item)
        return parts + self._context_parts(item, content)

    def _context_parts(self, item: Fields, content: Any) -> list[Part]:
        """Convert the context items, and add the user's mentions in the editor."""
        editor = item.view("editorState")
        if editor is not None:
            self.context.add_mentions(editor)
            if is_equal(editor, content):
                item.drop("editorState")  # the CLI repeats the content
        context_items = item.items("contextItems")
        return [self.context.add_item(raw, item) for raw in context_items] if context_items else []

    def _find_in_logs(self, item: Fields, parts: list[Part]) -> tuple[str | None, str | None, Bag]:
        """Return the time and model of a message, and the fields of its log event."""
        first = parts[0] if parts else None
        at = timestamps.parse_timestamp(first.extra.get("startAt")) if isinstance(first, Reasoning) else None
        logs = [*objects(item.view("promptLogs"))]
        extra = self._session_logs.take_answer_event(logs)
        if isinstance(first, ToolResult):
            extra = self._session_logs.find_result_event(first)
        if not logs and not extra:
            return at, None, extra
        event: Bag = next(iter(extra.values()), {})
        title = _model_in(logs[-1]) if logs else None
        model = self._models.id_of(title or nonempty_str(event.get("modelTitle")))
        return at or timestamps.parse_timestamp(event.get("timestamp")), model, extra

    def _usage(self, message: Fields, message_id: str) -> Usage | None:
        if not message.has("usage"):
            return None
        usage = tokens.usage(message.view("usage"), message_id)
        if usage is not None:
            message.drop("usage")
        return usage

    def _add_summary(self, item: Fields, message_id: str, at: str | None) -> None:
        text = nonempty_str(item.view("conversationSummary"))
        if text is not None:
            item.drop("conversationSummary")
            self.summaries.append(Summary(text=text, kind="system", at=at, message_id=message_id))


def _answered_calls(items: list[Any]) -> set[str]:
    """Return the ids of calls that have a result message."""
    messages = (item.get("message") for item in objects(items))
    answers = (message for message in objects([*messages]) if message.get("role") == "tool")
    return {call_id for message in answers if (call_id := nonempty_str(message.get("toolCallId")))}


def _model_of(usage: Usage | None) -> str | None:
    """Return the model that the CLI states with the tokens."""
    return None if usage is None else nonempty_str(usage.extra.get("model"))


def _role(stated: Any) -> Any:
    if stated == "thinking":
        return "assistant"
    if stated in _TOOL_ROLES:
        return "tool"
    return stated if stated in _ROLES else "user"


def _model_in(log: Bag) -> str | None:
    """Return the model of a prompt: until 2025 its id in the options, later only its title."""
    options = log.get("completionOptions")
    stated = nonempty_str(options.get("model")) if options.__class__ is dict else None
    return stated or nonempty_str(log.get("modelTitle"))


def _thought(content: Any, message: Fields) -> Part:
    """Convert a reasoning message; hidden reasoning is encrypted, with a placeholder as its text."""
    if content is not None and content.__class__ is not str:
        parts = _content(content, message)
        texts = [part.text for part in parts if isinstance(part, Text)]
        if len(texts) < len(parts):
            message.keep("content", content)
        content = "\n".join(texts)
    return Reasoning(
        text=content or None, signature=message.text("signature"), encrypted=message.text("redactedThinking")
    )


def _reasoning(item: Fields) -> list[Part]:
    """Take the reasoning that came with the answer, between `<think>` and `</think>`."""
    if item.view("reasoning").__class__ is not dict:
        return []
    thought = Fields(item.take("reasoning"), item.note, item.where)
    return [Reasoning(text=thought.text("text"), extra=thought.rest())]


def _content(content: Any, message: Fields) -> list[Part]:
    if content.__class__ is list:
        return [_part(raw, message) for raw in content]
    unwrapped = unwrapped_parts(content, lambda inner: _content(inner, message))
    return openai.parse_content(content, message.note, message.where) if unwrapped is None else unwrapped


def _part(raw: Any, message: Fields) -> Part:
    if raw.__class__ is dict and raw.get("type") == "imageUrl":
        return _image(Fields(raw, message.note, message.where), raw)
    (part,) = openai.parse_content([raw], message.note, message.where)
    return part


def _image(part: Fields, raw: Bag) -> Part:
    link = part.nested("imageUrl")
    url = link.text("url") if link is not None else None
    if url is None:
        return Other(data=raw, name="imageUrl")
    part.drop("type")
    mime, data = openai.parse_data_url(url)
    return Media(kind="image", mime=mime, data=data, ref=None if data else url, extra=part.rest())
