"""Pure functions on a timeline: who follows whom, what answers what, what counts once.

All of them are loops: a chain of 20,000 messages is a chain, not a stack.
"""

from __future__ import annotations

import base64
import re
from collections import Counter
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from agent_journal.model import (
    Conversation,
    Event,
    Media,
    Message,
    Text,
    ToolCall,
    ToolResult,
    Usage,
    ids,
    timestamps,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Sequence

Entry: TypeAlias = Message | Event
_LONGEST_TITLE = 80
_MOST_BLOCKS = 20  # before what a person says
_BLOCK = re.compile(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>")
# "2026-03-01T10:00:00.000Z": among texts of this form alone, alphabetical order is order in time.
_UTC_LENGTH = 24


def messages(conversation: Conversation) -> Iterator[Message]:
    """The messages of a timeline, without its events."""
    return (entry for entry in conversation.timeline if isinstance(entry, Message))


def span(entries: Iterable[Entry]) -> tuple[str | None, str | None]:
    """The first and the last moment; entries are not always in order of time."""
    moments = [entry.at for entry in entries if entry.at is not None]
    if not moments:
        return None, None
    if set(map(len, moments)) == {_UTC_LENGTH}:
        return min(moments), max(moments)
    dated = [(epoch, at) for at in moments if (epoch := timestamps.epoch_ms(at)) is not None]
    return (min(dated)[1], max(dated)[1]) if dated else (moments[0], moments[-1])


def children(timeline: Iterable[Entry]) -> dict[str | None, list[Entry]]:
    """Entries by the id of their parent; roots are under None. An unknown parent makes a root."""
    entries = list(timeline)
    known = {entry.id for entry in entries}
    found: dict[str | None, list[Entry]] = {}
    for entry in entries:
        parent = entry.parent_id if entry.parent_id in known else None
        found.setdefault(parent, []).append(entry)
    return found


def chain_to(timeline: Iterable[Entry], entry_id: str) -> list[Entry]:
    """From the root to an entry by parents alone; a cycle ends the walk."""
    by_id = {entry.id: entry for entry in timeline}
    chain: list[Entry] = []
    seen: set[str] = set()
    entry = by_id.get(entry_id)
    while entry is not None and entry.id not in seen:
        seen.add(entry.id)
        chain.append(entry)
        entry = by_id.get(entry.parent_id) if entry.parent_id else None
    chain.reverse()
    return chain


def path_to(timeline: Sequence[Entry], entry_id: str) -> list[Entry]:
    """What was in view at an entry: the chain to it, and the results of every call on that chain.

    Parallel tools hang their results off the chain; they are put in where the timeline has them.
    """
    chain = chain_to(timeline, entry_id)
    on_chain = {entry.id for entry in chain}
    answered = {result.call_id for entry in chain for result in results_in(entry)}
    open_calls = {call.call_id for entry in chain for call in calls_in(entry)} - answered - {None}
    if not open_calls:
        return chain
    order = {entry.id: place for place, entry in enumerate(timeline)}
    strays = [
        entry
        for entry in timeline
        if entry.id not in on_chain
        and any(result.call_id in open_calls for result in results_in(entry))
        and order[entry.id] < order[entry_id]
    ]
    return sorted([*chain, *strays], key=lambda entry: order[entry.id]) if strays else chain


def leaves(timeline: Iterable[Entry]) -> list[Message]:
    """Messages that nothing follows, in the order of the timeline. Events hide no message."""
    entries = list(timeline)
    by_id = {entry.id: entry for entry in entries}
    parents: set[str] = set()
    for entry in entries:
        if isinstance(entry, Message) and entry.parent_id:
            parents.update(_nearest_message(by_id, entry.parent_id))
    return [entry for entry in entries if isinstance(entry, Message) and entry.id not in parents]


def _nearest_message(by_id: dict[str, Entry], entry_id: str | None) -> Iterator[str]:
    seen: set[str] = set()
    while entry_id is not None and entry_id not in seen:
        seen.add(entry_id)
        entry = by_id.get(entry_id)
        if entry is None:
            return
        if isinstance(entry, Message):
            yield entry.id
            return
        entry_id = entry.parent_id


def newest_leaf(timeline: Sequence[Entry]) -> str | None:
    """The leaf that was written last: by time, then by place; sidechains only if there is nothing else."""
    found = leaves(timeline)
    main = [leaf for leaf in found if not leaf.sidechain] or found
    if not main:
        return None
    place = {leaf.id: index for index, leaf in enumerate(main)}
    return max(main, key=lambda leaf: (timestamps.epoch_ms(leaf.at) or 0, place[leaf.id])).id


def in_order(entries: Sequence[Entry]) -> tuple[list[Entry], Collection[str]]:
    """Parents before children, siblings and roots as they came; and the ids where cycles were cut.

    A parent that is not there makes a root. Entries of a cycle follow from its first one.
    """
    below = children(entries)
    placed: list[Entry] = []
    done: set[str] = set()

    def place(roots: Sequence[Entry]) -> None:
        pending = [*reversed(roots)]
        while pending:
            entry = pending.pop()
            if entry.id in done:
                continue
            done.add(entry.id)
            placed.append(entry)
            pending.extend(reversed(below.get(entry.id, ())))

    place(below.get(None, ()))
    cut: dict[str, None] = {}  # there may be as many cycles as pairs of entries, and each is asked for
    for entry in entries:
        if entry.id not in done:
            cut[entry.id] = None
            place([entry])
    return placed, cut.keys()


def distinct(entries: Iterable[Entry]) -> list[Entry]:
    """The entries, where those that came to have equal ids have ids of their own."""
    all_entries = list(entries)
    if len({entry.id for entry in all_entries}) == len(all_entries):
        return all_entries
    told: Counter[str] = Counter()
    found: list[Entry] = []
    for entry in all_entries:
        again = told[entry.id]
        told[entry.id] += 1
        found.append(msgspec.structs.replace(entry, id=ids.made(entry.id, again)) if again else entry)
    return found


def calls_in(entry: Entry) -> Iterator[ToolCall]:
    """The tool calls of a message."""
    if isinstance(entry, Message):
        for part in entry.parts:
            if isinstance(part, ToolCall):
                yield part


def results_in(entry: Entry) -> Iterator[ToolResult]:
    """The tool results of a message."""
    if isinstance(entry, Message):
        for part in entry.parts:
            if isinstance(part, ToolResult):
                yield part


def results_by_call(timeline: Iterable[Entry]) -> dict[str, ToolResult]:
    """The result of each call, by call id; the last one if a source repeats it."""
    return {
        result.call_id: result
        for entry in timeline
        for result in results_in(entry)
        if result.call_id is not None
    }


def arguments(call: ToolCall) -> Any:
    """A call's input as a value: a string that holds JSON is decoded, anything else is as it is."""
    if not isinstance(call.input, str):
        return call.input
    try:
        return msgspec.json.decode(call.input)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return call.input


def held_text(media: Media) -> str | None:
    """What a file says in words: as the source tells it, or inside of the file if that is text."""
    if media.text or not (media.mime or "").startswith("text/"):
        return media.text or None
    return inline_text(media) or None


def inline_text(media: Media) -> str | None:
    """The text that a file is, if it is in the model; None if it is something else."""
    if not media.data:
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    except ValueError:  # binascii.Error is one, too
        return None


def plain_text(message: Message) -> str:
    """What was said in a message: its text parts, one below the other, without what a program put there."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.injected)


def title_from(texts: Iterable[str]) -> str | None:
    """A title for what has none: the first line of the first text that says something, cut if it is long."""
    for text in texts:
        if line := _behind_blocks(text).partition("\n")[0].rstrip():
            return line if len(line) <= _LONGEST_TITLE else f"{line[: _LONGEST_TITLE - 1].rstrip()}…"
    return None


def _behind_blocks(text: str) -> str:
    """What a person says behind what programs put before it, as `<context>…</context>`; else all of it."""
    left = text = text.strip()
    for _ in range(_MOST_BLOCKS):
        begun = _BLOCK.match(left)
        if begun is None:
            return left or text
        left = left.partition(f"</{begun[1]}>")[2].lstrip()
    return text


def usages(timeline: Iterable[Entry]) -> list[Usage]:
    """Usage of each API response once; where messages share one, the last value wins."""
    counted: dict[object, Usage] = {}
    for entry in timeline:
        if isinstance(entry, Message) and entry.usage is not None:
            key: object = entry.usage.key if entry.usage.key is not None else entry.id
            counted[key] = entry.usage
    return list(counted.values())
