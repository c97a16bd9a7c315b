"""Edit every text of an item: parts, files, `extra` and its field names; ids stay."""

from __future__ import annotations

import operator
import sys
from collections import Counter
from typing import Any, Protocol, TypeAlias

from msgspec import Struct
from msgspec.structs import replace

from agent_journal.model import Media
from agent_journal.model.spilled import Spilled
from agent_journal.redaction.attachments import decoded_text, encoded_text

Path: TypeAlias = tuple[str, ...]
# Fields of the model that are identifiers, or values of its own vocabulary.
_ID_FIELDS = ("id", "parent_id", "head_id", "call_id", "response_id", "conversation_id", "message_id")
_MORE_ID_FIELDS = (
    "since_id",
    "prompt_id",
    "response_ids",
    "system",
    "key",
    "source",
    "reader",
    "version",
    "sha256",
)
_MODEL_FIELDS = ("role", "kind", "shape", "relation", "rating", "api", "at", "started_at", "updated_at")
_UNEDITED_FIELDS = frozenset((*_ID_FIELDS, *_MORE_ID_FIELDS, *_MODEL_FIELDS))
_RECURSION_FACTOR = 8


class Edit(Protocol):
    """Edits a text."""

    def __call__(self, text: str, path: Path, name: str = "") -> str:
        """Return the edited text; `name` is the name of the field if the text is a value in a dict."""


class EditList(Protocol):
    """Edits a list, before each of its texts is edited."""

    def __call__(self, values: list[Any], path: Path) -> list[Any]:
        """Return the edited list, of the same length."""


def _unedited(values: list[Any], path: Path) -> list[Any]:  # noqa: ARG001 (an EditList)
    return values


def walk(value: Any, edit: Edit, edit_list: EditList = _unedited) -> Any:
    """Return the value with its texts edited; the same object if nothing changed."""
    try:
        return _Walk(edit, edit_list).edited(value, ())
    except RecursionError:
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(limit * _RECURSION_FACTOR)
        try:
            return _Walk(edit, edit_list).edited(value, ())
        finally:
            sys.setrecursionlimit(limit)


class _Walk:
    """Applies edits to nested values."""

    def __init__(self, edit: Edit, edit_list: EditList) -> None:
        self._edit = edit
        self._edit_list = edit_list

    def edited(self, value: Any, path: Path) -> Any:
        kind = value.__class__
        if kind is str:
            return self._edit(value, path)
        if kind is list:
            edited = self._edit_list(value, path)
            changed = [self.edited(each, (*path, str(index))) for index, each in enumerate(edited)]
            return value if all(map(operator.is_, value, changed)) else changed
        if kind is dict:
            return self._edited_dict(value, path)
        if isinstance(value, Struct):
            return self._edited_struct(value, path)
        if kind is Spilled:
            old = value.value()
            new = self.edited(old, path)
            return value if new is old else new
        return value

    def _edited_struct(self, value: Struct, path: Path) -> Struct:
        changes: dict[str, Any] = {}
        for name in value.__struct_fields__:
            old = getattr(value, name)
            if name in _UNEDITED_FIELDS or not old or old.__class__ in (bool, int, float):
                continue
            if name == "data" and isinstance(value, Media) and (text := decoded_text(value)) is not None:
                edited = self._edit(text, (*path, name))
                new = old if edited is text else encoded_text(edited, value)
            else:
                new = self.edited(old, (*path, name))
            if new is not old:
                changes[name] = new
        return replace(value, **changes) if changes else value

    def _edited_dict(self, value: dict[str, Any], path: Path) -> dict[str, Any]:
        changed: dict[str, Any] = {}
        is_same = True
        numbers: Counter[str] = Counter()
        for name, old in value.items():
            new_name = self._edit(name, path)
            steps = (*path, new_name)
            if old.__class__ is str:
                new: Any = self._edit(old, steps, _label(name, value))
            else:
                new = self.edited(old, steps)
            is_same = is_same and new is old and new_name is name
            changed[new_name if new_name is name else _unused_name(new_name, numbers, changed, value)] = new
        return value if is_same else changed


def _label(field: str, record: dict[str, Any]) -> str:
    """The name of a value: its field, or the name in `{"name": "DB_PASSWORD", "value": "…"}`."""
    stated = record.get("name", record.get("key")) if field == "value" else None
    return stated if stated.__class__ is str and stated else field


def _unused_name(name: str, numbers: Counter[str], *taken: dict[str, Any]) -> str:
    """Number a name that is taken: two field names may have been secrets of one kind.

    `numbers` holds how often each name was requested, so that many such fields take linear time.
    """
    free = name
    while True:
        numbers[name] += 1
        if numbers[name] > 1:
            free = f"{name} ({numbers[name]})"
        if not any(free in each for each in taken):
            return free
