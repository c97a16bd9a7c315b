"""Tokens: what each answer cost, else what the whole session did.

The editors' extension writes `promptTokens`, the command line what the API said: `prompt_tokens`, with the
model and the price, rounded to whole cents; only the session's `totalCost` is exact. The prompt includes what
came from the cache; where that is more than the prompt, it does not: so it is with Anthropic's models (as of
June 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Message, Usage
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.model import Bag, Event
    from agent_journal.notes import Notes


def usage(raw: Any, key: str) -> Usage | None:
    """The counts of a message or session; the object stays whole in `extra`."""
    if raw.__class__ is not dict:
        return None
    prompt = _count(raw, "promptTokens", "prompt_tokens")
    output = _count(raw, "completionTokens", "completion_tokens")
    details = _inner(raw, "promptTokensDetails", "prompt_tokens_details")
    read = _count(details, "cachedTokens", "cache_read_tokens", "cached_tokens")
    written = _count(details, "cacheWriteTokens", "cache_write_tokens")
    answer = _inner(raw, "completionTokensDetails", "completion_tokens_details")
    cost = _cost(raw)
    if prompt is output is cost is None:
        return None
    fresh = None if prompt is None else prompt - (read or 0) - (written or 0)
    return Usage(
        key=key,
        input=prompt if fresh is None or fresh < 0 else fresh,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=_count(answer, "reasoningTokens", "reasoning_tokens"),
        total=_count(raw, "totalTokens", "total_tokens"),
        cost_usd=cost,
        extra=raw,
    )


def settle(timeline: list[Message | Event], raw: Any, session_id: str, note: Notes) -> None:
    """Put the sum of a session where no answer states its own; note a sum that is larger than theirs.

    Of the only answer that states tokens, the session's cost is the cost.
    """
    whole = usage(raw, f"{session_id}:session")
    if whole is None or not (whole.input or whole.output or whole.cost_usd):
        return
    stated = [
        (place, entry, entry.usage)
        for place, entry in enumerate(timeline)
        if isinstance(entry, Message) and entry.usage is not None
    ]
    if stated:
        output = sum(counts.output or 0 for _, _, counts in stated)
        if output < (whole.output or 0):
            detail = f"the session counts {whole.output:,} tokens of answers, its messages {output:,}"
            note(Kind.PARTIAL_USAGE, "usage", detail)
        elif len(stated) == 1 and output == whole.output:
            only, answer, counts = stated[0]
            timeline[only] = replace(answer, usage=replace(counts, cost_usd=whole.cost_usd))
        return
    for place in range(len(timeline) - 1, -1, -1):
        entry = timeline[place]
        if isinstance(entry, Message) and entry.role == "assistant":
            timeline[place] = replace(entry, usage=whole)
            return


def _inner(raw: Bag, *names: str) -> Bag:
    for name in names:
        value = raw.get(name)
        if value.__class__ is dict:
            return value
    return {}


def _count(raw: Bag, *names: str) -> int | None:
    for name in names:
        value = raw.get(name)
        if value.__class__ is int and value >= 0:
            return value
    return None


def _cost(raw: Bag) -> float | None:
    value = raw.get("totalCost")
    return float(value) if value.__class__ in (int, float) and 0 <= value < float("inf") else None
