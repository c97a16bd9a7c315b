"""Converts the blocks of a message: text with its sources, thinking, tool calls and results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import Fields
from agent_journal.model import Citation, Media, Other, Part, Reasoning, Text, ToolCall, ToolResult, ids
from agent_journal.notes import Kind
from agent_journal.readers.claude_ai import media
from agent_journal.readers.claude_ai.names import TOOL_KINDS

if TYPE_CHECKING:
    from agent_journal.notes import Notes

JsonObject = dict[str, Any]

# Claude's own count of its remaining output tokens; it is not part of the conversation and is dropped.
_DROPPED_TYPE = "token_budget"
# Known types of blocks that become parts of an unknown kind.
_OPAQUE_TYPES = ("flag",)
# The fields of a common text block.
_COMMON_TEXT_FIELDS = frozenset({"type", "text", "start_timestamp", "stop_timestamp", "flags", "citations"})


class ReadingState:
    """The state of a conversation while its messages are read: its calls, its results, what was noted."""

    def __init__(self, conversation_id: str, location: str, noted: set[str], note: Notes) -> None:
        self.conversation_id = conversation_id
        self.location = location
        self.note = note
        self.calls: set[str] = set()
        self.results: list[tuple[str, int | str]] = []
        self.guessed_count = 0
        self._noted = noted

    def unknown(self, location: int | str, description: str) -> None:
        """Note an unknown kind once per input."""
        if description not in self._noted:
            self._noted.add(description)
            self.note(Kind.UNKNOWN_TYPE, location, description)

    def note_links(self) -> None:
        """Note results without a call, and the number of results that were linked by position."""
        for call_id, location in self.results:
            if call_id not in self.calls:
                self.note(Kind.UNLINKED_RESULT, location, call_id)
        if self.guessed_count:
            self.note(Kind.GUESSED_LINK, self.location, f"{self.guessed_count} × tool result")


class _OpenCalls:
    """The calls of one message that have no result yet.

    Many exports have neither `id` nor `tool_use_id`, even in 2026: there, name and position link results to
    their calls.
    """

    def __init__(self, message_id: str, state: ReadingState) -> None:
        self._message_id = message_id
        self._scene = state
        self._count = 0
        self._latest: list[tuple[str, str]] = []
        self._earlier: list[tuple[str, str]] = []
        self._is_answering = False

    def add(self, name: str, call_id: str | None) -> str:
        """Add a call and return its id, which is made if it has none."""
        if self._is_answering:
            self._earlier += self._latest
            self._latest, self._is_answering = [], False
        self._count += 1
        if call_id is None:
            call_id = ids.made(self._scene.conversation_id, self._message_id, self._count)
        self._latest.append((name, call_id))
        self._scene.calls.add(call_id)
        return call_id

    def take_answered(self, name: str | None, call_id: str | None, location: int | str) -> str | None:
        """Take the call of a result and return its id; without an id, position decides."""
        self._is_answering = True
        if call_id is not None:
            self._scene.results.append((call_id, location))
            self._latest = [call for call in self._latest if call[1] != call_id]
            self._earlier = [call for call in self._earlier if call[1] != call_id]
            return call_id
        # Parallel calls are answered in order; otherwise the last open call is.
        for calls, position in ((self._latest, 0), (self._earlier, -1)):
            same = [call for call in calls if name in (None, call[0])]
            if same:
                calls.remove(same[position])
                self._scene.guessed_count += 1
                return same[position][1]
        self._scene.note(Kind.UNLINKED_RESULT, location, name or "")
        return None


def parts(blocks: list[Any], message_id: str, location: str, state: ReadingState) -> list[Part]:
    """Convert the content of a message to parts."""
    calls = _OpenCalls(message_id, state)
    result: list[Part] = []
    for block in blocks:
        if block.__class__ is dict:
            if (kind := block.get("type")) != _DROPPED_TYPE:
                result.append(_common_text(kind, block) or _part(kind, block, location, calls, state))
        elif block.__class__ is str:
            result.append(Text(text=block))
        elif block is not None:
            state.note(Kind.WRONG_TYPE, location, f"a content block is {type(block).__name__}")
            result.append(Other(data=block))
    return result


def _common_text(kind: Any, block: JsonObject) -> Part | None:
    """Convert a text without sources, the most common block; None for others."""
    if kind != "text" or block.get("citations") or not block.keys() <= _COMMON_TEXT_FIELDS:
        return None
    text = block.get("text")
    if text.__class__ is not str:
        return None
    extra = {name: block[name] for name in ("start_timestamp", "stop_timestamp", "flags") if block.get(name)}
    return Text(text=text, extra=extra)


def _part(kind: Any, block: JsonObject, location: str, calls: _OpenCalls, state: ReadingState) -> Part:
    fields = Fields({**block}, state.note, location)
    fields.drop("type")
    match kind:
        case "text":
            return _text(fields, block)
        case "thinking":
            return _thinking(fields)
        case "tool_use":
            return _call(fields, calls)
        case "tool_result":
            return _result(fields, calls, state)
        case "voice_note":
            return _voice(fields, block)
        case "image":
            return media.image(fields)
    if kind not in _OPAQUE_TYPES:
        state.unknown(location, f"content block {str(kind)[:40]!r}")
    return Other(data=block, name=kind if isinstance(kind, str) else None)


def _remaining(fields: Fields) -> JsonObject:
    """Get the remaining fields, without the many that are null."""
    return {name: value for name, value in fields.rest().items() if value is not None}


def _text(fields: Fields, block: JsonObject) -> Part:
    text = fields.text("text")
    if text is None:
        return Other(data=block, name="text")
    citations = [_citation(raw, fields) for raw in fields.items("citations") or ()]
    return Text(text=text, citations=citations, extra=_remaining(fields))


def _citation(raw: Any, fields: Fields) -> Citation:
    if not isinstance(raw, dict):
        return Citation(extra={"value": raw})
    citation = Fields(raw, fields.note, fields.where)
    details = citation.nested("details")
    title, url = citation.text("title"), citation.text("url")
    if details is not None:
        title, url = title or details.text("title"), url or details.text("url")
    return Citation(
        title=title,
        url=url,
        start=citation.whole("start_index"),
        end=citation.whole("end_index"),
        extra=_remaining(citation),
    )


def _thinking(fields: Fields) -> Part:
    """Convert thinking; `summaries` becomes one text, and also stays unchanged."""
    summaries = fields.view("summaries")
    rows = summaries if isinstance(summaries, list) else []
    texts = [row.get("summary") for row in rows if isinstance(row, dict)]
    if not summaries:
        fields.drop("summaries")
    return Reasoning(
        text=fields.text("thinking") or None,
        summary="\n".join(text for text in texts if isinstance(text, str)) or None,
        signature=fields.text("signature"),
        extra=_remaining(fields),
    )


def _call(fields: Fields, calls: _OpenCalls) -> Part:
    name = fields.text("name") or ""
    call_id = fields.text("id") or None
    value = fields.take("input")
    extra = _remaining(fields)
    if call_id is None:
        extra.setdefault("id", None)  # marks the id as made
    is_foreign = extra.get("integration_name") or extra.get("mcp_server_url")
    kind = TOOL_KINDS.get(name) or ("mcp" if is_foreign else None)
    return ToolCall(name=name, call_id=calls.add(name, call_id), input=value, kind=kind, extra=extra)


def _result(fields: Fields, calls: _OpenCalls, state: ReadingState) -> Part:
    name = fields.text("name")
    call_id = fields.text("tool_use_id") or None
    content = fields.take("content")
    is_error = fields.flag("is_error")
    extra = _remaining(fields)
    if call_id is None:
        extra.setdefault("tool_use_id", None)
    return ToolResult(
        call_id=calls.take_answered(name, call_id, fields.where),
        output=_output(content, fields, state),
        is_error=is_error,
        name=name,
        extra=extra,
    )


def _output(content: Any, fields: Fields, state: ReadingState) -> Any:
    """Convert the output of a tool: a string if it is plain text."""
    if content is None or content == []:
        return ""
    if content.__class__ is str:
        return content
    items = content if content.__class__ is list else [content]
    parts = [_answer(item, fields, state) for item in items if item is not None]
    match parts:
        case [Text() as only] if not only.citations and not only.extra:
            return only.text
    return parts


def _answer(item: Any, fields: Fields, state: ReadingState) -> Text | Media | Other:
    if item.__class__ is str:
        return Text(text=item)
    if item.__class__ is not dict:
        return Other(data=item)
    kind = item.get("type")
    inner = Fields({**item}, fields.note, fields.where)
    match kind:
        case "text" if isinstance(item.get("text"), str):
            inner.drop("type")
            return Text(text=inner.take("text"), extra=_remaining(inner))
        case "knowledge":
            return _knowledge(inner)
        case "local_resource":
            inner.drop("type")
            return media.resource(inner)
        case "image":
            inner.drop("type")
            return media.image(inner)
    if isinstance(item.get("text"), str) and ("doc_uuid" in item or "url" in item or "uri" in item):
        return _knowledge(inner)
    state.unknown(fields.where, f"tool result {str(kind)[:40]!r}")
    return Other(data=item, name=kind if isinstance(kind, str) else None)


def _knowledge(fields: Fields) -> Text:
    """Convert a retrieved page or document: its text, with its title and URL as the source."""
    url = fields.text("url") or None
    if url is None:
        url = fields.text("uri")
    title = fields.text("title")
    text = fields.text("text") or ""
    return Text(text=text, citations=[Citation(title=title, url=url)], extra=_remaining(fields))


def _voice(fields: Fields, block: JsonObject) -> Part:
    text = fields.text("transcript")
    if text is None:
        text = fields.text("text")
    if text is None:
        return Other(data=block, name="voice_note")
    fields.keep("type", "voice_note")
    return Text(text=text, extra=_remaining(fields))
