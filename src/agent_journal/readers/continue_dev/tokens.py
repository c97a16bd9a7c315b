"""Tokens: what each answer cost, else what the whole session did.

The editors' extension writes `promptTokens`, the command line what the API said: `prompt_tokens`, with the
model and the price, rounded to whole cents; only the session's `totalCost` is exact. The prompt includes what
came from the cache; where that is more than the prompt, it does not: so it is with Anthropic's models (as of
June 2026).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.model import Message, Usage, ids
from agent_journal.notes import Kind
from agent_journal.readers.continue_dev.names import SOURCE

if TYPE_CHECKING:
    from collections.abc import Iterable

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


def settle(timeline: list[Message | Event], raw: Any, session_id: str, note: Notes, copied: int = 0) -> None:
    """Make the answers' tokens add up to those of the session, which counts each request once.

    The answers that a fork copied are counted where they were given. What no answer states (those that a
    compaction removed, a subagent's, the summary) is the usage of a hidden message. Of the only answer that
    states tokens, the session's cost is the cost.
    """
    whole = usage(raw, f"{session_id}:session")
    if whole is None or not (whole.input or whole.output or whole.cost_usd):
        return
    stated = [
        (place, entry, entry.usage)
        for place, entry in enumerate(timeline)
        if isinstance(entry, Message) and entry.usage is not None
    ]
    for place, copy, counts in stated[:copied]:
        timeline[place] = replace(copy, usage=None, extra=copy.extra | {"usage": counts.extra})
    stated = stated[copied:]
    if stated:
        output = sum(counts.output or 0 for _, _, counts in stated)
        if output < (whole.output or 0):
            left = _remainder(whole, [counts for _, _, counts in stated])
            if left is None:
                detail = f"the session counts {whole.output:,} tokens of answers, its messages {output:,}"
                note(Kind.PARTIAL_USAGE, "usage", detail)
            else:
                timeline.append(_unstated(left, stated[-1][1], session_id))
        elif len(stated) == 1 and output == whole.output:
            only, answer, counts = stated[0]
            timeline[only] = replace(answer, usage=replace(counts, cost_usd=whole.cost_usd))
        return
    for place in range(len(timeline) - 1, -1, -1):
        entry = timeline[place]
        if isinstance(entry, Message) and entry.role == "assistant":
            timeline[place] = replace(entry, usage=whole)
            return


def _four(counts: Usage) -> tuple[int, int, int, int]:
    return counts.input or 0, counts.output or 0, counts.cache_read or 0, counts.cache_write or 0


def _sum(all_counts: Iterable[Usage]) -> tuple[int, ...]:
    return tuple(map(sum, zip((0, 0, 0, 0), *map(_four, all_counts), strict=True)))


def _remainder(whole: Usage, stated: list[Usage]) -> Usage | None:
    """What the session counts beyond its answers; None if the two do not count alike."""
    left = [total - part for total, part in zip(_four(whole), _sum(stated), strict=True)]
    if min(left) < 0:
        return None
    sent, output, read, written = left
    return Usage(key=whole.key, input=sent, output=output, cache_read=read, cache_write=written)


def _unstated(left: Usage, answer: Message, session_id: str) -> Message:
    return Message(
        id=ids.made(SOURCE, session_id, "usage"),
        made_id=True,
        role="assistant",
        at=answer.at,
        model=answer.model,
        hidden=True,
        usage=left,
    )


def stated_before(items: list[Any], raw: Any) -> tuple[int, int]:
    """How many answers state tokens that the session itself does not count, and where the last of them is.

    The session counts the answers from some place on exactly: it may be a fork, whose beginning is a copy.
    """
    whole = usage(raw, "")
    stated = [(place, counts) for place, item in enumerate(items) if (counts := _of_item(item)) is not None]
    if whole is None or not stated:
        return 0, 0
    for number in range(1, len(stated)):
        if _sum(counts for _, counts in stated[number:]) == _four(whole):
            return number, stated[number - 1][0]
    return 0, 0


def _of_item(item: Any) -> Usage | None:
    message = item.get("message") if item.__class__ is dict else None
    return usage(message.get("usage"), "") if message.__class__ is dict else None


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
