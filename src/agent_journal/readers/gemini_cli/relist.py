"""Messages that a replaced history lists again.

Since 0.61, `--resume` rebuilds the history from the file and writes all of it again: thoughts and calls as
parts of the content, without tokens, model and tool calls, and with the time of the resume.
"""

from __future__ import annotations

from typing import Any

from agent_journal.decoding.fields import objects

_CONTENT, _CALLS, _TIME = "content", "toolCalls", "timestamp"
# The usage of a response stays valid if its text changes.
_USAGE_FIELDS = ("tokens", "model")


def with_usage(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Add tokens and model to a repeated message if only its earlier record has them."""
    missing = {name: old[name] for name in _USAGE_FIELDS if old.get(name) and not new.get(name)}
    return {**new, **missing} if missing else new


def merge_repeated(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """Merge the records of a repeated message: changed values are new, omitted ones remain."""
    merged = with_usage(old, {**old, **new})
    if old.get(_TIME):
        merged[_TIME] = old[_TIME]
    content = new.get(_CONTENT)
    if is_equal(content, old.get(_CONTENT)) or is_equal(content, history_parts(old)):
        merged[_CONTENT] = old.get(_CONTENT)
    elif _CALLS not in new and _CALLS in old:
        listed = {_id(part.get("functionCall")) for part in objects(content)}
        merged[_CALLS] = [call for call in old[_CALLS] or () if _id(call) in listed]
    return merged


def history_parts(record: dict[str, Any]) -> list[Any]:
    """Build the content of a message as the app sends it to the model after a resume."""
    content = _part_list(record.get(_CONTENT))
    if record.get("type") != "gemini":
        return content
    if any("functionCall" in part or part.get("thought") for part in objects(content)):
        return content
    thoughts = [
        {"text": f"**{subject}** {text}" if (subject := thought.get("subject")) else text, "thought": True}
        for thought in objects(record.get("thoughts"))
        if (text := thought.get("description")).__class__ is str
    ]
    calls = [
        {"functionCall": {name: call[name] for name in ("id", "name", "args") if name in call}}
        for call in objects(record.get(_CALLS))
    ]
    return [*thoughts, *content, *calls]


def results_by_call(record: dict[str, Any]) -> dict[str, list[Any]]:
    """Map the ids of a message's tool calls to their results as parts."""
    results: dict[str, list[Any]] = {}
    for call in objects(record.get(_CALLS)):
        identity, result = _id(call), call.get("result")
        if not identity or not result:
            continue
        if result.__class__ is str:
            response = {"id": identity, "name": call.get("name"), "response": {"output": result}}
            results[identity] = [{"functionResponse": response}]
        else:
            results[identity] = _part_list(result)
    return results


def is_equal(first: Any, second: Any) -> bool:
    """Whether two values are equal; values nested too deep to compare are not."""
    try:
        return bool(first == second)
    except RecursionError:
        return False


def _part_list(content: Any) -> list[Any]:
    if content.__class__ is list:
        return content
    if content.__class__ is str:
        return [{"text": content}] if content else []
    return [] if content is None else [content]


def _id(raw: Any) -> str | None:
    identity = raw.get("id") if raw.__class__ is dict else None
    return identity if identity.__class__ is str else None
