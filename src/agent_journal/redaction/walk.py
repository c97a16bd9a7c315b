"""Every text of an item, changed in place of the old one: parts, files, bags, names of fields; ids stay."""

from __future__ import annotations

import sys
from collections import Counter
from typing import Any, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Media
from agent_journal.model.spilled import Spilled
from agent_journal.redaction.attachments import data_of, text_of

Path: TypeAlias = tuple[str, ...]
# Fields of the model that tie things together or are words of its own; not those of bags.
_TIES = ("id", "parent_id", "head_id", "call_id", "response_id", "conversation_id", "message_id", "since_id")
_MORE_TIES = ("prompt_id", "response_ids", "system", "key", "source", "reader", "version", "sha256")
_OWN_WORDS = ("role", "kind", "shape", "relation", "rating", "api", "at", "started_at", "updated_at")
_KEPT = frozenset((*_TIES, *_MORE_TIES, *_OWN_WORDS))
_DEEPER = 8


class Edit(Protocol):
    """What becomes of a text."""

    def __call__(self, text: str, path: Path, name: str = "") -> str:
        """The text, or another one; `name` is what a record calls it, if it is a value in one."""


class EditList(Protocol):
    """What becomes of a list with several texts, before each of them is edited."""

    def __call__(self, values: list[Any], path: Path) -> list[Any]:
        """The list, or another one of the same length."""


def _as_it_is(values: list[Any], path: Path) -> list[Any]:  # noqa: ARG001 (an EditList)
    return values


def walk(value: Any, edit: Edit, edit_list: EditList = _as_it_is) -> Any:
    """The value with its texts edited; the same object if none was changed."""
    try:
        return _Walk(edit, edit_list).of(value, ())
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit * _DEEPER)
        try:
            return _Walk(edit, edit_list).of(value, ())
        finally:
            sys.setrecursionlimit(limit)


class _Walk:
    """A value on its way through the edits."""

    def __init__(self, edit: Edit, edit_list: EditList) -> None:
        self._edit = edit
        self._edit_list = edit_list

    def of(self, value: Any, path: Path) -> Any:
        kind = value.__class__
        if kind is str:
            return self._edit(value, path)
        if kind is list:
            edited = self._edit_list(value, path)
            changed = [self.of(each, (*path, str(place))) for place, each in enumerate(edited)]
            return value if all(map(_is, value, changed)) else changed
        if kind is dict:
            return self._record(value, path)
        if isinstance(value, Struct):
            return self._struct(value, path)
        if kind is Spilled:
            old = value.value()
            new = self.of(old, path)
            return value if new is old else new
        return value

    def _struct(self, value: Struct, path: Path) -> Struct:
        changes: dict[str, Any] = {}
        for name in value.__struct_fields__:
            old = getattr(value, name)
            if name in _KEPT or not old or old.__class__ in (bool, int, float):
                continue
            if name == "data" and isinstance(value, Media) and (text := text_of(value)) is not None:
                edited = self._edit(text, (*path, name))
                new = old if edited is text else data_of(edited, value)
            else:
                new = self.of(old, (*path, name))
            if new is not old:
                changes[name] = new
        return replace(value, **changes) if changes else value

    def _record(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        same = True
        numbers: Counter[str] = Counter()
        for name, old in value.items():
            new_name = self._edit(name, path)
            steps = (*path, new_name)
            if old.__class__ is str:
                new: Any = self._edit(old, steps, _called(name, value))
            else:
                new = self.of(old, steps)
            same = same and new is old and new_name is name
            changed[new_name if new_name is name else _free(new_name, numbers, changed, value)] = new
        return value if same else changed


def _is(one: Any, other: Any) -> bool:
    return one is other


def _called(field: str, record: dict[str, Any]) -> str:
    """What a value is called: by its field, or as `{"name": "DB_PASSWORD", "value": "…"}` does it."""
    stated = record.get("name", record.get("key")) if field == "value" else None
    return stated if stated.__class__ is str and stated else field


def _free(name: str, numbers: Counter[str], *taken: dict[str, Any]) -> str:
    """The name, with a number if it is taken: two fields may have been named by secrets of one kind.

    `numbers` holds how often each name was asked for, so that many such fields are not counted through again.
    """
    free = name
    while True:
        numbers[name] += 1
        if numbers[name] > 1:
            free = f"{name} ({numbers[name]})"
        if not any(free in each for each in taken):
            return free
