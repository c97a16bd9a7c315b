"""Text that an entry has in fields of the draft's: under our key there is only where it is.

`same` lists, for each text that was left out, where it belongs and where it is, as paths from the entry; two
numbers more are the part of that text which is meant.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

from agent_journal.records.forms import MIN_SHARED_CHARS, OURS, SAME

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

Path: TypeAlias = tuple[str | int, ...]
# A text within another is looked for in few: an entry may have as many as a message has blocks.
_MAX_SEARCHED = 64
_SCALARS = frozenset({int, float, bool, type(None)})


def share_texts(entries: Iterable[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries, in which our own key repeats no long text."""
    for entry in entries:
        _share(entry)
        yield entry


def _share(entry: dict[str, Any]) -> None:
    holders: list[tuple[Path, dict[str, Any]]] = []
    if OURS in entry and _may_have_long_text(entry[OURS]):
        holders.append(((), entry))
    if "children" in entry:
        for at, child in enumerate(entry["children"]):
            if OURS in child and _may_have_long_text(child[OURS]):
                holders.append((("children", at), child))
    if not holders:
        return
    texts: dict[str, Path] | None = None
    same: list[list[Any]] = []
    for path, holder in holders:
        try:
            ours = msgspec.to_builtins(holder[OURS])
        except RecursionError:  # nested as deeply as a source had it
            continue
        found: list[tuple[Any, Path, str]] = [*_long_texts(ours)]
        if not found:
            continue
        if texts is None:
            texts = {text: place for _, place, text in _long_texts(entry, OURS)}
        for container, place, text in found:
            source = _place_of(text, texts)
            if source is not None:
                container[place[-1]] = None
                same.append([[*path, OURS, *place], *source])
        holder[OURS] = ours
    if same:
        entry.setdefault(OURS, {})[SAME] = same


def _may_have_long_text(ours: dict[str, Any]) -> bool:
    """Whether our key has a long text, or something that is not of JSON; nearly all have neither.

    What was used is counts, under a key that is made of ids: no text of an entry.
    """
    pending: list[Any] = [[value for name, value in ours.items() if name != "usage"]]
    for container in pending:  # which grows meanwhile
        for each in container.values() if container.__class__ is dict else container:
            kind = each.__class__
            if kind is str:
                if len(each) >= MIN_SHARED_CHARS:
                    return True
            elif kind is dict or kind is list:
                pending.append(each)
            elif kind not in _SCALARS:
                return True
    return False


def _long_texts(root: Any, without: str | None = None) -> Iterator[tuple[Any, Path, str]]:
    """Long texts in a value: what holds them, where they are, and they themselves."""
    pending: list[tuple[Any, Path]] = [(root, ())]
    while pending:
        container, path = pending.pop()
        members = container.items() if container.__class__ is dict else enumerate(container)
        for name, value in members:
            kind = value.__class__
            if kind is str:
                if len(value) >= MIN_SHARED_CHARS:
                    yield container, (*path, name), value
            elif (kind is dict or kind is list) and name != without:
                pending.append((value, (*path, name)))


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
