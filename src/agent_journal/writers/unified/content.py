"""Content: the parts of messages as the schema's six kinds of blocks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from agent_journal.model import (
    Code,
    Conversation,
    Media,
    Message,
    Other,
    Part,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    ids,
    tree,
)
from agent_journal.model.leftovers import Leftovers
from agent_journal.notes import Kind
from agent_journal.writers.unified.own_fields import without_nulls

if TYPE_CHECKING:
    from agent_journal.model import Bag
    from agent_journal.writers import Run
    from agent_journal.writers.unified.own_fields import OwnFields

_RESULT_TYPES = {"duration_ms": int, "exit_code": int}


# Fields of a block's metadata other than the source's own.
_TEXT_FIELDS = frozenset({"citations", "injected"})
_CODE_FIELDS = frozenset({"line_range"})
_THINKING_FIELDS = frozenset({"summary", "encrypted"})
_IMAGE_FIELDS = frozenset({"ref", "size", "mime", "text"})
_RESULT_FIELDS = frozenset({"name"})
_TEXT_LEFTOVERS = Leftovers(Text, represented=("text", "injected", "citations", "extra"))
_CODE_LEFTOVERS = Leftovers(
    Code, represented=("code", "language", "file", "first_line", "last_line", "extra")
)
_THINKING_LEFTOVERS = Leftovers(Reasoning, represented=("text", "summary", "signature", "encrypted", "extra"))
_IMAGE_LEFTOVERS = Leftovers(
    Media, represented=("kind", "mime", "name", "size", "ref", "data", "text", "extra")
)
_CALL_LEFTOVERS = Leftovers(ToolCall, represented=("name", "call_id", "input", "kind", "extra"))
_RESULT_LEFTOVERS = Leftovers(
    ToolResult, represented=("call_id", "output", "is_error", "name", "native", "extra")
)
# A text without any other field has no metadata.
_PLAIN_TEXT = Leftovers(Text, represented=("text",))
# The tags of parts that are in the metadata of a text block.
_PLACEHOLDERS = ("media", "other", "reasoning")

Block: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""A block, and the own fields of its part."""


