"""Text that an entry has in fields of the draft's: under our key there is only where it is.

`same` lists, for each text that was left out, where it belongs and where it is, as paths from the entry; two
numbers more are the part of that text which is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from agent_journal.records.forms import MIN_SHARED_CHARS, OURS, SAME

if TYPE_CHECKING:
    from collections.abc import Iterable

Path: TypeAlias = tuple[str | int, ...]
# A text within another is looked for in few: an entry may have as many as a message has blocks.
_MAX_SEARCHED = 64
_SCALARS = frozenset({int, float, bool, type(None)})


def share_texts(entries: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The entries, in which our own key repeats no long text."""
    found = list(entries)
    for entry in found:
        holders: list[tuple[Path, dict[str, Any]]] = []
        if OURS in entry and _may_have_long_text(entry[OURS]):
            holders.append(((), entry))
        if "children" in entry:
            for at, child in enumerate(entry["children"]):
                if OURS in child and _may_have_long_text(child[OURS]):
                    holders.append((("children", at), child))
        if holders:
            _share(holders, entry)
    return found


def _share(holders: list[tuple[Path, dict[str, Any]]], entry: dict[str, Any]) -> None:
    texts: dict[str, Path] | None = None
    same: list[list[Any]] = []
    for path, holder in holders:
        try:
            ours = _own_copy(holder[OURS])
        except RecursionError:  # nested as deeply as a source had it
            continue
        found = _long_texts(ours)
        if not found:
            continue
        for container, place, text in found:
            source = _place_in_blocks(text, entry.get("content"))
            if source is None:
                if texts is None:
                    texts = {text: place for _, place, text in _long_texts(entry, OURS)}
                source = _place_of(text, texts)
            if source is not None:
                container[place[-1]] = None
                same.append([[*path, OURS, *place], *source])
        holder[OURS] = ours
    if same:
        entry.setdefault(OURS, {})[SAME] = same


def _own_copy(ours: dict[str, Any]) -> Any:
    """Our key in values of JSON, of which none is the source's; most often it has only texts."""
    if all(type(value) is str for value in ours.values()):
        return ours
    return msgspec.to_builtins(ours)


def _may_have_long_text(ours: dict[str, Any]) -> bool:
    """Whether our key has a long text, or something that is not of JSON; nearly all have neither.

    What was used is counts, under a key that is made of ids: no text of an entry.
    """
    usage = ours.get("usage")
    values = [*ours.values()]
    for value in values:  # which grows meanwhile
        kind = type(value)
        if kind is str:
            if len(value) >= MIN_SHARED_CHARS:
                return True
        elif kind is dict:
            if value is not usage:
                values += value.values()
        elif kind not in _SCALARS:
            if kind is not list:
                return True
            values += value
    return False


def _long_texts(root: Any, without: str | None = None) -> list[tuple[Any, Path, str]]:
    """Long texts in a value: what holds them, where they are, and they themselves."""
    found: list[tuple[Any, Path, str]] = []
    pending: list[tuple[Any, Path]] = [(root, ())]
    while pending:
        container, path = pending.pop()
        for name, value in container.items() if type(container) is dict else enumerate(container):
            kind = type(value)
            if kind is str:
                if len(value) >= MIN_SHARED_CHARS:
                    found.append((container, (*path, name), value))
            elif (kind is dict or kind is list) and name != without:
                pending.append((value, (*path, name)))
    return found


def _place_in_blocks(text: str, content: Any) -> list[Any] | None:
    """Where a block of the content has a text, as it has the signature of a thought."""
    if content.__class__ is list:
        for at, block in enumerate(content):
            if block.__class__ is dict and text in block.values():
                return [["content", at, next(name for name, value in block.items() if value == text)]]
    return None


def _place_of(text: str, texts: dict[str, Path]) -> list[Any] | None:
    """Where a text is, and which part of it is meant if that is not all."""
    if text in texts:
        return [[*texts[text]]]
    if len(texts) <= _MAX_SEARCHED:
        for whole, place in texts.items():
            start = whole.find(text)
            if start >= 0:
                return [[*place], start, start + len(text)]
    return None
