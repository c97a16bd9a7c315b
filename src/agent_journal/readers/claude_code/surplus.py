"""Tokens of requests whose answers are in no file: those for titles, compactions and suggestions.

`cost-state` (seen since 2.1.326) has a session's total usage by model: of all its runs and its subagents.
A fork begins with the totals of its original. The app writes it at the end of each run.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec.structs import replace

from agent_journal.decoding.fields import Fields
from agent_journal.model import Event, Message, ToolResult, Usage
from agent_journal.notes import Kind, Notes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from agent_journal.model import Conversation, Link
    from agent_journal.readers.claude_code.companions import Companions

Entry: TypeAlias = Message | Event
UsageByKey: TypeAlias = dict[str, tuple[str, Usage]]
"""By the key under which usage counts once: the model of an answer, and its tokens."""

_TOTALS_EVENT = "cost-state"
_COUNTS = {
    "input": "inputTokens",
    "output": "outputTokens",
    "cache_read": "cacheReadInputTokens",
    "cache_write": "cacheCreationInputTokens",
}
_SHARES = {
    "cache_write_5m": "cacheCreationEphemeral5mInputTokens",
    "cache_write_1h": "cacheCreationEphemeral1hInputTokens",
}


class UnknownSurplusError(Exception):
    """The usage beyond the answers is unknown, for the stated reason."""


def has_totals(events: Sequence[Event]) -> bool:
    """Whether an event states a session's total usage; most sessions have none."""
    return any(event.name == _TOTALS_EVENT for event in events)


def add_surplus(conversation: Conversation, companions: Companions, note: Notes) -> Conversation:
    """Add the usage beyond the answers to messages that have no usage of their own."""
    entries, link = list(conversation.timeline), conversation.link
    last = _last_state(entries)
    if last is None:
        return conversation
    try:
        surplus = _surplus(entries[: last + 1], link, companions)
    except UnknownSurplusError as reason:
        note(Kind.PARTIAL_USAGE, entries[last].id, f"tokens of titles and compactions: {reason}")
        return conversation
    carriers = _carriers(entries, link)
    for model in sorted(surplus, key=lambda model: (model != conversation.model, model)):
        carrier = next(carriers, None)
        if carrier is None:
            what = f"no message can hold the tokens of {model[:60]!r}"
            note(Kind.PARTIAL_USAGE, entries[last].id, what)
            break
        usage = replace(surplus[model], key=f"{conversation.id}:cost-state:{model}")
        # A message without a model of its own has the conversation's.
        carrier_model = None if model == conversation.model else model
        entries[carrier] = replace(entries[carrier], model=carrier_model, usage=usage)
    return replace(conversation, timeline=entries)


def models_in(state: Any) -> dict[str, Fields]:
    """Get the totals by model that a `cost-state` line states."""
    if state.__class__ is not dict:
        return {}
    used = Fields(state, Notes(), "").view("modelUsage")
    if used.__class__ is not dict:
        return {}
    return {name: Fields(totals, Notes(), "") for name, totals in used.items() if totals.__class__ is dict}


def _last_state(entries: Sequence[Entry]) -> int | None:
    for index in range(len(entries) - 1, -1, -1):
        entry = entries[index]
        if entry.__class__ is Event and entry.name == _TOTALS_EVENT and models_in(entry.data):
            return index
    return None


def _surplus(entries: Sequence[Entry], link: Link | None, companions: Companions) -> dict[str, Usage]:
    """Subtract the usage of all answers from the last totals, by model; only models with a rest."""
    first = _first_own(entries, link)
    _require_beginning(entries, first)
    before = _totals_of_original(entries, first, link, companions)
    answers = companions.subagent_usage() | _usage_by_key(entries[first:])
    stated = models_in(entries[-1].data)  # type: ignore[union-attr] # it is an event
    used = _by_model(answers, stated)
    surplus = {
        name: _subtract(totals, before.get(name), used.get(name, [])) for name, totals in stated.items()
    }
    return {name: usage for name, usage in surplus.items() if any(_counts_of(usage))}


def _require_beginning(entries: Sequence[Entry], first: int) -> None:
    """Refuse a file rewritten without what was before a compaction: the totals still include it."""
    known = {entry.id for entry in entries}
    for entry in entries[first:]:
        if isinstance(entry, Event) and entry.name == "system":
            before = Fields(entry.data, Notes(), "").view("logicalParentUuid")
            if before.__class__ is str and before not in known:
                raise UnknownSurplusError("the beginning of the session is not in its file")


