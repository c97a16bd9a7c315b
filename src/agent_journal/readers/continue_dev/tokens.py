"""Tokens: the usage of each answer, else of the whole session.

The editor extension writes `promptTokens`; the CLI writes the API's `prompt_tokens`, with the model and the
cost, rounded to whole cents; only the session's `totalCost` is exact. The prompt includes cached tokens,
unless those are more than the prompt, as with Anthropic's models (as of June 2026).
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
    """Return the usage of a message or session; the full object stays in `extra`."""
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
    uncached = None if prompt is None else prompt - (read or 0) - (written or 0)
    return Usage(
        key=key,
        input=prompt if uncached is None or uncached < 0 else uncached,
        output=output,
        cache_read=read,
        cache_write=written,
        reasoning=_count(answer, "reasoningTokens", "reasoning_tokens"),
        total=_count(raw, "totalTokens", "total_tokens"),
        cost_usd=cost,
        extra=raw,
    )


def reconcile(
    timeline: list[Message | Event], raw: Any, session_id: str, note: Notes, copied: int = 0
) -> None:
    """Make the answers' tokens add up to those of the session, which counts each request once.

    Answers that a fork copied are counted in their original session. Usage that no answer states (of answers
    that a compaction removed, of a subagent, of the summary) goes to a hidden message. If only one answer
    states tokens, it gets the session's exact cost.
    """
    total = usage(raw, f"{session_id}:session")
    if total is None or not (total.input or total.output or total.cost_usd):
        return
    stated = [
        (index, entry, entry.usage)
        for index, entry in enumerate(timeline)
        if isinstance(entry, Message) and entry.usage is not None
    ]
    for index, copy, counts in stated[:copied]:
        timeline[index] = replace(copy, usage=None, extra=copy.extra | {"usage": counts.extra})
    stated = stated[copied:]
    if stated:
        output = sum(counts.output or 0 for _, _, counts in stated)
        if output < (total.output or 0):
            remainder = _remainder(total, [counts for _, _, counts in stated])
            if remainder is None:
                detail = f"the session counts {total.output:,} output tokens, its messages {output:,}"
                note(Kind.PARTIAL_USAGE, "usage", detail)
            else:
                timeline.append(_hidden_message(remainder, stated[-1][1], session_id))
        elif len(stated) == 1 and output == total.output:
            index, answer, counts = stated[0]
            timeline[index] = replace(answer, usage=replace(counts, cost_usd=total.cost_usd))
        return
    for index in range(len(timeline) - 1, -1, -1):
        entry = timeline[index]
        if isinstance(entry, Message) and entry.role == "assistant":
            timeline[index] = replace(entry, usage=total)
            return


def _token_counts(counts: Usage) -> tuple[int, int, int, int]:
    return counts.input or 0, counts.output or 0, counts.cache_read or 0, counts.cache_write or 0


def _sum(all_counts: Iterable[Usage]) -> tuple[int, ...]:
    return tuple(map(sum, zip((0, 0, 0, 0), *map(_token_counts, all_counts), strict=True)))


def _remainder(total: Usage, stated: list[Usage]) -> Usage | None:
    """Return the session's usage minus that of its answers; None if the two count differently."""
    remainder = [whole - part for whole, part in zip(_token_counts(total), _sum(stated), strict=True)]
    if min(remainder) < 0:
        return None
    sent, output, read, written = remainder
    return Usage(key=total.key, input=sent, output=output, cache_read=read, cache_write=written)


def _hidden_message(remainder: Usage, answer: Message, session_id: str) -> Message:
    return Message(
        id=ids.made(SOURCE, session_id, "usage"),
        made_id=True,
        role="assistant",
        at=answer.at,
        model=answer.model,
        hidden=True,
        usage=remainder,
    )


def find_copied_answers(items: list[Any], raw: Any) -> tuple[int, int]:
    """Return how many answers have tokens that the session itself does not count, and the index of the last.

    The session counts exactly the answers after some index: it may be a fork, whose beginning is a copy.
    """
    total = usage(raw, "")
    stated = [
        (index, counts) for index, item in enumerate(items) if (counts := _item_usage(item)) is not None
    ]
    if total is None or not stated:
        return 0, 0
    for number in range(1, len(stated)):
        if _sum(counts for _, counts in stated[number:]) == _token_counts(total):
            return number, stated[number - 1][0]
    return 0, 0


def _item_usage(item: Any) -> Usage | None:
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
