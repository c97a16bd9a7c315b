"""Own fields of a document, under `agent_journal`: what is needed to read it back without loss.

The schema's names and types differ from the source's: metadata is in snake_case, an input is always an
object, a time has milliseconds. The original forms are stated once for the whole document if they follow a
rule (the names of fields, the kinds of tools), and per message if not. Nothing is stated twice.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from agent_journal.decoding import json_text

if TYPE_CHECKING:
    from collections.abc import Mapping

    from agent_journal.model import Bag, ToolCall

OWN_KEY = "agent_journal"
"""The key of the own fields in a document, its messages and its events."""

_WORD = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_WORD_BOUNDARY = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_NO_NAMES: frozenset[str] = frozenset()
_NO_TYPES: Mapping[str, type] = {}
_AS_OBJECT = "object"


@lru_cache(maxsize=4096)
def snake_case(name: str) -> str:
    """`userType` and `user-type` as `user_type`; a name with other characters is unchanged."""
    if _WORD.fullmatch(name) is None:
        return name
    return _WORD_BOUNDARY.sub("_", name).replace("-", "_").lower()


def without_nulls(values: dict[str, Any]) -> dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def nonempty(values: dict[str, Any]) -> dict[str, Any]:
    """The non-empty values."""
    return {name: value for name, value in values.items() if value}


class OwnFields:
    """Collects the rules of one document. Its methods return the fields for exceptions to a rule."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._kinds: dict[str, str | None] = {}
        self._form: str | None = None
        self._is_error: bool | None = True  # until the first result that did not fail
        self._usage: list[str] | None = None

    def add(
        self,
        metadata: dict[str, Any],
        extra: Bag,
        reserved: frozenset[str] = _NO_NAMES,
        types: Mapping[str, type] = _NO_TYPES,
    ) -> dict[str, Any]:
        """Add everything in `extra` to `metadata`, in snake_case.

        A name that is taken, or that the schema defines with a different type, keeps its spelling; if that is
        taken as well, it gets underscores. An equal text is not repeated. `reserved` are the names that may
        have a different meaning in the metadata.
        """
        names: dict[str, str] = {}
        repeated: dict[str, str] = {}
        rules = self._names
        for original, value in extra.items():
            name = snake_case(original)
            if name in metadata or name in types:
                if value.__class__ is str and metadata.get(name) == value:
                    repeated[original] = name
                    continue
                name = _free_name(metadata, name, original, value, types)
            metadata[name] = value
            if name in reserved or rules.setdefault(name, original) != original:
                names[name] = original
        return nonempty({"names": names, "same": repeated}) if names or repeated else {}

    def kind(self, call: ToolCall) -> dict[str, Any]:
        """The kind of a call, if it differs from that of the tool's first call."""
        kind = call.kind
        return {} if self._kinds.setdefault(call.name, kind) == kind else {"kind": kind}

    def is_error(self, value: bool | None) -> dict[str, Any]:  # noqa: FBT001 (a value, no switch)
        """The success of a result, if it is stated differently than in the first one that did not fail."""
        if value is True:
            return {}
        if self._is_error is True:
            self._is_error = value
        return {} if self._is_error is value else {"is_error": value}

    def input(self, original: Any, value: Any) -> dict[str, Any]:
        """The original form of an input; `value` is the decoded input."""
        if original is None:
            return {"input": "none"}
        if value is original:
            if original.__class__ is not dict:
                return {}
            return {"input": _AS_OBJECT} if is_raw(original) else self._form_exception(_AS_OBJECT)
        form = None if value is None or is_raw(value) else json_text.form_of(original, value, self._form)
        if form is None:
            return {"input_text": original}
        return self._form_exception(form) if value.__class__ is dict else {"input": form}

    def _form_exception(self, form: str) -> dict[str, Any]:
        if self._form is None:
            self._form = form
        return {} if self._form == form else {"input": form}

    def repeated(self, names: list[str]) -> dict[str, Any]:
        """The counts that the source's usage object repeats, if they differ from those of the first one."""
        if self._usage is None:
            self._usage = names
        return {} if self._usage == names else {"repeats": names}

    def rules(self) -> dict[str, Any]:
        """The rules of the whole document."""
        rules: dict[str, Any] = {
            "names": {name: original for name, original in self._names.items() if name != original},
            "kinds": without_nulls(self._kinds),
            "inputs": None if self._form == _AS_OBJECT else self._form,
            "repeats": self._usage,
        }
        return nonempty(rules) | ({"is_error": None} if self._is_error is None else {})


def is_raw(value: Any) -> bool:
    """Whether a value looks like the replacement of an input that is no object."""
    return value.__class__ is dict and value.keys() == {"raw"}


def _free_name(
    metadata: dict[str, Any], name: str, original: str, value: Any, types: Mapping[str, type]
) -> str:
    """The name for a value if it is free and has that type, else its original name, with underscores."""
    if name not in metadata and value.__class__ is types[name]:
        return name
    while original in metadata or (original in types and value.__class__ is not types[original]):
        original += "_"
    return original