class Content:
    """Builds the blocks of one conversation, and counts what the schema changes or cannot represent."""

    def __init__(self, conversation: Conversation, own_fields: OwnFields) -> None:
        self.tool_calls = 0
        self._conversation = conversation
        self._own_fields = own_fields
        self._message_id = ""
        self._replaced: Counter[str] = Counter()
        self._raw_inputs = self._generated_ids = self._guessed_links = 0
        self._calls_without_id: list[str] = []

    def blocks(self, message: Message) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
        """The content of a message, and the own fields of each block, if there are any."""
        self._message_id = message.id
        return _split_own_fields([self._block(part) for part in message.parts])

    def _block(self, part: Part) -> Block:
        match part:
            case Text():
                return self._text(part)
            case ToolCall():
                return self._tool_use(part)
            case Code():
                return self._code(part)
            case Reasoning():
                return self._thinking(part)
            case Media():
                if part.kind == "image":
                    return self._image(part)
                return self._placeholder(part, _media_label(part))
            case Other():
                return self._placeholder(part, part.name or "unknown content")
        return self._tool_result(part)

    def _tool_use(self, call: ToolCall) -> Block:
        self.tool_calls += 1
        value = tree.arguments(call)
        own_fields = self._own_fields.input(call.input, value) | self._own_fields.kind(call)
        _CALL_LEFTOVERS.add(call, own_fields)
        if value is None:
            value = {}
        elif value.__class__ is not dict:
            self._raw_inputs += 1
            value = {"raw": value}
        call_id = call.call_id
        if call_id is None:
            call_id = self._generate_id()
            self._calls_without_id.append(call_id)
            own_fields["call_id"] = None
        block = {"type": "tool_use", "id": call_id, "name": call.name, "input": value}
        return self._with_metadata(block, {}, call.extra, own_fields)

    def _tool_result(self, result: ToolResult) -> Block:
        own_fields = self._own_fields.is_error(result.is_error)
        _RESULT_LEFTOVERS.add(result, own_fields)
        if result.call_id is None:
            own_fields["call_id"] = None
        output: Any = result.output
        if not isinstance(output, str):
            output, parts = _split_own_fields([self._block(part) for part in output])
            if parts:
                own_fields["parts"] = parts
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": self._resolve_call_id(result.call_id),
            "content": output,
            "is_error": result.is_error is True,
        }
        metadata = {} if result.name is None else {"name": result.name}
        return self._with_metadata(block, metadata, result.extra, own_fields, _RESULT_FIELDS)

    def _resolve_call_id(self, call_id: str | None) -> str:
        """The call id of a result; a result without an id belongs to the only call without an id."""
        if call_id is not None:
            return call_id
        if len(self._calls_without_id) == 1:
            self._guessed_links += 1
            return self._calls_without_id.pop()
        return self._generate_id()

    def _generate_id(self) -> str:
        self._generated_ids += 1
        return ids.made(
            self._conversation.source, self._conversation.id, self._message_id, self._generated_ids
        )

    def _thinking(self, reasoning: Reasoning) -> Block:
        text, summary = reasoning.text, reasoning.summary
        if text is None and summary is None and reasoning.encrypted is not None:
            return self._placeholder(reasoning, "encrypted reasoning")
        block = {"type": "thinking", "thinking": (summary if text is None else text) or ""}
        if reasoning.signature is not None:
            block["signature"] = reasoning.signature
        metadata = {"summary": summary if text is not None else None, "encrypted": reasoning.encrypted}
        own_fields = _THINKING_LEFTOVERS.of(reasoning)
        if text is None:
            own_fields["thinking"] = "none" if summary is None else "summary"
        return self._with_metadata(
            block, without_nulls(metadata), reasoning.extra, own_fields, _THINKING_FIELDS
        )

    def _placeholder(self, part: Media | Other | Reasoning, label: str) -> Block:
        kind = part.kind if isinstance(part, Media) else label
        self._replaced[kind] += 1
        return {"type": "text", "text": f"[{label}]", "metadata": part}, {}

    def _text(self, part: Text) -> Block:
        block = {"type": "text", "text": part.text}
        if not _PLAIN_TEXT.exist_in(part):
            return block, {}
        metadata: dict[str, Any] = {"citations": part.citations} if part.citations else {}
        if part.injected:
            metadata["injected"] = True
        own_fields = _TEXT_LEFTOVERS.of(part)
        if part.extra.get("type") in _PLACEHOLDERS:
            own_fields["text"] = True
        return self._with_metadata(block, metadata, part.extra, own_fields, _TEXT_FIELDS)

    def _code(self, part: Code) -> Block:
        block: dict[str, Any] = {"type": "code", "code": part.code}
        block |= without_nulls({"language": part.language, "file_path": part.file})
        lines = without_nulls({"start": part.first_line, "end": part.last_line})
        metadata = {}
        if lines and min(lines.values()) < 1:  # line numbers of the schema start at one
            metadata = {"line_range": lines}
        elif lines:
            block |= {"line_range": lines}
        return self._with_metadata(block, metadata, part.extra, _CODE_LEFTOVERS.of(part), _CODE_FIELDS)

    def _image(self, part: Media) -> Block:
        form, data = ("base64", part.data) if part.data is not None else ("url", part.ref)
        block: dict[str, Any] = {"type": "image"}
        if data is not None:
            block["source"] = {"type": form, **without_nulls({"media_type": part.mime}), "data": data}
        block |= without_nulls({"alt_text": part.name})
        metadata = {
            "ref": part.ref if form == "base64" else None,
            "size": part.size,
            "mime": part.mime if data is None else None,
            "text": part.text,
        }
        own_fields = _IMAGE_LEFTOVERS.of(part)
        return self._with_metadata(block, without_nulls(metadata), part.extra, own_fields, _IMAGE_FIELDS)

    def _with_metadata(
        self,
        block: dict[str, Any],
        metadata: dict[str, Any],
        extra: Bag,
        own_fields: dict[str, Any],
        reserved: frozenset[str] = frozenset(),
    ) -> Block:
        """The block with its metadata and the source's own fields."""
        if extra:
            own_fields |= self._own_fields.add(
                metadata, extra, reserved, _RESULT_TYPES if reserved is _RESULT_FIELDS else {}
            )
        if metadata:
            block["metadata"] = metadata
        return block, own_fields

    def note(self, run: Run) -> None:
        """Note the counted changes and losses."""
        conversation = self._conversation
        for kind, count in sorted(self._replaced.items()):
            run.note_not_preserved(
                conversation, "", f"{count} × {kind}: replaced by a text block with the value as its metadata"
            )
        if self._raw_inputs:
            run.note_changed(
                conversation, "", f"{self._raw_inputs} × tool input that is no object: wrapped as 'raw'"
            )
        source_id = f"{conversation.source}:{conversation.id}"
        if self._generated_ids:
            run.note.add(Kind.MISSING_ID, source_id, "", f"{self._generated_ids} × tool call or result")
        if self._guessed_links:
            run.note.add(Kind.GUESSED_LINK, source_id, "", f"{self._guessed_links} × tool result")


def _split_own_fields(blocks: list[Block]) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
    """The blocks, and a list of their own fields, which is empty if there are none."""
    own_fields = [fields or None for _, fields in blocks]
    return [block for block, _ in blocks], own_fields if any(own_fields) else []


def _media_label(part: Media) -> str:
    name = part.name or part.ref
    return f"{part.kind}: {name}" if name else part.kind
