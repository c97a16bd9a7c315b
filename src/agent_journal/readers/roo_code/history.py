"""What went to and from the model: `api_conversation_history.json`, one message after the other.

Its content is in Anthropic's form, whatever model was asked. In tasks of the time before native tool calls,
calls stand in the model's text and results in the text that answers it; both are found there and linked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Media, Message, Reasoning, Text, ToolCall, ToolResult, ids, roles, timestamps
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.dialects.injected_text import marked
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import markup, request_costs
from agent_journal.readers.roo_code.fastpath import Usual
from agent_journal.readers.roo_code.names import WORDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Part, Role, Usage
    from agent_journal.notes import Notes

# What begins a result that is not written as a block of its own; the whole is in its `extra`.
_HEAD = "head"
# How OpenRouter gives what models of any vendor thought.
_DETAILS = "reasoning_details"
_ENVIRONMENT = "environment_details"


_SPEAKERS = ("user", "assistant")


@final
class Said(Struct, gc=False):
    """A message, and when it was said in milliseconds, if the source tells."""

    message: Message
    ts: int | None


class History:
    """Makes a message of each record, and remembers what later ones refer to."""

    def __init__(
        self, task_id: str, note: Notes, taken: Iterable[str] = (), *, is_native: bool = False
    ) -> None:
        self.modes: list[str] = []
        self.folder: str | None = None
        self.by_place = 0
        """How many results were linked to their calls by where they stand."""
        self._task_id = task_id
        self._note = note
        self._ids = set(taken)
        self._told: str | None = None
        self._model: str | None = None
        self._mode: str | None = None
        self._is_native = is_native
        self._calls: list[ToolCall] = []

    def said(self, record: Any, index: int) -> Said | None:
        """The message that a record is; None, and a note, if it is nothing like one."""
        where = f"[{index}]"
        if record.__class__ is Usual:
            at = timestamps.from_epoch(record.ts)
            if at is not None:
                return self._usual(record, at, where)
            record = record.as_record()
        if record.__class__ is not dict:
            self._note(Kind.BAD_RECORD, where, f"it is {type(record).__name__}, not an object")
            return None
        return self._careful(Fields(record, self._note, where), where)

    def _usual(self, record: Usual, at: str, where: str) -> Said:
        role, content = record.role, record.content
        raw = contents.blocks_of(content)
        message_id, made_id = self._identified(record.id, role, record.ts, where)
        extra = {"id": record.id} if made_id and record.id is not None else {}
        is_answer = role == "assistant"
        if is_answer:
            parts = contents.plain(raw) if self._is_native else []
            if not parts:
                parts = self._answer(raw, where)
                if details := _take_details(parts):
                    parts = self._details(details, where) + parts
            parts = contents.spoken(parts)
        else:
            parts, environment = self._prompt(raw, where)
            if environment is not None:
                extra[_ENVIRONMENT] = environment
        parts, hidden = marked(parts, markup.is_injected) if not is_answer else (parts, False)
        native = contents.native(content, parts)
        if is_answer:
            self._name_calls(parts, message_id)
        message = Message(
            id=message_id,
            made_id=made_id,
            role=role,
            at=at,
            model=self._model if is_answer else None,
            hidden=hidden,
            response_id=message_id if is_answer and not made_id else None,
            parts=parts,
            native=native,
            extra=extra,
        )
        return Said(message, record.ts)

    def _careful(self, fields: Fields, where: str) -> Said:
        role = self._role(fields)
        ts = fields.look("ts")
        at = fields.moment("ts")
        ts = ts if ts.__class__ is int and at is not None else None
        stated = fields.text("id")
        message_id, made_id = self._identified(stated, role, ts, where)
        if made_id and stated is not None:
            fields.keep("id", stated)
        parts, native = self._content(fields, where, is_answer=role == "assistant")
        hidden = is_summary(fields.look) or fields.look("isTruncationMarker") is True
        if role == "user" and not hidden:
            parts, hidden = marked(parts, markup.is_injected)
        if role == "assistant":
            self._name_calls(parts, message_id)
        message = Message(
            id=message_id,
            made_id=made_id,
            role=role or "user",
            at=at,
            model=self._model_of(fields) if role == "assistant" else None,
            hidden=hidden,
            response_id=message_id if role == "assistant" and not made_id else None,
            parts=parts,
            usage=_metered(fields, message_id),
            native=native,
            extra=fields.rest(),
        )
        return Said(message, ts)

    def _role(self, fields: Fields) -> Role | None:
        stated = fields.take("role")
        if stated in _SPEAKERS:
            return stated  # type: ignore[no-any-return] # one of them
        role = roles.role(stated)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
        if role != stated and stated is not None:
            fields.keep("role", stated)
        return role

    def _identified(
        self, stated: str | None, role: str | None, ts: int | None, where: str
    ) -> tuple[str, bool]:
        """Its id, and whether that was made; that of an answer was given to it by the model's vendor."""
        if stated and stated not in self._ids:
            self._ids.add(stated)
            return stated, False
        made = ids.uuid5(f"{self._task_id}:{role}:{where if ts is None else ts}")
        if made in self._ids:
            made = ids.uuid5(f"{self._task_id}:{role}:{ts}:{where}")
        self._ids.add(made)
        return made, True

    def _model_of(self, fields: Fields) -> str | None:
        info = fields.nested("modelInfo")
        if info is None:
            return self._model
        self._learn_mode(info.look("mode"))
        return info.text("modelId" if info.has("modelId") else "id") or self._model

    def _learn_mode(self, mode: Any) -> None:
        if isinstance(mode, str) and mode and mode not in self.modes[-1:]:
            self.modes.append(mode)

    def _content(self, fields: Fields, where: str, *, is_answer: bool) -> tuple[list[Part], Any]:
        """The parts, and the content itself unless they tell it exactly."""
        content = fields.take("content")
        if content is None and fields.look("type") == "reasoning":
            fields.drop("type")
            return [contents.reasoning(fields)], None
        raw = contents.blocks_of(content)
        if content.__class__ is dict and (around := unwrap(content)[1]):
            fields.keep("content", around)
        if is_answer:
            parts = self._answer(raw, where)
            beside = self._thoughts_beside(parts, fields, where) + contents.deeds(fields)
            parts = contents.spoken(beside + parts)
        else:
            parts, environment = self._prompt(raw, where)
            if environment is not None:
                stated = fields.look(_ENVIRONMENT)
                fields.keep(_ENVIRONMENT, environment if stated is None else [stated, environment])
        return parts, None if content is None else contents.native(content, parts)

    def _answer(self, raw: list[Any], where: str) -> list[Part]:
        """What the model said; once it has called a tool natively, XML in its text is nothing but text."""
        is_native = self._is_native = self._is_native or "tool_use" in map(contents.type_of, raw)
        parts: list[Part] = []
        for block in raw:
            text = None if is_native else contents.text_of(block)
            if text is None or "</" not in text:
                parts.append(contents.part_of(block, self._note, where))
            else:
                parts += contents.in_text(text)
        return parts

    def _thoughts_beside(self, parts: list[Part], fields: Fields, where: str) -> list[Part]:
        """What the model thought, if a record says it beside its content and not in it."""
        if any(part.__class__ is Reasoning for part in parts):
            return []
        if fields.look("reasoning_content").__class__ is str:
            return [Reasoning(text=fields.text("reasoning_content"))]
        details = fields.look(_DETAILS)
        if _are_details(details):
            fields.drop(_DETAILS)
            return self._details(details, where)
        return self._details(_take_details(parts), where)

    def _details(self, details: list[Any], where: str) -> list[Part]:
        return [contents.detail(Fields(detail, self._note, where)) for detail in details]

    def _name_calls(self, parts: list[Part], message_id: str) -> None:
        """Give an id to calls that have none, by which their results are linked to them."""
        self._calls = calls = []
        for place, part in enumerate(parts):
            if part.__class__ is ToolCall:
                if part.call_id is None:
                    call_id = f"{message_id}:{place}"
                    # Several times faster than `replace`.
                    parts[place] = ToolCall(
                        name=part.name, call_id=call_id, input=part.input, kind=part.kind, extra=part.extra
                    )
                calls.append(parts[place])

    def _prompt(self, raw: list[Any], where: str) -> tuple[list[Part], str | None]:
        """What the person said and what tools answered; and what the extension tells of the environment."""
        parts: list[Part] = []
        environment: str | None = None
        for block in raw:
            text = contents.text_of(block)
            if text is None:
                _add(parts, contents.part_of(block, self._note, where))
                continue
            if environment is None and markup.tells_environment(text):
                text, environment = self._without_environment(text)
            if text:
                self._add_text(parts, text, block, where)
        if any(call.name in WORDS for call in self._calls):
            parts = [told for part in parts for told in self._replied(part)]
        return parts, environment

    def _replied(self, part: Part) -> list[Part]:
        """A part of a prompt; of the result of a call that told the person something, also their reply."""
        if not isinstance(part, ToolResult):
            return [part]
        call = next((call for call in self._calls if call.call_id == part.call_id), None)
        return contents.answered(part) if call is not None and call.name in WORDS else [part]

    def _without_environment(self, text: str) -> tuple[str, str | None]:
        rest, told = markup.without_environment(text)
        if told is None:
            return text, None
        if self._told is None or self.folder is None or not markup.repeats(told, self._told):
            environment = markup.Environment(told)
            self._told = environment.section
            self._model = environment.model or self._model
            self._mode = environment.mode
            self.folder = self.folder or environment.folder
        self._learn_mode(self._mode)
        return rest, told

    def _add_text(self, parts: list[Part], text: str, block: Any, where: str) -> None:
        head = markup.head_of_result(text)
        if head is not None:
            parts.append(self._result(*head, where))
        elif parts and (result := _open_result(parts)) is not None and result.output == "":
            parts[-1] = ToolResult(
                call_id=result.call_id,
                name=result.name,
                output=text,
                is_error=markup.is_failure(text),
                extra=result.extra,
            )
        else:
            words = contents.words(text, block)
            self._learn_mode(words.extra.get("mode"))
            parts.append(words)

    def _result(self, name: str, head: str, behind: str, where: str) -> ToolResult:
        """The result that a text begins; its call is the one of that name in the message before.

        Calls of one name are answered in their order.
        """
        call = next((call for call in self._calls if call.name == name), None)
        if call is None:
            self._note(Kind.UNLINKED_RESULT, where, head[:60])
        else:
            self.by_place += 1
            self._calls.remove(call)
            self._calls.append(call)
        output = behind.removeprefix("\n")
        return ToolResult(
            call_id=None if call is None else call.call_id,
            name=name,
            output=output,
            is_error=markup.is_failure(output),
            extra={_HEAD: head},
        )


