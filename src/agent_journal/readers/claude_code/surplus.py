"""Tokens of requests whose answers are in no file: those for titles, compactions and suggestions.

`cost-state` (seen since 2.1.326) sums up, by model, what a session used: in all its runs, and with its
subagents. A fork begins with the sums of its original. The app writes it at the end of each run.
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
    from agent_journal.readers.claude_code.companions import Beside

Entry: TypeAlias = Message | Event
Answers: TypeAlias = dict[str, tuple[str, Usage]]
"""By what is counted once: the model of an answer, and its tokens."""

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
    """Why it cannot be told what was used beyond the answers."""


def counted(conversation: Conversation, beside: Beside, note: Notes) -> Conversation:
    """The conversation with what was used beyond its answers, at messages without tokens of their own."""
    entries, link = list(conversation.timeline), conversation.link
    place = _last_state(entries)
    if place is None:
        return conversation
    try:
        surplus = _surplus(entries[: place + 1], link, beside)
    except UnknownSurplusError as reason:
        note(Kind.PARTIAL_USAGE, entries[place].id, f"tokens of titles and compactions: {reason}")
        return conversation
    carriers = _carriers(entries, link)
    for model in sorted(surplus, key=lambda model: (model != conversation.model, model)):
        carrier = next(carriers, None)
        if carrier is None:
            what = f"tokens of {model[:60]!r}, of which there is no message"
            note(Kind.PARTIAL_USAGE, entries[place].id, what)
            break
        usage = replace(surplus[model], key=f"{conversation.id}:cost-state:{model}")
        # Without a model of its own, a message has the conversation's.
        named = None if model == conversation.model else model
        entries[carrier] = replace(entries[carrier], model=named, usage=usage)
    return replace(conversation, timeline=entries)


def models_in(state: Any) -> dict[str, Fields]:
    """By model, the sums that a `cost-state` line states."""
    if state.__class__ is not dict:
        return {}
    used = Fields(state, Notes(), "").look("modelUsage")
    if used.__class__ is not dict:
        return {}
    return {name: Fields(sums, Notes(), "") for name, sums in used.items() if sums.__class__ is dict}


def _last_state(entries: Sequence[Entry]) -> int | None:
    for place in range(len(entries) - 1, -1, -1):
        entry = entries[place]
        if entry.__class__ is Event and entry.name == "cost-state" and models_in(entry.data):
            return place
    return None


def _surplus(entries: Sequence[Entry], link: Link | None, beside: Beside) -> dict[str, Usage]:
    """By model, what the last sums have more than all answers before them."""
    first = _first_own(entries, link)
    _must_be_whole(entries, first)
    before = _sums_of_original(entries, first, link, beside)
    answers = beside.answers_of_agents() | _answers(entries[first:])
    stated = models_in(entries[-1].data)  # type: ignore[union-attr] # it is an event
    used = _by_model(answers, stated)
    found = {name: _difference(sums, before.get(name), used.get(name, [])) for name, sums in stated.items()}
    return {name: usage for name, usage in found.items() if any(_counts_of(usage))}


def _must_be_whole(entries: Sequence[Entry], first: int) -> None:
    """The app may rewrite a large file without what was before a compaction; the sums still have it."""
    known = {entry.id for entry in entries}
    for entry in entries[first:]:
        if isinstance(entry, Event) and entry.name == "system":
            before = Fields(entry.data, Notes(), "").look("logicalParentUuid")
            if before.__class__ is str and before not in known:
                raise UnknownSurplusError("the beginning of the session is not in its file")


def _first_own(entries: Sequence[Entry], link: Link | None) -> int:
    """Where the lines end that were copied from another session."""
    if link is None:
        return 0
    copied = [place for place, entry in enumerate(entries) if entry.id == link.message_id]
    return copied[-1] + 1 if copied else 0


def _sums_of_original(
    entries: Sequence[Entry], first: int, link: Link | None, beside: Beside
) -> dict[str, Fields]:
    """What a fork was given: the last sums of its original before its own first line."""
    if link is None:
        return {}
    at = next((entry.at for entry in entries[first:] if entry.at is not None), None)
    is_copied = any(isinstance(entry, Message) and "requestSessionId" in entry.extra for entry in entries)
    before = beside.cost_state_of(link.conversation_id, at) if first and at and is_copied else None
    if before is None:
        raise UnknownSurplusError("what was used before the fork is not known")
    return models_in(before)


def _answers(entries: Sequence[Entry]) -> Answers:
    return {
        entry.usage.key or entry.id: (entry.model, entry.usage)
        for entry in entries
        if isinstance(entry, Message) and entry.usage is not None and entry.model is not None
    }


def _by_model(answers: Answers, stated: dict[str, Fields]) -> dict[str, list[Usage]]:
    """The tokens of answers by the names that the sums have for their models."""
    names: dict[str, str] = {}
    found: dict[str, list[Usage]] = {}
    for model, usage in answers.values():
        if model not in names:
            names[model] = _name_of(model, stated)
        found.setdefault(names[model], []).append(usage)
    return found


def _name_of(model: str, stated: dict[str, Fields]) -> str:
    """What the sums call a model: without its date, or with how long its prompts may be (`[1m]`)."""
    if model in stated:
        return model
    alike = [name for name in stated if name.startswith(model) or model.startswith(name.partition("[")[0])]
    if len(alike) != 1:
        raise UnknownSurplusError(f"the sums have no {model[:60]!r}")
    return alike[0]


def _difference(stated: Fields, before: Fields | None, used: list[Usage]) -> Usage:
    """What is stated more than was stated before and than answers used."""
    shares = {} if any(_is_share_unknown(usage) for usage in used) else _SHARES
    spent = Counter({name: sum(getattr(usage, name) or 0 for usage in used) for name in _COUNTS | _SHARES})
    found: dict[str, int] = {}
    for name, native in (_COUNTS | shares).items():
        count = _whole(stated, native)
        if count is not None:
            found[name] = count - ((before and _whole(before, native)) or 0) - spent[name]
    if any(count < 0 for count in found.values()):
        raise UnknownSurplusError("the sums have less than the answers")
    return Usage(**found)  # type: ignore[arg-type] # all of them are counts


def _whole(sums: Fields, name: str) -> int | None:
    count = sums.look(name)
    return count if count.__class__ is int else None


def _is_share_unknown(usage: Usage) -> bool:
    return bool(usage.cache_write) and usage.cache_write_5m is None and usage.cache_write_1h is None


def _counts_of(usage: Usage) -> Iterator[int | None]:
    return (getattr(usage, name) for name in _COUNTS)


def _carriers(entries: Sequence[Entry], link: Link | None) -> Iterator[int]:
    """The places of messages that may tell these tokens, best first: what compactions wrote is of them."""
    first = _first_own(entries, link)
    free = [
        (place, entry)
        for place, entry in enumerate(entries)
        if isinstance(entry, Message) and place >= first and _is_free(entry)
    ]
    recaps = [place for place, entry in reversed(free) if entry.extra.get("isCompactSummary") is True]
    hidden = [place for place, entry in free if entry.hidden]
    results = [place for place, entry in free if any(part.__class__ is ToolResult for part in entry.parts)]
    yield from dict.fromkeys((*recaps, *hidden, *results, *(place for place, _ in free)))


def _is_free(message: Message) -> bool:
    return message.role == "user" and not message.sidechain and message.usage is None
