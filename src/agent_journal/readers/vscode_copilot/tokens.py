"""Tokens: the size of the last prompt, and of the output."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.decoding.fields import counted, objects
from agent_journal.model import Usage

if TYPE_CHECKING:
    from agent_journal.decoding.fields import Fields
    from agent_journal.model import Bag

_COUNT_KEYS = ("promptTokens", "completionTokens", "outputTokens")
_TOTAL_KEYS = ("inputTokens", "cachedTokens", "outputTokens")
_EXTRA_KEYS = (
    "promptTokenDetails",
    "outputBuffer",
    "copilotCredits",
    "modelTotals",
    "sessionCopilotCredits",
)


def usage(request: Fields, result: Fields | None, metadata: Fields | None) -> Usage | None:
    """Return the usage of a request: in old versions in its result's metadata, later in the request itself.

    The prompt is that of the last round, including cached tokens; the output is that of all rounds. Totals
    of all rounds, stated by model, take precedence.
    """
    stated = None if result is None or result.view("usage").__class__ is not dict else result.nested("usage")
    counts: Bag = {}
    for holder in (request, result, stated, metadata):
        if holder is not None:
            for name in _COUNT_KEYS:
                value = holder.view(name)
                # A different value stays if the same count was stated before.
                if value.__class__ is int and counts.get(name, value) == value:
                    counts[name] = holder.take(name)
    prompt, output = counts.get("promptTokens"), counts.get("completionTokens", counts.get("outputTokens"))
    if prompt is None and output is None:
        return None
    sums = totals(request)
    for name in _EXTRA_KEYS:
        if request.has(name):
            counts[name] = request.take(name)
    if sums is None:
        return Usage(input=prompt, output=output, extra=counts)
    total_input, cached, total_output = sums
    return Usage(input=max(total_input - cached, 0), cache_read=cached, output=total_output, extra=counts)


def totals(request: Fields) -> tuple[int, int, int] | None:
    """Return the total input, cached input and output of all rounds; None if they are not stated."""
    models = [*objects(request.view("modelTotals"))]
    rows = [[counted(model.get(name)) for name in _TOTAL_KEYS] for model in models]
    known_rows = [[count for count in row if count is not None] for row in rows]
    if not known_rows or any(len(row) < len(_TOTAL_KEYS) for row in known_rows):
        return None
    total_input, cached, total_output = map(sum, zip(*known_rows, strict=True))
    return total_input, cached, total_output
