"""Token counts: each answer states its own; what the app measured states those of all requests.

Requests without an answer in the file, such as for a summary, are known only from what the app measured.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from agent_journal.decoding.fields import counted
from agent_journal.model import Message, Usage

if TYPE_CHECKING:
    from collections.abc import Iterable

_ANSWER_COUNTS = (
    "promptTokenCount",
    "candidatesTokenCount",
    "cachedContentTokenCount",
    "thoughtsTokenCount",
    "totalTokenCount",
)
_MEASURED_COUNTS = (
    "input_token_count",
    "output_token_count",
    "cached_content_token_count",
    "thoughts_token_count",
    "total_token_count",
)
# Agents of the app itself, such as the one that looks for memories, have no files.
_OWN_AGENTS = "managed-"
_API_RESPONSE = "qwen-code.api_response"


def usage_of(raw: Any, key: str) -> Usage | None:
    """Convert the tokens of an answer; the prompt's include those of the cache."""
    return _usage(raw, _ANSWER_COUNTS, key) if raw.__class__ is dict and raw else None


def measured_usage(payload: Any, key: str) -> tuple[Usage, Any] | None:
    """Convert the tokens of a measured request, with its model; a subagent's are in the subagent's file."""
    event = payload.get("uiEvent") if payload.__class__ is dict else None
    if event.__class__ is not dict or event.get("event.name") != _API_RESPONSE:
        return None
    agent = event.get("subagent_id")
    if agent.__class__ is str and not agent.startswith(_OWN_AGENTS):
        return None
    counts = {name: event[name] for name in _MEASURED_COUNTS if name in event}
    return _usage(counts, _MEASURED_COUNTS, key), event.get("model")


def without_stated(measured: list[Message], answers: Iterable[Usage | None]) -> list[Message]:
    """Return the measured requests whose tokens no answer states."""
    stated = Counter(_counts(usage) for usage in answers if usage is not None)
    unstated: list[Message] = []
    for message in measured:
        counts = _counts(message.usage)
        if stated[counts]:
            stated[counts] -= 1
        elif message.usage is not None and (message.usage.input or message.usage.output):
            unstated.append(message)
    return unstated


def _usage(raw: dict[str, Any], names: tuple[str, ...], key: str) -> Usage:
    prompt, answer, cached, thoughts, total = (counted(raw.get(name)) for name in names)
    # Google's services count thoughts separately, OpenAI's as part of the answer.
    is_separate = bool(thoughts) and total == (prompt or 0) + (answer or 0) + (thoughts or 0)
    return Usage(
        key=key,
        input=None if prompt is None else max(prompt - (cached or 0), 0),
        output=(answer or 0) + (thoughts or 0) if is_separate else answer,
        cache_read=cached,
        reasoning=thoughts,
        total=total,
        extra=raw,
    )


def _counts(usage: Usage | None) -> tuple[int | None, ...]:
    return () if usage is None else (usage.input, usage.output, usage.cache_read or 0)