def is_summary(look: Callable[[str], Any]) -> bool:
    """Whether what a record says stands for all before it; Cline's sessions say so in another way."""
    metadata = look("metadata")
    return look("isSummary") is True or (
        metadata.__class__ is dict and metadata.get("kind") == "compaction_summary"
    )


def _metered(fields: Fields, key: str) -> Usage | None:
    """What a record states of its tokens; that stays, for what was shown may tell more."""
    metrics = fields.look("metrics")
    if metrics.__class__ is not dict:
        return None
    stated = {name: dict(value) if value.__class__ is dict else value for name, value in metrics.items()}
    return request_costs.metered(Fields(stated, fields.note, fields.where), key)


def _are_details(value: Any) -> bool:
    return value.__class__ is list and all(detail.__class__ is dict for detail in value)


def _take_details(parts: list[Part]) -> list[Any]:
    """What Cline keeps of the thoughts of a model with what it said then, unless they are told already."""
    for place, part in enumerate(parts):
        if part.__class__ is Reasoning:
            return []
        if part.__class__ is Text and part.extra and _are_details(part.extra.get(_DETAILS)):
            left = {name: value for name, value in part.extra.items() if name != _DETAILS}
            parts[place] = replace(part, extra=left)
            return list(part.extra[_DETAILS])
    return []


def _open_result(parts: list[Part]) -> ToolResult | None:
    """The result before, if it has a head, to which what follows belongs."""
    last = parts[-1] if parts else None
    return last if last.__class__ is ToolResult and _HEAD in last.extra else None


def _add(parts: list[Part], part: Part) -> None:
    """Put a part at the end; pictures go into the result whose output they are."""
    result = _open_result(parts) if part.__class__ is Media else None
    if result is None:
        parts.append(part)
        return
    before = result.output
    said = before if isinstance(before, list) else [Text(text=before)] if before else []
    parts[-1] = replace(result, output=[*said, part])
