"""TOML as a person wrote it: which line a key stands in, and one value changed without touching the rest.

The standard library parses TOML but forgets where things stood, and it cannot write. What is edited here is
therefore always held against what the standard library says of it.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import TYPE_CHECKING, Any, NamedTuple

from agent_journal.errors import BadConfig

if TYPE_CHECKING:
    from collections.abc import Iterator

# What can hide an equals sign, a bracket or the end of a line, then those themselves.
_MARKS = (
    r'#[^\n]*|"""(?:\\.|[^\\])*?"{3,5}'
    r"|'''.*?'{3,5}"
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'[^'\n]*'|[\[\]{}=\n]"
)


class Statement(NamedTuple):
    """The header of a table, or a key with its value; places are indexes of characters."""

    key: str
    """The whole key, with the table's, joined by dots."""
    start: int
    value: int
    """Where the value begins; of a header, its end."""
    value_end: int
    end: int
    """After the end of the line."""
    is_header: bool


def load(text: str, file: str) -> dict[str, Any]:
    """What the text says; where it is no TOML, the line is named."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        reason, _, place = str(error).partition(" (at ")
        line = re.match(r"line (\d+)", place)
        where = f"{file}:{line[1]}" if line else file
        raise BadConfig(where, f"it is no TOML: {reason[:1].lower()}{reason[1:]}") from error
    except ValueError as error:
        raise BadConfig(file, "it is no TOML: a number is too long") from error
    except RecursionError as error:
        raise BadConfig(file, "it is no TOML: values are nested too deeply") from error


def lines(text: str) -> dict[str, int]:
    """The line, counted from one, in which each key and table stands first."""
    line_by_key: dict[str, int] = {}
    line, seen = 1, 0
    for statement in statements(text):
        line += text.count("\n", seen, statement.start)
        seen = statement.start
        line_by_key.setdefault(statement.key, line)
    return line_by_key


def statements(text: str) -> Iterator[Statement]:
    """What a text says that is known to be TOML, in its order."""
    table = ""
    for start, value, value_end, end in _spans(text):
        if value < 0:  # no equals sign: a header
            table = _path(text[start:value_end])
            yield Statement(table, start, value_end, value_end, end, is_header=True)
        else:
            key = _path(f"{text[start : value - 1]}=0")
            yield Statement(f"{table}.{key}" if table else key, start, value, value_end, end, is_header=False)


def _spans(text: str) -> Iterator[tuple[int, int, int, int]]:
    """Start, begin of the value (or -1), its end, and the end of the line, of each statement."""
    start, value, value_end, depth = 0, -1, -1, 0
    ends = re.compile(_MARKS, re.DOTALL)
    for token in ends.finditer(f"{text}\n"):
        kind = token[0][0]
        if kind in "[{":
            depth += 1
        elif kind in "]}":
            depth -= 1
        elif kind == "=" and depth == 0 and value < 0:
            value = token.end()
        elif kind == "#" and depth == 0:
            value_end = token.start()
        elif kind == "\n" and depth == 0:
            stop = token.start() if value_end < 0 else value_end
            if statement := text[start:stop].strip():
                first = text.index(statement[0], start)
                yield first, value, len(text[:stop].rstrip()), min(token.end(), len(text))
            start, value, value_end = token.end(), -1, -1


def _path(text: str) -> str:
    """The key that a header, or a key with any value, names."""
    inner: Any = tomllib.loads(text)
    steps: list[str] = []
    while inner:
        if isinstance(inner, list):  # a table of an array
            inner = inner[0]
        else:
            ((name, inner),) = inner.items()
            steps.append(name)
    return ".".join(steps)


def changed(text: str, key: str, value: str | bool | int | list[str]) -> str | None:  # noqa: FBT001 (a value)
    """The text with one value set and all else as it was; None if that cannot be done line by line."""
    goal = _with(tomllib.loads(text), key.split("."), value)
    for edited in _edits(text, key, shown(value)):
        try:
            if tomllib.loads(edited) == goal:
                return edited
        except tomllib.TOMLDecodeError:
            continue
    return None


def without(text: str, key: str) -> str | None:
    """The text without one value, as it was if it has none; None if that cannot be done line by line."""
    goal = tomllib.loads(text)
    if not _dropped(goal, key.split(".")):
        return text
    for statement in statements(text):
        if statement.key == key and not statement.is_header:
            edited = text[: text.rfind("\n", 0, statement.start) + 1] + text[statement.end :]
            return edited if _is_alike(tomllib.loads(edited), goal) else None
    return None


def _dropped(table: dict[str, Any], steps: list[str]) -> bool:
    """Take a value out of a table; whether it was there."""
    inner: Any = table
    for step in steps[:-1]:
        inner = inner.get(step)
        if not isinstance(inner, dict):
            return False
    return inner.pop(steps[-1], inner) is not inner


def _is_alike(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether both say the same; a table that is empty says nothing."""
    return _without_empty_tables(first) == _without_empty_tables(second)


def _without_empty_tables(table: dict[str, Any]) -> dict[str, Any]:
    inner = {
        name: _without_empty_tables(value) if isinstance(value, dict) else value
        for name, value in table.items()
    }
    return {name: value for name, value in inner.items() if value != {}}


def shown(value: str | bool | int | list[str] | dict[str, float]) -> str:  # noqa: FBT001 (a value)
    """A value as TOML writes it; the names of a table are bare ones."""
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {number}' for name, number in value.items())} }}"
    # JSON's strings are TOML's, but for one control character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _with(table: dict[str, Any], steps: list[str], value: Any) -> dict[str, Any]:
    inner: Any = table
    for step in steps[:-1]:
        inner = inner.setdefault(step, {})
        if not isinstance(inner, dict):
            return {}
    inner[steps[-1]] = value
    return table


def _edits(text: str, key: str, value: str) -> Iterator[str]:
    """Ways to set a value, the most natural one first."""
    newline = "\r\n" if "\r\n" in text else "\n"
    table, _, name = key.rpartition(".")
    parsed = list(statements(text))
    for statement in parsed:
        if statement.key == key and not statement.is_header:
            yield f"{text[: statement.value]} {value}{text[statement.value_end :]}"
    if (place := _end_of_table(parsed, table)) is not None:
        yield _inserted(text, place, f"{name} = {value}", newline)
    between = newline if text else ""
    yield _inserted(text, len(text), f"{between}[{table}]{newline}{name} = {value}", newline)
    yield f"{key} = {value}{newline}{text}"


def _end_of_table(parsed: list[Statement], table: str) -> int | None:
    """The end of the last line of a table that has a header."""
    place, inside = None, False
    for statement in parsed:
        if statement.is_header:
            inside = statement.key == table
        if inside:
            place = statement.end
    return place


def _inserted(text: str, place: int, line: str, newline: str) -> str:
    before = text[:place]
    if before and not before.endswith("\n"):
        before += newline
    return f"{before}{line}{newline}{text[place:]}"
