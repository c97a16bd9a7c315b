"""Long texts that an entry has in fields of the draft: the own key has only references to them.

`same` lists, for each replaced text, its location and the location of the same text, as paths from the entry.
Two further numbers are the start and end within that text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from agent_journal.records.forms import MIN_SHARED_CHARS, OWN_FIELDS, SAME

if TYPE_CHECKING:
    from collections.abc import Iterable

Path: TypeAlias = tuple[str | int, ...]
# Substrings are searched for only in few texts: an entry may have as many as a message has blocks.
_MAX_SEARCHED_TEXTS = 64
_SCALARS = frozenset({int, float, bool, type(None)})


def share_texts(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """List the entries, with no long text repeated under the own key."""
    shared = list(entries)
    for entry in shared:
        holders: list[tuple[Path, dict[str, Any]]] = []
        if OWN_FIELDS in entry and _may_have_long_text(entry[OWN_FIELDS]):
            holders.append(((), entry))
        if "children" in entry:
            for index, child in enumerate(entry["children"]):
                if OWN_FIELDS in child and _may_have_long_text(child[OWN_FIELDS]):
                    holders.append((("children", index), child))
        if holders:
            _share(holders, entry)
    return shared


def _share(holders: list[tuple[Path, dict[str, Any]]], entry: dict[str, Any]) -> None:
    texts: dict[str, Path] | None = None
    same: list[list[Any]] = []
    for path, holder in holders:
        try:
            own_fields = _own_copy(holder[OWN_FIELDS])
        except RecursionError:  # too deeply nested in the source
            continue
        long_texts = _long_texts(own_fields)
        if not long_texts:
            continue
        for container, location, text in long_texts:
            source = _find_in_blocks(text, entry.get("content"))
            if source is None:
                if texts is None:
                    texts = {text: location for _, location, text in _long_texts(entry, OWN_FIELDS)}
                source = _find_text(text, texts)
            if source is not None:
                container[location[-1]] = None
                same.append([[*path, OWN_FIELDS, *location], *source])
        holder[OWN_FIELDS] = own_fields
    if same:
        entry.setdefault(OWN_FIELDS, {})[SAME] = same


def _own_copy(own_fields: dict[str, Any]) -> Any:
    """Own fields as plain JSON that is safe to change; with only texts, that is what they are already."""
    if all(type(value) is str for value in own_fields.values()):
        return own_fields
    return msgspec.to_builtins(own_fields)


def _may_have_long_text(own_fields: dict[str, Any]) -> bool:
    """Whether own fields have a long text or a value that is not plain JSON; nearly all have neither.

    `usage` is skipped: it has only counts and ids.
    """
    usage = own_fields.get("usage")
    pending = [*own_fields.values()]
    for value in pending:  # the list grows during the loop
        kind = type(value)
        if kind is str:
            if len(value) >= MIN_SHARED_CHARS:
                return True
        elif kind is dict:
            if value is not usage:
                pending += value.values()
        elif kind not in _SCALARS:
            if kind is not list:
                return True
            pending += value
    return False


def _long_texts(root: Any, excluded: str | None = None) -> list[tuple[Any, Path, str]]:
    """Long texts in a value: their container, path and text."""
    long_texts: list[tuple[Any, Path, str]] = []
    pending: list[tuple[Any, Path]] = [(root, ())]
    while pending:
        container, path = pending.pop()
        for name, value in container.items() if type(container) is dict else enumerate(container):
            kind = type(value)
            if kind is str:
                if len(value) >= MIN_SHARED_CHARS:
                    long_texts.append((container, (*path, name), value))
            elif (kind is dict or kind is list) and name != excluded:
                pending.append((value, (*path, name)))
    return long_texts


def _find_in_blocks(text: str, content: Any) -> list[Any] | None:
    """The path of a text that a content block has whole, as one of reasoning has its signature."""
    if content.__class__ is list:
        for index, block in enumerate(content):
            if block.__class__ is dict and text in block.values():
                return [["content", index, next(name for name, value in block.items() if value == text)]]
    return None


def _find_text(text: str, texts: dict[str, Path]) -> list[Any] | None:
    """The path of a text, with start and end if it is part of a longer one; None if not found."""
    if text in texts:
        return [[*texts[text]]]
    if len(texts) <= _MAX_SEARCHED_TEXTS:
        for longer, path in texts.items():
            start = longer.find(text)
            if start >= 0:
                return [[*path], start, start + len(text)]
    return None
