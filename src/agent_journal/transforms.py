"""Conversation to conversation: what a person leaves out or keeps secret, and which branch they want.

They are applied before any writer, so that every target has the same switches.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from msgspec.structs import replace

from agent_journal import forks, tree
from agent_journal.errors import NoSuchMessage
from agent_journal.model import Message, Reasoning, ToolCall, ToolResult
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from collections.abc import Collection

    from agent_journal.model import Conversation, Event, Part, Request
    from agent_journal.notes import Notes
    from agent_journal.redact import ItemT

What: TypeAlias = Literal["thinking", "tools"]
WHAT: tuple[What, ...] = ("thinking", "tools")
_KINDS: dict[What, tuple[type, ...]] = {"thinking": (Reasoning,), "tools": (ToolCall, ToolResult)}


def without(conversation: Conversation, what: Collection[What]) -> Conversation:
    """The conversation without thinking, without tool calls and their results, or both.

    A message of which nothing is left goes; its children follow its parent. The content as the source had
    it (`native`) goes from every message that was changed.
    """
    unwanted = tuple(kind for name in what for kind in _KINDS[name])
    if not unwanted:
        return conversation
    parents: dict[str, str | None] = {}
    kept: list[Message | Event] = []
    for entry in conversation.timeline:
        parent = _surviving(parents, entry.parent_id)
        if isinstance(entry, Message) and any(isinstance(part, unwanted) for part in entry.parts):
            left: list[Part] = [part for part in entry.parts if not isinstance(part, unwanted)]
            if not left:
                parents[entry.id] = parent
                continue
            # What the source kept beside the parts may repeat what was taken out.
            entry = replace(entry, parts=left, native=None, extra={})  # noqa: PLW2901
        kept.append(replace(entry, parent_id=parent) if parent != entry.parent_id else entry)
    head = _surviving(parents, conversation.head_id)
    return replace(conversation, timeline=kept, head_id=head, requests=[], tools=[])


def _surviving(parents: dict[str, str | None], entry_id: str | None) -> str | None:
    """The entry, or the nearest one above it that was not removed."""
    while entry_id in parents:
        entry_id = parents[entry_id]
    return entry_id


def branch(conversation: Conversation, which: str) -> Conversation:
    """The path to the head, to any message by its id, or `all` as it is."""
    if which == "all" or conversation.shape == "list":
        return conversation
    target = conversation.head_id if which == "head" else which
    if target is None:
        target = tree.newest_leaf(conversation.timeline)
    if target is None:
        return conversation
    path = tree.path_to(conversation.timeline, target)
    if not path:
        if which == "head":
            return conversation
        raise NoSuchMessage(which)
    requests = _within(conversation, path)
    prompts = {system for request in requests for system in request.system}
    on_path = {entry.id for entry in path}
    # What a request says before the dialogue stands outside of every path.
    system = [entry for entry in conversation.timeline if entry.id in prompts - on_path]
    return replace(conversation, timeline=[*system, *path], head_id=target, requests=requests)


def last(conversation: Conversation, count: int) -> Conversation:
    """The last messages in which somebody speaks, with what tools answered and what happened since."""
    timeline = conversation.timeline
    spoken = [place for place, entry in enumerate(timeline) if forks.speaks(entry)]
    if count >= len(spoken):
        return conversation
    kept = timeline[spoken[-count] :] if count else []
    ids = {entry.id for entry in kept}
    parted = [entry if entry.parent_id in ids else replace(entry, parent_id=None) for entry in kept]
    head = conversation.head_id if conversation.head_id in ids else None
    return replace(conversation, timeline=parted, head_id=head, requests=[])


def _within(conversation: Conversation, path: list[tree.Entry]) -> list[Request]:
    """The requests of which everything is on a path."""
    ids = {entry.id for entry in path}
    return [
        request
        for request in conversation.requests
        if (request.prompt_id is None or request.prompt_id in ids)
        and all(response in ids for response in request.response_ids)
    ]


def redacted(item: ItemT, note: Notes, *, personal: bool = False) -> ItemT:
    """The item without secrets, with `personal` also without personal data; each finding is noted."""
    from agent_journal.redact import redact  # noqa: PLC0415 (its rules take a moment to compile)

    found = redact(item, personal=personal)
    for finding in found.findings:
        times = f" × {finding.count}" if finding.count > 1 else ""
        where = " ".join(filter(None, (finding.message, finding.field)))
        note.add(Kind.REDACTED, f"{item.source}:{item.id}", where, f"{finding.kind}{times}")
    return found.item
