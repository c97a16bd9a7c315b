"""Changes one entry of a JSON file, and nothing else: comments, order and spaces stay."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterator

_BLANK = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
_STRING = re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)
_SCALAR = re.compile(r"[^\s,\]}/\"\[{]+")
_INDENT = re.compile(r"\n([ \t]+)\"")
_DEFAULT_INDENT = "  "


class NotJson(ValueError):
    """The text is no JSON object, even with comments."""


class _Member(NamedTuple):
    """A member of an object: its name, and where it and its value are in the text."""

    name: str
    start: int
    value: int
    end: int


def with_entry(text: str, container: str, name: str, entry: dict[str, Any]) -> str:
    """Return a text with an entry in an object of the top level, which is made if there is none."""
    text = without_entry(text, container, name) if text.strip() else "{}\n"
    match = _INDENT.search(text)
    indent = match[1] if match else _DEFAULT_INDENT
    start = _object_start(text)
    members = list(_members(text, start))
    holder = next((each for each in members if each.name == container), None)
    if holder is None:
        return _inserted(text, start, _json(container, {name: entry}, indent, 1), indent, 1)
    inner = _object_start(text, holder.value)
    return _inserted(text, inner, _json(name, entry, indent, 2), indent, 2)


def without_entry(text: str, container: str, name: str) -> str:
    """Return a text without an entry, and without the object that held it if that is empty then."""
    members = list(_members(text, _object_start(text)))
    holder = next((each for each in members if each.name == container), None)
    if holder is None or text[holder.value] != "{":
        return text
    entries = list(_members(text, holder.value))
    entry = next((each for each in entries if each.name == name), None)
    if entry is None:
        return text
    return _removed(text, holder if len(entries) == 1 else entry)


def entry_in(text: str, container: str, name: str) -> Any:
    """Return an entry; None if there is none, or it has comments."""
    for holder in _members(text, _object_start(text)) if text.strip() else ():
        if holder.name == container and text[holder.value] == "{":
            for each in _members(text, holder.value):
                if each.name == name:
                    try:
                        return json.loads(text[each.value : each.end])
                    except ValueError:
                        return None
    return None


def _json(name: str, value: Any, indent: str, depth: int) -> str:
    lines = f"{json.dumps(name)}: {json.dumps(value, indent=indent, ensure_ascii=False)}".split("\n")
    return "\n".join([lines[0], *(indent * depth + line for line in lines[1:])])


def _inserted(text: str, start: int, member: str, indent: str, depth: int) -> str:
    """Insert the first member of the object at a position; the text after it stays."""
    before, after = text[: start + 1], text[start + 1 :]
    line = f"\n{indent * depth}{member}"
    if text[_skip_blank(text, start + 1)] == "}":
        after = after if "\n" in after.partition("}")[0] else f"\n{indent * (depth - 1)}{after.lstrip()}"
        return f"{before}{line}{after}"
    return f"{before}{line},{after if after.startswith(chr(10)) else f' {after.lstrip()}'}"


def _removed(text: str, member: _Member) -> str:
    """Remove a member, the blanks before it, and one comma."""
    start = len(text[: member.start].rstrip())
    end = member.end
    following = _skip_blank(text, end)
    if text[following : following + 1] == ",":
        end = following + 1
    elif text[start - 1 : start] == ",":
        start -= 1
    return text[:start] + text[end:]


def _object_start(text: str, at: int = 0) -> int:
    start = _skip_blank(text, at)
    if text[start : start + 1] != "{":
        raise NotJson("it is not a JSON object")
    return start


def _members(text: str, start: int) -> Iterator[_Member]:
    """Yield the members of the object that begins at a position."""
    at = _skip_blank(text, start + 1)
    while text[at : at + 1] != "}":
        match = _STRING.match(text, at)
        if match is None:
            raise NotJson("it is not valid JSON")
        value = _skip_blank(text, match.end())
        if text[value : value + 1] != ":":
            raise NotJson("it is not valid JSON")
        value = _skip_blank(text, value + 1)
        end = _value_end(text, value)
        yield _Member(json.loads(match[0], strict=False), at, value, end)
        at = _skip_blank(text, end)
        if text[at : at + 1] == ",":
            at = _skip_blank(text, at + 1)
        elif text[at : at + 1] != "}":
            raise NotJson("it is not valid JSON")


def _value_end(text: str, at: int) -> int:
    """Return where the value at a position ends."""
    depth = 0
    while True:
        here = text[at : at + 1]
        if here == '"':
            match = _STRING.match(text, at)
            if match is None:
                raise NotJson("a text in it does not end")
            at = match.end()
        elif here and here in "{[":
            depth += 1
            at += 1
        elif here and here in "}]":
            depth -= 1
            at += 1
        elif here and here in ",:" and depth:
            at += 1
        else:
            match = _SCALAR.match(text, at)
            if match is None:
                raise NotJson("it is not valid JSON")
            at = match.end()
        if depth <= 0:
            return at
        at = _skip_blank(text, at)


def _skip_blank(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    return at if match is None else match.end()
