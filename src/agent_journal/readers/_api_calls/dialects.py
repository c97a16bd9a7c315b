"""The dialects: how each says a message, what makes two messages the same, and what may differ then."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.fields import Fields
from agent_journal.readers import _blocks_anthropic, _messages_openai
from agent_journal.readers._messages_openai import Said

if TYPE_CHECKING:
    from collections.abc import Callable

    from agent_journal.model import Bag
    from agent_journal.notes import Notes

# A mark for the service's cache; clients move it from message to message with every call.
_MARK = "cache_control"
_EMPTY: tuple[Any, ...] = (None, "", [], {})


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


def _claude_said(raw: Any, note: Notes, where: int | str) -> Said:
    """A message whose content is a string or blocks."""
    if raw.__class__ is not dict:
        return _messages_openai.said(raw, note, where)
    fields = Fields(dict(raw), note, where)
    role = _messages_openai.role_of(fields)
    content = fields.take("content")
    return Said(role, _blocks_anthropic.parts(content, note, where, {}), content, fields.rest())


def _claude_meaning(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    content = raw.get("content")
    plain = _plain(content) if content.__class__ is list else content
    return [raw.get("role"), plain or None]


def _openai_meaning(raw: Any) -> Any:
    if raw.__class__ is not dict:
        return {"value": raw}
    role, content, calls, audio = (raw.get(key) for key in ("role", "content", "tool_calls", "audio"))
    more = [
        [_call_meaning(call) for call in calls] if calls.__class__ is list else calls,
        raw.get("function_call"),
        raw.get("tool_call_id"),
        raw.get("name"),
        raw.get("refusal"),
        audio.get("id") if isinstance(audio, dict) else audio,
    ]
    if content.__class__ is list:
        # To the cooked format a tool's result is another thing as a list, and so is text beside calls.
        content = _bare(content) if role == "tool" or any(more) else _plain(content)
    return [role, content or None, *more] if any(more) else [role, content or None]


def _call_meaning(call: Any) -> Any:
    if call.__class__ is not dict:
        return call
    return {
        key: value for key, value in call.items() if key != "index" and (key, value) != ("type", "function")
    }


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
    inner = block.get("content")
    bare = {key: value for key, value in block.items() if key != _MARK and value is not None}
    if inner.__class__ is list:
        bare["content"] = [
            {key: value for key, value in part.items() if key != _MARK} if part.__class__ is dict else part
            for part in inner
        ]
    return bare


def difference(raw: Any, kept: Any, told: frozenset[str]) -> Bag:
    """What a message says that another with its meaning does not: fields beside it, marks for the cache."""
    if raw.__class__ is not dict:
        return {}
    found = {
        key: value
        for key, value in raw.items()
        if key not in told and value not in _EMPTY and value != kept.get(key)
    }
    marks = _marks(raw.get("content"))
    if marks and marks != _marks(kept.get("content")):
        found["content"] = marks
    return found


def _marks(content: Any) -> Bag:
    """Every mark by the place of its block: `{"2": {"cache_control": …}}`."""
    found: Bag = {}
    for place, block in enumerate(content if content.__class__ is list else ()):
        if block.__class__ is not dict:
            continue
        marks = {_MARK: block[_MARK]} if _MARK in block else {}
        inner = block.get("content")
        # Blocks within blocks have no blocks of their own: a tool result's are texts and images.
        within = {
            str(position): {_MARK: part[_MARK]}
            for position, part in enumerate(inner if inner.__class__ is list else ())
            if part.__class__ is dict and _MARK in part
        }
        if marks or within:
            found[str(place)] = {**marks, "content": within} if within else marks
    return found


OPENAI = Dialect(
    name="openai",
    said=_messages_openai.said,
    meaning=_openai_meaning,
    told=frozenset(
        {"role", "content", "tool_calls", "function_call", "tool_call_id", "name", "refusal", "audio"}
    ),
    has_system_messages=True,
)
CLAUDE = Dialect(
    name="claude",
    said=_claude_said,
    meaning=_claude_meaning,
    told=frozenset({"role", "content"}),
    has_system_messages=False,
)
