"""Long texts that an entry has in fields of the draft: the own key has only references to them.

`same` lists, for each replaced text, its location and the location of the same text, as paths from the entry.
Two further numbers are the start and end within that text.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from agent_journal.records.forms import MIN_SHARED_CHARS, OURS, SAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Path: TypeAlias = tuple[str | int, ...]
# Substrings are searched for only in few texts: an entry may have as many as a message has blocks.
_MAX_SEARCHED_TEXTS = 64
_SCALARS = frozenset({int, float, bool, type(None)})


def share_texts(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield the entries, with no long text repeated under the own key."""
    for entry in entries:
        _share(entry)
        yield entry


def _share(entry: dict[str, Any]) -> None:
    holders: list[tuple[Path, dict[str, Any]]] = []
    if OURS in entry and _may_have_long_text(entry[OURS]):
        holders.append(((), entry))
    if "children" in entry:
        for index, child in enumerate(entry["children"]):
            if OURS in child and _may_have_long_text(child[OURS]):
                holders.append((("children", index), child))
    if not holders:
        return
    texts: dict[str, Path] | None = None
    same: list[list[Any]] = []
    for path, holder in holders:
        try:
            own_fields = msgspec.to_builtins(holder[OURS])
        except RecursionError:  # too deeply nested in the source
            continue
        long_texts: list[tuple[Any, Path, str]] = [*_long_texts(own_fields)]
        if not long_texts:
            continue
        if texts is None:
            texts = {text: location for _, location, text in _long_texts(entry, OURS)}
        for container, location, text in long_texts:
            source = _find_text(text, texts)
            if source is not None:
                container[location[-1]] = None
                same.append([[*path, OURS, *location], *source])
        holder[OURS] = own_fields
    if same:
        entry.setdefault(OURS, {})[SAME] = same


def _may_have_long_text(own_fields: dict[str, Any]) -> bool:
    """Whether own fields have a long text or a value that is not plain JSON; nearly all have neither.

    `usage` is skipped: it has only counts and ids.
    """
    pending: list[Any] = [[value for name, value in own_fields.items() if name != "usage"]]
    for container in pending:  # the list grows during the loop
        for value in container.values() if container.__class__ is dict else container:
            kind = value.__class__
            if kind is str:
                if len(value) >= MIN_SHARED_CHARS:
                    return True
            elif kind is dict or kind is list:
                pending.append(value)
            elif kind not in _SCALARS:
                return True
    return False


def _long_texts(root: Any, excluded: str | None = None) -> Iterator[tuple[Any, Path, str]]:
    """Long texts in a value: their container, path and text."""
    pending: list[tuple[Any, Path]] = [(root, ())]
    while pending:
        container, path = pending.pop()
        members = container.items() if container.__class__ is dict else enumerate(container)
        for name, value in members:
            kind = value.__class__
            if kind is str:
                if len(value) >= MIN_SHARED_CHARS:
                    yield container, (*path, name), value
            elif (kind is dict or kind is list) and name != excluded:
                pending.append((value, (*path, name)))


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
