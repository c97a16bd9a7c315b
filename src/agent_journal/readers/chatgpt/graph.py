"""The graph of a conversation: who follows whom, and in which order a timeline tells it.

A `mapping` is an object of nodes. Its key order differs between exports, `children` are left out since 2026,
roots may be many, parents may be missing, and cycles have been seen. Nothing here recurses.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct

from agent_journal.model import timestamps
from agent_journal.model.timestamps import SECONDS_BELOW
from agent_journal.readers.chatgpt.fastpath import UsualNode
from agent_journal.readers.chatgpt.values import seconds

Mapping = dict[str, Any]


class Order(Struct, frozen=True, gc=False):
    """The nodes of a mapping, parents first and siblings by time, and what was odd about them."""

    keys: list[str]
    written: list[float | None]
    """When the message of each was written, where that is a plain number of seconds."""
    adopted: dict[str, str]
    """Nodes without a parent that another node lists as its child."""
    dangling: list[str]
    """Nodes whose parent is not in the mapping."""
    cut: list[str]
    """Nodes at which a cycle was cut: they count as roots."""


def parent_of(node: Any) -> str | None:
    """The key of the node's parent; None for a root, and for what cannot be a key."""
    if node.__class__ is UsualNode:
        return node.parent or None
    parent = node.get("parent") if node.__class__ is dict else None
    return parent if parent.__class__ is str and parent else None


def _children_of(node: Any) -> Any:
    if node.__class__ is UsualNode:
        return node.children
    return node.get("children") if node.__class__ is dict else None


def _created(node: Any) -> Any:
    if node.__class__ is UsualNode:
        return None if node.message is None else node.message.create_time
    message = node.get("message") if node.__class__ is dict else None
    return message.get("create_time") if message.__class__ is dict else None


def _time_of(node: Any) -> float | None:
    """When the node's message was written, in seconds since 1970; zero and null are no times."""
    value = _created(node)
    if value.__class__ is str:
        milliseconds = timestamps.epoch_ms(timestamps.moment(value))
        return milliseconds / 1000 if milliseconds else None
    return value or None if value.__class__ is float or value.__class__ is int else None


def in_order(mapping: Mapping) -> Order:
    """Every node of the mapping once: parents first, then by time, then as the mapping has them."""
    if (written := _times_if_ordered(mapping)) is not None:
        return Order([*mapping], written, {}, [], [])
    below, roots, adopted = _families(mapping)
    dangling: list[str] = []
    for parent in below.keys() - mapping.keys():
        children = below.pop(parent)
        dangling.extend(children if children.__class__ is list else [children])
    keys: list[str] = []
    _walk(mapping, _sorted_roots(mapping, roots, dangling), below, keys)
    cut = _place_cycles(mapping, below, adopted, keys) if len(keys) < len(mapping) else []
    return Order(keys, [seconds(_created(mapping[key])) for key in keys], adopted, sorted(dangling), cut)


def _times_if_ordered(mapping: Mapping) -> list[float | None] | None:
    """The times of the nodes if the mapping is in order already, as it mostly was before 2026; else None."""
    last: str | None = None
    written: list[float | None] = []
    try:
        for key, node in mapping.items():
            if node.__class__ is UsualNode:
                parent, message = node.parent, node.message
                at = message.create_time if message is not None else None
            else:
                parent, message = node["parent"], node["message"]
                at = message["create_time"] if message else None
            if at.__class__ is not float or not 0 < at < SECONDS_BELOW:
                at = seconds(at)
            if parent != last:
                before = _time_below(mapping, parent, last)
                if before is None or at is None or at < before:
                    return None
            last = key
            written.append(at)
    except (KeyError, TypeError):
        return None  # not the shape that is usual
    return written


def _time_below(mapping: Mapping, parent: Any, last: str | None) -> float | None:
    """The time of that child of a parent which leads to the last node; None if none does."""
    while last is not None and (above := parent_of(mapping[last])) != parent:
        last = above
    return None if last is None or parent is None else seconds(_created(mapping[last]))


def _families(mapping: Mapping) -> tuple[dict[str, Any], list[str], dict[str, str]]:
    """Children by their parent (one is a string, several are a list), the roots, and who was adopted."""
    below: dict[str, Any] = {}
    roots: list[str] = []
    for key, node in mapping.items():
        parent = parent_of(node)
        if parent is None:
            roots.append(key)
        elif parent in below:
            _add_child(below, parent, key)
        else:
            below[parent] = key
    adopted = _adopted(mapping, set(roots)) if len(roots) > 1 else {}
    for child, parent in adopted.items():
        _add_child(below, parent, child)
    return below, [key for key in roots if key not in adopted] if adopted else roots, adopted


def _add_child(below: dict[str, Any], parent: str, child: str) -> None:
    known = below.get(parent)
    if known.__class__ is list:
        known.append(child)
    else:
        below[parent] = [child] if known is None else [known, child]


def _adopted(mapping: Mapping, roots: set[str]) -> dict[str, str]:
    """Roots that some node lists among its children, by that node; the first one that does counts."""
    found: dict[str, str] = {}
    for key, node in mapping.items():
        children = _children_of(node)
        if children.__class__ is list:
            for child in children:
                if child.__class__ is str and child in roots and child != key:
                    found.setdefault(child, key)
    return found


def _sorted_roots(mapping: Mapping, roots: list[str], dangling: list[str]) -> list[str]:
    if len(roots) + len(dangling) <= 1:
        return roots or dangling
    both = {*roots, *dangling}
    return _by_time(mapping, [key for key in mapping if key in both], 0)


def _walk(mapping: Mapping, roots: list[str], below: dict[str, Any], keys: list[str]) -> None:
    """Append the nodes below the roots, each branch to its end before the next; take them out of `below`."""
    pending: list[tuple[str, float]] = [(root, 0) for root in reversed(roots)]
    while pending:
        key, at = pending.pop()
        while True:
            keys.append(key)
            at = _time_of(mapping[key]) or at
            child = below.pop(key, None)
            if child.__class__ is list:
                pending.extend((sibling, at) for sibling in reversed(_by_time(mapping, child, at)))
            if child.__class__ is not str:
                break
            key = child


def _by_time(mapping: Mapping, keys: list[str], otherwise: float) -> list[str]:
    """Siblings in order of their times; one without a time has the time of what is above it."""
    return sorted(keys, key=lambda key: _time_of(mapping[key]) or otherwise)


def _place_cycles(
    mapping: Mapping, below: dict[str, Any], adopted: dict[str, str], keys: list[str]
) -> list[str]:
    """Append the nodes that no root leads to; the nodes at which their cycles were cut.

    A cycle that only a list of children closes is no cycle: there the list is not believed.
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
        _forget_child(below, parent, entry)
        before = len(keys)
        _walk(mapping, [entry], below, keys)
        placed.update(keys[before:])
    return cut


def _cycle_above(mapping: Mapping, adopted: dict[str, str], start: str) -> list[str]:
    """The nodes of the cycle that the parents of a node end in, each before its parent."""
    path: dict[str, None] = {}
    key: str | None = start
    while key is not None and key not in path:
        path[key] = None
        key = adopted.get(key) or parent_of(mapping[key])
    nodes = [*path]
    return nodes if key is None else nodes[nodes.index(key) :]


def _forget_child(below: dict[str, Any], parent: str | None, child: str) -> None:
    children = below.get(parent) if parent is not None else None
    if children.__class__ is list:
        children.remove(child)
    elif parent is not None:
        below.pop(parent, None)
