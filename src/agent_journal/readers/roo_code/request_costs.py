"""The usage of requests: the tokens and the cost that the extension records when a request has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Usage

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

# Since version 3.30 of 31 October 2025, Roo Code counts cached tokens as input for the models of all vendors.
_CACHE_IN_INPUT_SINCE_MS = 1_761_868_800_000


class _RequestCosts(msgspec.Struct, gc=False, rename="camel"):
    """The common fields of a request; any other fields stay in its event."""

    api_protocol: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_writes: int | None = None
    cache_reads: int | None = None
    cost: float | None = None


_decode = msgspec.json.Decoder(_RequestCosts).decode


def fast_usage(text: str, key: str, ts: int | None) -> Usage | None:
    """Return the usage of a request of the common shape (the fast path), else None."""
    try:
        costs = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    sent, written, read, cost = costs.tokens_in, costs.cache_writes, costs.cache_reads, costs.cost
    received = costs.tokens_out
    if sent is None or received is None or min(sent, received, written or 0, read or 0, cost or 0) < 0:
        return None
    if _is_cache_in_input(costs.api_protocol, ts):
        sent = uncached(sent, (written or 0) + (read or 0))
    return Usage(key=key, input=sent, output=received, cache_read=read, cache_write=written, cost_usd=cost)


def _is_cache_in_input(protocol: Any, ts: int | None) -> bool:
    return protocol == "openai" or (protocol is not None and (ts or 0) >= _CACHE_IN_INPUT_SINCE_MS)


def request_usage(fields: Fields, key: str | None, ts: int | None) -> Usage | None:
    """Return the usage of a request, if it states any."""
    is_cache_in_input = _is_cache_in_input(fields.view("apiProtocol"), ts)
    return _usage(fields, "cost", key, is_cache_in_input=is_cache_in_input)


def task_usage(fields: Fields, key: str, *, is_cache_in_input: bool) -> Usage | None:
    """Return the total usage of a task."""
    return _usage(fields, "totalCost", key, is_cache_in_input=is_cache_in_input)


def _usage(fields: Fields, cost_key: str, key: str | None, *, is_cache_in_input: bool) -> Usage | None:
    sent, received, written, read = (
        _count(fields, name) for name in ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")
    )
    cost_usd = fields.decimal(cost_key)
    if sent is received is written is read is cost_usd is None:
        return None
    return Usage(
        key=key,
        input=uncached(sent, (written or 0) + (read or 0)) if is_cache_in_input else sent,
        output=received,
        cache_read=read,
        cache_write=written,
        cost_usd=cost_usd if cost_usd is None or cost_usd >= 0 else None,
    )


def answer_usage(metrics: Fields, key: str | None) -> Usage | None:
    """Return the usage that Cline states with an answer: in one form until 2026, in another since."""
    cost = metrics.decimal("cost")
    tokens = metrics.nested("tokens")
    if tokens is not None:
        sent, received, read, written = (
            *(_count(tokens, name) for name in ("prompt", "completion", "cached")),
            None,
        )
        sent = uncached(sent, read or 0)
    else:
        sent, received, read, written = (
            _count(metrics, name)
            for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        )
        sent = uncached(sent, (read or 0) + (written or 0))
    if sent is received is read is written is cost is None:
        return None
    return Usage(key=key, input=sent, output=received, cache_read=read, cache_write=written, cost_usd=cost)


def uncached(input_tokens: int | None, cached: int) -> int | None:
    """Return the input without cached tokens; an input below the cached count cannot have included them."""
    return input_tokens if input_tokens is None or input_tokens < cached else input_tokens - cached


def add_usage(left: Usage | None, right: Usage) -> Usage:
    """Add the usage of two requests: failed requests that were retried are paid for too."""
    if left is None:
        return right
    return Usage(
        key=right.key,
        input=_sum(left.input, right.input),
        output=_sum(left.output, right.output),
        cache_read=_sum(left.cache_read, right.cache_read),
        cache_write=_sum(left.cache_write, right.cache_write),
        cost_usd=_sum(left.cost_usd, right.cost_usd),
    )


def _sum(left: Any, right: Any) -> Any:
    if left is None or right is None:
        return right if left is None else left
    return left + right


def _count(fields: Fields, name: str) -> int | None:
    value = fields.whole(name)
    if value is not None and value < 0:
        fields.keep(name, value)
        return None
    return value
