"""Pages of conversations and of messages: what is on a page is read, and nothing else.

In a list-shaped conversation, a position on the timeline is a position on its only branch. In a tree, the
branch is found from the outline, and remembered until the timeline changes.
"""

from __future__ import annotations

import threading
from array import array
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar

import msgspec

from agent_journal.archive.store import Listed
from agent_journal.conversion import transforms
from agent_journal.journal.sessions import Damage
from agent_journal.model import Event, Message, branches, tree
from agent_journal.model.spilled import encode_spilled

if TYPE_CHECKING:
    from collections.abc import Sequence

    from agent_journal.archive.store import EntryView, Filter, Sort, Store, TimelineState
    from agent_journal.journal.sessions import ReadSession
    from agent_journal.model import Conversation
    from agent_journal.model.branches import Alternative

_ItemT = TypeVar("_ItemT")
_MAX_BRANCHES = 32
"""How many branches are remembered; each takes 8 bytes per entry."""


class Page(msgspec.Struct, Generic[_ItemT], kw_only=True):
    """A part of a list."""

    items: list[_ItemT]
    total: int
    """How many items the whole list has."""
    offset: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return to_json(self)


class Fork(msgspec.Struct, kw_only=True):
    """Where a branch leaves others, or is left by them."""

    position: int
    """The position of the first entry after the fork."""
    index: int | None
    """Which of the branches this one is, from 0, in the order in which they begin; None if it ends here."""
    count: int
    """The number of branches."""
    branches: list[str]
    """The id that selects each branch."""


class MessagePage(msgspec.Struct, kw_only=True):
    """A part of a conversation's branch; the item at `index` is at the position `start + index`."""

    conversation: Listed
    branch: str
    """The branch as it was requested."""
    items: list[Message | Event]
    start: int
    total: int
    """The number of entries on the branch."""
    forks: list[Fork]
    """The forks on this page."""
    damage: list[Damage]

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return to_json(self)


class Prompt(msgspec.Struct, kw_only=True):
    """A prompt in the outline of a conversation."""

    position: int
    id: str
    at: str | None
    line: str
    """The first line of its text."""


class ConversationOutline(msgspec.Struct, kw_only=True):
    """The prompts on a conversation's branch."""

    conversation: Listed
    branch: str
    prompts: list[Prompt]
    total: int
    """The number of entries on the branch."""

    def to_dict(self) -> dict[str, Any]:
        """Return this as JSON values."""
        return to_json(self)


def list_page(
    store: Store, filters: Filter, sort: Sort, *, descending: bool | None, offset: int, limit: int | None
) -> Page[Listed]:
    """Read a part of the list of conversations; the total is only counted if the part does not show it."""
    items = [*store.conversations(filters, sort, limit, descending=descending, offset=offset)]
    is_last = (limit is None or len(items) < limit) and (items or not offset)
    total = offset + len(items) if is_last else store.count_conversations(filters)
    return Page(items=items, total=total, offset=offset)


def to_json(value: msgspec.Struct) -> dict[str, Any]:
    """Return a value as dictionaries, lists, texts and numbers."""
    fields: dict[str, Any] = msgspec.to_builtins(value, enc_hook=encode_spilled)
    return fields


class ListBranch(NamedTuple):
    """A branch that is the beginning of the timeline, or all of it."""

    total: int
    forks: Sequence[Fork] = ()

    def keys(self, store: Store, conversation: int, start: int, limit: int) -> list[int]:
        """Return the keys of the entries at some positions."""
        return store.entry_keys(conversation, start, max(min(limit, self.total - start), 0))


class TreeBranch(NamedTuple):
    """A branch of a tree: the keys of its entries, and its forks."""

    all_keys: array[int]
    forks: Sequence[Fork]

    @property
    def total(self) -> int:
        """The number of entries."""
        return len(self.all_keys)

    def keys(self, _store: Store, _conversation: int, start: int, limit: int) -> list[int]:
        """Return the keys of the entries at some positions."""
        return self.all_keys[start : start + limit].tolist()


