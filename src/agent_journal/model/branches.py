"""Where the branches of a conversation diverge, as shown to people."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from agent_journal.errors import NoSuchMessage
from agent_journal.model import Message, ToolResult, tree

if TYPE_CHECKING:
    from collections.abc import Iterable

    from agent_journal.model import Conversation
    from agent_journal.model.tree import Entry


class Alternative(NamedTuple):
    """A branch that is not the shown one: its first entry, and the id of its leaf."""

    start: Entry
    leaf: str


def speaks(entry: Entry) -> bool:
    """Whether an entry is a message with more than tool results."""
    return isinstance(entry, Message) and not is_answer(entry)


def is_answer(entry: Entry) -> bool:
    """Whether an entry is a message of tool results alone."""
    if not isinstance(entry, Message) or not entry.parts or not isinstance(entry.parts[0], ToolResult):
        return False
    return all(isinstance(part, ToolResult) for part in entry.parts)


def others(conversation: Conversation, path: Iterable[Entry]) -> dict[str | None, list[str]]:
    """For each entry of a path (None: before the first), the leaves of the branches that fork off there.

    Messages of subagents and messages of tool results alone are no branches.
    """
    return {
        fork_id: [each.leaf for each in other_branches]
        for fork_id, other_branches in alternatives(conversation, path).items()
    }


def alternatives(conversation: Conversation, path: Iterable[Entry]) -> dict[str | None, list[Alternative]]:
    """For each entry of a path (None: before the first), the branches that fork off there, as in `others`."""
    if conversation.shape == "list":
        return {}
    on_path = [entry.id for entry in path]
    path_ids = set(on_path)
    children = tree.children(conversation.timeline)
    visible = with_visible_messages(conversation.timeline)
    alternatives_by_fork: dict[str | None, list[Alternative]] = {}
    for fork_id in [None, *on_path]:
        starts = [
            entry for entry in children.get(fork_id, ()) if entry.id not in path_ids and entry.id in visible
        ]
        if starts:
            alternatives_by_fork[fork_id] = [
                Alternative(entry, _last_descendant(entry, children, visible)) for entry in starts
            ]
    return alternatives_by_fork


def with_visible_messages(timeline: list[Entry]) -> set[str]:
    """The ids of entries that are, or lead to, a message of the dialogue with the user."""
    visible: set[str] = set()
    for entry in reversed(timeline):
        is_dialogue = (
            speaks(entry) and isinstance(entry, Message) and not (entry.sidechain or is_prompt(entry))
        )
        if is_dialogue or entry.id in visible:
            visible.add(entry.id)
            if entry.parent_id is not None:
                visible.add(entry.parent_id)
    return visible


def is_prompt(message: Message) -> bool:
    """Whether a message is a system prompt outside of every branch, as requests have them."""
    return message.role == "system" and message.parent_id is None


def _last_descendant(entry: Entry, children: dict[str | None, list[Entry]], allowed: set[str]) -> str:
    visited = {entry.id}
    while candidates := [
        child for child in children.get(entry.id, ()) if child.id in allowed and child.id not in visited
    ]:
        entry = candidates[-1]
        visited.add(entry.id)
    return entry.id


def branch_by_branch(timeline: list[Entry]) -> list[Entry]:
    """All branches one after the other; a timeline interleaves them, as they were written."""
    ordered, _ = tree.in_order(timeline)
    return ordered if len(ordered) == len(timeline) else timeline  # repeated ids give no order


def previous_messages(timeline: Iterable[Entry]) -> dict[str, Message | None]:
    """For each entry, its nearest ancestor that is a message; parents must come first."""
    messages: dict[str, Message] = {}
    previous: dict[str, Message | None] = {}
    for entry in timeline:
        parent = entry.parent_id or ""
        previous[entry.id] = messages.get(parent) or previous.get(parent)
        if isinstance(entry, Message):
            messages[entry.id] = entry
    return previous


def message_id_for(conversation: Conversation, prefix: str) -> str:
    """The id of the message with this id, or of the only one whose id starts with it."""
    matching = (
        message.id for message in tree.messages(conversation) if prefix and message.id.startswith(prefix)
    )
    matches = [*dict.fromkeys(matching)]
    if prefix in matches:
        return prefix
    if len(matches) != 1:
        raise NoSuchMessage(prefix, matches[:5])
    return matches[0]


def leaf_after(conversation: Conversation, message_id: str) -> str:
    """The leaf of the branch that continues after a message: the head if the message is on its path."""
    if conversation.shape == "list":
        return conversation.timeline[-1].id
    head = conversation.head_id or tree.newest_leaf(conversation.timeline)
    if head is not None and any(e.id == message_id for e in tree.chain_to(conversation.timeline, head)):
        return head
    children = tree.children(conversation.timeline)
    by_id = {entry.id: entry for entry in conversation.timeline}
    return _last_descendant(by_id[message_id], children, set(by_id))
