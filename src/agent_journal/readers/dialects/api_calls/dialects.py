"""The dialects: how each parses a message, which messages count as equal, and what may differ in them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from agent_journal.decoding.fields import Fields
from agent_journal.readers.dialects import (
    anthropic_blocks,
    converse_blocks,
    google_contents,
    openai_items,
    openai_messages,
)
from agent_journal.readers.dialects.openai_messages import ParsedMessage

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag, Tool
    from agent_journal.notes import Notes

_decode = msgspec.json.Decoder().decode
# Cache marks, which clients move from message to message with every call, and fields that services add to the
# parts of an answer and clients may omit when they repeat it.
_MARKS = ("cache_control", "annotations", "citations", "caller", "thoughtSignature", "thought_signature")
_EMPTY: tuple[Any, ...] = (None, "", [], {})
# Item fields that the service adds, and types of texts, which depend on their author.
_SERVICE_FIELDS, _ITEM_TEXTS = ("id", "status"), ("input_text", "output_text")
# The input field of calls that clients repeat. Calls that services ran are identified by their id.
_INPUT_FIELDS = {"function_call": "arguments", "custom_tool_call": "input"}
_REFERENCE = "item_reference"
# The index of a system prompt that is a field of the request, not one of the messages.
SYSTEM_INDEX = -1


class Dialect(NamedTuple):
    """The properties of an API that parsing its requests depends on."""

    name: str
    parse_message: Callable[[Any, Notes, int | str], ParsedMessage]
    normalize: Callable[[Any], Any]
    """Reduces a message to a value that is equal for messages that count as the same."""
    normalized_fields: frozenset[str]
    """The fields that `normalize` covers."""
    has_system_messages: bool
    """Whether system prompts can be the first messages."""
    field: str = "messages"
    """The field of a request with its messages."""
    system_fields: tuple[str, ...] = ("system",)
    """The possible fields of a request with its system prompt."""
    content: str = "content"
    """The field of a message with its parts."""
    is_optional: Callable[[Any], bool] | None = None
    """Whether clients may omit a message when they repeat a dialogue; None if they omit none."""
    without_call_ids: Callable[[Any], Any] | None = None
    """Returns a message without the ids of its calls, which clients may generate; None if it has no ids."""
    tool: Callable[[Any, Notes, int | str], Tool] = openai_messages.parse_tool


def _parse_claude_message(raw: Any, note: Notes, location: int | str) -> ParsedMessage:
    """Parse a message whose content is a string or blocks."""
    if raw.__class__ is not dict:
        return openai_messages.parse_message(raw, note, location)
    fields = Fields(dict(raw), note, location)
    role = openai_messages.take_role(fields)
    content = fields.take("content")
    return ParsedMessage(
        role, anthropic_blocks.parse_blocks(content, note, location, {}), content, fields.rest()
    )


def _normalize_claude(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    content = raw.get("content")
    normalized = _normalize_content(content) if content.__class__ is list else content
    return [raw.get("role"), normalized or None]


def _normalize_converse(raw: Any) -> Any:
    """Normalize a message, in which cache marks are separate blocks."""
    content = raw.get("content") if raw.__class__ is dict else None
    if content.__class__ is not list:
        return _normalize_claude(raw)
    blocks = [_without_call_type(block) for block in content if not _is_cache_mark(block)]
    return _normalize_claude({**raw, "content": blocks})


def _without_call_type(block: Any) -> Any:
    """Return a block without the type of its call, which the service adds and clients do not."""
    call = block.get("toolUse") if block.__class__ is dict else None
    if call.__class__ is not dict or "type" not in call:
        return block
    return {**block, "toolUse": {key: value for key, value in call.items() if key != "type"}}


def _is_cache_mark(block: Any) -> bool:
    return block.__class__ is dict and "cachePoint" in block


def _normalize_openai(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    role, content, calls, audio = (raw.get(key) for key in ("role", "content", "tool_calls", "audio"))
    other_fields = (
        [_normalize_call(call) for call in calls] if calls.__class__ is list else calls,
        _none_if_empty(raw.get("function_call")),
        raw.get("tool_call_id"),
        raw.get("name"),
        raw.get("refusal"),
        audio.get("id") if isinstance(audio, dict) else audio,
    )
    others = [field or None for field in other_fields]
    if content.__class__ is list:
        # The cooked format distinguishes a text from a list in tool results and next to calls.
        is_distinct = role == "tool" or any(others)
        content = (
            _normalize_content(content) if not is_distinct else _without_marks(content) if content else None
        )
    return [role, content or None, *others] if any(others) else [role, content or None]


def _normalize_call(call: Any) -> Any:
    if call.__class__ is not dict:
        return call
    return {
        key: _with_parsed_arguments(value)
        for key, value in call.items()
        if key != "index" and (key, value) != ("type", "function") and _none_if_empty(value)
    }


def _without_openai_call_ids(raw: Any) -> Any:
    calls = raw.get("tool_calls") if raw.__class__ is dict else None
    if calls.__class__ is not list or not any(call.__class__ is dict and call.get("id") for call in calls):
        return None
    return {**raw, "tool_calls": [_without_id(call) for call in calls]}


def _without_id(call: Any) -> Any:
    return {key: value for key, value in call.items() if key != "id"} if call.__class__ is dict else call


def _with_parsed_arguments(function: Any) -> Any:
    """Return a function with parsed arguments: clients serialize them again, with or without spaces."""
    if function.__class__ is not dict or function.get("arguments").__class__ is not str:
        return function
    return {**function, "arguments": _parse_json(function["arguments"])}


def _parse_json(text: Any) -> Any:
    """Return the value of a JSON text in an object; any other value unchanged."""
    try:
        return {"json": _decode(text)} if text.__class__ is str else text
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def _none_if_empty(value: Any) -> Any:
    """Return a value, or None for an object in which every field is empty."""
    is_empty = value.__class__ is dict and all(inner in _EMPTY for inner in value.values())
    return None if is_empty else value


def _normalize_content(content: list[Any]) -> Any:
    """Return the text if the content is a single text, else the parts without marks."""
    bare = _without_marks(content)
    match bare["parts"]:
        case [{"type": "text", "text": str(text), **more}] if not more:
            return text
    return bare


def _without_marks(content: list[Any]) -> dict[str, list[Any]]:
    """Return parts without marks and nulls."""
    return {"parts": [_block_without_marks(block) for block in content]}


def _block_without_marks(block: Any) -> Any:
    if block.__class__ is not dict:
        return block
    bare = {key: value for key, value in block.items() if key not in _MARKS and value is not None}
    inner = bare.get("content")
    if inner.__class__ is list:
        bare["content"] = [_block_without_marks(part) for part in inner]
    elif inner.__class__ is dict:
        bare["content"] = _block_without_marks(inner)
    return bare


def _normalize_item(raw: Any) -> Any:
    """Normalize an item of the Responses API; only items stored by the service have an id and a status."""
    if raw.__class__ is str:
        return ["user", raw or None]
    if raw.__class__ is not dict:
        return {"value": raw}
    kind = raw.get("type")
    if kind == "message" or (kind is None and "role" in raw):
        content = raw.get("content")
        return [raw.get("role"), (_item_content(content) if content.__class__ is list else content) or None]
    if _is_reasoning(raw):
        identity = raw.get("id") or raw.get("encrypted_content") or [raw.get("summary"), raw.get("content")]
        return {"thought": identity}
    if kind == _REFERENCE:
        return {"item": raw.get("id")}
    if kind.__class__ is str and kind in _INPUT_FIELDS:
        return [kind, raw.get("call_id"), raw.get("name"), _parse_json(raw.get(_INPUT_FIELDS[kind]))]
    item_id = raw.get("id")
    if item_id.__class__ is str and item_id and kind.__class__ is str and not kind.endswith("_output"):
        return {"type": kind, "id": item_id}
    return {key: value for key, value in raw.items() if key not in _SERVICE_FIELDS and value is not None}


def reference_id(raw: Any) -> str | None:
    """Return the id of the item that an item reference points to; None for any other item."""
    if raw.__class__ is not dict or raw.get("type") != _REFERENCE:
        return None
    item_id = raw.get("id")
    return item_id if item_id.__class__ is str else None


def _item_content(content: list[Any]) -> Any:
    parts = [
        {
            key: ("text" if key == "type" and value in _ITEM_TEXTS else value)
            for key, value in part.items()
            if key not in ("annotations", "logprobs")
        }
        if part.__class__ is dict
        else part
        for part in content
    ]
    return _normalize_content(parts)


def _is_reasoning(raw: Any) -> bool:
    return raw.__class__ is dict and raw.get("type") == "reasoning"


def _normalize_gemini(raw: Any) -> Any:
    """Normalize a content: reasoning is seldom repeated, and texts that arrived in pieces may be joined."""
    if raw.__class__ is str:
        return ["user", raw]
    if raw.__class__ is not dict:
        return {"value": raw}
    role, parts = raw.get("role"), raw.get("parts")
    pieces: list[Any] = []
    for part in parts if parts.__class__ is list else [parts]:
        text = part.get("text") if part.__class__ is dict else part
        if text.__class__ is not str:
            pieces.append(_normalize_gemini_part(part))
        elif part.__class__ is dict and part.get("thought") is True:
            continue
        elif pieces and pieces[-1].__class__ is str:
            pieces[-1] += text
        else:
            pieces.append(text)
    return [role or "user", [piece for piece in pieces if piece != ""]]


def _normalize_gemini_part(part: Any) -> Any:
    data = google_contents.find_data(google_contents.to_camel_case(part)) if part.__class__ is dict else None
    if data is None:
        return part
    name, value = data
    return {name: {key: inner for key, inner in value.items() if inner not in _EMPTY}}


def _without_gemini_call_ids(raw: Any) -> Any:
    parts = raw.get("parts") if raw.__class__ is dict else None
    if parts.__class__ is not list:
        return None
    without_ids = [_without_part_call_id(part) for part in parts]
    return {**raw, "parts": without_ids} if without_ids != parts else None


def _without_part_call_id(part: Any) -> Any:
    name = next((name for name in ("functionCall", "function_call") if _has_call_id(part, name)), None)
    return part if name is None else {**part, name: _without_id(part[name])}


def _has_call_id(part: Any, name: str) -> bool:
    return part.__class__ is dict and part.get(name).__class__ is dict and "id" in part[name]


def find_difference(raw: Any, stored: Any, dialect: Dialect) -> Bag:
    """Return what a message has that an equal stored one does not: other fields and marks on its parts."""
    if raw.__class__ is not dict:
        return {}
    known = stored if stored.__class__ is dict else {}
    changes = {
        key: value
        for key, value in raw.items()
        if key not in dialect.normalized_fields and value not in _EMPTY and value != known.get(key)
    }
    marks, known_marks = _marks(raw.get(dialect.content)), _marks(known.get(dialect.content))
    if dialect is GEMINI:  # without the reasoning, the parts after it have other indexes
        marks = {index: mark for index, mark in marks.items() if mark not in known_marks.values()}
    if marks and marks != known_marks:
        changes[dialect.content] = marks
    return changes


def _marks(content: Any) -> Bag:
    """Return the marks by the index of their block: `{"2": {"cache_control": …}}`."""
    marks_by_index: Bag = {}
    for index, block in enumerate(content if content.__class__ is list else ()):
        if block.__class__ is not dict:
            continue
        marks = _marks_on(block)
        if block.get("thought") is True or _is_cache_mark(block):
            marks = block
        inner = block.get("content")
        # Blocks within blocks have no blocks of their own: a tool result's are texts and images.
        inner_marks = {
            str(position): part_marks
            for position, part in enumerate(inner if inner.__class__ is list else ())
            if part.__class__ is dict and (part_marks := _marks_on(part))
        }
        if marks or inner_marks:
            marks_by_index[str(index)] = {**marks, "content": inner_marks} if inner_marks else marks
    return marks_by_index


def _marks_on(block: dict[str, Any]) -> Bag:
    return {mark: block[mark] for mark in _MARKS if mark in block and block[mark] != []}


OPENAI = Dialect(
    name="openai",
    parse_message=openai_messages.parse_message,
    normalize=_normalize_openai,
    normalized_fields=frozenset(
        {"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "audio"}
    ),
    has_system_messages=True,
    without_call_ids=_without_openai_call_ids,
)
CLAUDE = Dialect(
    name="claude",
    parse_message=_parse_claude_message,
    normalize=_normalize_claude,
    normalized_fields=frozenset({"role", "content"}),
    has_system_messages=False,
)
RESPONSES = Dialect(
    name="responses",
    parse_message=openai_items.parse_item,
    normalize=_normalize_item,
    normalized_fields=frozenset({"type", "role", "content"}),
    has_system_messages=True,
    field="input",
    system_fields=("instructions",),
    is_optional=_is_reasoning,
)
GEMINI = Dialect(
    name="gemini",
    parse_message=google_contents.parse_content,
    normalize=_normalize_gemini,
    normalized_fields=frozenset({"role", "parts"}),
    has_system_messages=False,
    field="contents",
    system_fields=("systemInstruction", "system_instruction"),
    content="parts",
    tool=google_contents.parse_tool,
    without_call_ids=_without_gemini_call_ids,
)
CONVERSE = Dialect(
    name="converse",
    parse_message=converse_blocks.parse_message,
    normalize=_normalize_converse,
    normalized_fields=frozenset({"role", "content"}),
    has_system_messages=False,
    tool=converse_blocks.parse_tool,
)
DIALECTS = {dialect.name: dialect for dialect in (OPENAI, CLAUDE, RESPONSES, GEMINI, CONVERSE)}
