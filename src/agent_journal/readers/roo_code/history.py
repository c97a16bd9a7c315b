"""The API history: `api_conversation_history.json`, the messages exchanged with the model, in order.

The content is in Anthropic's form, whatever the model. In tasks from before native tool calls, calls are
embedded in the model's text and results in the text of the next prompt; both are extracted and linked.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, final

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Media, Message, Reasoning, Text, ToolCall, ToolResult, ids, roles, timestamps
from agent_journal.model.content_blocks import unwrap
from agent_journal.notes import Kind
from agent_journal.readers.dialects.injected_text import mark_injected_parts
from agent_journal.readers.roo_code import content as contents
from agent_journal.readers.roo_code import markup, request_costs
from agent_journal.readers.roo_code.fastpath import CommonMessage
from agent_journal.readers.roo_code.names import SPOKEN_PARAMETERS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from agent_journal.model import Part, Role, Usage
    from agent_journal.notes import Notes

# Key in `extra` of a result that was not a block of its own: the header it had in the text.
_HEAD = "head"
# The reasoning of any vendor's model in OpenRouter's form.
_DETAILS = "reasoning_details"
_ENVIRONMENT = "environment_details"
_ROLES = ("user", "assistant")


@final
class DatedMessage(Struct, gc=False):
    """A message and its timestamp in milliseconds, if it has one."""

    message: Message
    ts: int | None


class History:
    """Converts each record to a message, and remembers what later records refer to."""

    def __init__(
        self, task_id: str, note: Notes, used_ids: Iterable[str] = (), *, is_native: bool = False
    ) -> None:
        self.modes: list[str] = []
        self.folder: str | None = None
        self.positional_links = 0
        """How many results were linked to their calls by position."""
        self._task_id = task_id
        self._note = note
        self._ids = set(used_ids)
        self._environment_section: str | None = None
        self._model: str | None = None
        self._mode: str | None = None
        self._is_native = is_native
        self._calls: list[ToolCall] = []

    def parse(self, record: Any, index: int) -> DatedMessage | None:
        """Convert a record to a message; None, and a note, if it is not an object."""
        where = f"[{index}]"
        if record.__class__ is CommonMessage:
            at = timestamps.from_epoch(record.ts)
            if at is not None:
                return self._convert_common(record, at, where)
            record = record.as_record()
        if record.__class__ is not dict:
            self._note(Kind.BAD_RECORD, where, f"it is {type(record).__name__}, not an object")
            return None
        return self._convert_any(Fields(record, self._note, where), where)

    def _convert_common(self, record: CommonMessage, at: str, where: str) -> DatedMessage:
        role, content = record.role, record.content
        blocks = contents.blocks_of(content)
        message_id, made_id = self._claim_id(record.id, role, record.ts, where)
        extra = {"id": record.id} if made_id and record.id is not None else {}
        is_answer = role == "assistant"
        if is_answer:
            parts = contents.common_parts(blocks) if self._is_native else []
            if not parts:
                parts = self._answer_parts(blocks, where)
                if details := _take_details(parts):
                    parts = self._convert_details(details, where) + parts
            parts = contents.extract_spoken_text(parts)
        else:
            parts, environment = self._prompt_parts(blocks, where)
            if environment is not None:
                extra[_ENVIRONMENT] = environment
        parts, hidden = mark_injected_parts(parts, markup.is_injected) if not is_answer else (parts, False)
        native = contents.native_content(content, parts)
        if is_answer:
            self._assign_call_ids(parts, message_id)
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
        return DatedMessage(message, record.ts)

    def _convert_any(self, fields: Fields, where: str) -> DatedMessage:
        role = self._role(fields)
        ts = fields.view("ts")
        at = fields.timestamp("ts")
        ts = ts if ts.__class__ is int and at is not None else None
        stated = fields.text("id")
        message_id, made_id = self._claim_id(stated, role, ts, where)
        if made_id and stated is not None:
            fields.keep("id", stated)
        parts, native = self._take_content(fields, where, is_answer=role == "assistant")
        hidden = is_summary(fields.view) or fields.view("isTruncationMarker") is True
        if role == "user" and not hidden:
            parts, hidden = mark_injected_parts(parts, markup.is_injected)
        if role == "assistant":
            self._assign_call_ids(parts, message_id)
        message = Message(
            id=message_id,
            made_id=made_id,
            role=role or "user",
            at=at,
            model=self._model_of(fields) if role == "assistant" else None,
            hidden=hidden,
            response_id=message_id if role == "assistant" and not made_id else None,
            parts=parts,
            usage=_usage(fields, message_id),
            native=native,
            extra=fields.rest(),
        )
        return DatedMessage(message, ts)

    def _role(self, fields: Fields) -> Role | None:
        stated = fields.take("role")
        if stated in _ROLES:
            return stated  # type: ignore[no-any-return] # one of them
        role = roles.role(stated)
        if role is None:
            self._note(Kind.UNKNOWN_ROLE, fields.where, f"role {str(stated)[:40]!r}")
        if role != stated and stated is not None:
            fields.keep("role", stated)
        return role

    def _claim_id(self, stated: str | None, role: str | None, ts: int | None, where: str) -> tuple[str, bool]:
        """Return the id of a message and whether it was made; the id of an answer is its vendor's."""
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
        self._add_mode(info.view("mode"))
        return info.text("modelId" if info.has("modelId") else "id") or self._model

    def _add_mode(self, mode: Any) -> None:
        if isinstance(mode, str) and mode and mode not in self.modes[-1:]:
            self.modes.append(mode)

    def _take_content(self, fields: Fields, where: str, *, is_answer: bool) -> tuple[list[Part], Any]:
        """Return the parts, and the content itself unless the parts preserve it exactly."""
        content = fields.take("content")
        if content is None and fields.view("type") == "reasoning":
            fields.drop("type")
            return [contents.reasoning(fields)], None
        blocks = contents.blocks_of(content)
        if content.__class__ is dict and (wrapper := unwrap(content)[1]):
            fields.keep("content", wrapper)
        if is_answer:
            parts = self._answer_parts(blocks, where)
            before = self._take_reasoning(parts, fields, where) + contents.take_server_tool_parts(fields)
            parts = contents.extract_spoken_text(before + parts)
        else:
            parts, environment = self._prompt_parts(blocks, where)
            if environment is not None:
                stated = fields.view(_ENVIRONMENT)
                fields.keep(_ENVIRONMENT, environment if stated is None else [stated, environment])
        return parts, None if content is None else contents.native_content(content, parts)

    def _answer_parts(self, blocks: list[Any], where: str) -> list[Part]:
        """Convert a model's answer; after its first native tool call, XML in its text is only text."""
        is_native = self._is_native = self._is_native or "tool_use" in map(contents.type_of, blocks)
        parts: list[Part] = []
        for block in blocks:
            text = None if is_native else contents.text_of(block)
            if text is None or "</" not in text:
                parts.append(contents.part_of(block, self._note, where))
            else:
                parts += contents.parse_model_text(text)
        return parts

    def _take_reasoning(self, parts: list[Part], fields: Fields, where: str) -> list[Part]:
        """Take the reasoning that a record has outside of its content, unless the content has reasoning."""
        if any(part.__class__ is Reasoning for part in parts):
            return []
        if fields.view("reasoning_content").__class__ is str:
            return [Reasoning(text=fields.text("reasoning_content"))]
        details = fields.view(_DETAILS)
        if _is_details_list(details):
            fields.drop(_DETAILS)
            return self._convert_details(details, where)
        return self._convert_details(_take_details(parts), where)

    def _convert_details(self, details: list[Any], where: str) -> list[Part]:
        return [contents.reasoning_detail(Fields(detail, self._note, where)) for detail in details]

    def _assign_call_ids(self, parts: list[Part], message_id: str) -> None:
        """Give an id to calls that have none, so that their results can link to them."""
        self._calls = calls = []
        for index, part in enumerate(parts):
            if part.__class__ is ToolCall:
                if part.call_id is None:
                    call_id = f"{message_id}:{index}"
                    # Several times faster than `replace`.
                    parts[index] = ToolCall(
                        name=part.name, call_id=call_id, input=part.input, kind=part.kind, extra=part.extra
                    )
                calls.append(parts[index])

    def _prompt_parts(self, blocks: list[Any], where: str) -> tuple[list[Part], str | None]:
        """Convert the user's text and the tool results; also return the description of the environment."""
        parts: list[Part] = []
        environment: str | None = None
        for block in blocks:
            text = contents.text_of(block)
            if text is None:
                _append(parts, contents.part_of(block, self._note, where))
                continue
            if environment is None and markup.has_environment(text):
                text, environment = self._split_environment(text)
            if text:
                self._add_text(parts, text, block, where)
        if any(call.name in SPOKEN_PARAMETERS for call in self._calls):
            parts = [split for part in parts for split in self._split_reply(part)]
        return parts, environment

    def _split_reply(self, part: Part) -> list[Part]:
        """Split the user's reply from the result of a call that addressed the user; other parts stay."""
        if not isinstance(part, ToolResult):
            return [part]
        call = next((call for call in self._calls if call.call_id == part.call_id), None)
        return contents.extract_reply(part) if call is not None and call.name in SPOKEN_PARAMETERS else [part]

    def _split_environment(self, text: str) -> tuple[str, str | None]:
        rest, environment = markup.split_environment(text)
        if environment is None:
            return text, None
        section = self._environment_section
        if section is None or self.folder is None or not markup.has_section(environment, section):
            self._read_environment(markup.Environment(environment))
        self._add_mode(self._mode)
        return rest, environment

    def _read_environment(self, environment: markup.Environment) -> None:
        self._environment_section = environment.section
        self._model = environment.model or self._model
        self._mode = environment.mode
        self.folder = self.folder or environment.folder

    def _add_text(self, parts: list[Part], text: str, block: Any, where: str) -> None:
        result_parts = markup.split_result_header(text)
        if result_parts is not None:
            parts.append(self._result(*result_parts, where))
        elif parts and (result := _open_result(parts)) is not None and result.output == "":
            parts[-1] = ToolResult(
                call_id=result.call_id,
                name=result.name,
                output=text,
                is_error=markup.is_failure(text),
                extra=result.extra,
            )
        else:
            user_text = contents.user_text(text, block)
            self._add_mode(user_text.extra.get("mode"))
            parts.append(user_text)

    def _result(self, name: str, head: str, output: str, where: str) -> ToolResult:
        """Make a result and link it to the call of that name in the previous message.

        Calls with the same name are answered in their order.
        """
        call = next((call for call in self._calls if call.name == name), None)
        if call is None:
            self._note(Kind.UNLINKED_RESULT, where, head[:60])
        else:
            self.positional_links += 1
            self._calls.remove(call)
            self._calls.append(call)
        output = output.removeprefix("\n")
        return ToolResult(
            call_id=None if call is None else call.call_id,
            name=name,
            output=output,
            is_error=markup.is_failure(output),
            extra={_HEAD: head},
        )


