"""What requests cost: the tokens and the price that the extension writes down when a request has ended."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from agent_journal.model import Usage

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields

# Roo Code 3.30, of 31 October 2025, counts what was cached as input, whatever the vendor of the model does.
_CACHE_IS_INPUT = 1_761_868_800_000


class _Stated(msgspec.Struct, gc=False, rename="camel"):
    """What a request usually states; what else it states stays in its event."""

    api_protocol: str | None = None
    tokens_in: int | None = None
    tokens_out: int | None = None
    cache_writes: int | None = None
    cache_reads: int | None = None
    cost: float | None = None


_decode = msgspec.json.Decoder(_Stated).decode


def usual(text: str, key: str, ts: int | None) -> Usage | None:
    """The tokens and the price of a request that states them as usual, else None; faster than with care."""
    try:
        stated = _decode(text)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return None
    given, written, read, cost = stated.tokens_in, stated.cache_writes, stated.cache_reads, stated.cost
    came = stated.tokens_out
    if given is None or came is None or min(given, came, written or 0, read or 0, cost or 0) < 0:
        return None
    if _is_inclusive(stated.api_protocol, ts):
        given = fresh(given, (written or 0) + (read or 0))
    return Usage(key=key, input=given, output=came, cache_read=read, cache_write=written, cost_usd=cost)


def _is_inclusive(protocol: Any, ts: int | None) -> bool:
    return protocol == "openai" or (protocol is not None and (ts or 0) >= _CACHE_IS_INPUT)


def usage(stated: Fields, key: str | None, ts: int | None) -> Usage | None:
    """The tokens and the price of a request, if it states any."""
    is_inclusive = _is_inclusive(stated.look("apiProtocol"), ts)
    return _usage(stated, "cost", key, is_inclusive=is_inclusive)


def total(stated: Fields, key: str, *, is_inclusive: bool) -> Usage | None:
    """The sums of a whole task."""
    return _usage(stated, "totalCost", key, is_inclusive=is_inclusive)


def _usage(stated: Fields, cost: str, key: str | None, *, is_inclusive: bool) -> Usage | None:
    given, came, written, read = (
        _count(stated, name) for name in ("tokensIn", "tokensOut", "cacheWrites", "cacheReads")
    )
    price = stated.decimal(cost)
    if given is came is written is read is price is None:
        return None
    return Usage(
        key=key,
        input=fresh(given, (written or 0) + (read or 0)) if is_inclusive else given,
        output=came,
        cache_read=read,
        cache_write=written,
        cost_usd=price if price is None or price >= 0 else None,
    )


def metered(metrics: Fields, key: str | None) -> Usage | None:
    """The tokens that Cline states with an answer: in one form until 2026, and in another since."""
    price = metrics.decimal("cost")
    tokens = metrics.nested("tokens")
    if tokens is not None:
        given, came, read, written = (
            *(_count(tokens, name) for name in ("prompt", "completion", "cached")),
            None,
        )
        given = fresh(given, read or 0)
    else:
        given, came, read, written = (
            _count(metrics, name)
            for name in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
        )
        given = fresh(given, (read or 0) + (written or 0))
    if given is came is read is written is price is None:
        return None
    return Usage(key=key, input=given, output=came, cache_read=read, cache_write=written, cost_usd=price)


def fresh(given: int | None, cached: int) -> int | None:
    """What was given and did not come from a cache; a sum that is less than its parts was none."""
    return given if given is None or given < cached else given - cached


def added(one: Usage | None, other: Usage) -> Usage:
    """Both together: requests that failed and were sent again are paid for too."""
    if one is None:
        return other
    return Usage(
        key=other.key,
        input=_sum(one.input, other.input),
        output=_sum(one.output, other.output),
        cache_read=_sum(one.cache_read, other.cache_read),
        cache_write=_sum(one.cache_write, other.cache_write),
        cost_usd=_sum(one.cost_usd, other.cost_usd),
    )


def _sum(one: Any, other: Any) -> Any:
    if one is None or other is None:
        return other if one is None else one
    return one + other


def _count(stated: Fields, name: str) -> int | None:
    value = stated.whole(name)
    if value is not None and value < 0:
        stated.keep(name, value)
        return None
    return value
