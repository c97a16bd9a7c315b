"""Tokens: how large the last prompt was, and how much came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.fields import counted, objects
from agent_journal.model import Usage

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

_COUNTS = ("promptTokens", "completionTokens", "outputTokens")
_TOTALS = ("inputTokens", "cachedTokens", "outputTokens")
_BESIDE = (
    "promptTokenDetails",
    "outputBuffer",
    "copilotCredits",
    "modelTotals",
    "sessionCopilotCredits",
)


def usage(request: Fields, result: Fields | None, metadata: Fields | None) -> Usage | None:
    """What a request states about its tokens: at first its result's metadata did, then the request itself.

    The prompt is that of the last round, with what was read from a cache; the output is that of all rounds.
    Where the sums of all rounds are stated, by model, they count instead.
    """
    stated = None if result is None or result.look("usage").__class__ is not dict else result.nested("usage")
    said: Bag = {}
    for holder in (request, result, stated, metadata):
        if holder is not None:
            for name in _COUNTS:
                value = holder.look(name)
                # Moved out, unless another one was stated before.
                if value.__class__ is int and said.get(name, value) == value:
                    said[name] = holder.take(name)
    prompt, output = said.get("promptTokens"), said.get("completionTokens", said.get("outputTokens"))
    if prompt is None and output is None:
        return None
    sums = totals(request)
    for name in _BESIDE:
        if request.has(name):
            said[name] = request.take(name)
    if sums is None:
        return Usage(input=prompt, output=output, extra=said)
    given, cached, came = sums
    return Usage(input=max(given - cached, 0), cache_read=cached, output=came, extra=said)


def totals(request: Fields) -> tuple[int, int, int] | None:
    """What all rounds were given, how much of it from a cache, and what they gave; None if not told."""
    models = [*objects(request.look("modelTotals"))]
    counts = [[counted(model.get(name)) for name in _TOTALS] for model in models]
    whole = [[count for count in each if count is not None] for each in counts]
    if not whole or any(len(each) < len(_TOTALS) for each in whole):
        return None
    given, cached, came = map(sum, zip(*whole, strict=True))
    return given, cached, came
