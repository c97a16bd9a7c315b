"""Tokens: how large the last prompt was, and how much came out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.model import Usage

if TYPE_CHECKING:
    from agent_journal.fields import Fields
    from agent_journal.model import Bag

_COUNTS = ("promptTokens", "completionTokens", "outputTokens")
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
    for name in _BESIDE:
        if request.has(name):
            said[name] = request.take(name)
    return Usage(input=prompt, output=output, extra=said)