def is_summary(look: Callable[[str], Any]) -> bool:
    """Whether a record summarizes all messages before it; Cline's sessions mark that in another way."""
    metadata = look("metadata")
    return look("isSummary") is True or (
        metadata.__class__ is dict and metadata.get("kind") == "compaction_summary"
    )


def _usage(fields: Fields, key: str) -> Usage | None:
    """Return the usage of a record; the fields stay, since UI records may state more."""
    metrics = fields.view("metrics")
    if metrics.__class__ is not dict:
        return None
    copied = {name: dict(value) if value.__class__ is dict else value for name, value in metrics.items()}
    return request_costs.answer_usage(Fields(copied, fields.note, fields.where), key)


def _is_details_list(value: Any) -> bool:
    return value.__class__ is list and all(detail.__class__ is dict for detail in value)


def _take_details(parts: list[Part]) -> list[Any]:
    """Take the reasoning details that Cline stores with a text, unless there is a reasoning part."""
    for index, part in enumerate(parts):
        if part.__class__ is Reasoning:
            return []
        if part.__class__ is Text and part.extra and _is_details_list(part.extra.get(_DETAILS)):
            remaining = {name: value for name, value in part.extra.items() if name != _DETAILS}
            parts[index] = replace(part, extra=remaining)
            return list(part.extra[_DETAILS])
    return []


def _open_result(parts: list[Part]) -> ToolResult | None:
    """Return the last part if it is a result with a header: the next texts and images belong to it."""
    last = parts[-1] if parts else None
    return last if last.__class__ is ToolResult and _HEAD in last.extra else None


def _append(parts: list[Part], part: Part) -> None:
    """Append a part; an image after a result with a header is appended to its output."""
    result = _open_result(parts) if part.__class__ is Media else None
    if result is None:
        parts.append(part)
        return
    before = result.output
    output = before if isinstance(before, list) else [Text(text=before)] if before else []
    parts[-1] = replace(result, output=[*output, part])
