"""Pure functions on a timeline: parents and children, tool calls and results, usage counted once.

None of them recurses: a timeline may be a chain of 20,000 messages.
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
_MAX_TITLE_CHARS = 80
_MAX_BLOCKS = 20  # before the user's own words
_BLOCK = re.compile(r"<([A-Za-z][\w.-]*)(?:\s[^<>]*)?>")
# "2026-03-01T10:00:00.000Z": strings of this form alone sort by time.
_UTC_TIMESTAMP_CHARS = 24


def messages(conversation: Conversation) -> Iterator[Message]:
    """The messages of a timeline, without its events."""
    return (entry for entry in conversation.timeline if isinstance(entry, Message))


def span(entries: Iterable[Entry]) -> tuple[str | None, str | None]:
    """The first and the last timestamp; entries are not always in order of time."""
    times = [entry.at for entry in entries if entry.at is not None]
    if not times:
        return None, None
    if set(map(len, times)) == {_UTC_TIMESTAMP_CHARS}:
        return min(times), max(times)
    dated = [(epoch, at) for at in times if (epoch := timestamps.epoch_ms(at)) is not None]
    return (min(dated)[1], max(dated)[1]) if dated else (times[0], times[-1])


def children(timeline: Iterable[Entry]) -> dict[str | None, list[Entry]]:
    """Entries by the id of their parent; roots are under None. An unknown parent makes a root."""
    entries = list(timeline)
    ids_present = {entry.id for entry in entries}
    by_parent: dict[str | None, list[Entry]] = {}
    for entry in entries:
        parent = entry.parent_id if entry.parent_id in ids_present else None
        by_parent.setdefault(parent, []).append(entry)
    return by_parent


def chain_to(timeline: Iterable[Entry], entry_id: str) -> list[Entry]:
    """The ancestors of an entry from the root on, and the entry; a cycle ends the walk."""
    by_id = {entry.id: entry for entry in timeline}
    chain: list[Entry] = []
    visited: set[str] = set()
    entry = by_id.get(entry_id)
    while entry is not None and entry.id not in visited:
        visited.add(entry.id)
        chain.append(entry)
        entry = by_id.get(entry.parent_id) if entry.parent_id else None
    chain.reverse()
    return chain


def path_to(timeline: Sequence[Entry], entry_id: str) -> list[Entry]:
    """The branch that ends at an entry: the chain to it, and the results of every tool call on that chain.

    Results of parallel tool calls are often off the chain; they are inserted in the order of the timeline.
    """
    chain = chain_to(timeline, entry_id)
    on_chain = {entry.id for entry in chain}
    answered = {result.call_id for entry in chain for result in results_in(entry)}
    open_calls = {call.call_id for entry in chain for call in calls_in(entry)} - answered - {None}
    if not open_calls:
        return chain
    order = {entry.id: index for index, entry in enumerate(timeline)}
    off_chain = [
        entry
        for entry in timeline
        if entry.id not in on_chain
        and any(result.call_id in open_calls for result in results_in(entry))
        and order[entry.id] < order[entry_id]
    ]
    return sorted([*chain, *off_chain], key=lambda entry: order[entry.id]) if off_chain else chain


def leaves(timeline: Iterable[Entry]) -> list[Message]:
    """Messages without a message below them, in the order of the timeline."""
    entries = list(timeline)
    by_id = {entry.id: entry for entry in entries}
    parents: set[str] = set()
    for entry in entries:
        if isinstance(entry, Message) and entry.parent_id:
            parents.update(_nearest_message(by_id, entry.parent_id))
    return [entry for entry in entries if isinstance(entry, Message) and entry.id not in parents]


def _nearest_message(by_id: dict[str, Entry], entry_id: str | None) -> Iterator[str]:
    visited: set[str] = set()
    while entry_id is not None and entry_id not in visited:
        visited.add(entry_id)
        entry = by_id.get(entry_id)
        if entry is None:
            return
        if isinstance(entry, Message):
            yield entry.id
            return
        entry_id = entry.parent_id


def newest_leaf(timeline: Sequence[Entry]) -> str | None:
    """The id of the newest leaf, by time, then by position; a sidechain only if there is nothing else."""
    candidates = leaves(timeline)
    main = [leaf for leaf in candidates if not leaf.sidechain] or candidates
    if not main:
        return None
    position = {leaf.id: index for index, leaf in enumerate(main)}
    return max(main, key=lambda leaf: (timestamps.epoch_ms(leaf.at) or 0, position[leaf.id])).id


def in_order(entries: Sequence[Entry]) -> tuple[list[Entry], Collection[str]]:
    """Entries with parents before children, siblings in their order; and the ids where cycles were cut.

    An entry whose parent is missing is a root. The entries of a cycle follow its first one.
    """
    by_parent = children(entries)
    ordered: list[Entry] = []
    done: set[str] = set()

    def append_below(roots: Sequence[Entry]) -> None:
        pending = [*reversed(roots)]
        while pending:
            entry = pending.pop()
            if entry.id in done:
                continue
            done.add(entry.id)
            ordered.append(entry)
            pending.extend(reversed(by_parent.get(entry.id, ())))

    append_below(by_parent.get(None, ()))
    cut: dict[str, None] = {}  # a dictionary keeps the order, and membership tests stay fast
    for entry in entries:
        if entry.id not in done:
            cut[entry.id] = None
            append_below([entry])
    return ordered, cut.keys()


def distinct(entries: Iterable[Entry]) -> list[Entry]:
    """The entries with unique ids: repeated ids are replaced from their second occurrence on."""
    all_entries = list(entries)
    if len({entry.id for entry in all_entries}) == len(all_entries):
        return all_entries
    counts: Counter[str] = Counter()
    unique: list[Entry] = []
    for entry in all_entries:
        count = counts[entry.id]
        counts[entry.id] += 1
        unique.append(msgspec.structs.replace(entry, id=ids.made(entry.id, count)) if count else entry)
    return unique


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
    """The tool results by call id; of repeated ones, the last."""
    return {
        result.call_id: result
        for entry in timeline
        for result in results_in(entry)
        if result.call_id is not None
    }


def arguments(call: ToolCall) -> Any:
    """A call's input as a value: a string of JSON is decoded, anything else is returned unchanged."""
    if not isinstance(call.input, str):
        return call.input
    try:
        return msgspec.json.decode(call.input)
    except (msgspec.DecodeError, RecursionError, UnicodeError):
        return call.input


