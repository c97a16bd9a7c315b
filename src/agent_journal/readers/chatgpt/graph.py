"""The graph of a conversation: the parents of its nodes, and their order in the timeline.

A `mapping` is an object of nodes. Its key order differs between exports, `children` are absent since 2026,
roots may be many, parents may be missing, and cycles have been seen. Nothing here recurses.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agent_journal.model import timestamps
from agent_journal.model.timestamps import MIN_EPOCH_MS
from agent_journal.readers.chatgpt.fastpath import CommonNode
from agent_journal.readers.chatgpt.values import epoch_seconds

Mapping = dict[str, Any]


class Order(Struct, frozen=True, gc=False):
    """The nodes of a mapping, parents first and siblings by time, and the errors in the graph."""

    keys: list[str]
    written_at: list[float | None]
    """The time of each message, if it is a plain number of seconds."""
    adopted: dict[str, str]
    """Nodes without a parent that another node lists as its child."""
    dangling: list[str]
    """Nodes whose parent is not in the mapping."""
    cut: list[str]
    """Nodes at which a cycle was cut: they count as roots."""


def parent_of(node: Any) -> str | None:
    """Get the key of the node's parent; None for a root, and for a value that cannot be a key."""
    if node.__class__ is CommonNode:
        return node.parent or None
    parent = node.get("parent") if node.__class__ is dict else None
    return parent if parent.__class__ is str and parent else None


def _children_of(node: Any) -> Any:
    if node.__class__ is CommonNode:
        return node.children
    return node.get("children") if node.__class__ is dict else None


def _create_time(node: Any) -> Any:
    if node.__class__ is CommonNode:
        return None if node.message is None else node.message.create_time
    message = node.get("message") if node.__class__ is dict else None
    return message.get("create_time") if message.__class__ is dict else None


def _time_of(node: Any) -> float | None:
    """Get the time of the node's message in seconds since 1970; zero and null are no times."""
    value = _create_time(node)
    if value.__class__ is str:
        milliseconds = timestamps.epoch_ms(timestamps.parse_timestamp(value))
        return milliseconds / 1000 if milliseconds else None
    return value or None if value.__class__ is float or value.__class__ is int else None


def in_order(mapping: Mapping) -> Order:
    """Order the nodes of the mapping: parents first, then by time, then as in the mapping."""
    if (written_at := _times_if_ordered(mapping)) is not None:
        return Order([*mapping], written_at, {}, [], [])
    children_of, roots, adopted = _children_by_parent(mapping)
    dangling: list[str] = []
    for parent in children_of.keys() - mapping.keys():
        children = children_of.pop(parent)
        dangling.extend(children if children.__class__ is list else [children])
    keys: list[str] = []
    _walk(mapping, _sorted_roots(mapping, roots, dangling), children_of, keys)
    cut = _place_cycles(mapping, children_of, adopted, keys) if len(keys) < len(mapping) else []
    return Order(
        keys, [epoch_seconds(_create_time(mapping[key])) for key in keys], adopted, sorted(dangling), cut
    )


def _times_if_ordered(mapping: Mapping) -> list[float | None] | None:
    """Get the times of the nodes if the mapping is in order, as most were before 2026; else None."""
    last: str | None = None
    written_at: list[float | None] = []
    try:
        for key, node in mapping.items():
            if node.__class__ is CommonNode:
                parent, message = node.parent, node.message
                at = message.create_time if message is not None else None
            else:
                parent, message = node["parent"], node["message"]
                at = message["create_time"] if message else None
            if at.__class__ is not float or not 0 < at < MIN_EPOCH_MS:
                at = epoch_seconds(at)
            if parent != last:
                sibling_time = _time_of_child(mapping, parent, last)
                if sibling_time is None or at is None or at < sibling_time:
                    return None
            last = key
            written_at.append(at)
    except (KeyError, TypeError):
        return None  # not the common shape
    return written_at


def _time_of_child(mapping: Mapping, parent: Any, last: str | None) -> float | None:
    """Get the time of the child of a parent that leads to the last node; None if none does."""
    while last is not None and (above := parent_of(mapping[last])) != parent:
        last = above
    return None if last is None or parent is None else epoch_seconds(_create_time(mapping[last]))