class BranchCache:
    """Remembers branches while the timelines that they were found in stay the same. Threads may share it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._branches: OrderedDict[tuple[int, str], tuple[TimelineState, TreeBranch]] = OrderedDict()

    def get(self, store: Store, conversation: int, which: str) -> ListBranch | TreeBranch:
        """Return a branch: `head`, `all`, or that of a message; raises NoSuchMessage."""
        state = store.timeline_state(conversation)
        if which == "all" or (which == "head" and not state.is_tree):
            return ListBranch(state.entries)
        if not state.is_tree:
            return ListBranch(_position_in_list(store, conversation, which) + 1)
        with self._lock:
            remembered = self._branches.get((conversation, which))
            if remembered is not None and remembered[0] == state:
                self._branches.move_to_end((conversation, which))
                return remembered[1]
        branch = find_branch(store, conversation, which)
        with self._lock:
            self._branches[conversation, which] = (state, branch)
            while len(self._branches) > _MAX_BRANCHES:
                self._branches.popitem(last=False)
        return branch


def _position_in_list(store: Store, conversation: int, name: str) -> int:
    position = store.position_of(conversation, name)
    if position is not None:
        return position
    outlined = store.outline(conversation).conversation
    message_id = branches.message_id_for(outlined, name)
    return next(position for position, entry in enumerate(outlined.timeline) if entry.id == message_id)


def find_branch(store: Store, conversation: int, which: str) -> TreeBranch:
    """Find a branch in a tree: `head`, or the id of a message, or the beginning of one."""
    outline = store.outline(conversation)
    outlined = outline.conversation
    key_of = dict(zip(map(id, outlined.timeline), outline.keys, strict=True))
    path = transforms.branch(outlined, _leaf(store, outlined, key_of, which)).timeline
    position_of = {id(entry): position for position, entry in enumerate(outlined.timeline)}
    head = outlined.head_id or ""
    shown = {entry.id for entry in tree.chain_to(outlined.timeline, head)}
    forks = []
    for fork_id, others in branches.alternatives(outlined, path).items():
        entries = store.entries_by_key([key_of[id(each.start)] for each in others])
        dialogue = [
            each._replace(leaf=head) if each.start.id in shown else each
            for each in others
            if not _is_sidechain(entries.get(key_of[id(each.start)]))
        ]
        if dialogue:
            forks.append(_fork(path, fork_id, dialogue, position_of))
    keys = array("q", [key_of[id(entry)] for entry in path])
    return TreeBranch(keys, sorted(forks, key=lambda fork: fork.position))


def head_of(store: Store, outlined: Conversation, key_of: dict[int, int]) -> str:
    """Return the id of the last message that the source shows."""
    return _leaf(store, outlined, key_of, "head")


def _leaf(store: Store, outlined: Conversation, key_of: dict[int, int], which: str) -> str:
    """Return the id of the message that a branch ends with; an outline does not show what is a sidechain."""
    if which != "head":
        return branches.message_id_for(outlined, which)
    leaf = outlined.head_id or tree.newest_leaf(outlined.timeline)
    if leaf is None or outlined.head_id is not None:
        return leaf or "head"
    entry = next(entry for entry in outlined.timeline if entry.id == leaf)
    key = key_of[id(entry)]
    if not _is_sidechain(store.entries_by_key([key]).get(key)):
        return leaf
    entries = store.entries_by_key([*key_of.values()])
    return tree.newest_leaf([*entries.values()]) or "head"


def _is_prompt(entry: tree.Entry) -> bool:
    return isinstance(entry, Message) and branches.is_prompt(entry)


def _is_sidechain(entry: tree.Entry | None) -> bool:
    return isinstance(entry, Message) and entry.sidechain


def _fork(
    path: list[tree.Entry],
    fork_id: str | None,
    others: list[Alternative],
    position_of: dict[int, int],
) -> Fork:
    """Describe a fork; a branch that ends at it is none of those that follow."""
    starts = [position for position, entry in enumerate(path) if entry.parent_id == fork_id]
    if fork_id is None:  # a system prompt outside of every branch, and a missing parent
        starts = [position for position in starts if not _is_prompt(path[position])] or [0]
    own = [(position_of[id(path[starts[0]])], path[-1].id)] if starts else []
    ordered = sorted([*own, *((position_of[id(each.start)], each.leaf) for each in others)])
    return Fork(
        position=starts[0] if starts else len(path),
        index=ordered.index(own[0]) if own else None,
        count=len(ordered),
        branches=[leaf for _, leaf in ordered],
    )


def read_page(
    session: ReadSession, cache: BranchCache, listed: Listed, which: str, *, start: int, limit: int
) -> MessagePage:
    """Read a part of a conversation's branch."""
    store, start, limit = session.archive.store, max(start, 0), max(limit, 0)
    branch = cache.get(store, listed.key, which)
    keys = branch.keys(store, listed.key, start, limit)
    entries = session.recovering.entries(listed.key, keys)
    end = start + len(keys)
    is_last = end >= branch.total
    return MessagePage(
        conversation=listed,
        branch=which,
        items=[entries[key] for key in keys],
        start=start,
        total=branch.total,
        forks=[fork for fork in branch.forks if start <= fork.position < end + is_last],
        damage=session.take_damage(listed.key),
    )


def read_outline(session: ReadSession, cache: BranchCache, listed: Listed, which: str) -> ConversationOutline:
    """Read the prompts on a conversation's branch."""
    store = session.archive.store
    branch = cache.get(store, listed.key, which)
    prompts = store.prompts(listed.key)
    positions = _positions(branch, prompts)
    session.take_damage(listed.key)
    return ConversationOutline(
        conversation=listed,
        branch=which,
        prompts=[
            Prompt(position=position, id=view.message, at=view.at, line=_first_line(view.text))
            for position, view in sorted(
                ((positions[key], view) for key, view in prompts.items() if key in positions),
                key=lambda each: each[0],
            )
        ],
        total=branch.total,
    )


def _positions(branch: ListBranch | TreeBranch, prompts: dict[int, EntryView]) -> dict[int, int]:
    """Return the position of each prompt on a branch, by key."""
    if isinstance(branch, TreeBranch):
        return {key: position for position, key in enumerate(branch.all_keys) if key in prompts}
    return {key: view.position for key, view in prompts.items() if view.position < branch.total}


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].strip()
