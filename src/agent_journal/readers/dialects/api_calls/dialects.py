"""The dialects: how each says a message, what makes two messages the same, and what may differ then."""

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
from agent_journal.readers.dialects.openai_messages import Said

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag, Tool
    from agent_journal.notes import Notes

_decode = msgspec.json.Decoder().decode
# Marks for the service's cache, which clients move from message to message with every call, and what services
# put on the parts of an answer and clients may leave out when they repeat it.
_MARKS = ("cache_control", "annotations", "citations", "caller", "thoughtSignature", "thought_signature")
_EMPTY: tuple[Any, ...] = (None, "", [], {})
# Of items: what they have only once the service knows them, and how it calls texts by who said them.
_STATES, _ITEM_TEXTS = ("id", "status"), ("input_text", "output_text")
# Calls that clients repeat: the field that each has its input in. What services ran is known by its id.
_INPUTS = {"function_call": "arguments", "custom_tool_call": "input"}
_REFERENCE = "item_reference"
# A system prompt that is a field of the request has no place among the messages.
SYSTEM_PLACE = -1


class Dialect(NamedTuple):
    """What depends on the API that a request was made for."""

    name: str
    said: Callable[[Any, Notes, int | str], Said]
    meaning: Callable[[Any], Any]
    """What makes two messages the same."""
    told: frozenset[str]
    """The fields that `meaning` has looked at."""
    has_system_messages: bool
    """Whether the system prompt is at the head of the messages."""
    field: str = "messages"
    """Where a request has its messages."""
    system_fields: tuple[str, ...] = ("system",)
    """Where a request may have its system prompt."""
    content: str = "content"
    """Where a message has its parts."""
    is_aside: Callable[[Any], bool] | None = None
    """Whether a message may be left out when a dialogue is repeated, if any may."""
    unnamed: Callable[[Any], Any] | None = None
    """A message without the ids of its calls, which clients may have made up; None if it has none."""
    tool: Callable[[Any, Notes, int | str], Tool] = openai_messages.tool


def _claude_said(raw: Any, note: Notes, where: int | str) -> Said:
    """A message whose content is a string or blocks."""
    if raw.__class__ is not dict:
        return openai_messages.said(raw, note, where)
    fields = Fields(dict(raw), note, where)
    role = openai_messages.role_of(fields)
    content = fields.take("content")
    return Said(role, anthropic_blocks.parts(content, note, where, {}), content, fields.rest())


