"""Where the branches of a conversation part, as far as people are told."""

from __future__ import annotations

from typing import TYPE_CHECKING

from agent_journal.errors import NoSuchMessage
from agent_journal.model import Message, ToolResult, tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation
    from agent_journal.model.tree import Entry


def speaks(entry: Entry) -> bool:
    """Whether somebody says something in it: no event, and not only what tools answered."""
    return isinstance(entry, Message) and not is_answer(entry)


def is_answer(entry: Entry) -> bool:
    """Whether it is made of tool results alone."""
    if not isinstance(entry, Message) or not entry.parts or not isinstance(entry.parts[0], ToolResult):
        return False
    return all(isinstance(part, ToolResult) for part in entry.parts)


def others(conversation: Conversation, path: Iterable[Entry]) -> dict[str | None, list[str]]:
    """For each entry of a path (None: before the first) the leaves of branches that leave it there.

    What subagents said and what only answers a call is no branch.
    """
    if conversation.shape == "list":
        return {}
    on_path = [entry.id for entry in path]
    taken = set(on_path)
    below = tree.children(conversation.timeline)
    leading = spoken_below(conversation.timeline)
    found: dict[str | None, list[str]] = {}
    for place in [None, *on_path]:
        away = [entry for entry in below.get(place, ()) if entry.id not in taken and entry.id in leading]
        if away:
            found[place] = [_last_below(entry, below, leading) for entry in away]
    return found


def spoken_below(timeline: list[Entry]) -> set[str]:
    """The entries in or below which somebody speaks to the person."""
    leading: set[str] = set()
    for entry in reversed(timeline):
        is_said = speaks(entry) and isinstance(entry, Message) and not (entry.sidechain or is_prompt(entry))
        if is_said or entry.id in leading:
            leading.add(entry.id)
            if entry.parent_id is not None:
                leading.add(entry.parent_id)
    return leading


def is_prompt(message: Message) -> bool:
    """Whether it stands outside of every dialogue, as system prompts of requests do."""
    return message.role == "system" and message.parent_id is None


def _last_below(entry: Entry, below: dict[str | None, list[Entry]], leading: set[str]) -> str:
    seen = {entry.id}
    while following := [
        child for child in below.get(entry.id, ()) if child.id in leading and child.id not in seen
    ]:
        entry = following[-1]
        seen.add(entry.id)
    return entry.id


def branch_by_branch(timeline: list[Entry]) -> list[Entry]:
    """All branches one after the other; a timeline has them by turns, as they were written."""
    ordered, _ = tree.in_order(timeline)
    return ordered if len(ordered) == len(timeline) else timeline  # ids that repeat tell no order


def said_after(timeline: Iterable[Entry]) -> dict[str, Message | None]:
    """For each entry the nearest message above it; parents come first."""
    messages: dict[str, Message] = {}
    above: dict[str, Message | None] = {}
    for entry in timeline:
        parent = entry.parent_id or ""
        above[entry.id] = messages.get(parent) or above.get(parent)
        if isinstance(entry, Message):
            messages[entry.id] = entry
    return above


def message_called(conversation: Conversation, name: str) -> str:
    """The id of the message that has this id, or the only one whose id begins so."""
    begun = (message.id for message in tree.messages(conversation) if name and message.id.startswith(name))
    found = [*dict.fromkeys(begun)]
    if name in found:
        return name
    if len(found) != 1:
        raise NoSuchMessage(name, found[:5])
    return found[0]


def leaf_after(conversation: Conversation, message_id: str) -> str:
    """Where the conversation ended that goes on after a message: at the head if it is on the way to it."""
    if conversation.shape == "list":
        return conversation.timeline[-1].id
    head = conversation.head_id or tree.newest_leaf(conversation.timeline)
    if head is not None and any(e.id == message_id for e in tree.chain_to(conversation.timeline, head)):
        return head
    below = tree.children(conversation.timeline)
    by_id = {entry.id: entry for entry in conversation.timeline}
    return _last_below(by_id[message_id], below, set(by_id))
