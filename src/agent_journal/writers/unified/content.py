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
    ids,
    tree,
)
from agent_journal.notes import Kind
from agent_journal.writers.unified.own_fields import stated

if TYPE_CHECKING:
    from agent_journal.model import Bag, ToolResult
    from agent_journal.writers import Run
    from agent_journal.writers.unified.own_fields import Untold

_RESULT_TYPES = {"duration_ms": int, "exit_code": int}


# What a block's metadata holds beside what only the source has a name for.
_TEXT_FACTS = frozenset({"citations", "injected"})
_CODE_FACTS = frozenset({"line_range"})
_THINKING_FACTS = frozenset({"summary", "encrypted"})
_IMAGE_FACTS = frozenset({"ref", "size", "mime", "text"})
_RESULT_FACTS = frozenset({"name"})
# The tags of parts that stand in the metadata of a text block.
_PLACEHOLDERS = ("media", "other", "reasoning")

Block: TypeAlias = tuple[dict[str, Any], dict[str, Any]]
"""A block, and what it does not tell of its part."""


class Content:
    """Makes the blocks of one conversation, and counts what the schema says differently or not at all."""

    def __init__(self, conversation: Conversation, untold: Untold) -> None:
        self.tool_calls = 0
        self._conversation = conversation
        self._untold = untold
        self._message_id = ""
        self._unexpressed: Counter[str] = Counter()
        self._raw_inputs = self._made_ids = self._guessed_links = 0
        self._unanswered: list[str] = []

    def blocks(self, message: Message) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
        """The content of a message; and what each block does not tell, if any leaves something untold."""
        self._message_id = message.id
        return _apart([self._block(part) for part in message.parts])

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
                return self._placeholder(part, _media_words(part))
            case Other():
                return self._placeholder(part, part.name or "unknown content")
        return self._tool_result(part)

    def _tool_use(self, call: ToolCall) -> Block:
        self.tool_calls += 1
        value = tree.arguments(call)
        untold = self._untold.input(call.input, value) | self._untold.kind(call)
        if value is None:
            value = {}
        elif value.__class__ is not dict:
            self._raw_inputs += 1
            value = {"raw": value}
        call_id = call.call_id
        if call_id is None:
            call_id = self._made_id()
            self._unanswered.append(call_id)
            untold["call_id"] = None
        block = {"type": "tool_use", "id": call_id, "name": call.name, "input": value}
        return self._with_metadata(block, {}, call.extra, untold)

    def _tool_result(self, result: ToolResult) -> Block:
        untold = self._untold.is_error(result.is_error)
        if result.call_id is None:
            untold["call_id"] = None
        output: Any = result.output
        if not isinstance(output, str):
            output, parts = _apart([self._block(part) for part in output])
            if parts:
                untold["parts"] = parts
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": self._answered(result.call_id),
            "content": output,
            "is_error": result.is_error is True,
        }
        named = {} if result.name is None else {"name": result.name}
        return self._with_metadata(block, named, result.extra, untold, _RESULT_FACTS)

    def _answered(self, call_id: str | None) -> str:
        """The call that a result answers: a result without an id belongs to the one call without an id."""
        if call_id is not None:
            return call_id
        if len(self._unanswered) == 1:
            self._guessed_links += 1
            return self._unanswered.pop()
        return self._made_id()

    def _made_id(self) -> str:
        self._made_ids += 1
        return ids.made(self._conversation.source, self._conversation.id, self._message_id, self._made_ids)

    def _thinking(self, reasoning: Reasoning) -> Block:
        text, summary = reasoning.text, reasoning.summary
        if text is None and summary is None and reasoning.encrypted is not None:
            return self._placeholder(reasoning, "encrypted reasoning")
        block = {"type": "thinking", "thinking": (summary if text is None else text) or ""}
        if reasoning.signature is not None:
            block["signature"] = reasoning.signature
        named = {"summary": summary if text is not None else None, "encrypted": reasoning.encrypted}
        untold = {} if text is not None else {"thinking": "none" if summary is None else "summary"}
        return self._with_metadata(block, stated(named), reasoning.extra, untold, _THINKING_FACTS)

    def _placeholder(self, part: Media | Other | Reasoning, words: str) -> Block:
        kind = part.kind if isinstance(part, Media) else words
        self._unexpressed[kind] += 1
        return {"type": "text", "text": f"[{words}]", "metadata": part}, {}

    def _text(self, part: Text) -> Block:
        block = {"type": "text", "text": part.text}
        if not part.citations and not part.extra and not part.injected:
            return block, {}
        named: dict[str, Any] = {"citations": part.citations} if part.citations else {}
        if part.injected:
            named["injected"] = True
        untold = {"text": True} if part.extra.get("type") in _PLACEHOLDERS else {}
        return self._with_metadata(block, named, part.extra, untold, _TEXT_FACTS)

    def _code(self, part: Code) -> Block:
        block: dict[str, Any] = {"type": "code", "code": part.code}
        block |= stated({"language": part.language, "file_path": part.file})
        lines = stated({"start": part.first_line, "end": part.last_line})
        named = {}
        if lines and min(lines.values()) < 1:  # the schema counts from one
            named = {"line_range": lines}
        elif lines:
            block |= {"line_range": lines}
        return self._with_metadata(block, named, part.extra, {}, _CODE_FACTS)

    def _image(self, part: Media) -> Block:
        form, data = ("base64", part.data) if part.data is not None else ("url", part.ref)
        block: dict[str, Any] = {"type": "image"}
        if data is not None:
            block["source"] = {"type": form, **stated({"media_type": part.mime}), "data": data}
        block |= stated({"alt_text": part.name})
        named = {
            "ref": part.ref if form == "base64" else None,
            "size": part.size,
            "mime": part.mime if data is None else None,
            "text": part.text,
        }
        return self._with_metadata(block, stated(named), part.extra, {}, _IMAGE_FACTS)

    def _with_metadata(
        self,
        block: dict[str, Any],
        named: dict[str, Any],
        extra: Bag,
        untold: dict[str, Any],
        facts: frozenset[str] = frozenset(),
    ) -> Block:
        """The block with what has a name here and what only the source has one for."""
        if extra:
            untold |= self._untold.add(named, extra, facts, _RESULT_TYPES if facts is _RESULT_FACTS else {})
        if named:
            block["metadata"] = named
        return block, untold

    def note(self, run: Run) -> None:
        """Note once what was counted."""
        conversation = self._conversation
        for kind, count in sorted(self._unexpressed.items()):
            run.cannot_say(conversation, "", f"{count} × {kind}: a text block with the value as its metadata")
        if self._raw_inputs:
            run.changed(conversation, "", f"{self._raw_inputs} × tool input that is no object: under 'raw'")
        about = f"{conversation.source}:{conversation.id}"
        if self._made_ids:
            run.note.add(Kind.MISSING_ID, about, "", f"{self._made_ids} × tool call or result")
        if self._guessed_links:
            run.note.add(Kind.GUESSED_LINK, about, "", f"{self._guessed_links} × tool result")


def _apart(found: list[Block]) -> tuple[list[dict[str, Any]], list[dict[str, Any] | None]]:
    """The blocks; and what each leaves untold, as long a list or an empty one."""
    untold = [left or None for _, left in found]
    return [block for block, _ in found], untold if any(untold) else []


def _media_words(part: Media) -> str:
    name = part.name or part.ref
    return f"{part.kind}: {name}" if name else part.kind
