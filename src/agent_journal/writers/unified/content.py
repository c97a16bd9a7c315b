"""Content: the parts of messages as the schema's six kinds of blocks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent_journal import ids, tree
from agent_journal.model import Code, Conversation, Media, Message, Other, Part, Reasoning, Text, ToolCall
from agent_journal.notes import Kind
from agent_journal.writers.unified.metadata import add, stated

if TYPE_CHECKING:
    from agent_journal.model import Bag, ToolResult
    from agent_journal.writers import Run

_BLOCK_TYPES = frozenset({"text", "tool_use", "tool_result", "image", "code", "thinking"})
_RESULT_TYPES = {"duration_ms": int, "exit_code": int}


class Content:
    """Makes the blocks of one conversation, and counts what the schema says differently or not at all."""

    def __init__(self, conversation: Conversation) -> None:
        self.tool_calls = 0
        self._conversation = conversation
        self._message_id = ""
        self._unexpressed: Counter[str] = Counter()
        self._raw_inputs = self._made_ids = self._guessed_links = 0
        self._unanswered: list[str] = []

    def blocks(self, message: Message) -> list[dict[str, Any]]:
        """The content of a message."""
        self._message_id = message.id
        return [self._block(part) for part in message.parts]

    def _block(self, part: Part) -> dict[str, Any]:
        match part:
            case Text():
                return _text(part)
            case ToolCall():
                return self._tool_use(part)
            case Code():
                return _code(part)
            case Reasoning():
                return self._thinking(part)
            case Media():
                return _image(part) if part.kind == "image" else self._placeholder(part, _media_words(part))
            case Other():
                return self._placeholder(part, part.name or "unknown content")
        return self._tool_result(part)

    def _tool_use(self, call: ToolCall) -> dict[str, Any]:
        self.tool_calls += 1
        value = tree.arguments(call)
        if value is None:
            value = {}
        elif value.__class__ is not dict:
            self._raw_inputs += 1
            value = {"raw": value}
        call_id = call.call_id
        if call_id is None:
            call_id = self._made_id()
            self._unanswered.append(call_id)
        block = {"type": "tool_use", "id": call_id, "name": call.name, "input": value}
        return _with_metadata(block, {}, call.extra)

    def _tool_result(self, result: ToolResult) -> dict[str, Any]:
        output = result.output
        block: dict[str, Any] = {
            "type": "tool_result",
            "tool_use_id": self._answered(result.call_id),
            "content": output if isinstance(output, str) else [self._block(part) for part in output],
            "is_error": result.is_error is True,
        }
        metadata = stated({"name": result.name})
        add(metadata, result.extra, _RESULT_TYPES)
        if metadata:
            block["metadata"] = metadata
        return block

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

    def _thinking(self, reasoning: Reasoning) -> dict[str, Any]:
        text, summary = reasoning.text, reasoning.summary
        if text is None and summary is None and reasoning.encrypted is not None:
            return self._placeholder(reasoning, "encrypted reasoning")
        block = {"type": "thinking", "thinking": (summary if text is None else text) or ""}
        if reasoning.signature is not None:
            block["signature"] = reasoning.signature
        named = {"summary": summary if text is not None else None, "encrypted": reasoning.encrypted}
        return _with_metadata(block, stated(named), reasoning.extra)

    def _placeholder(self, part: Media | Other | Reasoning, words: str) -> dict[str, Any]:
        kind = part.kind if isinstance(part, Media) else words
        self._unexpressed[kind] += 1
        return {"type": "text", "text": f"[{words}]", "metadata": part}

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


def _with_metadata(block: dict[str, Any], named: dict[str, Any], extra: Bag) -> dict[str, Any]:
    if extra:
        add(named, extra)
    if named:
        block["metadata"] = named
    return block


def _text(part: Text) -> dict[str, Any]:
    block = {"type": "text", "text": part.text}
    if not part.citations and not part.extra:
        return block
    return _with_metadata(block, {"citations": part.citations} if part.citations else {}, part.extra)


def _code(part: Code) -> dict[str, Any]:
    block = {"type": "code", "code": part.code}
    block |= stated({"language": part.language, "file_path": part.file})
    lines = stated({"start": part.first_line, "end": part.last_line})
    if not lines:
        return _with_metadata(block, {}, part.extra)
    if min(lines.values()) < 1:  # the schema counts from one
        return _with_metadata(block, {"line_range": lines}, part.extra)
    return _with_metadata(block | {"line_range": lines}, {}, part.extra)


def _image(part: Media) -> dict[str, Any]:
    form, data = ("base64", part.data) if part.data is not None else ("url", part.ref)
    block: dict[str, Any] = {"type": "image"}
    if data is not None:
        block["source"] = {"type": form, **stated({"media_type": part.mime}), "data": data}
    block |= stated({"alt_text": part.name})
    named = {
        "ref": part.ref if form == "base64" else None,
        "size": part.size,
        "mime": part.mime if data is None else None,
    }
    return _with_metadata(block, stated(named), part.extra)


def _media_words(part: Media) -> str:
    name = part.name or part.ref
    return f"{part.kind}: {name}" if name else part.kind


def normalize_content(content: Any) -> list[Any]:
    """Any form of content as a list of blocks: a list, a text, one block, or an object that holds content."""
    while True:
        match content:
            case list():
                return content
            case str():
                return [{"type": "text", "text": content}]
            case {"type": str(kind)} if kind in _BLOCK_TYPES:
                return [content]  # also a tool result, which has content of its own
            case {"content": inner} if inner not in (None, "", 0):
                content = inner
            case {"type": _}:
                return [content]
            case _:
                raise ValueError(f"content is neither text nor blocks: {type(content).__name__}")
