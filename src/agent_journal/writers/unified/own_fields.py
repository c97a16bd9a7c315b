"""What a document does not tell by itself: kept under `agent_journal`, for whoever reads it back.

The schema's names and types are not the source's: metadata is in snake_case, an input is always an object, a
time has milliseconds. What that changes is stated once for the whole document where it is the rule (the names
of fields, what kind of work a tool does), and beside a message where it is not. Nothing that was said is
stated twice.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.model import Bag, ToolCall

NAME = "agent_journal"
"""The field, of a document, its messages and its events, that holds it."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NONE: frozenset[str] = frozenset()
_NO_TYPES: Mapping[str, type] = {}
_AS_OBJECT = "object"


@lru_cache(maxsize=4096)
def snake_case(name: str) -> str:
    """`userType` and `user-type` as `user_type`; what is no plain word stays as it is."""
    if _WORD.fullmatch(name) is None:
        return name
    return _HUMP.sub("_", name).replace("-", "_").lower()


def stated(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are there."""
    return {name: value for name, value in values.items() if value is not None}


def present(values: dict[str, Any]) -> dict[str, Any]:
    """The values that hold something."""
    return {name: value for name, value in values.items() if value}


class Untold:
    """What is the rule in one document. What is not the rule is given back to whoever asked."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._kinds: dict[str, str | None] = {}
        self._form: str | None = None
        self._is_error: bool | None = True  # as long as no result is known that did not fail
        self._usage: list[str] | None = None

    def add(
        self,
        bag: dict[str, Any],
        rest: Bag,
        facts: frozenset[str] = _NONE,
        types: Mapping[str, type] = _NO_TYPES,
    ) -> dict[str, Any]:
        """Put everything of `rest` into `bag`, in snake_case.

        A name that is taken, or that the schema has for a value of another type, keeps its spelling; if that
        is taken as well it gets underscores. The same text again is not repeated. `facts` are the names
        under which the bag may hold something else than the rest.
        """
        names: dict[str, str] = {}
        same: dict[str, str] = {}
        usual = self._names
        for original, value in rest.items():
            name = snake_case(original)
            if name in bag or name in types:
                if value.__class__ is str and bag.get(name) == value:
                    same[original] = name
                    continue
                name = _free_name(bag, name, original, value, types)
            bag[name] = value
            if name in facts or usual.setdefault(name, original) != original:
                names[name] = original
        return present({"names": names, "same": same}) if names or same else {}

    def kind(self, call: ToolCall) -> dict[str, Any]:
        """What kind of work a call does, if the tool's first call does another."""
        kind = call.kind
        return {} if self._kinds.setdefault(call.name, kind) == kind else {"kind": kind}

    def is_error(self, value: bool | None) -> dict[str, Any]:  # noqa: FBT001 (a value, no switch)
        """What a result says of its success, if the first that did not fail says it otherwise."""
        if value is True:
            return {}
        if self._is_error is True:
            self._is_error = value
        return {} if self._is_error is value else {"is_error": value}

    def input(self, given: Any, value: Any) -> dict[str, Any]:
        """How an input was stated; `value` is what it says, by which a text that is JSON differs from it."""
        if given is None:
            return {"input": "none"}
        if value is given:
            if given.__class__ is not dict:
                return {}
            return {"input": _AS_OBJECT} if is_raw(given) else self._stated_as(_AS_OBJECT)
        form = None if value is None or is_raw(value) else json_text.form_of(given, value, self._form)
        if form is None:
            return {"input_text": given}
        return self._stated_as(form) if value.__class__ is dict else {"input": form}

    def _stated_as(self, form: str) -> dict[str, Any]:
        if self._form is None:
            self._form = form
        return {} if self._form == form else {"input": form}

    def repeated(self, names: list[str]) -> dict[str, Any]:
        """Which counts the source's own usage object repeats, if it is not those of the first one."""
        if self._usage is None:
            self._usage = names
        return {} if self._usage == names else {"repeats": names}

    def rules(self) -> dict[str, Any]:
        """What holds for the whole document."""
        rules: dict[str, Any] = {
            "names": {name: original for name, original in self._names.items() if name != original},
            "kinds": stated(self._kinds),
            "inputs": None if self._form == _AS_OBJECT else self._form,
            "repeats": self._usage,
        }
        return present(rules) | ({"is_error": None} if self._is_error is None else {})


def is_raw(value: Any) -> bool:
    """Whether a value looks like an input that is no object."""
    return value.__class__ is dict and value.keys() == {"raw"}


def _free_name(bag: dict[str, Any], name: str, original: str, value: Any, types: Mapping[str, type]) -> str:
    """The name for a value, if it is not taken and of its type; else its original one, with underscores."""
    if name not in bag and value.__class__ is types[name]:
        return name
    while original in bag or (original in types and value.__class__ is not types[original]):
        original += "_"
    return original
