"""Metadata bags: names in snake_case, the schema's own types kept, nothing lost when two names meet."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.model import Bag

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")


@lru_cache(maxsize=4096)
def snake_case(name: str) -> str:
    """`userType` and `user-type` as `user_type`; what is no plain word stays as it is."""
    if _WORD.fullmatch(name) is None:
        return name
    return _HUMP.sub("_", name).replace("-", "_").lower()


def add(bag: dict[str, Any], rest: Bag, types: Mapping[str, type] | None = None) -> None:
    """Put everything of `rest` into `bag`, in snake_case.

    A name that is taken, or that the schema has for a value of another type, keeps its spelling; if that is
    taken as well it gets underscores. The same text again is not repeated.
    """
    for original, value in rest.items():
        name = snake_case(original)
        if value.__class__ is str and bag.get(name) == value:
            continue
        if not _is_free(bag, name, value, types):
            name = original
            while not _is_free(bag, name, value, types):
                name += "_"
        bag[name] = value


def _is_free(bag: dict[str, Any], name: str, value: Any, types: Mapping[str, type] | None) -> bool:
    if name in bag:
        return False
    return types is None or name not in types or value.__class__ is types[name]


def stated(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}
