"""Tokens: a message states what came out, the end of a session what each model was given and gave.

The sums of a part of a session, up to its shutdown, count for all messages of that model in it: they share a
key, and the last of them has the sums. Its own count stays in `extra`, with the shutdown that tells them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from msgspec.structs import replace

from agent_journal.fields import Fields
from agent_journal.model import Event, Message, Usage
from agent_journal.notes import Kind
from agent_journal.readers._copilot_events.events import text_in

if TYPE_CHECKING:
    from agent_journal.notes import Notes
    from agent_journal.readers._copilot_events.events import Entry


def settle(entries: list[Entry], note: Notes) -> None:
    """Put the sums of each shutdown into the messages they are about."""
    answers: list[int] = []
    uncounted = 0
    for place, entry in enumerate(entries):
        if entry.__class__ is Event:
            if entry.name == "session.shutdown":
                uncounted += _settle(entries, answers, entry, note)
                answers = []
        elif entry.role == "assistant":  # type: ignore[union-attr] # no event, so a message
            answers.append(place)
    uncounted += sum(_states_tokens(entries[place]) for place in answers)
    if uncounted:
        note(Kind.PARTIAL_USAGE, "", f"messages whose input is not counted: {uncounted}")


def _states_tokens(entry: Entry) -> bool:
    return isinstance(entry, Message) and entry.usage is not None


def _settle(entries: list[Entry], answers: list[int], shutdown: Event, note: Notes) -> int:
    """Put the sums of one shutdown in place; how many messages state tokens and are in no sum."""
    sums = _sums(shutdown, note)
    usual = text_in(shutdown.data, "currentModel")
    if usual not in sums:
        usual = next(iter(sums), None)
    groups: dict[Any, list[int]] = {}
    for place in answers:
        model = entries[place].model or usual  # type: ignore[union-attr] # an answer is a message
        groups.setdefault(model, []).append(place)
    for model, usage in sums.items():
        if model not in groups:
            note(Kind.PARTIAL_USAGE, shutdown.id, f"tokens of {model[:60]!r}, of which there is no message")
            continue
        _share(entries, groups.pop(model), replace(usage, key=f"{shutdown.id}:{model}"))
    return sum(_states_tokens(entries[place]) for group in groups.values() for place in group)


def _share(entries: list[Entry], group: list[int], usage: Usage) -> None:
    for place in group:
        entry = entries[place]
        if isinstance(entry, Message):
            own = entry.usage
            if place == group[-1]:
                extra = usage.extra if own is None else {**own.extra, **usage.extra}
                entries[place] = replace(entry, usage=replace(usage, extra=extra))
            elif own is not None:
                entries[place] = replace(entry, usage=replace(own, key=usage.key))


def _sums(shutdown: Event, note: Notes) -> dict[str, Usage]:
    """The usage of each model that a shutdown states; the event keeps all it says."""
    metrics = shutdown.data.get("modelMetrics")
    found: dict[str, Usage] = {}
    for model, metric in metrics.items() if isinstance(metrics, dict) else ():
        raw = metric.get("usage") if isinstance(metric, dict) else None
        if isinstance(raw, dict):
            usage = _usage(Fields(dict(raw), note, shutdown.id), shutdown.id)
            if usage.input is not None or usage.output is not None:
                found[model] = usage
    return found


def _usage(raw: Fields, shutdown: str) -> Usage:
    given, read, written = (
        raw.whole(name) for name in ("inputTokens", "cacheReadTokens", "cacheWriteTokens")
    )
    # What was read from and written to the cache is part of what was given.
    fresh = None if given is None else given - (read or 0) - (written or 0)
    return Usage(
        input=given if fresh is not None and fresh < 0 else fresh,
        output=raw.whole("outputTokens"),
        cache_read=read,
        cache_write=written,
        reasoning=raw.whole("reasoningTokens"),
        extra={"shutdown": shutdown},
    )
