"""The items of a session's history: each has a message and what belongs to it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, objects, words
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
from agent_journal.readers.continue_dev.values import same
from agent_journal.readers.dialects import openai_messages as openai

if TYPE_CHECKING:
    from agent_journal.model import Bag, Part, Usage
    from agent_journal.notes import Notes
    from agent_journal.readers.continue_dev.config import Models
    from agent_journal.readers.continue_dev.session_logs import Logged

# A tuple: a role may be anything, also what has no hash.
_ROLES = ("user", "assistant", "system", "tool")
# What tools answered; `function` is the older word of the API.
_TOOL_ROLES = ("tool", "function")


class History:
    """Takes the items of a session one by one, and has the timeline they make."""

    def __init__(
        self, session_id: str, items: list[Any], models: Models, logged: Logged, note: Notes
    ) -> None:
        self.timeline: list[Message | Event] = []
        self.summaries: list[Summary] = []
        self.context = Context()
        self.tools = Tools(_answered(items))
        self._session_id = session_id
        self._models = models
        self._logged = logged
        self._note = note
        self._ids: set[str] = set()
        # How often something was said again: an agent makes many calls without a word.
        self._repeats: Counter[str] = Counter()
        is_silent = logged.is_silent
        for index, item in enumerate(items):
            where = f"history[{index}]"
            if not (is_silent and self._add_usual(item, where)):
                self._add(item, where)

    def _add_usual(self, raw: Any, where: str) -> bool:
        """Add an answer or a result as nearly all are; False, and nothing is done, if it takes more care."""
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
        result = self.tools.usual_result(content, call_id)
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
            called = self.tools.usual_parts(calls, states, self._note, where)
            if called is None:
                return False
            parts += called
        self._ids.add(message_id)
        self.timeline.append(
            Message(id=message_id, role="assistant", model=_model_of(usage), parts=parts, usage=usage)
        )
        return True

    def _add(self, raw: Any, where: str) -> None:
        if raw.__class__ is not dict or raw.get("message").__class__ is not dict:
            self._note(Kind.WRONG_TYPE, where, "an item without a message")
            made = self._made_id("item", raw)
            self.timeline.append(Event(id=made, made_id=True, name="item", data={"value": raw}))
            return
        item = Fields(raw, self._note, where)
        message = Fields(item.take("message"), self._note, where)
        message_id, made_id = self._id(message)
        role = message.take("role")
        said = self._said(role, message, item)
        at, model, logged = self._told_elsewhere(item, said)
        usage = self._usage(message, message_id)
        if item.has("conversationSummary"):
            self._summary(item, message_id, at)
        if role is not None and role not in _ROLES:
            message.keep("role", role)
        self.timeline.append(
            Message(
                id=message_id,
                made_id=made_id,
                role=_role(role),
                at=at,
                model=model or _model_of(usage),
                parts=said,
                usage=usage,
                extra=item.rest() | message.rest() | logged,
            )
        )

    def _id(self, message: Fields) -> tuple[str, bool]:
        """The id of a message, or one made of what is said: the command line writes none."""
        stated = words(message.look("id"))
        if stated is not None and stated not in self._ids:
            message.drop("id")
            self._ids.add(stated)
            return stated, False
        if stated is not None:
            self._note(Kind.DUPLICATE_ID, message.where, stated[:60])
        return self._made_id(message.look("role"), message.look("content"), message.look("toolCallId")), True

    def _made_id(self, *content: Any) -> str:
        made = alike = ids.made(SOURCE, self._session_id, *content)
        while made in self._ids:
            self._repeats[alike] += 1
            made = ids.made(SOURCE, self._session_id, self._repeats[alike], *content)
        self._ids.add(made)
        return made

    def _said(self, role: Any, message: Fields, item: Fields) -> list[Part]:
        """What a message says, with what was put beside it."""
        content = message.take("content")
        said: list[Part] = []
        if role in _TOOL_ROLES:
            said.append(self.tools.result(content, message))
        elif role == "thinking":
            said.append(_thought(content, message))
        else:
            if role not in _ROLES:
                message.note(Kind.UNKNOWN_ROLE, message.where, f"role {str(role)[:40]!r}")
            if item.has("reasoning"):
                said += _reasoning(item)
            said += _content(content, message)
        if role not in _TOOL_ROLES:
            said += self.tools.parts(message, item)
        return said + self._beside(item, content)

    def _beside(self, item: Fields, content: Any) -> list[Part]:
        """The items of context, and what the editor knows of how they were chosen."""
        editor = item.look("editorState")
        if editor is not None:
            self.context.add_mentions(editor)
            if same(editor, content):
                item.drop("editorState")  # the command line repeats what was said
        given = item.items("contextItems")
        return [self.context.part(each, item) for each in given] if given else []

    def _told_elsewhere(self, item: Fields, said: list[Part]) -> tuple[str | None, str | None, Bag]:
        """When something was said and by which model, and what the logs say of it."""
        first = said[0] if said else None
        at = timestamps.moment(first.extra.get("startAt")) if isinstance(first, Reasoning) else None
        logs = [*objects(item.look("promptLogs"))]
        extra = self._logged.of_answer(logs)
        if isinstance(first, ToolResult):
            extra = self._logged.of_result(first)
        if not logs and not extra:
            return at, None, extra
        event: Bag = next(iter(extra.values()), {})
        title = _model_in(logs[-1]) if logs else None
        model = self._models.id_of(title or words(event.get("modelTitle")))
        return at or timestamps.moment(event.get("timestamp")), model, extra

    def _usage(self, message: Fields, message_id: str) -> Usage | None:
        if not message.has("usage"):
            return None
        found = tokens.usage(message.look("usage"), message_id)
        if found is not None:
            message.drop("usage")
        return found

    def _summary(self, item: Fields, message_id: str, at: str | None) -> None:
        text = words(item.look("conversationSummary"))
        if text is not None:
            item.drop("conversationSummary")
            self.summaries.append(Summary(text=text, kind="system", at=at, message_id=message_id))


def _answered(items: list[Any]) -> set[str]:
    """The calls that messages of tools answer."""
    messages = (item.get("message") for item in objects(items))
    answers = (message for message in objects([*messages]) if message.get("role") == "tool")
    return {call_id for message in answers if (call_id := words(message.get("toolCallId")))}


def _model_of(usage: Usage | None) -> str | None:
    """The model that the command line names beside the tokens."""
    return None if usage is None else words(usage.extra.get("model"))


def _role(word: Any) -> Any:
    if word == "thinking":
        return "assistant"
    if word in _TOOL_ROLES:
        return "tool"
    return word if word in _ROLES else "user"


def _model_in(log: Bag) -> str | None:
    """The model of a prompt: until 2025 its id among the options, then only its title."""
    options = log.get("completionOptions")
    stated = words(options.get("model")) if options.__class__ is dict else None
    return stated or words(log.get("modelTitle"))


def _thought(content: Any, message: Fields) -> Part:
    """A message that is a thought; what is hidden comes encrypted, with a remark in its place."""
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
    """Thoughts that came with the answer, between `<think>` and `</think>`."""
    if item.look("reasoning").__class__ is not dict:
        return []
    thought = Fields(item.take("reasoning"), item.note, item.where)
    return [Reasoning(text=thought.text("text"), extra=thought.rest())]


def _content(content: Any, message: Fields) -> list[Part]:
    if content.__class__ is list:
        return [_part(raw, message) for raw in content]
    found = unwrapped_parts(content, lambda inner: _content(inner, message))
    return openai.content_parts(content, message.note, message.where) if found is None else found


def _part(raw: Any, message: Fields) -> Part:
    if raw.__class__ is dict and raw.get("type") == "imageUrl":
        return _image(Fields(raw, message.note, message.where), raw)
    (part,) = openai.content_parts([raw], message.note, message.where)
    return part


def _image(part: Fields, raw: Bag) -> Part:
    link = part.nested("imageUrl")
    url = link.text("url") if link is not None else None
    if url is None:
        return Other(data=raw, name="imageUrl")
    part.drop("type")
    mime, data = openai.inline(url)
    return Media(kind="image", mime=mime, data=data, ref=None if data else url, extra=part.rest())