def held_text(media: Media) -> str | None:
    """The text of a file: as the source states it, else the decoded file if it is text."""
    if media.text or not (media.mime or "").startswith("text/"):
        return media.text or None
    return inline_text(media) or None


def inline_text(media: Media) -> str | None:
    """The content of an inline text file; None for any other media."""
    if not media.data:
        return None
    try:
        return base64.b64decode(media.data, validate=True).decode()
    except ValueError:  # includes binascii.Error
        return None


def plain_text(message: Message) -> str:
    """The visible text of a message: its text parts on lines of their own, without injected text."""
    return "\n".join(part.text for part in message.parts if isinstance(part, Text) and not part.injected)


def title_from(texts: Iterable[str]) -> str | None:
    """A title for an untitled conversation: the first line of the first text that is not empty, shortened."""
    for text in texts:
        if line := _after_blocks(text).partition("\n")[0].rstrip():
            return line if len(line) <= _MAX_TITLE_CHARS else f"{line[: _MAX_TITLE_CHARS - 1].rstrip()}…"
    return None


def _after_blocks(text: str) -> str:
    """The user's words after blocks of programs, as `<context>…</context>`; else the whole text."""
    rest = text = text.strip()
    for _ in range(_MAX_BLOCKS):
        block = _BLOCK.match(rest)
        if block is None:
            return rest or text
        rest = rest.partition(f"</{block[1]}>")[2].lstrip()
    return text


def usages(timeline: Iterable[Entry]) -> list[Usage]:
    """The usage of each API response once; if messages share one, the last value wins."""
    by_response: dict[object, Usage] = {}
    for entry in timeline:
        if isinstance(entry, Message) and entry.usage is not None:
            key: object = entry.usage.key if entry.usage.key is not None else entry.id
            by_response[key] = entry.usage
    return list(by_response.values())
