"""Small YAML files that are companions of conversations, as JSON values.

Only what JSON can say is understood: a time stays the text it is, an alias (with which a few lines become
gigabytes) or a tag of another language is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from agent_journal.errors import UnreadableSource
from agent_journal.notes import Kind

if TYPE_CHECKING:
    from agent_journal.inputs.input import Input
    from agent_journal.notes import Notes

MAX_BYTES = 4 << 20
MAX_DEPTH = 64
_REPLACED = (":timestamp", ":int", ":float", ":merge")
_NUMBERS = {
    "tag:yaml.org,2002:int": r"[-+]?(?:0|[1-9]\d{0,17})$",
    "tag:yaml.org,2002:float": r"[-+]?(?:\d+\.\d*|\.\d+|\d+(?=[eE]))(?:[eE][-+]?\d{1,2})?$",
}
_WORDS: dict[Any, str] = {True: "true", False: "false", None: "null"}
_PLAIN = ("null", "bool", "int", "float", "str", "seq", "map")


def load(source: Input, note: Notes) -> Any:
    """The value in a file; None, with a note, if it cannot be read."""
    try:
        with source.open() as stream:
            data = stream.read(MAX_BYTES + 1)
    except UnreadableSource as error:
        note.add(Kind.UNREADABLE_FILE, source.label, "", error.reason)
        return None
    if len(data) > MAX_BYTES:
        note.add(Kind.TOO_LARGE, source.label, "", f"YAML of more than {MAX_BYTES:,} bytes")
        return None
    return loads(data.decode("utf-8-sig", "replace"), note, source.label)


def loads(text: str, note: Notes, label: str) -> Any:
    """The value of a text; None, with a note about the file `label`, if it cannot be read."""
    import yaml  # noqa: PLC0415 (slow to import, needed only here)

    try:
        _refuse_bombs(text)
        return _with_text_keys(yaml.load(text, _loader()))  # noqa: S506 (derived from the safe loader)
    except (yaml.YAMLError, ValueError, TypeError) as error:
        note.add(Kind.BAD_RECORD, label, "", f"not plain YAML: {' '.join(str(error).split())[:120]}")
        return None


def _refuse_bombs(text: str) -> None:
    import yaml  # noqa: PLC0415

    depth = 0
    for event in yaml.parse(text, yaml.CSafeLoader):
        if isinstance(event, yaml.AliasEvent):
            raise ValueError("it has aliases")  # noqa: TRY004 (it becomes a note)
        depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
        if depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} deep")


def _loader() -> Any:
    import yaml  # noqa: PLC0415

    class Plain(yaml.CSafeLoader):
        """Knows the tags of JSON and no others."""

    # YAML 1.1 reads 2026-01-02 as a date, 1:30 and 010 as other numbers; JSON has no `.nan`.
    Plain.yaml_implicit_resolvers = {
        first: [(tag, form) for tag, form in known if not tag.endswith(_REPLACED)]
        for first, known in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }
    for tag, form in _NUMBERS.items():
        Plain.add_implicit_resolver(tag, re.compile(form), list("-+.0123456789"))
    Plain.yaml_constructors = {
        tag: make
        for tag, make in yaml.CSafeLoader.yaml_constructors.items()
        if tag is None or tag.rpartition(":")[2] in _PLAIN
    }
    return Plain


def _with_text_keys(value: Any) -> Any:
    """The same with keys that JSON has; `1: x` has a number as its key."""
    holder = [value]
    pending: list[Any] = [holder]
    while pending:
        current = pending.pop()
        places = list(current.items()) if isinstance(current, dict) else list(enumerate(current))
        if isinstance(current, dict):
            current.clear()
        for key, inner in places:
            if isinstance(current, dict):
                current[key if isinstance(key, str) else _WORDS.get(key, str(key))] = inner
            if isinstance(inner, dict | list):
                pending.append(inner)
    return value