def _first_own(entries: Sequence[Entry], link: Link | None) -> int:
    """Get the index of the first line that was not copied from another session."""
    if link is None:
        return 0
    copied = [index for index, entry in enumerate(entries) if entry.id == link.message_id]
    return copied[-1] + 1 if copied else 0


def _totals_of_original(
    entries: Sequence[Entry], first: int, link: Link | None, companions: Companions
) -> dict[str, Fields]:
    """Get the last totals of a fork's original before the fork's own first line."""
    if link is None:
        return {}
    at = next((entry.at for entry in entries[first:] if entry.at is not None), None)
    is_copied = any(isinstance(entry, Message) and "requestSessionId" in entry.extra for entry in entries)
    before = companions.last_cost_state(link.conversation_id, at) if first and at and is_copied else None
    if before is None:
        raise UnknownSurplusError("the usage before the fork is unknown")
    return models_in(before)


def _usage_by_key(entries: Sequence[Entry]) -> UsageByKey:
    return {
        entry.usage.key or entry.id: (entry.model, entry.usage)
        for entry in entries
        if isinstance(entry, Message) and entry.usage is not None and entry.model is not None
    }


def _by_model(answers: UsageByKey, stated: dict[str, Fields]) -> dict[str, list[Usage]]:
    """Group the usage of answers by the names that the totals have for their models."""
    names: dict[str, str] = {}
    usage_by_model: dict[str, list[Usage]] = {}
    for model, usage in answers.values():
        if model not in names:
            names[model] = _name_in_totals(model, stated)
        usage_by_model.setdefault(names[model], []).append(usage)
    return usage_by_model


def _name_in_totals(model: str, stated: dict[str, Fields]) -> str:
    """Find the name of a model in the totals: without its date, or with its context window (`[1m]`)."""
    if model in stated:
        return model
    similar = [name for name in stated if name.startswith(model) or model.startswith(name.partition("[")[0])]
    if len(similar) != 1:
        raise UnknownSurplusError(f"the totals do not list {model[:60]!r}")
    return similar[0]


def _subtract(stated: Fields, before: Fields | None, used: list[Usage]) -> Usage:
    """Subtract the earlier totals and the usage of answers from the stated totals."""
    shares = {} if any(_is_share_unknown(usage) for usage in used) else _SHARES
    used_counts = Counter(
        {name: sum(getattr(usage, name) or 0 for usage in used) for name in _COUNTS | _SHARES}
    )
    difference: dict[str, int] = {}
    for name, native in (_COUNTS | shares).items():
        count = _integer(stated, native)
        if count is not None:
            difference[name] = count - ((before and _integer(before, native)) or 0) - used_counts[name]
    if any(count < 0 for count in difference.values()):
        raise UnknownSurplusError("the totals are lower than the sum of the answers")
    return Usage(**difference)  # type: ignore[arg-type] # all of them are counts


def _integer(totals: Fields, name: str) -> int | None:
    count = totals.view(name)
    return count if count.__class__ is int else None


def _is_share_unknown(usage: Usage) -> bool:
    return bool(usage.cache_write) and usage.cache_write_5m is None and usage.cache_write_1h is None


def _counts_of(usage: Usage) -> Iterator[int | None]:
    return (getattr(usage, name) for name in _COUNTS)


def _carriers(entries: Sequence[Entry], link: Link | None) -> Iterator[int]:
    """List the indexes of messages that can hold these tokens, best first: compaction summaries used some."""
    first = _first_own(entries, link)
    free = [
        (index, entry)
        for index, entry in enumerate(entries)
        if isinstance(entry, Message) and index >= first and _is_free(entry)
    ]
    recaps = [index for index, entry in reversed(free) if entry.extra.get("isCompactSummary") is True]
    hidden = [index for index, entry in free if entry.hidden]
    results = [index for index, entry in free if any(part.__class__ is ToolResult for part in entry.parts)]
    yield from dict.fromkeys((*recaps, *hidden, *results, *(index for index, _ in free)))


def _is_free(message: Message) -> bool:
    return message.role == "user" and not message.sidechain and message.usage is None