def _children_by_parent(mapping: Mapping) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """Map parents to children (one is a string, several are a list); also list roots and adopted nodes."""
    children_of: dict[str, Any] = {}
    roots: list[str] = []
    for key, node in mapping.items():
        parent = parent_of(node)
        if parent is None:
            roots.append(key)
        elif parent in children_of:
            _add_child(children_of, parent, key)
        else:
            children_of[parent] = key
    adopted = _adopted(mapping, set(roots)) if len(roots) > 1 else {}
    for child, parent in adopted.items():
        _add_child(children_of, parent, child)
    return children_of, [key for key in roots if key not in adopted] if adopted else roots, adopted


def _add_child(children_of: dict[str, Any], parent: str, child: str) -> None:
    known = children_of.get(parent)
    if known.__class__ is list:
        known.append(child)
    else:
        children_of[parent] = [child] if known is None else [known, child]


def _adopted(mapping: Mapping, roots: set[str]) -> dict[str, str]:
    """Map roots that some node lists among its children to the first such node."""
    adopted: dict[str, str] = {}
    for key, node in mapping.items():
        children = _children_of(node)
        if children.__class__ is list:
            for child in children:
                if child.__class__ is str and child in roots and child != key:
                    adopted.setdefault(child, key)
    return adopted


def _sorted_roots(mapping: Mapping, roots: list[str], dangling: list[str]) -> list[str]:
    if len(roots) + len(dangling) <= 1:
        return roots or dangling
    both = {*roots, *dangling}
    return _by_time(mapping, [key for key in mapping if key in both], 0)


def _walk(mapping: Mapping, roots: list[str], children_of: dict[str, Any], keys: list[str]) -> None:
    """Append the nodes below the roots, one branch after the other, and remove them from `children_of`."""
    pending: list[tuple[str, float]] = [(root, 0) for root in reversed(roots)]
    while pending:
        key, at = pending.pop()
        while True:
            keys.append(key)
            at = _time_of(mapping[key]) or at
            child = children_of.pop(key, None)
            if child.__class__ is list:
                pending.extend((sibling, at) for sibling in reversed(_by_time(mapping, child, at)))
            if child.__class__ is not str:
                break
            key = child


def _by_time(mapping: Mapping, keys: list[str], otherwise: float) -> list[str]:
    """Sort siblings by time; `otherwise` is the time of those that have none."""
    return sorted(keys, key=lambda key: _time_of(mapping[key]) or otherwise)


def _place_cycles(
    mapping: Mapping, children_of: dict[str, Any], adopted: dict[str, str], keys: list[str]
) -> list[str]:
    """Append the nodes that no root leads to; return the nodes at which their cycles were cut.

    If only a list of children closes a cycle, the list is ignored, and there is no cycle.
    """
    placed = set(keys)
    cut: list[str] = []
    for start in mapping:
        if start in placed:
            continue
        cycle = _cycle_above(mapping, adopted, start)
        entry = next((key for key in cycle if key in adopted), cycle[0])
        parent = adopted.pop(entry, None)
        if parent is None:
            cut.append(entry)
            parent = parent_of(mapping[entry])
        _remove_child(children_of, parent, entry)
        placed_count = len(keys)
        _walk(mapping, [entry], children_of, keys)
        placed.update(keys[placed_count:])
    return cut


def _cycle_above(mapping: Mapping, adopted: dict[str, str], start: str) -> list[str]:
    """List the nodes of the cycle that the parents of a node end in, each before its parent."""
    path: dict[str, None] = {}
    key: str | None = start
    while key is not None and key not in path:
        path[key] = None
        key = adopted.get(key) or parent_of(mapping[key])
    nodes = [*path]
    return nodes if key is None else nodes[nodes.index(key) :]


def _remove_child(children_of: dict[str, Any], parent: str | None, child: str) -> None:
    children = children_of.get(parent) if parent is not None else None
    if children.__class__ is list:
        children.remove(child)
    elif parent is not None:
        children_of.pop(parent, None)