def _claude_meaning(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    content = raw.get("content")
    plain = _plain(content) if content.__class__ is list else content
    return [raw.get("role"), plain or None]


def _converse_meaning(raw: Any) -> Any:
    """What a message means: a mark for the cache is a block of its own there."""
    content = raw.get("content") if raw.__class__ is dict else None
    if content.__class__ is not list:
        return _claude_meaning(raw)
    told = [_untyped(block) for block in content if not _is_cache_mark(block)]
    return _claude_meaning({**raw, "content": told})


def _untyped(block: Any) -> Any:
    """A block of which the service says what kind of a call it is, and clients do not."""
    call = block.get("toolUse") if block.__class__ is dict else None
    if call.__class__ is not dict or "type" not in call:
        return block
    return {**block, "toolUse": {key: value for key, value in call.items() if key != "type"}}


def _is_cache_mark(block: Any) -> bool:
    return block.__class__ is dict and "cachePoint" in block


def _openai_meaning(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    role, content, calls, audio = (raw.get(key) for key in ("role", "content", "tool_calls", "audio"))
    told = (
        [_call_meaning(call) for call in calls] if calls.__class__ is list else calls,
        _stated(raw.get("function_call")),
        raw.get("tool_call_id"),
        raw.get("name"),
        raw.get("refusal"),
        audio.get("id") if isinstance(audio, dict) else audio,
    )
    more = [each or None for each in told]
    if content.__class__ is list:
        # To the cooked format a tool's result is another thing as a list, and so is text beside calls.
        is_apart = role == "tool" or any(more)
        content = _plain(content) if not is_apart else _bare(content) if content else None
    return [role, content or None, *more] if any(more) else [role, content or None]


def _call_meaning(call: Any) -> Any:
    if call.__class__ is not dict:
        return call
    return {
        key: _parsed(value)
        for key, value in call.items()
        if key != "index" and (key, value) != ("type", "function") and _stated(value)
    }


def _openai_unnamed(raw: Any) -> Any:
    calls = raw.get("tool_calls") if raw.__class__ is dict else None
    if calls.__class__ is not list or not any(call.__class__ is dict and call.get("id") for call in calls):
        return None
    return {**raw, "tool_calls": [_without_id(call) for call in calls]}


def _without_id(call: Any) -> Any:
    return {key: value for key, value in call.items() if key != "id"} if call.__class__ is dict else call


def _parsed(called: Any) -> Any:
    """What was called, with its arguments as a value: clients write them anew, with or without blanks."""
    if called.__class__ is not dict or called.get("arguments").__class__ is not str:
        return called
    return {**called, "arguments": _value(called["arguments"])}


def _value(text: Any) -> Any:
    """What a JSON text says; any other is what it is."""
    try:
        return {"json": _decode(text)} if text.__class__ is str else text
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return text


def _stated(value: Any) -> Any:
    """A value, or None if it is an object in which every field is empty."""
    is_empty = value.__class__ is dict and all(inner in _EMPTY for inner in value.values())
    return None if is_empty else value


def _plain(content: list[Any]) -> Any:
    """The text itself if there is nothing but one text, else the parts."""
    bare = _bare(content)
    match bare["parts"]:
        case [{"type": "text", "text": str(text), **more}] if not more:
            return text
    return bare


def _bare(content: list[Any]) -> dict[str, list[Any]]:
    """Parts without marks and nulls."""
    return {"parts": [_unmarked(block) for block in content]}


def _unmarked(block: Any) -> Any:
    if block.__class__ is not dict:
        return block
    bare = {key: value for key, value in block.items() if key not in _MARKS and value is not None}
    inner = bare.get("content")
    if inner.__class__ is list:
        bare["content"] = [_unmarked(part) for part in inner]
    elif inner.__class__ is dict:
        bare["content"] = _unmarked(inner)
    return bare


def _item_meaning(raw: Any) -> Any:
    """What an item of the Responses API means, which has an id and a state only once the service knows it."""
    if raw.__class__ is str:
        return ["user", raw or None]
    if raw.__class__ is not dict:
        return {"value": raw}
    kind = raw.get("type")
    if kind == "message" or (kind is None and "role" in raw):
        content = raw.get("content")
        return [raw.get("role"), (_item_content(content) if content.__class__ is list else content) or None]
    if _is_thought(raw):
        told = raw.get("id") or raw.get("encrypted_content") or [raw.get("summary"), raw.get("content")]
        return {"thought": told}
    if kind == _REFERENCE:
        return {"item": raw.get("id")}
    if kind.__class__ is str and kind in _INPUTS:
        return [kind, raw.get("call_id"), raw.get("name"), _value(raw.get(_INPUTS[kind]))]
    item_id = raw.get("id")
    if item_id.__class__ is str and item_id and kind.__class__ is str and not kind.endswith("_output"):
        return {"type": kind, "id": item_id}
    return {key: value for key, value in raw.items() if key not in _STATES and value is not None}


def referred(raw: Any) -> str | None:
    """The id of the item that stands elsewhere, if this is only a reference to one."""
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
    return _plain(parts)


def _is_thought(raw: Any) -> bool:
    return raw.__class__ is dict and raw.get("type") == "reasoning"


def _gemini_meaning(raw: Any) -> Any:
    """What a content means: thoughts are seldom repeated, and texts that came in pieces may be one."""
    if raw.__class__ is str:
        return ["user", raw]
    if raw.__class__ is not dict:
        return {"value": raw}
    role, parts = raw.get("role"), raw.get("parts")
    told: list[Any] = []
    for part in parts if parts.__class__ is list else [parts]:
        text = part.get("text") if part.__class__ is dict else part
        if text.__class__ is not str:
            told.append(_gemini_part(part))
        elif part.__class__ is dict and part.get("thought") is True:
            continue
        elif told and told[-1].__class__ is str:
            told[-1] += text
        else:
            told.append(text)
    return [role or "user", [one for one in told if one != ""]]


def _gemini_part(part: Any) -> Any:
    held = google_contents.held_by(google_contents.in_camel_case(part)) if part.__class__ is dict else None
    if held is None:
        return part
    name, value = held
    return {name: {key: inner for key, inner in value.items() if inner not in _EMPTY}}


def _gemini_unnamed(raw: Any) -> Any:
    parts = raw.get("parts") if raw.__class__ is dict else None
    if parts.__class__ is not list:
        return None
    told = [_part_unnamed(part) for part in parts]
    return {**raw, "parts": told} if told != parts else None


def _part_unnamed(part: Any) -> Any:
    name = next((name for name in ("functionCall", "function_call") if _is_called(part, name)), None)
    return part if name is None else {**part, name: _without_id(part[name])}


def _is_called(part: Any, name: str) -> bool:
    return part.__class__ is dict and part.get(name).__class__ is dict and "id" in part[name]


def difference(raw: Any, kept: Any, dialect: Dialect) -> Bag:
    """What a message says that another with its meaning does not: fields beside it, marks on its parts."""
    if raw.__class__ is not dict:
        return {}
    known = kept if kept.__class__ is dict else {}
    found = {
        key: value
        for key, value in raw.items()
        if key not in dialect.told and value not in _EMPTY and value != known.get(key)
    }
    marks, known_marks = _marks(raw.get(dialect.content)), _marks(known.get(dialect.content))
    if dialect is GEMINI:  # where thoughts are left out, the parts behind them have other places
        marks = {place: mark for place, mark in marks.items() if mark not in known_marks.values()}
    if marks and marks != known_marks:
        found[dialect.content] = marks
    return found


def _marks(content: Any) -> Bag:
    """Every mark by the place of its block: `{"2": {"cache_control": …}}`."""
    found: Bag = {}
    for place, block in enumerate(content if content.__class__ is list else ()):
        if block.__class__ is not dict:
            continue
        marks = _marks_on(block)
        if block.get("thought") is True or _is_cache_mark(block):
            marks = block
        inner = block.get("content")
        # Blocks within blocks have no blocks of their own: a tool result's are texts and images.
        within = {
            str(position): told
            for position, part in enumerate(inner if inner.__class__ is list else ())
            if part.__class__ is dict and (told := _marks_on(part))
        }
        if marks or within:
            found[str(place)] = {**marks, "content": within} if within else marks
    return found


def _marks_on(block: dict[str, Any]) -> Bag:
    return {mark: block[mark] for mark in _MARKS if mark in block and block[mark] != []}


OPENAI = Dialect(
    name="openai",
    said=openai_messages.said,
    meaning=_openai_meaning,
    told=frozenset(
        {"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "audio"}
    ),
    has_system_messages=True,
    unnamed=_openai_unnamed,
)
CLAUDE = Dialect(
    name="claude",
    said=_claude_said,
    meaning=_claude_meaning,
    told=frozenset({"role", "content"}),
    has_system_messages=False,
)
RESPONSES = Dialect(
    name="responses",
    said=openai_items.said,
    meaning=_item_meaning,
    told=frozenset({"type", "role", "content"}),
    has_system_messages=True,
    field="input",
    system_fields=("instructions",),
    is_aside=_is_thought,
)
GEMINI = Dialect(
    name="gemini",
    said=google_contents.said,
    meaning=_gemini_meaning,
    told=frozenset({"role", "parts"}),
    has_system_messages=False,
    field="contents",
    system_fields=("systemInstruction", "system_instruction"),
    content="parts",
    tool=google_contents.tool,
    unnamed=_gemini_unnamed,
)
CONVERSE = Dialect(
    name="converse",
    said=converse_blocks.said,
    meaning=_converse_meaning,
    told=frozenset({"role", "content"}),
    has_system_messages=False,
    tool=converse_blocks.tool,
)
DIALECTS = {dialect.name: dialect for dialect in (OPENAI, CLAUDE, RESPONSES, GEMINI, CONVERSE)}
