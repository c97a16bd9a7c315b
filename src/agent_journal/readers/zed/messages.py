"""The messages of a thread: values of Rust's enumerations, and in older threads messages with segments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields, nonempty_str
from agent_journal.model import (
    Event,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Role,
    Summary,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    roles,
)
from agent_journal.notes import Kind
from agent_journal.readers.dialects.anthropic_blocks import parse_usage
from agent_journal.readers.dialects.session_log import with_new_id
from agent_journal.readers.zed.names import AGENT, COMPACTION, RESUME, TOOL_KINDS, USER

if TYPE_CHECKING:
    from agent_journal.notes import Notes

_ADDRESSES = ("abs_path", "path", "url", "id")


class ThreadReader:
    """Reads the messages of one thread."""

    def __init__(self, thread_id: str, model: str | None, note: Notes) -> None:
        self.summaries: list[Summary] = []
        self._thread_id = thread_id
        self._model = model
        self._note = note
        self._entries: list[Message | Event] = []
        self._known_ids: set[str] = set()

    def read(self, messages: list[Any], usages: Any) -> list[Message | Event]:
        """Return the entries of the messages; `usages` are by the id of a prompt, or one per message."""
        pending: Usage | None = None
        forms = [_form_of(message) for message in messages]
        last_answers = _last_answers([form for form, _ in forms])
        for index, message in enumerate(messages):
            where = f"thread {self._thread_id} message {index}"
            own_id = f"{self._thread_id}:{index}"
            form, value = forms[index]
            if form == USER:
                prompt = self._add_prompt(Fields(dict(value), self._note, where), own_id)
                pending = self._usage(usages, prompt, own_id)
            elif form == AGENT:
                # The counts are of the last request of a prompt; answers before it have none.
                usage = pending if index in last_answers else None
                self._add_answer(Fields(dict(value), self._note, where), own_id, usage)
            elif message.__class__ is dict and "role" in message:
                raw_usage = usages[index] if usages.__class__ is list and index < len(usages) else None
                self._add_old(Fields(dict(message), self._note, where), index, raw_usage)
            else:
                self._add_event(form, message, where, own_id)
        return self._entries

    def _usage(self, usages: Any, prompt: str, own_id: str) -> Usage | None:
        raw = usages.get(prompt) if usages.__class__ is dict else None
        usage = parse_usage(raw, own_id)
        return usage if usage is not None and (usage.input or usage.output or usage.cache_read) else None

    def _add(self, entry: Message, own_id: str) -> None:
        if not entry.id or entry.id in self._known_ids:
            if entry.id:
                self._note(Kind.DUPLICATE_ID, "", entry.id[:60])
            entry = with_new_id(entry, own_id)
        self._known_ids.add(entry.id)
        self._entries.append(entry)

    def _add_prompt(self, fields: Fields, own_id: str) -> str:
        prompt = nonempty_str(fields.take("id")) or ""
        parts = self._parts(fields.take("content"), fields.where)
        self._add(Message(id=prompt, role="user", parts=parts, extra=fields.rest()), own_id)
        return prompt

    def _add_answer(self, fields: Fields, own_id: str, usage: Usage | None) -> None:
        parts = self._parts(fields.take("content"), fields.where)
        results = fields.view("tool_results")
        results = fields.take("tool_results") if results.__class__ is dict else {}
        if fields.view("reasoning_details") is None:
            fields.drop("reasoning_details")
        answer = Message(
            id=own_id,
            made_id=True,
            role="assistant",
            model=self._model,
            parts=parts,
            usage=usage,
            extra=fields.rest(),
        )
        self._add(answer, own_id)
        self._add_results([self._result(raw, call, fields.where) for call, raw in results.items()], own_id)

    def _add_results(self, results: list[Part], own_id: str) -> None:
        if results:
            self._add(Message(id=f"{own_id}:results", made_id=True, role="tool", parts=results), own_id)

    def _add_event(self, form: str, message: Any, where: str, own_id: str) -> None:
        if form == COMPACTION:
            summary = message[COMPACTION].get("Summary") if message[COMPACTION].__class__ is dict else None
            if text := nonempty_str(summary):
                covered = (entry.id for entry in reversed(self._entries) if isinstance(entry, Message))
                self.summaries.append(Summary(text=text, message_id=next(covered, None)))
        elif form != RESUME:
            self._note(Kind.UNKNOWN_TYPE, where, f"message {form[:40]!r}")
        data = message if message.__class__ is dict else {} if form == RESUME else {"value": message}
        self._entries.append(Event(id=own_id, made_id=True, name=form.lower(), data=data))

    def _parts(self, content: Any, where: int | str) -> list[Part]:
        if content.__class__ is not list:
            return (
                []
                if content is None
                else [Text(text=content) if content.__class__ is str else Other(data=content)]
            )
        return [self._part(raw, where) for raw in content]

    def _part(self, raw: Any, where: int | str) -> Part:
        form, value = _form_of(raw)
        match form, value:
            case "Text", str():
                return Text(text=value)
            case "RedactedThinking", str():
                return Reasoning(encrypted=value)
            case "Thinking", dict():
                thought = Fields(dict(value), self._note, where)
                return Reasoning(
                    text=thought.text("text"), signature=thought.text("signature"), extra=thought.rest()
                )
            case "Mention", dict():
                return _mention(Fields(dict(value), self._note, where))
            case "Image", dict():
                image = Fields(dict(value), self._note, where)
                # The editor converts all images to PNG.
                return Media(kind="image", mime="image/png", data=image.text("source"), extra=image.rest())
            case "ToolUse", dict():
                return _call(Fields(dict(value), self._note, where))
        self._note(Kind.UNKNOWN_TYPE, where, f"content {form[:40]!r}")
        return Other(data=raw, name=form)

    def _result(self, raw: Any, call_id: str, where: int | str) -> Part:
        if raw.__class__ is not dict:
            return Other(data={call_id: raw}, name="tool_result")
        fields = Fields(dict(raw), self._note, where)
        output = self._output(fields.take("content"), where)
        if fields.view("output") is None or fields.view("output") == output:
            fields.drop("output")
        return ToolResult(
            call_id=fields.text("tool_use_id") or call_id,
            name=fields.text("tool_name"),
            output=output,
            is_error=fields.flag("is_error"),
            extra=fields.rest(),
        )

    def _output(self, content: Any, where: int | str) -> Any:
        if content.__class__ is str or content is None:
            return content or ""
        contents = content if content.__class__ is list else [content]
        if all(one.__class__ is dict and one.get("type") == "text" for one in contents):
            contents = [{"Text": one.get("text")} for one in contents]
        parts = self._parts(contents, where)
        only = parts[0] if len(parts) == 1 else None
        return only.text if isinstance(only, Text) else parts

    def _add_old(self, fields: Fields, index: int, raw_usage: Any) -> None:
        """Add a message of a thread of 2025: segments, then calls and their results."""
        own_id = f"{self._thread_id}:{index}"
        name = fields.take("role")
        role: Role | None = roles.role(name)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(name)[:40]!r}")
            fields.keep("role", name)
        parts = [self._segment(raw, fields.where) for raw in fields.items("segments") or ()]
        parts += [
            _call(Fields(dict(raw), self._note, fields.where)) if raw.__class__ is dict else Other(data=raw)
            for raw in fields.items("tool_uses") or ()
        ]
        if context := nonempty_str(fields.take("context")):
            parts.insert(0, Text(text=context, injected=True))
        results = [self._result(raw, "", fields.where) for raw in fields.items("tool_results") or ()]
        fields.drop("id")  # the position of the message
        is_answer = role == "assistant"
        message = Message(
            id=own_id,
            made_id=True,
            role=role or "user",
            model=self._model if is_answer else None,
            parts=parts,
            usage=parse_usage(raw_usage, own_id) if is_answer else None,
            extra=fields.rest(),
        )
        self._add(message, own_id)
        self._add_results(results, own_id)

    def _segment(self, raw: Any, where: int | str) -> Part:
        if raw.__class__ is not dict:
            return Other(data=raw)
        fields = Fields(dict(raw), self._note, where)
        match fields.take("type"):
            case "text" if fields.view("text").__class__ is str:
                return Text(text=fields.take("text"), extra=fields.rest())
            case "thinking":
                return Reasoning(
                    text=fields.text("text"), signature=fields.text("signature"), extra=fields.rest()
                )
            case "redacted_thinking" if fields.view("data").__class__ is str:
                return Reasoning(encrypted=fields.take("data"), extra=fields.rest())
        self._note(Kind.UNKNOWN_TYPE, where, f"segment {str(raw.get('type'))[:40]!r}")
        return Other(data=raw)


def _form_of(value: Any) -> tuple[str, Any]:
    """Return the form and content of a value of an enumeration."""
    if value.__class__ is dict and len(value) == 1:
        form, content = next(iter(value.items()))
        return (
            (form, content)
            if form not in (USER, AGENT) or content.__class__ is dict
            else ("unknown", content)
        )
    return (value, None) if value == RESUME else ("unknown", value)


def _last_answers(forms: list[str]) -> set[int]:
    """Return the positions of the last answer to each prompt."""
    last: set[int] = set()
    is_open = True
    for index in range(len(forms) - 1, -1, -1):
        if forms[index] == USER:
            is_open = True
        elif forms[index] == AGENT and is_open:
            last.add(index)
            is_open = False
    return last


def _mention(fields: Fields) -> Part:
    """Return what the user mentioned: a file, symbol, page or thread, with its content as it was sent."""
    uri = fields.view("uri")
    form, value = (uri, None) if uri.__class__ is str else _form_of(uri)
    value = value if value.__class__ is dict else {}
    address = next((value[name] for name in _ADDRESSES if nonempty_str(value.get(name))), None)
    name = nonempty_str(value.get("name")) or (
        address.replace("\\", "/").rsplit("/", 1)[-1] if address else None
    )
    text = fields.text("content")
    return Media(kind="file", name=name or form, ref=address, text=text or None, extra=fields.rest())


def _call(fields: Fields) -> Part:
    name = fields.text("name") or ""
    call_input = fields.take("input") if fields.has("input") else fields.take("raw_input")
    fields.drop("raw_input")  # the same as text
    if fields.view("is_input_complete") is True:
        fields.drop("is_input_complete")
    if fields.view("thought_signature") is None:
        fields.drop("thought_signature")
    return ToolCall(
        call_id=fields.text("id"),
        name=name,
        input=call_input,
        kind=TOOL_KINDS.get(name),
        extra=fields.rest(),
    )
